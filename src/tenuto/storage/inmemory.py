"""The fake: everything in dictionaries, gone with the process. Keeps the same contract as the real engines.

For unit tests of logic and for trying things out. One lock around everything stands for one writer; an undo log stands
for the transaction. It enforces the unique columns that the SQL schema has, because callers rely on being refused.
"""
# Over 400 lines: the whole fake in one place, so that it can be compared with the contract.

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec

from tenuto import call_context
from tenuto.errors import Conflict, InputError, StoreClosed
from tenuto.ports import AddressBook, Clock, Moved, Reader, Transaction, Vault, Vectors, Where
from tenuto.records.access import ApiKey
from tenuto.records.audit import ERASE, GONE, PROFILE, Chain, Link, ListedRow
from tenuto.records.base import evolve, micros
from tenuto.records.conversation import Message, Session, SessionStatus, Summary
from tenuto.records.identity import Challenge
from tenuto.records.memory import RECALLED, Memory, Status, Todo
from tenuto.records.operations import REMOVALS_KEPT, Entry, EntryKind, EntryRows, Event, Job, JobStatus
from tenuto.records.scope import Revision, User
from tenuto.storage import vectors
from tenuto.storage.audit_link import Changes, new_subject, next_link, row_name, written
from tenuto.storage.tables import TABLES, Table, encode, new_revision, table_of

T = TypeVar("T")
UNIQUE: dict[type[Any], Callable[[Any], Any]] = {
    Message: lambda record: record.external_id,
    Session: lambda record: (record.external_id, record.persona) if record.external_id is not None else None,
    Memory: lambda record: record.slot,
    Todo: lambda record: record.slot,
    Event: lambda record: record.seq,
    ApiKey: lambda record: record.digest,
    Job: lambda record: record.dedupe if record.status is JobStatus.PENDING else None,
}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


class Space:
    """Everything of one user."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.user: User | None = None
        self.rows: dict[type[Any], dict[str, Any]] = {table.type: {} for table in TABLES}
        self.unique: dict[type[Any], dict[Any, str]] = {type_: {} for type_ in UNIQUE}
        self.revisions: dict[tuple[str, str], int] = {}
        """Of each row that the audit log lists, by table and id."""
        self.entries: dict[tuple[EntryKind, str], Entry] = {}
        self.removed: dict[int, str] = {}
        """The id of each entry that was taken away, by the number of its removal; the newest of them."""
        self.subject = new_subject()
        self.links: list[Link] = []


def _meets(record: Any, where: Sequence[Where]) -> bool:
    table = table_of(type(record))
    for condition in where:
        if condition.op == "has":
            if condition.column != table.many:
                raise InputError(f"'{condition.column}' of {table.name} does not hold several values.")
            if condition.value not in getattr(record, condition.column):
                return False
            continue
        value = getattr(record, table.column(condition.column).name)
        if condition.op in ("is", "is not") and condition.value is None:
            if (value is None) != (condition.op == "is"):
                return False
        elif condition.op == "in":
            if value not in list(condition.value):
                return False
        elif condition.op not in COMPARE:
            raise InputError(f"'{condition.op}' is not a comparison. Known: {', '.join(COMPARE)}, in, is, has.")
        elif condition.value is None:
            raise InputError(f"Compare {condition.column} with a value, or ask whether it 'is' None.")
        elif value is None or not COMPARE[condition.op](value, condition.value):
            return False
    return True


class MemoryReader:
    def __init__(self, space: Space, user: str) -> None:
        self._space = space
        self._user = user

    @property
    def user(self) -> str:
        return self._user

    def profile(self) -> User | None:
        return self._space.user

    def revision(self) -> Revision | None:
        user, links = self._space.user, self._space.links
        if user is None:
            return None
        return Revision(micros(user.created_at), user.seq, user.epoch, links[-1].hash if links else "")

    def get(self, type_: type[T], id: str) -> T | None:
        return self._table(type_).get(id)

    def get_many(self, type_: type[T], ids: Sequence[str]) -> dict[str, T]:
        rows = self._table(type_)
        return {id: rows[id] for id in ids if id in rows}

    def find(
        self,
        type_: type[T],
        *where: Where,
        order: str = "id",
        limit: int | None = None,
        after: tuple[Any, str] | None = None,
    ) -> list[T]:
        name, descending = order.removeprefix("-"), order.startswith("-")
        table_of(type_).column(name)
        found: list[Any] = [record for record in self._table(type_).values() if _meets(record, where)]
        present = sorted(
            (record for record in found if getattr(record, name) is not None),
            key=lambda record: (getattr(record, name), record.id),
            reverse=descending,
        )
        absent = sorted(
            (record for record in found if getattr(record, name) is None),
            key=lambda record: str(record.id),
            reverse=descending,
        )
        if after is not None:
            mark = (after[1], after[1]) if name == "id" else after
            present = [record for record in present if _beyond((getattr(record, name), record.id), mark, descending)]
        return [*present, *absent][:limit]

    def count(self, type_: type[Any], *where: Where) -> int:
        return len(self.ids(type_, *where))

    def ids(self, type_: type[Any], *where: Where) -> set[str]:
        return {id for id, record in self._table(type_).items() if _meets(record, where)}

    def stats(self) -> dict[str, Any]:
        messages = list(self._table(Message).values())
        memories = [memory for memory in self._table(Memory).values() if memory.status in (*RECALLED, Status.CANDIDATE)]
        times = [message.at for message in messages]
        return {
            "total_messages": len(messages),
            "total_memories": len(memories),
            "total_summaries": sum(summary.current for summary in self._table(Summary).values()),
            "total_pins": sum(memory.pinned and memory.status in RECALLED for memory in memories),
            "oldest_message": min(times, default=None),
            "newest_message": max(times, default=None),
            "average_importance": sum(m.importance for m in messages) / len(messages) if messages else None,
        }

    def entries_since(self, seq: int, limit: int) -> list[Entry]:
        newer = [entry for entry in self._space.entries.values() if entry.seq > seq]
        return sorted(newer, key=lambda entry: entry.seq)[:limit]

    def entry_rows(self, seq: int, limit: int) -> EntryRows:
        return EntryRows.of(self.entries_since(seq, limit))

    def removed_since(self, seq: int) -> list[str] | None:
        found = [id for number, id in self._space.removed.items() if number > seq]
        return found[::-1] if len(found) < REMOVALS_KEPT else None

    def unembedded(self, model: str, limit: int) -> list[Entry]:
        waiting = [entry for entry in self._space.entries.values() if entry.model != model]
        return sorted(waiting, key=lambda entry: -entry.seq)[:limit]

    def nearest(self, kind: EntryKind, vector: Vectors, model: str, limit: int) -> list[tuple[str, float]]:
        rows = [
            (entry.id, entry.vector)
            for entry in self._space.entries.values()
            if entry.kind is kind and entry.model == model and entry.vector is not None
        ]
        return vectors.nearest(rows, vector, limit)

    def chain(self) -> Chain | None:
        links = self._space.links
        if self._space.user is None and not links:
            return None
        return Chain(
            holder=self._user,
            subject=self._space.subject,
            count=len(links),
            head=links[-1].hash if links else "",
            live=self._space.user is not None,
        )

    def covered(self) -> bool:
        """There is no earlier release of what is only in memory."""
        return self._space.user is not None

    def listed_rows(self) -> Iterator[ListedRow]:
        if self._space.user is not None:
            yield ListedRow(*PROFILE, _digest_of_user(self._space.vault, self._space.user))
        for table in TABLES:
            for record in self._space.rows[table.type].values() if table.listed else ():
                revision = self._space.revisions.get((table.name, record.id), 0)
                yield ListedRow(table.name, row_name(table.name, record.id, revision), self._digest(record, revision))

    def _digest(self, record: Any, revision: int) -> str:
        return encode(record, table_of(type(record)), self._space.vault, self._user, revision).digest

    def links(self, after: int = 0, limit: int = 1000) -> list[Link]:
        return self._space.links[after : after + limit]

    def last_links(self, before: int | None = None, limit: int = 100) -> list[Link]:
        return self._space.links[: None if before is None else max(before - 1, 0)][::-1][:limit]

    def _table(self, type_: type[T]) -> dict[str, T]:
        table_of(type_)
        return self._space.rows[type_]


class MemoryTransaction(MemoryReader):
    def __init__(self, space: Space, user: str, now: datetime) -> None:
        super().__init__(space, user)
        self._now = now
        self._undo: list[Callable[[], None]] = []
        self._changes = Changes()
        self._witnessed: list[tuple[str, str, str]] = []
        self.happened = 0

    def put(self, *records: Any) -> None:
        for record in records:
            if not self._insert(record, replace=True):
                raise Conflict(f"Something with the same key is there already ({type(record).__name__}).")

    def add(self, record: Any) -> bool:
        return self._insert(record, replace=False)

    def remove(self, type_: type[Any], *ids: str) -> int:
        rows, removed = self._table(type_), 0
        for id in ids:
            if id in rows:
                self._free(rows[id])
                self._set(rows, id, None)
                self._changes.remove(table_of(type_).name)
                self._unlist(table_of(type_), id)
                removed += 1
        if removed and not table_of(type_).aside:
            self._advance(epoch=1)
        return removed

    def clear(self, type_: type[Any]) -> None:
        rows = self._table(type_)
        for id in list(rows):
            self._free(rows[id])
            self._set(rows, id, None)
            self._unlist(table_of(type_), id)

    def _list(self, table: Table, record: Any) -> None:
        """Note that a row was written."""
        self._changes.put(table.name)
        if table.listed:
            self._unlist(table, record.id)
            revision = new_revision()
            self._set(self._space.revisions, (table.name, record.id), revision)
            name = row_name(table.name, record.id, revision)
            self._changes.set_row(table.name, name, self._digest(record, revision))

    def _unlist(self, table: Table, id: str) -> None:
        if (revision := self._space.revisions.get((table.name, id))) is not None:
            self._changes.set_row(table.name, row_name(table.name, id, revision), "")
            self._set(self._space.revisions, (table.name, id), None)

    def relist(self) -> None:
        self._changes.listed = True

    def reseal(self) -> None:
        """Nothing here is ever sealed."""

    def index(self, *entries: Entry) -> None:
        for entry in entries:
            numbered = evolve(entry, seq=self._advance(seq=1).seq, model=entry.model or None)
            self._set(self._space.entries, (entry.kind, entry.id), numbered)
            self._changes.put("entries")

    def unindex(self, kind: EntryKind, *ids: str) -> None:
        for id in ids:
            if (kind, id) in self._space.entries:
                self._set(self._space.entries, (kind, id), None)
                self._changes.remove("entries")
                self._set(self._space.removed, self._advance(seq=1, epoch=1).seq, id)

    def embed(self, model: str, vectors: Mapping[tuple[EntryKind, str], bytes]) -> int:
        done = 0
        for key, vector in vectors.items():
            if entry := self._space.entries.get(key):
                numbered = evolve(entry, seq=self._advance(seq=1).seq, model=model, vector=vector)
                self._set(self._space.entries, key, numbered)
                self._changes.put("entries")
                done += 1
        return done

    def set_user(self, user: User) -> None:
        self._changes.put("users")
        current = self._advance()
        seq = max(current.seq, user.seq)
        self._set_user(evolve(current, timezone=user.timezone, settings=user.settings, seq=seq))

    @property
    def changed(self) -> bool | None:
        """Whether the audit log tells of a change; ``None`` for what it does not tell of at all."""
        return bool(self._changes or self._witnessed) or (None if self._changes.unsaid else False)

    def witness(self, actor: str, verb: str, said: Mapping[str, Any]) -> None:
        self._witnessed.append((actor, verb, written(dict(said))))

    def flush(self) -> None:
        """Write what happened into the audit log; called once, when nothing can fail any more."""
        said = self._changes.said(self._witnessed)
        for seq in list(self._space.removed)[:-REMOVALS_KEPT]:
            del self._space.removed[seq]
        links = self._space.links
        for actor, verb, body in said if self._space.user is not None else ():
            head = links[-1].hash if links else ""
            links.append(next_link(None, self._space.subject, len(links) + 1, head, self._now, actor, verb, body))

    def rollback(self) -> None:
        for step in reversed(self._undo):
            step()

    def _insert(self, record: Any, *, replace: bool) -> bool:
        type_ = type(record)
        rows = self._table(type_)
        self._advance()
        if getattr(record, "seq", None) == 0:
            record = evolve(record, seq=self._advance(seq=1).seq)
        if type_ is Job:
            record = evolve(record, user_id=self._user)
        if type_ is Event:
            self.happened = record.seq
        mark = UNIQUE[type_](record) if type_ in UNIQUE else None
        holder = self._space.unique[type_].get(mark) if mark is not None else None
        if (record.id in rows and not replace) or (holder is not None and holder != record.id):
            return False
        if record.id in rows:
            self._free(rows[record.id])
        self._set(rows, record.id, record)
        self._list(table_of(type_), record)
        if mark is not None:
            self._set(self._space.unique[type_], mark, record.id)
        return True

    def _free(self, record: Any) -> None:
        if type(record) in UNIQUE and (mark := UNIQUE[type(record)](record)) is not None:
            self._set(self._space.unique[type(record)], mark, None)

    def _set(self, rows: dict[Any, Any], key: Any, value: Any) -> None:
        before = rows.get(key)
        self._undo.append(lambda: rows.pop(key, None) and None if before is None else rows.__setitem__(key, before))
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value

    def _advance(self, *, seq: int = 0, epoch: int = 0) -> User:
        self._changes.listed = self._changes.listed or self._space.user is None
        user = self._space.user or User(user_id=self._user, created_at=self._now)
        user = evolve(user, seq=user.seq + seq, epoch=user.epoch + epoch)
        self._set_user(user)
        return user

    def _set_user(self, user: User) -> None:
        before = self._space.user
        self._undo.append(lambda: setattr(self._space, "user", before))
        self._space.user = user
        if before is None or (before.timezone, before.settings) != (user.timezone, user.settings):
            self._changes.set_row(*PROFILE, _digest_of_user(self._space.vault, user))


class MemoryAddress:
    """One address."""

    def __init__(
        self, holders: dict[tuple[str, str], str], challenges: dict[str, Challenge], place: tuple[str, str]
    ) -> None:
        self._holders = holders
        self._challenges = challenges
        self._place = place

    def holder(self) -> str | None:
        return self._holders.get(self._place)

    def hold(self, user: str) -> None:
        self._holders[self._place] = user

    def release(self) -> None:
        self._holders.pop(self._place, None)

    def challenges(self) -> list[Challenge]:
        return sorted(self._challenges.values(), key=lambda one: (one.created_at, one.id))

    def put(self, challenge: Challenge) -> None:
        self._challenges[challenge.id] = challenge

    def drop(self, *ids: str) -> None:
        for id in ids:
            self._challenges.pop(id, None)


class InMemoryStore:
    """A store that lives as long as the process."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._lock = threading.RLock()
        self._spaces: dict[str, Space] = {}
        self._holders: dict[tuple[str, str], str] = {}
        self._challenges: dict[tuple[str, str], dict[str, Challenge]] = {}
        self._on_events: Callable[[str, int], None] | None = None
        self._on_touch: Callable[[str, bool], None] | None = None
        self._gone: dict[str, Space] = {}
        self._facts: dict[str, str] = {}
        self._closed = False

    @property
    def url(self) -> str:
        return "memory:"

    @contextmanager
    def reading(self, user: str, at: Revision | None = None) -> Iterator[Reader]:
        self._touched(user, False)
        with self._locked():
            reader = MemoryReader(self._spaces.get(user) or self._gone.get(user) or Space(self._vault), user)
            if at is not None and reader.revision() != at:
                raise Moved
            yield reader

    @contextmanager
    def writing(self, user: str) -> Iterator[Transaction]:
        with self._locked():
            space = self._spaces.setdefault(user, Space(self._vault))
            transaction = MemoryTransaction(space, user, self._clock())
            try:
                yield transaction
                transaction.flush()
            except BaseException:
                transaction.rollback()
                raise
            finally:
                if space.user is None:
                    self._spaces.pop(user, None)
        self._touched(user, transaction.changed)
        if transaction.happened and self._on_events is not None:
            self._on_events(user, transaction.happened)

    def holder(self, channel: str, address: str) -> str | None:
        with self._locked():
            return self._holders.get((channel, address))

    @contextmanager
    def address(self, channel: str, address: str) -> Iterator[AddressBook]:
        with self._locked():
            before = dict(self._holders), {place: dict(rows) for place, rows in self._challenges.items()}
            try:
                place = (channel, address)
                yield MemoryAddress(self._holders, self._challenges.setdefault(place, {}), place)
            except BaseException:
                self._holders, self._challenges = before
                raise

    def rekey_addresses(self) -> int:
        """Nothing here is ever sealed."""
        return 0

    def when_events(self, callback: Callable[[str, int], None] | None) -> None:
        self._on_events = callback

    def when_touched(self, callback: Callable[[str, bool], None] | None) -> None:
        self._on_touch = callback

    def chains(self, after: str = "", limit: int = 1000) -> list[Chain]:
        return self._chains(self._spaces, after, limit)

    def orphans(self, after: str = "", limit: int = 1000) -> list[Chain]:
        return self._chains(self._gone, after, limit)

    def _chains(self, spaces: dict[str, Space], after: str, limit: int) -> list[Chain]:
        with self._locked():
            holders = sorted(holder for holder in spaces if holder > after)[:limit]
            found = [MemoryReader(spaces[holder], holder).chain() for holder in holders]
        return [chain for chain in found if chain is not None]

    def _touched(self, user: str, changed: bool | None) -> None:
        if self._on_touch is not None and changed is not None and user:
            self._on_touch(user, changed)

    def unlisted(self, first: str = "", limit: int = 1000) -> list[str]:
        """There is no earlier release of what is only in memory."""
        return []

    def users(self, after: str = "", limit: int = 1000) -> list[str]:
        with self._locked():
            return sorted(user for user in self._spaces if user > after)[:limit]

    def lease(
        self, kinds: Sequence[str], now: datetime, until: datetime, limit: int, in_turn: Sequence[str] = ()
    ) -> list[Job]:
        with self._locked():
            due = sorted((job for job in self._jobs() if job.kind in kinds and _due(job, now)), key=_queue_order)
            busy = {(job.user_id, job.kind) for job in self._jobs() if job.kind in in_turn and _leased_now(job, now)}
            due = [job for job in due if (job.user_id, job.kind) not in busy]
            due = [job for job in due if (job.user_id, job.kind) == (due[0].user_id, due[0].kind)][:limit]
            leased = [
                evolve(job, status=JobStatus.RUNNING, lease_until=until, fence=job.fence + 1, attempts=job.attempts + 1)
                for job in due
            ]
            for job in leased:
                self._write_job(job)
            return leased

    def renew(self, job: Job, until: datetime) -> bool:
        with self._locked():
            kept = self._leased(job)
            if kept is not None:
                self._write_job(evolve(kept, lease_until=until))
            return kept is not None

    def finish(self, job: Job) -> bool:
        with self._locked():
            if self._leased(job) is None:
                return False
            ended = evolve(job, lease_until=None)
            try:
                self._write_job(ended)
            except Conflict:
                self._write_job(evolve(ended, status=JobStatus.CANCELLED))
            return True

    def mend_jobs(self, now: datetime, lease: timedelta, backoff: timedelta) -> int:
        with self._locked():
            mended = [(job, _mended(job, now, lease, backoff)) for job in self._jobs()]
            changed = [new for old, new in mended if new is not old]
            for job in changed:
                self._write_job(job)
            return len(changed)

    def drop_old_jobs(self, before: datetime) -> int:
        with self._locked():
            old = [
                job
                for job in self._jobs()
                if job.status in (JobStatus.DONE, JobStatus.CANCELLED) and job.created_at < before
            ]
            for job in old:
                self._spaces[job.user_id].rows[Job].pop(job.id)
            return len(old)

    def jobs(self, status: str | None = None, user: str | None = None, limit: int = 100) -> list[Job]:
        with self._locked():
            found = [job for job in self._jobs() if status in (None, job.status.value) and user in (None, job.user_id)]
        return sorted(found, key=lambda job: (job.created_at, job.id), reverse=True)[:limit]

    def unfinished(self, kinds: Sequence[str], now: datetime, user: str | None = None) -> int:
        with self._locked():
            return sum(
                job.kind in kinds
                and user in (None, job.user_id)
                and (job.status is JobStatus.RUNNING or (job.status is JobStatus.PENDING and job.run_at <= now))
                for job in self._jobs()
            )

    def idle_sessions(self, before: datetime, limit: int) -> list[tuple[str, str]]:
        with self._locked():
            found = [
                (session.last_activity_at, user, session.id)
                for user, space in self._spaces.items()
                for session in space.rows[Session].values()
                if session.status is SessionStatus.OPEN and session.last_activity_at < before
            ]
        return [(user, id) for _, user, id in sorted(found)[:limit]]

    def erase_user(self, user: str) -> dict[str, int]:
        with self._locked():
            space = self._spaces.pop(user, None) or Space(self._vault)
            addresses = [place for place, holder in self._holders.items() if holder == user]
            for place in addresses:
                del self._holders[place]
            sent = [(rows, id) for rows in self._challenges.values() for id, one in rows.items() if one.user_id == user]
            for rows, id in sent:
                del rows[id]
            gone = {table.name: len(space.rows[table.type]) for table in TABLES}
            gone |= {"entries": len(space.entries), "removed_entries": len(space.removed)}
            gone |= {"addresses": len(addresses), "challenges": len(sent)}
            if space.user is not None:
                self._release(space, user, gone)
        return {**gone, "users": int(space.user is not None)}

    def _release(self, space: Space, user: str, gone: dict[str, int]) -> None:
        """The audit log stays, under the subject."""
        now, actor = self._clock(), call_context.current()[0]
        last = MemoryTransaction(space, user, now)
        last.witness(actor, ERASE, {"removed": {name: count for name, count in gone.items() if count}})
        last.flush()
        kept = Space(self._vault)
        kept.subject, kept.links = space.subject, space.links
        self._gone[GONE + space.subject] = kept
        end = kept.links[-1]
        operator = MemoryTransaction(self._spaces.setdefault("", Space(self._vault)), "", now)
        operator._advance()
        operator.witness(actor, ERASE, {"subject": space.subject, "n": end.n, "hash": end.hash})
        operator.flush()

    def fact(self, name: str) -> str | None:
        return self._facts.get(name)

    def set_fact(self, name: str, value: str) -> None:
        self._facts[name] = value

    def check(self) -> list[str]:
        return []

    def compact(self, *, thorough: bool = False) -> bool:
        """Nothing is left behind here."""
        return True

    def close(self) -> None:
        self._closed = True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._closed:
            raise StoreClosed("The store is closed: open it again with tenuto.open().")
        with self._lock:
            yield

    def _jobs(self) -> list[Job]:
        return [job for space in self._spaces.values() for job in space.rows[Job].values()]

    def _leased(self, job: Job) -> Job | None:
        """The job as it is kept, if this lease still holds."""
        space = self._spaces.get(job.user_id)
        kept: Job | None = space.rows[Job].get(job.id) if space else None
        return kept if kept and kept.fence == job.fence and kept.status is JobStatus.RUNNING else None

    def _write_job(self, job: Job) -> None:
        """What the engine itself notes on a job is not a change that the audit log tells of."""
        with self._locked():
            MemoryTransaction(self._spaces.setdefault(job.user_id, Space(self._vault)), job.user_id, self._clock()).put(
                job
            )


def _digest_of_user(vault: Vault, user: User) -> str:
    return vault.digest(user.user_id, msgspec.json.encode([user.timezone, user.settings])).hex()


def _due(job: Job, now: datetime) -> bool:
    if job.status is JobStatus.PENDING:
        return job.run_at <= now
    return job.status is JobStatus.RUNNING and job.lease_until is not None and job.lease_until < now


def _leased_now(job: Job, now: datetime) -> bool:
    return job.status is JobStatus.RUNNING and job.lease_until is not None and job.lease_until >= now


def _mended(job: Job, now: datetime, lease: timedelta, backoff: timedelta) -> Job:
    if job.status is JobStatus.RUNNING and job.lease_until is not None and job.lease_until > now + 2 * lease:
        return evolve(job, lease_until=now - timedelta(microseconds=1), run_at=min(job.run_at, now))
    if job.status is JobStatus.PENDING and job.created_at > now + lease:
        return evolve(job, run_at=now + max(job.run_at - job.created_at, timedelta(0)), created_at=now)
    if job.status is JobStatus.PENDING and job.attempts and job.run_at > now + 2 * backoff:
        return evolve(job, run_at=now)
    return job


def _queue_order(job: Job) -> tuple[datetime, str]:
    return (job.run_at, job.id)


def _beyond(place: tuple[Any, str], mark: tuple[Any, str], descending: bool) -> bool:
    return place < mark if descending else place > mark
