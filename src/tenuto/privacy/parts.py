"""Erasing a part of what is kept of somebody, and taking back what a source brought in.

Both take the same things away (:mod:`tenuto.privacy.removal`). Erasing then also sees to the traces: in a store with
keys the user gets a new data key and the old one is destroyed, so that rows which the engine has only marked as deleted
cannot be opened any more; a SQLite file is written anew; working memory is dropped. The proof can be checked again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound
from tenuto.ports import Reader, Transaction, Where
from tenuto.privacy.erase import Proof, compacted, drop_caches, fingerprint, joined, left_of, signed, unreached
from tenuto.privacy.removal import Taken, take
from tenuto.privacy.removal_talk import take_session
from tenuto.privacy.removal_work import replies
from tenuto.privacy.reseal import rotate_user
from tenuto.privacy.vault import SealedVault
from tenuto.records.conversation import Message, Session
from tenuto.records.memory import Memory, Status
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.transfer import Import
from tenuto.text import clean

MEMORY, MESSAGE, SESSION, SOURCE = "memory", "message", "session", "source"


@dataclass(frozen=True, slots=True)
class Part:
    """``kind``: memory, message, session or source; ``id``: which one."""

    kind: str
    id: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What taking back a source did, or would do."""

    source: str
    since: datetime | None
    preview: bool
    removed: dict[str, int] = field(default_factory=dict)
    restored: int = 0
    """Memories that hold again, because what replaced them went."""
    stripped: int = 0
    """Memories and todos that stay, because the person vouched for them, without the evidence that went."""
    again: int = 0
    """Messages of others that are distilled again, because what they had in common with it went."""
    sample: tuple[str, ...] = ()
    """Some of the memories that go, in words."""


class _OnlyLooking(Exception):
    """Ends the transaction of a preview."""


def chosen(**given: str | None) -> Part:
    """The one part that was named."""
    named = [Part(kind, id) for kind, id in given.items() if id is not None]
    if len(named) != 1:
        raise InputError("Name one part to erase: a memory, a message, a session or a source.", code="part_invalid")
    return named[0]


def erase_part(deps: Deps, scope: Scope, part: Part) -> Proof:
    """Erase one part and everything that came of it, for good: also its copies in accounts that were joined."""
    if deps.accesses is not None:
        deps.accesses.flush()
    accounts = joined(deps, scope.user)
    taken, missing = Taken(), None
    for user in accounts:
        try:
            with deps.store.writing(user) as tx:
                taken.add(_take(deps, tx, replace(scope, user=user), part))
        except NotFound as error:
            missing = error
    if not taken.ids:
        raise missing or NotFound(
            f"There is nothing to erase of the {part.kind} {part.id[:80]!r}.", code="nothing_to_erase"
        )
    rotated: bool | None = None
    if isinstance(deps.vault, SealedVault):
        rotated = all([rotate_user(deps, user) > 1 for user in accounts])
    left: dict[str, int] = {}
    for user in accounts:
        drop_caches(deps, user)
    clean_files = compacted(deps)
    for user in accounts:
        for table, count in left_of(deps, user, taken.ids).items():
            left[table] = left.get(table, 0) + count
        if deps.working is not None and not deps.working.drop(user):
            left["working"] = 1
    with deps.store.reading(scope.user) as reader:
        chain = reader.chain()
    return signed(
        deps,
        Proof(
            user=fingerprint(scope.user, chain.subject if chain else ""),
            at=deps.clock(),
            store=deps.store.url,
            erased=taken.told(),
            left=left,
            key_destroyed=rotated,
            files_clean=clean_files,
            subject=chain.subject if chain else "",
            audit_count=chain.count if chain else 0,
            audit_head=chain.head if chain else "",
            part=part.kind,
            ids=taken.ids,
            elsewhere=unreached(key_destroyed=rotated is True, files_clean=clean_files),
            accounts=tuple(fingerprint(user, chain.subject if chain else "") for user in accounts),
        ),
    )


def undo(deps: Deps, scope: Scope, source: str, since: datetime | None = None, *, preview: bool = False) -> Undone:
    """Take back what a source brought in since a time, and what came of it."""
    name = clean.name(source, deps.policy.limits, what="source")
    moment = None if since is None else clean.moment(since, what="since")
    taken = Taken()
    try:
        with deps.store.writing(scope.user) as tx:
            taken = _take(deps, tx, scope, Part(SOURCE, name, moment))
            if preview:
                raise _OnlyLooking
    except _OnlyLooking:
        pass
    if not preview:
        drop_caches(deps, scope.user)
        if deps.working is not None:
            deps.working.drop(scope.user)
    removed = {name: count for name, count in taken.told().items() if count}
    return Undone(
        source=name,
        since=moment,
        preview=preview,
        removed=removed,
        restored=taken.restored,
        stripped=taken.stripped,
        again=taken.again,
        sample=tuple(taken.sample),
    )


def _take(deps: Deps, tx: Transaction, scope: Scope, part: Part) -> Taken:
    messages, memories = _selected(tx, scope, part)
    if not messages and not memories and part.kind != SESSION:
        return Taken()
    now = deps.clock()
    messages = [*messages, *replies(tx, messages)]
    taken = take(deps, tx, messages, memories, now)
    if part.kind == SESSION:
        take_session(deps, tx, _session(tx, part.id) if not messages else messages[0].session_id, taken.gone, now)
    if part.kind == SOURCE and part.since is None:
        brought = [one.id for one in tx.find(Import) if one.source == part.id]
        tx.remove(Import, *brought)
        taken.gone("imports", brought)
    tx.put(
        Event(
            id=deps.ids("evt", now),
            kind="part.removed",
            at=now,
            subject_kind=part.kind,
            subject_id=part.id,
            channel=scope.channel,
            persona=scope.persona,
            data=dict(taken.counts()),
        )
    )
    return taken


def _selected(tx: Transaction, scope: Scope, part: Part) -> tuple[list[Message], list[Memory]]:
    if part.kind == MEMORY:
        memory = tx.get(Memory, part.id)
        if memory is None:
            raise NotFound(f"There is no memory with the id {part.id[:80]!r}.")
        return [], [memory]
    if part.kind == MESSAGE:
        return [_message(tx, part.id)], []
    if part.kind == SESSION:
        return tx.find(Message, Where("session_id", "=", _session(tx, part.id)), order="seq"), []
    return _of_source(tx, part)


def _message(reader: Reader, id: str) -> Message:
    found = reader.get(Message, id) or next(iter(reader.find(Message, Where("external_id", "=", id), limit=1)), None)
    if found is None:
        raise NotFound(f"There is no message with the id {id[:80]!r}.")
    return found


def _session(reader: Reader, id: str) -> str:
    if reader.get(Session, id) is not None:
        return id
    found = reader.find(Session, Where("external_id", "=", id), limit=1)
    if not found:
        raise NotFound(f"There is no session with the id {id[:80]!r}.")
    return found[0].id


def _of_source(tx: Transaction, part: Part) -> tuple[list[Message], list[Memory]]:
    """Messages that arrived from it, and memories that it wrote without a message."""

    def its(source: str) -> bool:
        return source == part.id or source.startswith(f"{part.id}:")

    mark = 0
    if part.since is not None:
        before = tx.find(Event, Where("at", "<", part.since), order="-seq", limit=1)
        mark = before[0].seq if before else 0
    messages = [one for one in tx.find(Message, Where("seq", ">", mark), order="seq") if its(one.source)]
    memories = [
        one
        for one in tx.find(Memory)
        if its(one.source)
        and (one.status is Status.CANDIDATE or all(evidence.message_id is None for evidence in one.evidence))
        and (part.since is None or one.created_at >= part.since)
    ]
    return messages, memories
