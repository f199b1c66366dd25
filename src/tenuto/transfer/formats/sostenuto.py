"""A sostenuto database, exported as JSON: one document with its tables, or one file per table.

Salience 0–1 becomes importance ×10; ``user_self`` and ``agent_self`` become profile and agent. Its ``should_do`` and
``should_not_do`` are instructions, so they are kept for reading only: standing instructions come from the operator.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from tenuto.records.conversation import Role
from tenuto.records.memory import Domain, Kind, Proactive
from tenuto.records.transfer import Noted, Parsed, Said, Skipped
from tenuto.transfer.formats.memories import document, load
from tenuto.transfer.parsing import Format, Options, listing, mapping, moment, number, string, tidy
from tenuto.transfer.source import Source
from tenuto.transfer.streams import decoded

TABLES = ("memory_objects", "messages", "sessions", "user_profile", "relationship_context_brief")
DOMAINS = {
    "user_self": Domain.PROFILE,
    "agent_self": Domain.AGENT,
    "relational": Domain.RELATIONAL,
    "evidence": Domain.EVIDENCE,
}
ROLES = {"user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL}


def recognise(source: Source) -> bool:
    if any(member.base.lower().startswith("memory_objects") for member in source.ending(".json", ".csv")):
        return True
    members = source.ending(".json")
    return len(members) == 1 and b'"memory_objects"' in members[0].head()


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    tables = _tables(source)
    sessions = {string(row.get("id")): row for row in tables["sessions"]}
    for row in tables["messages"]:
        yield _message(row, sessions.get(string(row.get("session_id")), {}))
    for row in tables["memory_objects"]:
        yield _memory(row, options)
    for name, kind in (("user_profile", Kind.CONTEXT_NOTE), ("relationship_context_brief", Kind.BRIEF)):
        for row in tables[name]:
            if text := tidy(row.get("content")):
                at = moment(row.get("last_refreshed")) or moment(row.get("refreshed_at")) or options.now
                yield Noted(id=name, content=text, at=at, kind=kind, importance=7.0)


def _tables(source: Source) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    named = {name: [m for m in source.ending(".json", ".csv") if m.base.lower().startswith(name)] for name in TABLES}
    if named["memory_objects"]:
        for name, members in named.items():
            for member in members:
                if member.name.lower().endswith(".csv"):
                    with source.stream(member) as file:
                        found[name] += list(csv.DictReader(io.StringIO(decoded(file.read()))))
                else:
                    found[name] += [mapping(row) for row in listing(load(source, member))]
        return found
    whole = document(source, ".json")
    for name in TABLES:
        rows = mapping(whole[1] if whole else {}).get(name)
        found[name] = [mapping(row) for row in ([rows] if isinstance(rows, dict) else listing(rows))]
    return found


def _message(row: dict[str, Any], session: dict[str, Any]) -> Parsed:
    id, text, at = string(row.get("id")), tidy(row.get("content")), moment(row.get("created_at"))
    role = ROLES.get(str(row.get("role")))
    if id is None or not text or at is None or role is None:
        return Skipped(
            where=f"message {id or '?'}", why="no text" if not text else "no date" if at is None else "no role"
        )
    thread = string(session.get("external_session_id")) or string(row.get("session_id")) or "sostenuto"
    return Said(
        id=id,
        content=text,
        role=role,
        at=at,
        thread=thread,
        title=string(session.get("headline")),
        mine=role is Role.USER,
        thinking=tidy(row.get("thinking")) or None,
    )


def _memory(row: dict[str, Any], options: Options) -> Parsed:
    id, text = string(row.get("id")), tidy(row.get("content"))
    if id is None or not text:
        return Skipped(where=f"memory {id or '?'}", why="no text")
    guidance = mapping(row.get("usage_guidance"))
    kind, proactive = str(row.get("type")), str(guidance.get("proactive_use"))
    noted = {name: row[name] for name in ("should_do", "should_not_do", "status", "source_surface") if row.get(name)}
    return Noted(
        id=f"memory-{id}",
        content=text,
        at=moment(row.get("created_at")) or options.now,
        domain=DOMAINS.get(str(row.get("domain")), Domain.PROFILE),
        kind=Kind(kind) if kind in list(Kind) else Kind.OTHER,
        importance=number(guidance.get("salience"), 0, 1, 0.5) * 10,
        confidence=number(row.get("confidence"), 0, 1, 0.5),
        proactive_use=Proactive(proactive) if proactive in list(Proactive) else Proactive.ONLY_WHEN_RELEVANT,
        valence=number(guidance.get("valence"), -1, 1, 0.0),
        arousal=number(guidance.get("arousal"), 0, 1, 0.0),
        deprecated=row.get("status") in ("deprecated", "forgotten"),
        metadata={"sostenuto": noted},
    )


FORMAT = Format("sostenuto", "sostenuto export", recognise, parse)
