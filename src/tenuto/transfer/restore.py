"""Bringing an export back.

With ``vouch`` the file is a backup and is believed: into a user of whom nothing is kept it gives an equal user; into
one with data the two are joined by the rules of :mod:`tenuto.identity.conflicts`, and nothing that was there is lost.
Without it the file is only a claim: its messages enter as external, its memories and todos as candidates, each with the
import's id as their source, so that ``undo`` and ``erase`` of that source reach all of it. What the engine made of them
there (summaries, portraits, entities, merges, states, addresses) is not taken at all: it is made anew from what is
believed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from tenuto.deps import Deps
from tenuto.errors import InputError
from tenuto.identity.conflicts import join_agents, join_entities, join_memories, join_states, settle_slot
from tenuto.ingest.observe import EMBED
from tenuto.ports import Transaction, Where
from tenuto.recall.entry import make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary
from tenuto.records.memory import (
    AgentState,
    Domain,
    Entity,
    Epistemic,
    Evidence,
    Kind,
    Memory,
    PinKind,
    Status,
    Todo,
    Trust,
)
from tenuto.records.operations import Job, JobStatus
from tenuto.records.scope import Identity, Scope, User
from tenuto.records.transfer import Import, ImportStatus
from tenuto.storage.tables import TABLES
from tenuto.transfer.export import STAY_HERE, VERSION
from tenuto.transfer.source import Source, opened
from tenuto.transfer.streams import lines

BY_NAME = {table.name: table for table in TABLES if table.type not in STAY_HERE}
BATCH = 1000
INDEXED = (Message, Memory, Summary, KeyPoint, Todo)
Progress = Callable[[int, int, Import], None]


def recognise(source: Source) -> bool:
    return len(source.members) == 1 and b'"tenuto":"export"' in source.members[0].head(512).replace(b": ", b":")


def is_export(deps: Deps, path: str | os.PathLike[str], format: str | None) -> bool:
    """Whether a path is an export of Tenuto (``format`` may say so)."""
    if format is not None:
        return format == "tenuto"
    with opened(path, deps.policy.importing) as source:
        return recognise(source)


def restore(
    deps: Deps, scope: Scope, path: str | os.PathLike[str], *, vouch: bool, progress: Progress | None = None
) -> Import:
    """Bring an export back; what came of it."""
    with opened(path, deps.policy.importing) as source:
        if not recognise(source):
            raise InputError(f"{source.name} is not an export of Tenuto.", code="format_unknown")
        now = deps.clock()
        head = _head(source)
        _check(source)
        run = Import(
            id=f"imp_{source.fingerprint()}",
            format="tenuto",
            name=source.name[:200],
            started_at=now,
            updated_at=now,
            vouched_at=now if vouch else None,
        )
        empty = _begin(deps, scope, run, head, vouch=vouch)
        rows = _rows(source)
        while batch := list(islice(rows, BATCH)):
            run = _take(deps, scope, run, batch, vouch=vouch, exact=vouch and empty)
            if progress is not None:
                progress(min(source.read, source.size), source.size, run)
        run = evolve(run, status=ImportStatus.DONE, finished_at=deps.clock())
        _finish(deps, scope, run, head, vouch=vouch, exact=vouch and empty)
        return run


def _begin(deps: Deps, scope: Scope, run: Import, head: dict[str, Any], *, vouch: bool) -> bool:
    """Whether the user is made anew: nothing was kept of them, or a restore of this very file was cut short."""
    with deps.store.writing(scope.user) as tx:
        known = tx.get(Import, run.id)
        cut_short = known is not None and known.status is ImportStatus.RUNNING and known.vouched_at is not None
        empty = tx.profile() is None or cut_short
        if empty and vouch:
            tx.set_user(User(user_id=scope.user, created_at=run.started_at, seq=int(head.get("seq") or 0)))
            tx.put(run)
        return empty


def _head(source: Source) -> dict[str, Any]:
    line = source.members[0].head(1 << 16).partition(b"\n")[0].strip()
    if line.endswith(b"["):
        line += b"]}"
    try:
        head = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise InputError(f"The first line of {source.name} cannot be read: {error}.", code="import_damaged") from error
    if not isinstance(head.get("version"), int) or head["version"] > VERSION:
        raise InputError(
            f"{source.name} was written by a newer Tenuto (export version {head.get('version')}): upgrade first.",
            code="import_newer",
        )
    return head


def _check(source: Source) -> None:
    """Refuse a copy that is cut off or was changed, before anything is written."""
    digest, end = sha256(), None
    for _, line in _raw(source):
        if line.startswith(b'{"table":"end"'):
            end = msgspec.json.decode(line)
        else:
            digest.update(line + b"\n")
    source.read = 0
    if end is None:
        raise InputError(
            f"{source.name} is cut off: its last line is missing. Nothing was written.", code="import_damaged"
        )
    if end.get("sha256") != digest.hexdigest():
        raise InputError(f"{source.name} was changed after it was written. Nothing was written.", code="import_damaged")


def _raw(source: Source) -> Iterator[tuple[int, bytes]]:
    for number, line in lines(source, source.members[0], 1 << 30):
        if number > 1 and isinstance(line, bytes) and line.startswith(b"{"):
            yield number, line.rstrip(b",")


def _rows(source: Source) -> Iterator[Any]:
    for number, line in _raw(source):
        try:
            row = msgspec.json.decode(line, type=dict[str, Any])
            name = row.pop("table")
            if name == "end":
                return
            yield msgspec.convert(row, type=BY_NAME[name].type)
        except (msgspec.MsgspecError, KeyError) as error:
            raise InputError(f"{source.name} line {number} cannot be read: {error}.", code="import_damaged") from error


def _take(deps: Deps, scope: Scope, run: Import, batch: list[Any], *, vouch: bool, exact: bool) -> Import:
    key = deps.vault.index_key(scope.user)
    with deps.store.writing(scope.user) as tx:
        if exact:
            kept = [_at_rest(record) for record in batch]
            tx.put(*kept)
        else:
            kept = [one for record in batch for one in _joined(tx, record, run, deps.clock(), vouch=vouch)]
            tx.put(*kept)
        tx.index(*[make_entry(record, key) for record in kept if indexed(record)])
    messages = sum(isinstance(record, Message) for record in kept)
    memories = sum(isinstance(record, Memory) for record in kept)
    return evolve(run, messages=run.messages + messages, memories=run.memories + memories, updated_at=deps.clock())


def indexed(record: Any) -> bool:
    """Whether recall may find it: what was forgotten, archived or replaced is not in the index."""
    if isinstance(record, Memory):
        return record.status not in (Status.FORGOTTEN, Status.ARCHIVED, Status.DEPRECATED)
    if isinstance(record, Summary):
        return record.current
    return isinstance(record, INDEXED)


def _at_rest(record: Any) -> Any:
    return evolve(record, status=JobStatus.PENDING, lease_until=None) if _running(record) else record


def _running(record: Any) -> bool:
    return isinstance(record, Job) and record.status is JobStatus.RUNNING


def lower(record: Any, run: Import) -> Any | None:
    """A record as far as it may be believed from a file that nobody vouches for; ``None`` leaves it out."""
    if isinstance(record, Message):
        return evolve(record, trust=Trust.EXTERNAL, source=run.source, seq=0)
    if isinstance(record, Session):
        return Session(
            id=record.id,
            persona=record.persona,
            channel=record.channel,
            started_at=record.started_at,
            last_activity_at=record.last_activity_at,
            status=record.status,
            ended_at=record.ended_at,
            external_id=record.external_id,
            turn_count=record.turn_count,
        )
    if isinstance(record, Memory):
        return _claimed(record, run)
    return _claimed(_noted(record), run) if isinstance(record, Todo) else None


def _claimed(memory: Memory, run: Import) -> Memory:
    """A memory as a candidate that occupies nothing and rests on nothing but the import."""
    wishes = {"import": {"pin": (memory.pin_kind or PinKind.AUTO).value} if memory.pinned else {}}
    return evolve(
        memory,
        status=Status.CANDIDATE,
        trust=Trust.EXTERNAL,
        source=run.source,
        slot=None,
        pinned=False,
        pin_kind=None,
        should_do=None,
        should_not_do=None,
        supersedes=None,
        derived_from=(),
        evidence=tuple(evolve(one, message_id=None, trust=Trust.EXTERNAL) for one in memory.evidence),
        metadata={**memory.metadata, **wishes},
    )


def _noted(todo: Todo) -> Memory:
    """A todo that somebody claims, as a memory: it is due to nobody until it is believed."""
    return Memory(
        id=f"mem_{todo.id}",
        content=todo.content,
        domain=Domain.PROFILE,
        kind=Kind.COMMITMENT,
        created_at=todo.created_at,
        updated_at=todo.updated_at,
        key=f"{Domain.PROFILE}|||{Kind.COMMITMENT}|",
        persona=todo.persona,
        importance=todo.importance,
        epistemic=Epistemic.INFERRED,
        surface="import",
        made_by="import:tenuto",
        evidence=(Evidence(message_id=None, at=todo.created_at, trust=Trust.EXTERNAL),),
        happens_at=todo.due,
    )


def _joined(tx: Transaction, record: Any, run: Import, now: Any, *, vouch: bool) -> Iterable[Any]:
    """What a row of the file comes to; a claim never touches what is there under the same id."""
    if vouch:
        return join(tx, record, now)
    claimed = lower(record, run)
    return [] if claimed is None or tx.get(type(claimed), claimed.id) is not None else join(tx, claimed, now)


def join(tx: Transaction, record: Any, now: Any) -> Iterable[Any]:
    """What to write so that a record is united with what is there; nothing if it adds nothing."""
    known = tx.get(type(record), record.id)
    if isinstance(record, Memory):
        return _join_memory(tx, record, known, now)
    if isinstance(record, Entity) and known is not None:
        return [join_entities(known, record)]
    if isinstance(record, SessionState) and known is not None:
        return [join_states(known, record)]
    if isinstance(record, AgentState) and known is not None:
        return [join_agents(known, record)]
    if known is not None:
        return []
    if isinstance(record, Message) and _taken(tx, record):
        return []
    if isinstance(record, Todo) and record.slot is not None and tx.find(Todo, Where("slot", "=", record.slot), limit=1):
        return []
    if hasattr(record, "external_id") and _taken(tx, record):
        record = evolve(record, external_id=None)
    return [evolve(_at_rest(record), seq=0)] if hasattr(record, "seq") else [_at_rest(record)]


def _taken(tx: Transaction, record: Any) -> bool:
    """Whether the caller's own id of a record is in use."""
    id = record.external_id
    if id is None:
        return False
    named = tx.find(type(record), Where("external_id", "=", id))
    return any(not isinstance(record, Session) or one.persona == record.persona for one in named)


def _join_memory(tx: Transaction, record: Memory, known: Memory | None, now: Any) -> list[Any]:
    if known is not None:
        together = join_memories(known, record)
        return [] if together == known else [evolve(together, slot=known.slot)]
    if record.slot is None:
        return [record]
    holders = tx.find(Memory, Where("slot", "=", record.slot), limit=1)
    if not holders:
        return [record]
    winner, loser = settle_slot(holders[0], record, now)
    return [loser, winner]


def _finish(deps: Deps, scope: Scope, run: Import, head: dict[str, Any], *, vouch: bool, exact: bool) -> None:
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        profile = tx.profile() or User(user_id=scope.user, created_at=now)
        if vouch:
            settings = head.get("settings") if isinstance(head.get("settings"), dict) else {}
            zone = str(head.get("timezone") or profile.timezone) if exact else profile.timezone
            tx.set_user(
                evolve(
                    profile,
                    settings={**(settings or {}), **profile.settings},
                    timezone=zone,
                )
            )
        tx.put(run)
        tx.add(Job(id=deps.ids("job", now), kind=EMBED, created_at=now, run_at=now, dedupe=EMBED))
        identities = tx.find(Identity)
    if vouch:
        for identity in identities:
            if identity.verified_at is not None:
                with deps.store.address(identity.channel, identity.address) as place:
                    if place.holder() is None:
                        place.hold(scope.user)
