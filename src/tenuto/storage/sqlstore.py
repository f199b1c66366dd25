"""The store over SQL. Everything that means something is here or in :mod:`sqltransaction`; an engine only connects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

import msgspec

from tenuto import call_context
from tenuto.errors import Conflict
from tenuto.ports import AddressBook, Clock, Reader, Transaction, Vault
from tenuto.records.audit import ERASE, GONE, Chain
from tenuto.records.base import micros
from tenuto.records.operations import Job
from tenuto.records.scope import Revision
from tenuto.storage import queries
from tenuto.storage.addressbook import SqlAddress, place_of
from tenuto.storage.audit_link import to_chain
from tenuto.storage.engine import Connection, Row, SqlEngine
from tenuto.storage.sqltransaction import SqlReader, SqlTransaction
from tenuto.storage.tables import TABLES, decode, encode, new_revision, table_of

NOTHING: tuple[str, dict[str, Any]] = ("SELECT 1", {})
NOBODY = ""
"""The user of transactions that look across users: jobs and sweeps."""


class _Reading:
    """A reader for as long as its connection is borrowed."""

    __slots__ = ("_borrowed", "_engine", "_user", "_vault")

    def __init__(self, engine: SqlEngine, vault: Vault, user: str, at: Revision | None) -> None:
        self._engine, self._vault, self._user = engine, vault, user
        self._borrowed = engine.reading(user, at)

    def __enter__(self) -> Reader:
        return SqlReader(self._engine, self._borrowed.__enter__(), self._vault, self._user)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._borrowed.__exit__(kind, error, trace)


class SqlStore:
    """A store on SQLite or PostgreSQL."""

    def __init__(self, engine: SqlEngine, vault: Vault, clock: Clock) -> None:
        self._engine = engine
        self._vault = vault
        self._clock = clock
        self._sql = queries.load(engine.dialect)
        self._on_events: Callable[[str, int], None] | None = None
        self._on_touch: Callable[[str, bool], None] | None = None

    @property
    def url(self) -> str:
        return self._engine.url

    def reading(self, user: str, at: Revision | None = None) -> AbstractContextManager[Reader]:
        self._touched(user, False)
        return _Reading(self._engine, self._vault, user, at)

    @contextmanager
    def writing(self, user: str) -> Iterator[Transaction]:
        with self._engine.writing(user) as connection:
            transaction = SqlTransaction(self._engine, connection, self._vault, user, micros(self._clock()))
            yield transaction
            transaction.flush()
        self._touched(user, transaction.changed)
        if transaction.happened and self._on_events is not None:
            self._on_events(user, transaction.happened)

    def holder(self, channel: str, address: str) -> str | None:
        with self._engine.reading(NOBODY) as connection:
            place = {"place": place_of(self._vault, channel, address)}
            rows = connection.rows(self._sql["address_holder"], place)
        return rows[0][0] if rows else None

    @contextmanager
    def address(self, channel: str, address: str) -> Iterator[AddressBook]:
        with self._engine.writing(NOBODY) as connection:
            place = place_of(self._vault, channel, address)
            yield SqlAddress(connection, self._engine.dialect, self._vault, place, micros(self._clock()))

    def rekey_addresses(self) -> int:
        with self._engine.writing(NOBODY) as connection:
            places = [row[0] for row in connection.rows(self._sql["plain_addresses"], {})]
            for place in places:
                channel, _, address = place.partition(":")
                keyed = place_of(self._vault, channel, address)
                connection.change(self._sql["rekey_address"], {"place": place, "keyed": keyed})
            connection.change(self._sql["drop_plain_challenges"], {})
        return len(places)

    def when_events(self, callback: Callable[[str, int], None] | None) -> None:
        self._on_events = callback

    def when_touched(self, callback: Callable[[str, bool], None] | None) -> None:
        self._on_touch = callback

    def chains(self, after: str = "", limit: int = 1000) -> list[Chain]:
        with self._engine.reading(NOBODY) as connection:
            rows = connection.rows(self._sql["list_chains"], {"after": after, "limit": limit})
        return [to_chain(row) for row in rows]

    def orphans(self, after: str = "", limit: int = 1000) -> list[Chain]:
        with self._engine.reading(NOBODY) as connection:
            rows = connection.rows(self._sql["list_orphans"], {"after": after, "limit": limit})
        return [Chain(holder=row[0], subject=row[0].removeprefix(GONE), live=False) for row in rows]

    def unlisted(self, first: str = "", limit: int = 1000) -> list[str]:
        with self._engine.reading(NOBODY) as connection:
            rows = connection.rows(self._sql["list_unlisted"], {"first": first, "limit": limit})
        return [row[0] for row in rows]

    def users(self, after: str = "", limit: int = 1000) -> list[str]:
        with self._engine.reading(NOBODY) as connection:
            rows = connection.rows(self._sql["list_users"], {"after": after, "limit": limit})
        return [row[0] for row in rows]

    def lease(
        self, kinds: Sequence[str], now: datetime, until: datetime, limit: int, in_turn: Sequence[str] = ()
    ) -> list[Job]:
        ordered = msgspec.json.encode(list(in_turn)).decode()
        due = {"now": micros(now), "kinds": msgspec.json.encode(list(kinds)).decode(), "in_turn": ordered}
        with self._engine.reading(NOBODY) as connection:
            if not connection.rows(self._sql["lease_pick"].replace(" FOR UPDATE SKIP LOCKED", ""), due):
                return []
        with self._engine.writing(NOBODY) as connection:
            picked = connection.rows(self._sql["lease_pick"], due)
            if not picked:
                return []
            user, kind = picked[0]
            if kind in in_turn and not connection.rows(self._sql["lease_turn"], {"user": user, "kind": kind}):
                return []
            taken = {"user": user, "kind": kind, "now": micros(now), "until": micros(until), "limit": limit}
            taken["in_turn"] = ordered
            rows = connection.rows(self._sql["lease_take"], taken)
            return sorted((self._to_job(row) for row in rows), key=lambda job: (job.run_at, job.id))

    def renew(self, job: Job, until: datetime) -> bool:
        lease = {"user": job.user_id, "id": job.id, "fence": job.fence, "until": micros(until)}
        with self._engine.writing(NOBODY) as connection:
            return connection.change(self._sql["renew_job"], lease) > 0

    def finish(self, job: Job) -> bool:
        row: dict[str, Any] = {}
        try:
            with self._engine.writing(NOBODY) as connection:
                if self._vault.sealing and not self._newest_key(connection, job.user_id):
                    return False
                row = encode(job, table_of(Job), self._vault, job.user_id, new_revision()).row | {"user": job.user_id}
                return connection.change(self._sql["finish_job"], row) > 0
        except Conflict:
            # It goes back to pending while a newer job of the same purpose waits already: that one will do the work.
            with self._engine.writing(NOBODY) as connection:
                return connection.change(self._sql["cancel_job"], row) > 0

    def _newest_key(self, connection: Connection, user: str) -> bool:
        """Hold off whoever gives the user a new key, and seal with no older one than is in use; ``False`` for a user
        who is gone: sealing would make new keys."""
        rows = connection.rows(self._sql["lock_user"], {"user": user})
        for row in rows:
            self._vault.renewed(user, self._vault.key_number(bytes(row[-1])))
        return bool(rows)

    def mend_jobs(self, now: datetime, lease: timedelta, backoff: timedelta) -> int:
        limits = {
            "now": micros(now),
            "lease": micros(now + 2 * lease),
            "created": micros(now + lease),
            "retry": micros(now + 2 * backoff),
        }
        with self._engine.reading(NOBODY) as connection:
            if not connection.rows(self._sql["ahead_jobs"], limits)[0][0]:
                return 0
        with self._engine.writing(NOBODY) as connection:
            return connection.change(self._sql["mend_jobs"], limits)

    def drop_old_jobs(self, before: datetime) -> int:
        with self._engine.writing(NOBODY) as connection:
            return connection.change(self._sql["drop_old_jobs"], {"before": micros(before)})

    def jobs(self, status: str | None = None, user: str | None = None, limit: int = 100) -> list[Job]:
        parameters = {"status": status or "", "user": user or "", "limit": limit}
        with self._engine.reading(NOBODY) as connection:
            return [self._to_job(row) for row in connection.rows(self._sql["list_jobs"], parameters)]

    def unfinished(self, kinds: Sequence[str], now: datetime, user: str | None = None) -> int:
        kinds_json = msgspec.json.encode(list(kinds)).decode()
        parameters = {"now": micros(now), "user": user or "", "kinds": kinds_json}
        with self._engine.reading(NOBODY) as connection:
            return int(connection.rows(self._sql["unfinished_jobs"], parameters)[0][0])

    def idle_sessions(self, before: datetime, limit: int) -> list[tuple[str, str]]:
        with self._engine.reading(NOBODY) as connection:
            rows = connection.rows(self._sql["idle_sessions"], {"before": micros(before), "limit": limit})
        return [(user, session) for user, session in rows]

    def erase_user(self, user: str) -> dict[str, int]:
        names = [table.name for table in TABLES]
        names += [f"{table.name}_{table.many}" for table in TABLES if table.many]
        gone: dict[str, int] = {}
        actor, now = call_context.current()[0], micros(self._clock())
        with self._engine.writing(NOBODY) as connection:
            last = SqlTransaction(self._engine, connection, self._vault, user, now)
            for name in [*names, "entries", "removed_entries", "addresses", "challenges"]:
                gone[name] = connection.change(f"DELETE FROM {name} WHERE user_id = :user", {"user": user})
            last.witness(actor, ERASE, {"removed": {name: count for name, count in gone.items() if count}})
            last.flush()
            chain = last.chain()
            gone["users"] = connection.change("DELETE FROM users WHERE user_id = :user", {"user": user})
            if chain is not None and chain.live:
                connection.change(self._sql["release_chain"], {"user": user, "holder": GONE + chain.subject})
                operator = SqlTransaction(self._engine, connection, self._vault, NOBODY, now)
                operator.prepare()
                operator.witness(actor, ERASE, {"subject": chain.subject, "n": chain.count, "hash": chain.head})
                operator.flush()
        return gone

    def fact(self, name: str) -> str | None:
        with self._engine.reading(NOBODY) as connection:
            rows = connection.rows(self._sql["get_fact"], {"name": name})
        return rows[0][0] if rows else None

    def set_fact(self, name: str, value: str) -> None:
        with self._engine.writing(NOBODY) as connection:
            connection.change(self._sql["set_fact"], {"name": name, "value": value})

    def check(self) -> list[str]:
        return self._engine.check()

    def compact(self, *, thorough: bool = False) -> bool:
        return self._engine.compact(thorough=thorough) if thorough else self._engine.compact()

    def close(self) -> None:
        self._engine.close()

    def _touched(self, user: str, changed: bool | None) -> None:
        if self._on_touch is not None and changed is not None and user != NOBODY:
            self._on_touch(user, changed)

    def _to_job(self, row: Row) -> Job:
        job: Job = decode([row[1:]], table_of(Job), self._vault, row[0])[0]
        return job
