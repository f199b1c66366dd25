"""Which record lives in which table, and how a record becomes a row.

Every table has the same shape: ``user_id`` and ``id`` (the key), a few *plain* columns that listings filter and sort
by, ``revision`` (a random number, drawn at each writing), and ``body``: everything else as JSON. Only ``body`` holds
content, so sealing it seals the record; a plain column that would tell something about content is *keyed* (the vault
replaces its value by a stand-in, and the real value is in the body). Adding a field to a record needs no migration;
adding a plain column does.

The sealed body is bound to the plain columns: with one of them changed it does not open. A row's *digest* is over its
columns and its body together; the audit log lists it. The revision is part of both, and goes with the row: without it
nobody can try out whether a row that is gone said this or that.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import msgspec

from tenuto.errors import InputError, StoreCorrupt
from tenuto.ports import Vault
from tenuto.records.access import ApiKey, Replay
from tenuto.records.base import from_micros, micros
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary
from tenuto.records.identity import MergePart, UserMerge
from tenuto.records.memory import AgentState, Entity, EntityMerge, Memory, StateChange, Todo
from tenuto.records.operations import Event, Job, Receipt
from tenuto.records.scope import Identity
from tenuto.records.transfer import Import
from tenuto.records.wishes import StandingWish
from tenuto.records.workflow import Artifact, ModelKey, Outcome, Workflow, WorkflowTurn


@dataclass(frozen=True, slots=True)
class Column:
    """A plain column. ``kind``: text, int, real, flag (0 or 1), time (microseconds)."""

    name: str
    kind: str = "text"
    nullable: bool = False
    keyed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One record type and its table. ``many`` is a field whose values get rows of their own in ``{name}_{many}``.

    Nothing that is remembered rests on an ``aside`` table: removing its rows leaves every index valid. The audit log
    lists the digests of rows that are ``listed``. ``loose`` columns are changed by statements of the engine itself, so
    that a sealed body cannot be bound to them.
    """

    name: str
    type: type[Any]
    columns: tuple[Column, ...]
    keyed_id: bool = False
    many: str | None = None
    aside: bool = False
    listed: bool = True
    loose: frozenset[str] = frozenset()

    def column(self, name: str) -> Column:
        """A column by name, or a clear error: names from outside never reach SQL unchecked."""
        found = _by_name(self).get(name)
        if found is not None:
            return found
        known = ", ".join(column.name for column in self.columns)
        raise InputError(f"'{name}' is not something {self.name} can be filtered or sorted by. Known: {known}.")


@cache
def _by_name(table: Table) -> dict[str, Column]:
    return {column.name: column for column in (Column("id"), *table.columns)}


def _columns(text: str) -> tuple[Column, ...]:
    """``name:kind`` words; ``?`` behind a name allows null, ``*`` marks it keyed."""
    parsed = []
    for word in text.split():
        name, _, kind = word.partition(":")
        parsed.append(Column(name.strip("?*"), kind or "text", nullable="?" in name, keyed="*" in name))
    return tuple(parsed)


TABLES: tuple[Table, ...] = (
    Table(
        "messages",
        Message,
        _columns("seq:int session_id persona? channel role external_id? at:time importance:real trust source"),
    ),
    Table(
        "sessions",
        Session,
        _columns(
            "persona? channel status started_at:time last_activity_at:time ended_at?:time external_id? turn_count:int"
        ),
    ),
    Table("session_states", SessionState, _columns("message_count:int last_interaction?:time"), listed=False),
    Table(
        "summaries",
        Summary,
        _columns(
            "kind persona? session_id? topic?* version:int current:flag start_seq:int end_seq:int created_at:time "
            "importance:real"
        ),
    ),
    Table(
        "key_points",
        KeyPoint,
        _columns("session_id persona? type weight:real resolved:flag created_at:time message_id?"),
    ),
    Table(
        "memories",
        Memory,
        _columns(
            "key* slot?* domain kind attribute?* status persona? importance:real pinned:flag proactive_use trust "
            "source session_id? created_at:time updated_at:time valid_from?:time valid_to?:time "
            "last_reinforced_at?:time superseded_by?"
        ),
        many="entities",
    ),
    Table(
        "entities",
        Entity,
        _columns("type merged_into?* mentions:int updated_at:time"),
        keyed_id=True,
    ),
    Table("entity_merges", EntityMerge, _columns("status duplicate* into* created_at:time")),
    Table(
        "todos",
        Todo,
        _columns(
            "kind status slot?* persona? due?:time completed_at?:time created_at:time session_id? source "
            "importance:real"
        ),
        many="entities",
    ),
    Table("wishes", StandingWish, _columns("kind active:flag created_at:time")),
    Table("agent_states", AgentState, _columns("updated_at:time")),
    Table("state_changes", StateChange, _columns("persona? at:time")),
    Table("workflows", Workflow, _columns("definition state session_id? persona? updated_at:time")),
    Table("workflow_turns", WorkflowTurn, _columns("workflow_id turn:int at:time")),
    Table("artifacts", Artifact, _columns("workflow_id kind created_at:time")),
    Table("outcomes", Outcome, _columns("track skill at:time seq:int")),
    Table("model_keys", ModelKey, _columns("created_at:time")),
    Table("identities", Identity, _columns("channel verified_at?:time"), keyed_id=True),
    Table(
        "jobs",
        Job,
        _columns(
            "kind status run_at:time dedupe? lease_until?:time fence:int attempts:int created_at:time finished_at?:time"
        ),
        listed=False,
        loose=frozenset({"status", "run_at", "lease_until", "fence", "attempts", "created_at", "finished_at"}),
    ),
    Table("events", Event, _columns("seq:int kind at:time subject_kind subject_id*"), listed=False),
    Table("receipts", Receipt, _columns("message_id at:time settled:flag"), listed=False),
    Table("user_merges", UserMerge, _columns("status created_at:time")),
    Table("merge_parts", MergePart, _columns("merge_id kind")),
    Table("imports", Import, _columns("status started_at:time vouched_at?:time")),
    Table(
        "api_keys",
        ApiKey,
        _columns("digest scope kind subject?* parent? created_at:time expires_at?:time revoked_at?:time"),
        aside=True,
    ),
    Table("replays", Replay, _columns("at:time"), aside=True, listed=False),
)

BY_TYPE: dict[type[Any], Table] = {table.type: table for table in TABLES}


def _in_body(table: Table) -> tuple[str, ...]:
    plain = {column.name for column in table.columns if not column.keyed} | {"user_id"}
    plain |= set() if table.keyed_id else {"id"}
    return tuple(part.name for part in fields(table.type) if part.name not in plain)


IN_BODY: dict[str, tuple[str, ...]] = {table.name: _in_body(table) for table in TABLES}
"""By table: the fields that no plain column holds readably."""


def table_of(type_: type[Any]) -> Table:
    """The table of a record type."""
    try:
        return BY_TYPE[type_]
    except KeyError:
        raise InputError(f"{type_.__name__} is not kept in a table of its own.") from None


def stored_bytes(body: Any) -> bytes:
    """A body as it is stored. A file may hold a value of any type there, once somebody else wrote to it."""
    return bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else str(body).encode()


def place(table: str, row: str, column: str = "body") -> str:
    """What a sealed value is bound to."""
    return f"{table}\x1f{row}\x1f{column}"


class Encoded(NamedTuple):
    """A row as it is stored, and its digest."""

    row: dict[str, Any]
    digest: str


def new_revision() -> int:
    """A number that no other writing has."""
    return secrets.randbits(62)


def encode(record: Any, table: Table, vault: Vault, user: str, revision: int, seq: int | None = None) -> Encoded:
    """Every column's value and the sealed body; ``seq`` takes the place of the record's own."""
    row: dict[str, Any] = {"id": row_id(record.id, table, vault, user)}
    for column, write in WRITE[table.name]:
        value = getattr(record, column.name)
        row[column.name] = (
            None if value is None else write(value) if write else column_value(value, column, vault, user)
        )
    if seq is not None:
        row["seq"] = seq
    row["revision"] = revision
    columns = columns_bytes(table, tuple(row.values()))
    body = msgspec.json.encode({name: getattr(record, name) for name in IN_BODY[table.name]})
    digest = row_digest(table, columns, body, vault, user) if table.listed else ""
    row["body"] = vault.seal(user, place(table.name, row["id"]), revision, body, columns)
    row["user_id"] = user
    return Encoded(row, digest)


def columns_bytes(table: Table, row: tuple[Any, ...]) -> bytes:
    """Of a row (id, columns…, revision): what its body is bound to."""
    bound = BOUND[table.name]
    return _PACK.encode(row if bound is None else [row[place_] for place_ in bound])


def row_digest(table: Table, columns: bytes, body: bytes, vault: Vault, user: str) -> str:
    """What the audit log lists of a row; ``body`` is the opened one."""
    return vault.digest(user, b"".join((table.name.encode(), b"\x00", columns, body))).hex()


def decode(rows: Sequence[tuple[Any, ...]], table: Table, vault: Vault, user: str) -> list[Any]:
    """The records of rows read as (id, columns…, revision, body): together, which is quicker than one by one."""
    try:
        records: list[Any] = msgspec.convert(_values(rows, table, vault, user), LISTS[table.name])
    except msgspec.MsgspecError:
        records = [_decode_one(row, table, vault, user) for row in rows]
    return records


def _decode_one(row: tuple[Any, ...], table: Table, vault: Vault, user: str) -> Any:
    try:
        return msgspec.convert(_values([row], table, vault, user)[0], table.type)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"{table.name} {row[0]} cannot be read: {error}. Run 'tenuto doctor'.") from error


def _values(rows: Sequence[tuple[Any, ...]], table: Table, vault: Vault, user: str) -> list[dict[str, Any]]:
    plain, changed, keyed = LAYOUT[table.name]
    sealing, found = vault.sealing, []
    for row in rows:
        body = row[-1]
        if sealing:
            columns = columns_bytes(table, row[:-1])
            body = vault.open(user, place(table.name, row[0]), row[-2], stored_bytes(body), columns)
        values = _BODY.decode(stored_bytes(body))
        for place_, name in plain:
            values[name] = row[place_]
        for place_, name, read in changed:
            value = row[place_]
            values[name] = None if value is None else read(value)
        for place_, name in keyed:
            # A row from before its column was keyed holds the value there alone, readable.
            if name not in values and row[place_] is not None:
                values[name] = row[place_]
        if table.type is Job:
            values["user_id"] = user
        found.append(values)
    return found


def row_id(id: str, table: Table, vault: Vault, user: str) -> str:
    """The key of a row: the id, or its stand-in where the id itself is content."""
    return vault.blind(user, id) if table.keyed_id else id


def column_value(value: Any, column: Column, vault: Vault, user: str) -> Any:
    """What is stored (or compared) in a plain column."""
    if value is None:
        return None
    if column.kind == "time":
        return micros(value) if isinstance(value, datetime) else value
    if column.kind == "flag":
        return int(value)
    if column.kind == "text":
        return vault.blind(user, str(value)) if column.keyed else str(value)
    return value


CHANGED: dict[str, Callable[[Any], Any]] = {"time": from_micros, "flag": bool}
"""What a stored value of a kind goes through when it is read; every other kind is stored as it is."""


Places = tuple[tuple[int, str], ...]
ReadPlaces = tuple[tuple[int, str, Callable[[Any], Any]], ...]


def _layout(table: Table) -> tuple[Places, ReadPlaces, Places]:
    columns = list(enumerate(table.columns, 1))
    readable = [(place_, one) for place_, one in columns if not one.keyed]
    plain = [(place_, one.name) for place_, one in readable if one.kind not in CHANGED]
    changed = [(place_, one.name, CHANGED[one.kind]) for place_, one in readable if one.kind in CHANGED]
    keyed = [(place_, one.name) for place_, one in columns if one.keyed]
    return (*(() if table.keyed_id else [(0, "id")]), *plain), tuple(changed), tuple(keyed)


def _writers(table: Table) -> tuple[tuple[Column, Callable[[Any], Any] | None], ...]:
    kinds: dict[str, Callable[[Any], Any]] = {"text": str, "flag": int, "int": _same, "real": float}
    return tuple((column, None if column.keyed else kinds.get(column.kind)) for column in table.columns)


def _same(value: Any) -> Any:
    return value


def _bound(table: Table) -> tuple[int, ...] | None:
    if not table.loose:
        return None
    names = ["id", *(column.name for column in table.columns), "revision"]
    return tuple(number for number, name in enumerate(names) if name not in table.loose)


_PACK = msgspec.msgpack.Encoder()
_BODY = msgspec.json.Decoder(dict[str, Any])
BOUND = {table.name: _bound(table) for table in TABLES}
"""By table: the places in a row that its body is bound to; ``None`` for all of them."""
WRITE = {table.name: _writers(table) for table in TABLES}
"""By table: each column, and what a value goes through where nothing of the user's is needed for it."""
LISTS: dict[str, Any] = {table.name: list[table.type] for table in TABLES}  # type: ignore[name-defined]
"""By table: the type of many of its records."""
LAYOUT = {table.name: _layout(table) for table in TABLES}
"""By table: where in a row a field stands that is stored as it is, and its name; the same of the fields whose stored
value goes through something, with that; and of the columns that hold stand-ins."""
