"""Reads and writes of one user over SQL: the same code on every engine, bound to its user when it is made."""
# Over 400 lines: reading and writing of one user in one place, as in the fake, so that the two can be compared.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from tenuto.errors import VaultError
from tenuto.ports import Vault, Vectors, Where
from tenuto.records.audit import GONE, PROFILE, Chain, Link, ListedRow
from tenuto.records.base import from_micros, micros
from tenuto.records.operations import REMOVALS_KEPT, Entry, EntryKind, EntryRows, Event, Job
from tenuto.records.scope import Revision, User
from tenuto.storage import queries
from tenuto.storage.audit_link import Changes, minted, new_subject, next_link, row_name, to_chain, to_link, written
from tenuto.storage.conditions import select_sql, where_sql
from tenuto.storage.engine import Connection, Row, SqlEngine
from tenuto.storage.tables import (
    TABLES,
    Encoded,
    Table,
    columns_bytes,
    decode,
    encode,
    new_revision,
    place,
    row_digest,
    row_id,
    stored_bytes,
    table_of,
)
from tenuto.storage.vectors import Matrix

T = TypeVar("T")
_SETTINGS = msgspec.json.Decoder(dict[str, Any])
CHUNK = 512
"""Ids in one statement."""


def by_ids(table: Table, ids: Sequence[str], vault: Vault, user: str) -> tuple[str, dict[str, Any]]:
    """A statement that reads rows of a user by at least one id and at most :data:`CHUNK`, and its parameters."""
    part = [row_id(id, table, vault, user) for id in ids] if table.keyed_id else list(ids)
    sql, names = queries.by_ids(table, len(part))
    part += part[-1:] * (len(names) - len(part))
    parameters: dict[str, Any] = dict(zip(names, part, strict=True))
    parameters["user"] = user
    return sql, parameters


class SqlReader:
    """A consistent view of one user."""

    def __init__(self, engine: SqlEngine, connection: Connection, vault: Vault, user: str) -> None:
        self._engine = engine
        self._connection = connection
        self._vault = vault
        self._user = user
        self._sql = queries.load(engine.dialect)
        self._matrices: dict[tuple[EntryKind, str], Matrix] = {}

    @property
    def user(self) -> str:
        return self._user

    def profile(self) -> User | None:
        rows = self._rows("get_user")
        return self._to_user(rows[0]) if rows else None

    def revision(self) -> Revision | None:
        rows = self._rows("revision")
        return Revision(*rows[0]) if rows else None

    def get(self, type_: type[T], id: str) -> T | None:
        return self.get_many(type_, [id]).get(id)

    def get_many(self, type_: type[T], ids: Sequence[str]) -> dict[str, T]:
        table, found = table_of(type_), {}
        for start in range(0, len(ids), CHUNK):
            asked = by_ids(table, ids[start : start + CHUNK], self._vault, self._user)
            records = decode(self._connection.rows(*asked), table, self._vault, self._user)
            found.update({record.id: record for record in records})
        return found

    def find(
        self,
        type_: type[T],
        *where: Where,
        order: str = "id",
        limit: int | None = None,
        after: tuple[Any, str] | None = None,
    ) -> list[T]:
        table = table_of(type_)
        sql, parameters = select_sql(table, where, self._vault, self._user, order=order, limit=limit, after=after)
        return decode(self._connection.rows(sql, parameters), table, self._vault, self._user)

    def count(self, type_: type[Any], *where: Where) -> int:
        table = table_of(type_)
        condition, parameters = where_sql(table, where, self._vault, self._user)
        rows = self._connection.rows(f"SELECT count(*) FROM {table.name} WHERE {condition}", parameters)
        return int(rows[0][0])

    def ids(self, type_: type[Any], *where: Where) -> set[str]:
        table = table_of(type_)
        if table.keyed_id:
            return {record.id for record in self.find(type_, *where)}
        condition, parameters = where_sql(table, where, self._vault, self._user)
        return {row[0] for row in self._connection.rows(f"SELECT id FROM {table.name} WHERE {condition}", parameters)}

    def stats(self) -> dict[str, Any]:
        total, oldest, newest, average = self._rows("message_stats")[0]
        return {
            "total_messages": int(total),
            "total_memories": int(self._rows("count_memories")[0][0]),
            "total_summaries": int(self._rows("count_summaries")[0][0]),
            "total_pins": int(self._rows("count_pins")[0][0]),
            "oldest_message": None if oldest is None else from_micros(oldest),
            "newest_message": None if newest is None else from_micros(newest),
            "average_importance": None if average is None else float(average),
        }

    def entries_since(self, seq: int, limit: int) -> list[Entry]:
        return [self._to_entry(row) for row in self._rows("entries_since", seq=seq, limit=limit)]

    def entry_rows(self, seq: int, limit: int) -> EntryRows:
        rows = self._rows("entries_since", seq=seq, limit=limit)
        columns: Sequence[Any] = list(zip(*rows, strict=True)) or [()] * 13
        kind, id, at, seqs, persona, session_id, role, speaker, links, model, tokens, plain, sealed = columns
        vector = self._engine.unpack_vectors(plain)
        if any(value is not None for value in sealed):
            vector = [
                known if hidden is None else self._open_vector(*name, None, hidden)
                for name, known, hidden in zip(zip(kind, id, seqs, strict=True), vector, sealed, strict=True)
            ]
        return EntryRows(
            seq=seqs,
            kind=kind,
            id=id,
            at=at,
            persona=persona,
            session_id=session_id,
            role=role,
            speaker=speaker,
            links=links,
            model=model,
            tokens=tokens,
            vector=vector,
        )

    def removed_since(self, seq: int) -> list[str] | None:
        rows = self._rows("removed_since", seq=seq, limit=REMOVALS_KEPT)
        return [row[0] for row in rows] if len(rows) < REMOVALS_KEPT else None

    def unembedded(self, model: str, limit: int) -> list[Entry]:
        return [self._to_entry(row) for row in self._rows("unembedded", model=model, limit=limit)]

    def nearest(self, kind: EntryKind, vector: Vectors, model: str, limit: int) -> list[tuple[str, float]]:
        if not self._vault.sealing:
            found = self._engine.nearest(self._connection, self._user, kind.value, vector, model, limit)
            if found is not None:
                return list(found)
        if (kind, model) not in self._matrices:
            rows = self._rows("entry_vectors", kind=kind.value, model=model)
            opened = [(id, self._open_vector(kind.value, id, seq, plain, sealed)) for id, seq, plain, sealed in rows]
            self._matrices[kind, model] = Matrix([(id, data) for id, data in opened if data is not None])
        return self._matrices[kind, model].nearest(vector, limit)

    def chain(self) -> Chain | None:
        rows = self._rows("get_chain")
        if rows:
            return to_chain(rows[0])
        last = self._rows("last_link")
        if not last:
            return None
        subject, (count, head) = self._user.removeprefix(GONE), last[0]
        return Chain(holder=self._user, subject=subject, count=count, head=bytes(head).hex(), live=False)

    def covered(self) -> bool:
        rows = self._rows("get_user")
        return bool(rows and self._user_values(rows[0][-1]).get("listed"))

    def listed_rows(self) -> Iterator[ListedRow]:
        user = self._rows("get_user")
        if user:
            yield ListedRow(*PROFILE, self._digest_of_user(user[0][-1]))
        for table in TABLES:
            for page in self._pages(table) if table.listed else ():
                for row in page:
                    name = row_name(table.name, row[0], row[-2])
                    yield ListedRow(table.name, name, self._digest_of(row, table))

    def _digest_of(self, row: Row, table: Table) -> str:
        columns = columns_bytes(table, row[:-1])
        try:
            body = self._vault.open(self._user, place(table.name, row[0]), row[-2], stored_bytes(row[-1]), columns)
        except VaultError:
            return ""
        return row_digest(table, columns, body, self._vault, self._user)

    def _digest_of_user(self, body: Any) -> str:
        try:
            return self._vault.digest(self._user, self._open_user(body)).hex()
        except VaultError:
            return ""

    def _pages(self, table: Table) -> Iterator[list[Row]]:
        """Every row of a table, a page at a time."""
        sql = f"SELECT {queries.columns(table)} FROM {table.name} WHERE user_id = :user"
        page = self._connection.rows(f"{sql} ORDER BY id LIMIT :limit", {"user": self._user, "limit": CHUNK})
        while page:
            yield page
            following = {"user": self._user, "after": page[-1][0], "limit": CHUNK}
            page = self._connection.rows(f"{sql} AND id > :after ORDER BY id LIMIT :limit", following)

    def links(self, after: int = 0, limit: int = 1000) -> list[Link]:
        return [to_link(row) for row in self._rows("links", after=after, limit=limit)]

    def last_links(self, before: int | None = None, limit: int = 100) -> list[Link]:
        upper = 2**62 if before is None else before
        return [to_link(row) for row in self._rows("last_links", before=upper, limit=limit)]

    def _rows(self, name: str, **parameters: Any) -> list[Row]:
        return self._connection.rows(self._sql[name], {"user": self._user, **parameters})

    def _to_user(self, row: Row) -> User:
        user_id, seq, epoch, created_at, body = row
        values = self._user_values(body)
        said = {"timezone": values["timezone"], "settings": values["settings"]}
        return User(user_id=user_id, seq=seq, epoch=epoch, created_at=from_micros(created_at), **said)

    def _user_values(self, body: Any) -> dict[str, Any]:
        return _SETTINGS.decode(self._open_user(body))

    def _open_user(self, body: Any) -> bytes:
        return self._vault.open(self._user, place("users", self._user), 0, stored_bytes(body))

    def _to_entry(self, row: Row) -> Entry:
        kind, id, at, seq, persona, session_id, role, speaker, links, model, tokens, vector, sealed = row
        return Entry(
            kind=EntryKind(kind),
            id=id,
            at=from_micros(at),
            seq=seq,
            persona=persona,
            session_id=session_id,
            role=role,
            speaker=speaker,
            links=tuple(links.split()) if links else (),
            model=model or None,
            tokens=bytes(tokens),
            vector=self._open_vector(kind, id, seq, vector, sealed),
        )

    def _open_vector(self, kind: str, id: str, seq: int, plain: Any, sealed: Any) -> bytes | None:
        if sealed is None:
            return self._engine.unpack_vector(plain)
        return self._vault.open(self._user, place("entries", f"{kind}:{id}", "vector"), seq, bytes(sealed))


class SqlTransaction(SqlReader):
    """Reads and writes that become visible together. The user's row is locked from the first line to the commit."""

    def __init__(self, engine: SqlEngine, connection: Connection, vault: Vault, user: str, now: int) -> None:
        super().__init__(engine, connection, vault, user)
        self._now = now
        rows = self._rows("lock_user")
        if not rows and "lock_new_user" in self._sql:
            self._rows("lock_new_user")
            rows = self._rows("lock_user")
        self._exists = bool(rows)
        self._changes = Changes()
        self._witnessed: list[tuple[str, str, str]] = []
        self._begin(rows[0] if rows else (0, 0, "", 0, "", b""))
        self.happened = 0
        """The number of the last event that was written."""

    def _begin(self, row: Row) -> None:
        self._seq: int = row[0]
        self._epoch: int = row[1]
        self._subject: str = row[2]
        self._count: int = row[3]
        self._head: str = row[4]
        self._vault.renewed(self._user, self._vault.key_number(bytes(row[5])))
        self._begun = (self._seq, self._epoch)
        self._unindexed = False

    def put(self, *records: Any) -> None:
        for type_, alike in groupby(records, type):
            table = table_of(type_)
            if table.many:
                for record in alike:
                    self._insert(record, replace=True)
            else:
                rows = [self._row(record, table) for record in alike]
                for row in rows:
                    self._list(table, row, self._replaced(table, row.row["id"]))
                self._connection.change_many(queries.insert(table, replace=True), [one.row for one in rows])

    def add(self, record: Any) -> bool:
        added = self._insert(record, replace=False)
        if not added and isinstance(record, Job) and record.dedupe is not None and self._taken_meanwhile(record.dedupe):
            return self._insert(record, replace=False)
        return added

    def remove(self, type_: type[Any], *ids: str) -> int:
        table, removed = table_of(type_), 0
        for id in ids:
            key = {"user": self._user, "id": row_id(id, table, self._vault, self._user)}
            sql = f"DELETE FROM {table.name} WHERE user_id = :user AND id = :id RETURNING revision"
            for (revision,) in self._connection.rows(sql, key):
                removed += 1
                self._changes.remove(table.name)
                self._unlist(table, key["id"], revision)
            self._unlink(table, key)
        if removed and not table.aside:
            self._epoch += 1
        return removed

    def clear(self, type_: type[Any]) -> None:
        table = table_of(type_)
        sql = f"DELETE FROM {table.name} WHERE user_id = :user RETURNING id, revision"
        for id, revision in self._connection.rows(sql, {"user": self._user}):
            self._unlist(table, id, revision)

    def index(self, *entries: Entry) -> None:
        self._ensure_user()
        self._matrices.clear()
        rows = []
        for entry in entries:
            seq = self._next()
            values = {
                "user": self._user,
                "seq": seq,
                "kind": entry.kind.value,
                "id": entry.id,
                "at": micros(entry.at),
                "persona": entry.persona,
                "session_id": entry.session_id,
                "role": entry.role,
                "speaker": self._vault.blind(self._user, entry.speaker) if entry.speaker else "",
                "links": " ".join(entry.links),
                "model": entry.model or "",
                "tokens": entry.tokens,
                **self._vector(entry.kind, entry.id, seq, entry.vector),
            }
            rows.append(values)
            self._changes.put("entries")
        self._connection.change_many(self._sql["put_entry"], rows)

    def unindex(self, kind: EntryKind, *ids: str) -> None:
        self._matrices.clear()
        for id in ids:
            if self._change("drop_entry", kind=kind.value, id=id):
                self._epoch += 1
                self._unindexed = True
                self._change("note_removal", seq=self._next(), id=id)
                self._changes.remove("entries")

    def embed(self, model: str, vectors: Mapping[tuple[EntryKind, str], bytes]) -> int:
        self._matrices.clear()
        done = 0
        for (kind, id), vector in vectors.items():
            seq = self._next()
            packed = self._vector(kind, id, seq, vector)
            if self._change("embed_entry", seq=seq, model=model, kind=kind.value, id=id, **packed):
                done += 1
                self._changes.put("entries")
        return done

    def _vector(self, kind: EntryKind, id: str, seq: int, vector: bytes | None) -> dict[str, Any]:
        """The vector as the engine keeps it, or sealed; bound to the entry's number, which changes with it."""
        if vector is None or not self._vault.sealing:
            return {"vector": self._engine.pack_vector(vector), "sealed_vector": None}
        sealed = self._vault.seal(self._user, place("entries", f"{kind.value}:{id}", "vector"), seq, vector)
        return {"vector": None, "sealed_vector": sealed}

    def set_user(self, user: User) -> None:
        self._ensure_user()
        self._changes.put("users")
        listed = self._changes.listed or self.covered()
        body = self._user_body(user.timezone, user.settings, listed=listed)
        self._change("set_user", body=body, listed=int(listed))
        self._seq = max(self._seq, user.seq)

    def relist(self) -> None:
        self._ensure_user()
        self._changes.listed = True

    def reseal(self) -> None:
        for table in TABLES:
            sql = f"UPDATE {table.name} SET body = :body WHERE user_id = :user AND id = :id"
            for page in self._pages(table):
                self._connection.change_many(sql, [self._resealed(row, table) for row in page])
                self._changes.put(table.name, len(page))
        profile = self.profile()
        if profile is not None:
            self.set_user(profile)
        self._reseal_vectors()
        for where, id, body in self._rows("user_challenges"):
            spot = place("challenges", id)
            sealed = self._vault.seal(self._user, spot, 0, self._vault.open(self._user, spot, 0, bytes(body)))
            self._change("reseal_challenge", place=where, id=id, body=sealed)

    def _resealed(self, row: Row, table: Table) -> dict[str, Any]:
        columns, spot = columns_bytes(table, row[:-1]), place(table.name, row[0])
        body = self._vault.open(self._user, spot, row[-2], bytes(row[-1]), columns)
        sealed = self._vault.seal(self._user, spot, row[-2], body, columns)
        return {"user": self._user, "id": row[0], "body": sealed}

    def _reseal_vectors(self) -> None:
        last = 0
        while rows := self._rows("sealed_vectors", seq=last, limit=CHUNK):
            opened = [(kind, id, seq, self._open_vector(kind, id, seq, None, sealed)) for kind, id, seq, sealed in rows]
            changed = [
                {
                    "user": self._user,
                    "seq": seq,
                    "sealed": self._vector(EntryKind(kind), id, seq, data)["sealed_vector"],
                }
                for kind, id, seq, data in opened
            ]
            self._connection.change_many(self._sql["reseal_vector"], changed)
            self._changes.put("entries", len(rows))
            last = rows[-1][2]

    def flush(self) -> None:
        """Write what happened into the audit log, and the counters; called once before the commit."""
        said = self._changes.said(self._witnessed)
        if (self._seq, self._epoch) == self._begun and not said:
            return
        if self._changes:
            self._ensure_user()
        if self._unindexed:
            self._change("forget_removals", kept=REMOVALS_KEPT - 1)
        if self._exists:
            self._append(said)
            where = {"audit_count": self._count, "audit_head": self._head}
            self._change("advance_user", seq=self._seq, epoch=self._epoch, **where)

    @property
    def changed(self) -> bool | None:
        """Whether the audit log tells of a change; ``None`` for what it does not tell of at all."""
        return bool(self._changes or self._witnessed) or (None if self._changes.unsaid else False)

    def witness(self, actor: str, verb: str, said: Mapping[str, Any]) -> None:
        self._witnessed.append((actor, verb, written(dict(said))))

    def prepare(self) -> None:
        """Make the user's row, if there is none: a chain needs one."""
        self._ensure_user()

    def _append(self, said: Sequence[tuple[str, str, str]]) -> None:
        at = from_micros(self._now)
        for actor, verb, body in said:
            link = next_link(self._vault, self._subject, self._count + 1, self._head, at, actor, verb, body)
            made = {"n": link.n, "at": self._now, "actor": actor, "verb": verb, "body": body}
            self._change("add_link", hash=bytes.fromhex(link.hash), **made)
            self._count, self._head = link.n, link.hash

    def _insert(self, record: Any, *, replace: bool) -> bool:
        table = table_of(type(record))
        encoded = self._row(record, table)
        id = encoded.row["id"]
        replaced = self._replaced(table, id) if replace else None
        done = self._connection.change(queries.insert(table, replace=replace), encoded.row) > 0
        if done:
            self._list(table, encoded, replaced)
        if done and table.many:
            self._link(table, id, getattr(record, table.many), fresh=not replace)
        return done

    def _list(self, table: Table, encoded: Encoded, replaced: int | None) -> None:
        """Note that a row was written, in the place of one with the revision ``replaced``."""
        self._changes.put(table.name)
        if table.listed:
            if replaced is not None:
                self._unlist(table, encoded.row["id"], replaced)
            name = row_name(table.name, encoded.row["id"], encoded.row["revision"])
            self._changes.set_row(table.name, name, encoded.digest)

    def _unlist(self, table: Table, id: str, revision: int) -> None:
        if table.listed:
            self._changes.set_row(table.name, row_name(table.name, id, revision), "")

    def _replaced(self, table: Table, id: str) -> int | None:
        """The revision of the row that is about to be replaced, where rows are listed by it."""
        if not table.listed or minted(table.name, id):
            return None
        sql = f"SELECT revision FROM {table.name} WHERE user_id = :user AND id = :id"
        rows = self._connection.rows(sql, {"user": self._user, "id": id})
        return int(rows[0][0]) if rows else None

    def _taken_meanwhile(self, dedupe: str) -> bool:
        """Whether the job that stood in the way of one with the same purpose no longer waits.

        If it does, it is held until this transaction ends: a runner that took it before would not see what is written
        here, and nobody would look again. Where there is only one writer at a time nothing needs to be held.
        """
        return "hold_job" in self._sql and not self._rows("hold_job", dedupe=dedupe)

    def _row(self, record: Any, table: Table) -> Encoded:
        self._ensure_user()
        seq = self._next() if getattr(record, "seq", None) == 0 else None
        encoded = encode(record, table, self._vault, self._user, new_revision(), seq)
        if table.type is Event:
            self.happened = encoded.row["seq"]
        return encoded

    def _link(self, table: Table, id: str, values: Sequence[str], *, fresh: bool) -> None:
        if not fresh:
            self._unlink(table, {"user": self._user, "id": id})
        sql = (
            f"INSERT INTO {table.name}_{table.many} (user_id, value, id) VALUES (:user, :value, :id) "
            "ON CONFLICT DO NOTHING"
        )
        for value in values:
            blinded = self._vault.blind(self._user, value)
            self._connection.change(sql, {"user": self._user, "value": blinded, "id": id})

    def _unlink(self, table: Table, key: dict[str, Any]) -> None:
        if table.many:
            self._connection.change(f"DELETE FROM {table.name}_{table.many} WHERE user_id = :user AND id = :id", key)

    def _ensure_user(self) -> None:
        if not self._exists:
            self._changes.listed = True
            body = self._user_body("UTC", {}, listed=True)
            self._change("add_user", created_at=self._now, body=body, subject=new_subject())
            self._begin(self._rows("lock_user")[0])
            self._exists = True

    def _user_body(self, timezone: str, settings: dict[str, Any], *, listed: bool) -> bytes:
        said = {"timezone": timezone, "settings": settings, "listed": listed, "revision": new_revision()}
        body = msgspec.json.encode(said)
        self._changes.set_row(*PROFILE, self._vault.digest(self._user, body).hex())
        return self._vault.seal(self._user, place("users", self._user), 0, body)

    def _next(self) -> int:
        self._ensure_user()
        self._seq += 1
        return self._seq

    def _change(self, name: str, **parameters: Any) -> int:
        return self._connection.change(self._sql[name], {"user": self._user, **parameters})
