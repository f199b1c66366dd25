"""What is known before the first word: a profile as a file or as plain data, made into statements.

name: Ana Souza
facts: [Lives in Lisbon]
people:
  - {name: John, relation: brother, facts: [is allergic to nuts]}
preferences: [Prefers dark mode]
projects: [Redesign of the dashboard]
rules: [Answer in Portuguese]
pins: [Has a pacemaker]
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tenuto.errors import InputError

SOURCE = "seeded_profile"
SECTIONS = ("name", "facts", "people", "preferences", "projects", "rules", "pins")
MOST = 1000
"""Statements of one profile."""
BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that a profile says, and how it is to be kept."""

    text: str
    kind: str | None = None
    domain: str | None = None
    pin: bool = False
    rule: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedReport:
    """What came of a profile: memories that are new, and how many statements were known already."""

    kept: tuple[str, ...]
    known: int


def read_profile(given: Mapping[str, Any] | str | os.PathLike[str]) -> Mapping[str, Any]:
    """The profile itself, or the one in a file: ``.json``, ``.toml``, ``.yaml`` or ``.yml``."""
    if isinstance(given, Mapping):
        return given
    path = Path(given)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", code="file_unreadable") from error
    if len(raw) > BYTES:
        raise InputError(f"{path} is larger than {BYTES:,} bytes.", code="seed_invalid")
    try:
        found = _parsed(raw.decode("utf-8"), path.suffix.lower())
    except ValueError as error:
        raise InputError(f"{path} is no valid {path.suffix[1:] or 'JSON'}: {error}.", code="seed_invalid") from None
    if not isinstance(found, Mapping):
        raise InputError(f"{path} holds no profile: sections are {', '.join(SECTIONS)}.", code="seed_invalid")
    return found


def _parsed(text: str, suffix: str) -> Any:
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix not in (".yaml", ".yml"):
        return json.loads(text)
    try:
        yaml = import_module("yaml")
    except ImportError:
        raise InputError(
            "Reading YAML needs the package 'pyyaml': pip install pyyaml, or write the profile as JSON or TOML.",
            code="yaml_missing",
        ) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from None


def statements(profile: Mapping[str, Any]) -> list[Statement]:
    """What a profile says, one thing each; an unknown section is an error."""
    if unknown := [str(name) for name in profile if name not in SECTIONS]:
        raise InputError(
            f"A profile has no section {unknown[0]!r}: there are {', '.join(SECTIONS)}.", code="seed_invalid"
        )
    found = [
        *(Statement(text=f"My name is {name}") for name in _texts(profile, "name")),
        *(Statement(text=fact) for fact in _texts(profile, "facts")),
        *_people(profile.get("people") or []),
        *(Statement(text=text, kind="preference") for text in _texts(profile, "preferences")),
        *(Statement(text=text, kind="project", domain="project") for text in _texts(profile, "projects")),
        *(Statement(text=text, kind="style_adjustment", rule=True) for text in _texts(profile, "rules")),
        *(Statement(text=text, pin=True) for text in _texts(profile, "pins")),
    ]
    if len(found) > MOST:
        raise InputError(f"The profile says {len(found):,} things; at most {MOST:,} are taken.", code="seed_invalid")
    return found


def _texts(section: Mapping[str, Any], name: str) -> list[str]:
    given = section.get(name)
    listed = [] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) and one.strip() for one in listed):
        raise InputError(f"'{name}' of a profile is a text or a list of texts.", code="seed_invalid")
    return [" ".join(one.split()) for one in listed]


def _people(given: Any) -> Iterator[Statement]:
    if not isinstance(given, list):
        raise InputError("'people' of a profile is a list.", code="seed_invalid")
    for one in given:
        if isinstance(one, str):
            yield Statement(text=one)
            continue
        if not isinstance(one, Mapping) or set(one) - {"name", "relation", "facts"}:
            raise InputError("A person of a profile has 'name', 'relation' and 'facts'.", code="seed_invalid")
        names, relations = _texts(one, "name"), _texts(one, "relation")
        if not names:
            raise InputError("A person of a profile needs a 'name'.", code="seed_invalid")
        if relations:
            yield Statement(text=f"{names[0]} is my {relations[0]}", kind="relationship")
        for fact in _texts(one, "facts"):
            yield Statement(text=fact if fact.startswith(names[0]) else f"{names[0]} {fact}")
