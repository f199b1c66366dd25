"""Everything of a user as one file: JSON lines (or one JSON document of the same lines), or Markdown to read.

The file begins with a line about itself, has one line per record, and ends with a line that counts and hashes them, so
that a cut-off copy is recognised. It is written beside its place and moved there when it is whole, readable by its
owner only. ``docs/export.md`` describes every field.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import msgspec

from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound, NotWritable
from tenuto.ports import Reader
from tenuto.records.access import ApiKey, Replay
from tenuto.records.base import to_plain
from tenuto.records.conversation import Message, Session, Summary
from tenuto.records.memory import RECALLED, Domain, Entity, Memory, Todo, TodoStatus
from tenuto.records.operations import Job, JobStatus
from tenuto.records.scope import Identity, Scope
from tenuto.records.workflow import ModelKey
from tenuto.storage.tables import TABLES, Table

VERSION = 1
PAGE = 1000
SUFFIXES = (".json", ".jsonl", ".md")
STAY_HERE = (ApiKey, Replay, ModelKey)
"""Keys and what belongs to them never leave the store."""


def export(deps: Deps, scope: Scope, path: str | os.PathLike[str]) -> dict[str, int]:
    """Write everything of a user to a file; how many records of each kind."""
    place = Path(path)
    if place.suffix.lower() not in SUFFIXES:
        raise InputError(f"{place.name}: an export ends in .json, .jsonl or .md.", code="export_kind")
    now = deps.clock()
    try:
        with NamedTemporaryFile("wb", dir=place.parent, prefix=f".{place.name}.", delete=False) as file:
            try:
                with deps.store.reading(scope.user) as reader:
                    counts = _write(reader, scope, now, place.suffix.lower(), file)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, place)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise NotWritable(f"{place} cannot be written: {error.strerror}.") from error
    return counts


def _write(reader: Reader, scope: Scope, now: datetime, suffix: str, file: IO[bytes]) -> dict[str, int]:
    if reader.profile() is None:
        raise NotFound(f"Nothing is kept of {scope.user!r}.", code="user_unknown")
    if suffix == ".md":
        return _write_markdown(reader, scope, now, file)
    counts: dict[str, int] = {}
    digest, total = sha256(), 0
    head = msgspec.json.encode(header(reader, scope, now))
    document = suffix == ".json"
    file.write(head[:-1] + b',"rows":[\n' if document else head + b"\n")
    for row in rows(reader):
        line = msgspec.json.encode(row)
        digest.update(line + b"\n")
        file.write(line + (b",\n" if document else b"\n"))
        counts[row["table"]] = counts.get(row["table"], 0) + 1
        total += 1
    end = {"table": "end", "rows": total, "sha256": digest.hexdigest()}
    file.write(msgspec.json.encode(end) + (b"\n]}\n" if document else b"\n"))
    return counts


def header(reader: Reader, scope: Scope, now: datetime) -> dict[str, Any]:
    """What the file says about itself."""
    profile = reader.profile()
    return {
        "tenuto": "export",
        "version": VERSION,
        "user": scope.user,
        "exported_at": now.isoformat(),
        "seq": profile.seq if profile else 0,
        "timezone": profile.timezone if profile else "UTC",
        "settings": profile.settings if profile else {},
    }


def rows(reader: Reader) -> Iterator[dict[str, Any]]:
    """Every record of the user as a plain object with the name of its table."""
    for table in TABLES:
        if table.type in STAY_HERE:
            continue
        for record in records(reader, table):
            if isinstance(record, Job) and record.status in (JobStatus.DONE, JobStatus.CANCELLED):
                continue
            yield {"table": table.name, **to_plain(record)}


def records(reader: Reader, table: Table) -> Iterator[Any]:
    """All records of one table, a page at a time."""
    if table.keyed_id:
        yield from reader.find(table.type)
        return
    after: tuple[str, str] | None = None
    while page := reader.find(table.type, limit=PAGE, after=after):
        yield from page
        after = (page[-1].id, page[-1].id)


# --- Markdown ---------------------------------------------------------------------------------------------------------


def _write_markdown(reader: Reader, scope: Scope, now: datetime, file: IO[bytes]) -> dict[str, int]:
    counts: dict[str, int] = {}

    def line(text: str = "") -> None:
        file.write(text.encode("utf-8", "replace") + b"\n")

    line(f"# What is kept of {scope.user}")
    line(f"\nWritten on {now:%Y-%m-%d %H:%M} UTC. Times are UTC.")
    memories = reader.find(Memory, order="-importance")
    counts["memories"] = len(memories)
    _memories(line, memories)
    counts["todos"] = _todos(line, reader.find(Todo, order="created_at"))
    counts["entities"] = _entities(line, reader.find(Entity, order="-mentions"))
    counts["summaries"] = _summaries(line, reader.find(Summary, order="-created_at"))
    counts["identities"] = _identities(line, reader.find(Identity))
    counts["sessions"], counts["messages"] = _sessions(line, reader)
    return counts


def _memories(line: Any, memories: list[Memory]) -> None:
    current = [memory for memory in memories if memory.status in RECALLED]
    pinned = [memory for memory in current if memory.pinned]
    for title, chosen in (
        ("Pinned", pinned),
        *((domain.value.capitalize(), _of(current, domain)) for domain in Domain),
    ):
        if chosen:
            line(f"\n## {title}\n")
            for memory in chosen:
                said = min((one.at for one in memory.evidence), default=memory.created_at)
                line(
                    f"- {_flat(memory.content)} "
                    f"*({memory.kind}, importance {memory.importance:g}, since {said:%Y-%m-%d})*"
                )
    others = [memory for memory in memories if memory.status not in RECALLED]
    if others:
        line("\n## Not in use\n")
        for memory in others:
            line(f"- {_flat(memory.content)} *({memory.status})*")


def _of(memories: list[Memory], domain: Domain) -> list[Memory]:
    return [memory for memory in memories if memory.domain is domain and not memory.pinned]


def _todos(line: Any, todos: list[Todo]) -> int:
    if todos:
        line("\n## To do and to come back to\n")
    for todo in todos:
        mark = "x" if todo.status is TodoStatus.DONE else " "
        due = f", due {todo.due:%Y-%m-%d}" if todo.due else ""
        line(f"- [{mark}] {_flat(todo.content)} *({todo.kind}, {todo.status}{due})*")
    return len(todos)


def _entities(line: Any, entities: list[Entity]) -> int:
    if entities:
        line("\n## People, places, projects\n")
    for entity in entities:
        aliases = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
        line(f"- {entity.label} *({entity.type}{aliases})*")
    return len(entities)


def _summaries(line: Any, summaries: list[Summary]) -> int:
    if summaries:
        line("\n## Summaries")
    for summary in summaries:
        line(f"\n### {summary.kind}, {summary.created_at:%Y-%m-%d}{'' if summary.current else ' (older version)'}\n")
        line(summary.content)
    return len(summaries)


def _identities(line: Any, identities: list[Identity]) -> int:
    if identities:
        line("\n## Addresses\n")
    for identity in identities:
        line(f"- {identity.channel}: {identity.address}{'' if identity.verified_at else ' (not verified)'}")
    return len(identities)


def _sessions(line: Any, reader: Reader) -> tuple[int, int]:
    """Conversations by session; a page of messages at a time, in order."""
    session, count, seen = None, 0, set[str]()
    after: tuple[Any, str] | None = None
    while page := reader.find(Message, order="at", limit=PAGE, after=after):
        names = reader.get_many(Session, list({message.session_id for message in page}))
        for message in page:
            if count == 0:
                line("\n## Conversations")
            if message.session_id != session:
                session = message.session_id
                seen.add(session)
                found = names.get(session)
                title = f": {found.headline}" if found and found.headline else ""
                line(f"\n### {message.at:%Y-%m-%d %H:%M}, {message.channel}{title}\n")
            line(f"**{_flat(message.speaker or message.role.value)}** ({message.at:%H:%M}): {message.content}\n")
            count += 1
        after = (page[-1].at, page[-1].id)
    return len(seen), count


def _flat(text: str) -> str:
    return " ".join(text.split())
