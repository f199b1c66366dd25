"""Definitions from files: JSON or TOML, with the few rules that a file can state.

    {"name": "trip", "version": 2, "title": "Trip",
     "schema": {JSON Schema},
     "fields": {"plan": {"hard": true, "lock_at": 0.9, "question": "…", "aliases": ["…"],
                         "derive": {"days_between": ["start", "end"]}}},
     "rules": [{"name": "counts", "sum_of": "plan", "equals": "count"},
               {"name": "dates", "ordered": ["start", "end"]}],
     "machine": {"initial": "DRAFT", "transitions": {"DRAFT": ["READY"], "READY": []}, "collecting": ["DRAFT"]},
     "migrations": [{"to": 2, "rename": {"town": "city"}, "drop": ["x"], "set": {"y": 1}, "states": {"OLD": "DRAFT"}}]}

A file cannot carry code: what it can derive and check is this short list. An unknown key is an error that names it.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from tenuto.errors import InputError
from tenuto.workflow import machine as machines
from tenuto.workflow.definition import Definition, Derive, Field, Migration, Rule, define

_TOP = ("name", "version", "title", "schema", "fields", "rules", "machine", "migrations")
_FIELD = ("hard", "fixed", "lock_at", "never_lock", "question", "aliases", "derive")
_LARGEST = 1024 * 1024


def load(path: str | Path) -> Definition:
    """The definition in a ``.json`` or ``.toml`` file."""
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST:
            raise _wrong(f"{file} is larger than {_LARGEST:,} bytes")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise _wrong(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _wrong(f"{file} is not UTF-8 text") from error
    try:
        data = tomllib.loads(text) if file.suffix == ".toml" else msgspec.json.decode(text)
    except (tomllib.TOMLDecodeError, msgspec.DecodeError, RecursionError) as error:
        raise _wrong(f"{file} is neither JSON nor TOML: {error}") from None
    return from_data(data)


def from_data(data: Any) -> Definition:
    """The definition that plain data describes."""
    _table(data, _TOP, "a definition")
    if not isinstance(data.get("name"), str) or "schema" not in data:
        raise _wrong("a definition needs 'name' and 'schema'")
    try:
        parts: dict[str, Any] = {
            "fields": {name: _field(name, part) for name, part in dict(data.get("fields", {})).items()},
            "machine": _machine(data["machine"]) if "machine" in data else machines.DEFAULT,
            "rules": [_rule(part) for part in data.get("rules", ())],
            "migrations": [_migration(part) for part in data.get("migrations", ())],
        }
    except (TypeError, ValueError, AttributeError) as error:
        raise _wrong(f"a part of it has the wrong form ({error})") from None
    return define(
        data["name"], data["schema"], version=data.get("version", 1), title=str(data.get("title", "")), **parts
    )


def sum_matches(name: str, plan: str, total: str) -> Rule:
    """The numbers of the object ``plan`` add up to ``total``."""

    def check(spec: Mapping[str, Any]) -> str | None:
        found = _add(spec[plan])
        if found == spec[total]:
            return None
        return f"{plan.replace('_', ' ')} adds up to {found:g}, but {total.replace('_', ' ')} is {spec[total]:g}"

    return Rule(name=name, fields=(plan, total), check=check)


def in_order(name: str, *fields: str) -> Rule:
    """The values do not go down from field to field (numbers, or dates as ISO text)."""

    def check(spec: Mapping[str, Any]) -> str | None:
        for first, second in pairwise(fields):
            if spec[first] > spec[second]:
                return f"{second.replace('_', ' ')} comes before {first.replace('_', ' ')}"
        return None

    return Rule(name=name, fields=fields, check=check)


def days_between(start: str, end: str) -> Derive:
    """Whole days from one ISO date to another, both counted."""

    def derive(spec: Mapping[str, Any]) -> int | None:
        days = (date.fromisoformat(spec[end]) - date.fromisoformat(spec[start])).days + 1
        return days if days > 0 else None

    return derive


def sum_of(plan: str) -> Derive:
    """The sum of an object's numbers."""

    def derive(spec: Mapping[str, Any]) -> float:
        return _add(spec[plan])

    return derive


def _add(plan: Any) -> float:
    values = plan.values() if isinstance(plan, Mapping) else plan if isinstance(plan, list) else ()
    return sum(value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool))


def _field(name: str, part: Any) -> Field:
    _table(part, _FIELD, f"the field '{name}'")
    values = dict(part)
    if "derive" in values:
        values["derive"] = _derive(name, values["derive"])
    if "aliases" in values:
        values["aliases"] = tuple(str(alias) for alias in values["aliases"])
    return Field(**values)


def _derive(name: str, part: Any) -> Derive:
    _table(part, ("sum_of", "days_between"), f"the derived field '{name}'")
    if "sum_of" in part:
        return sum_of(str(part["sum_of"]))
    start, end = part["days_between"]
    return days_between(str(start), str(end))


def _rule(part: Any) -> Rule:
    _table(part, ("name", "sum_of", "equals", "ordered"), "a rule")
    name = str(part.get("name", ""))
    if "sum_of" in part and "equals" in part:
        return sum_matches(name, str(part["sum_of"]), str(part["equals"]))
    if isinstance(part.get("ordered"), list):
        return in_order(name, *(str(field) for field in part["ordered"]))
    raise _wrong(f"the rule '{name}' needs 'sum_of' and 'equals', or 'ordered'")


def _machine(part: Any) -> machines.Machine:
    _table(part, ("initial", "transitions", "collecting", "frozen"), "the machine")
    try:
        return machines.Machine(
            initial=str(part["initial"]),
            transitions={str(state): tuple(map(str, targets)) for state, targets in part["transitions"].items()},
            collecting=frozenset(map(str, part["collecting"])),
            frozen=frozenset(map(str, part.get("frozen", ()))),
        )
    except (KeyError, AttributeError, TypeError) as error:
        raise _wrong(f"the machine needs 'initial', 'transitions' and 'collecting' ({error})") from None


def _migration(part: Any) -> Migration:
    _table(part, ("to", "rename", "drop", "set", "states"), "a migration")

    def convert(spec: dict[str, Any]) -> dict[str, Any]:
        renamed = {part.get("rename", {}).get(name, name): value for name, value in spec.items()}
        kept = {name: value for name, value in renamed.items() if name not in part.get("drop", ())}
        return {**kept, **part.get("set", {})}

    return Migration(to=int(part.get("to", 0)), spec=convert, states=dict(part.get("states", {})))


def _table(part: Any, known: Iterable[str], what: str) -> None:
    if not isinstance(part, Mapping):
        raise _wrong(f"{what} is a table, not {type(part).__name__}")
    for name in part:
        if name not in known:
            close = difflib.get_close_matches(str(name), list(known), n=1)
            raise _wrong(
                f"{what} has the unknown key '{str(name)[:60]}'" + (f"; did you mean '{close[0]}'?" if close else "")
            )


def _wrong(what: str) -> InputError:
    return InputError(f"The workflow definition cannot be taken: {what.rstrip('.')}.", code="definition_invalid")
