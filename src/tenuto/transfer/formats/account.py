"""The account that an assistant writes when a person pastes the export prompt (``tenuto import --prompt``).

A model wrote it, so every entry is a candidate until the person has read it and vouches for it. Models wrap JSON in
prose and fences; the first object with our mark is taken, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import msgspec

from tenuto.errors import InputError
from tenuto.records.memory import Domain, Kind
from tenuto.records.transfer import Noted, Parsed, Skipped
from tenuto.transfer.parsing import Format, Options, digest, listing, mapping, moment, number, string, tidy
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import decoded

MARK = b'"tenuto_account"'
WHOLE = 4 * 1024**2
SECTIONS = {
    "about_me": (Domain.PROFILE, Kind.FACT),
    "preferences": (Domain.PROFILE, Kind.PREFERENCE),
    "people": (Domain.PEOPLE, Kind.RELATIONSHIP),
    "projects": (Domain.PROJECT, Kind.PROJECT),
    "health_and_safety": (Domain.PROFILE, Kind.CONSTRAINT),
    "habits": (Domain.PROFILE, Kind.HABIT),
    "commitments": (Domain.PROFILE, Kind.COMMITMENT),
    "boundaries": (Domain.RELATIONAL, Kind.BOUNDARY),
    "between_us": (Domain.RELATIONAL, Kind.RITUAL),
    "history": (Domain.PROFILE, Kind.TRAJECTORY),
    "open_threads": (Domain.RELATIONAL, Kind.RECURRING_SUBJECT),
}


def prompt() -> str:
    """What a person pastes into another assistant."""
    return files("tenuto.transfer").joinpath("account.md").read_text(encoding="utf-8")


def _members(source: Source) -> list[Member]:
    return [member for member in source.members if member.size <= WHOLE and MARK in member.head()]


def recognise(source: Source) -> bool:
    return len(source.members) <= 8 and bool(_members(source))


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        with source.stream(member) as file:
            account = found_in(decoded(file.read(WHOLE)))
        if account is None:
            raise InputError(
                f"{member.name} holds no account that can be read as JSON: ask the assistant to answer with the JSON "
                "block only, and save that.",
                code="import_damaged",
            )
        yield from _entries(account, options)


def found_in(text: str) -> dict[str, Any] | None:
    """The account inside a model's answer."""
    start = text.find(MARK.decode())
    opening = text.rfind("{", 0, start)
    if start < 0 or opening < 0:
        return None
    ends = [place + 1 for place, sign in enumerate(text[opening:]) if sign == "}"]
    for closing in reversed(ends[-50:]):
        try:
            found = msgspec.json.decode(text[opening : opening + closing])
        except (msgspec.DecodeError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


def _entries(account: dict[str, Any], options: Options) -> Iterator[Parsed]:
    author = string(account.get("from")) or "another assistant"
    for section, (domain, kind) in SECTIONS.items():
        for place, item in enumerate(listing(account.get(section)), 1):
            row = {"text": item} if isinstance(item, str) else mapping(item)
            text = tidy(row.get("text"))
            if not text:
                yield Skipped(where=f"{section} {place}", why="no text")
                continue
            name = string(row.get("name"))
            if name and name.casefold() not in text.casefold():
                relation = string(row.get("relation"))
                text = f"{name}{f' ({relation})' if relation else ''}: {text}"
            when = moment(row.get("when"), options.zone)
            yield Noted(
                id=digest(section, text),
                content=text,
                at=when if when is not None and when <= options.now else options.now,
                domain=domain,
                kind=kind,
                importance=number(row.get("importance"), 0, 10, 5.0),
                confidence=0.7 if row.get("sure") == "said" else 0.4,
                valid_from=when,
                metadata={"account": {"from": author[:100], "section": section, "sure": string(row.get("sure"))}},
            )


FORMAT = Format("account", "an account written by another assistant", recognise, parse)
