"""Listings, a page at a time: one table says what can be listed, by what, in which order, and what is shown unasked.

The verbs of the library that list the same things take their rows from here, so a page shows what they show.

A cursor names the last row of the page before (its order value and its id), so a page is found by its key however deep
it lies, and rows that come or go meanwhile neither repeat nor hide others. It is plain data and grants nothing: whoever
brings one still reads only what their own handle may read.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound
from tenuto.lifecycle.named_session import session_ids
from tenuto.ports import Reader, Where
from tenuto.records.base import from_micros, micros
from tenuto.records.conversation import KeyPoint, Message, Session, SessionStatus, Summary, SummaryKind
from tenuto.records.memory import (
    RECALLED,
    Domain,
    Entity,
    EntityMerge,
    Kind,
    Memory,
    MergeStatus,
    Proactive,
    StateChange,
    Status,
    Todo,
    TodoKind,
    TodoStatus,
    Trust,
)
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.workflow import Workflow
from tenuto.text import clean

T = TypeVar("T")
ANY = "*"


@dataclass(frozen=True, slots=True)
class Listing:
    """What can be listed. ``filters``: column → the type of its value; ``many``: a filter on several values.

    ``usual`` holds where a filter that is not given; ``"*"`` lifts it. ``shared`` adds what belongs to no persona to
    what a persona sees.
    """

    type: type[Any]
    order: str
    filters: Mapping[str, Any]
    time: str | None = None
    many: str | None = None
    persona: bool = True
    orders: tuple[str, ...] = field(default=())
    usual: Mapping[str, Any] = field(default_factory=dict)
    shared: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some rows, and the cursor of the next page; ``None`` at the end."""

    items: list[T]
    next: str | None = None


LISTINGS: dict[str, Listing] = {
    "messages": Listing(
        Message, "-seq", {"session_id": str, "channel": str, "role": str, "source": str, "trust": Trust}, "at",
        orders=("seq", "-seq", "at", "-at", "-importance"),
    ),
    "sessions": Listing(
        Session, "-last_activity_at", {"status": SessionStatus, "channel": str}, "started_at",
        orders=("started_at", "-started_at", "-last_activity_at"), shared=False,
    ),
    "summaries": Listing(
        Summary, "-created_at", {"kind": SummaryKind, "session_id": str, "current": bool}, "created_at",
        orders=("created_at", "-created_at", "start_seq"), usual={"current": True},
    ),
    "key_points": Listing(
        KeyPoint, "-created_at", {"session_id": str, "type": str, "resolved": bool}, "created_at",
        orders=("created_at", "-created_at", "-weight"),
    ),
    "memories": Listing(
        Memory, "-created_at",
        {"domain": Domain, "kind": Kind, "status": Status, "pinned": bool, "proactive_use": Proactive, "trust": Trust,
         "source": str, "session_id": str}, "created_at", many="entities",
        orders=("created_at", "-created_at", "-updated_at", "-importance"), usual={"status": RECALLED},
    ),
    "entities": Listing(
        Entity, "-mentions", {"type": str, "merged": bool}, "updated_at", persona=False,
        orders=("-updated_at", "-mentions", "id"), usual={"merged": False},
    ),
    "merges": Listing(
        EntityMerge, "-created_at", {"status": MergeStatus}, "created_at", persona=False,
        usual={"status": MergeStatus.PROPOSED},
    ),
    "todos": Listing(
        Todo, "-created_at", {"kind": TodoKind, "status": TodoStatus, "source": str, "session_id": str}, "created_at",
        many="entities", orders=("created_at", "-created_at", "-importance"), usual={"status": TodoStatus.OPEN},
        shared=False,
    ),
    "state_changes": Listing(StateChange, "-at", {}, "at", orders=("at", "-at"), shared=False),
    "workflows": Listing(
        Workflow, "-updated_at", {"definition": str, "state": str, "session_id": str}, "updated_at", shared=False
    ),
    "events": Listing(Event, "-seq", {"kind": str, "subject_kind": str, "subject_id": str}, "at", persona=False,
                      orders=("seq", "-seq")),
}  # fmt: skip


def find(
    deps: Deps,
    scope: Scope,
    what: str,
    *,
    limit: int = 50,
    cursor: str | None = None,
    order: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    **filters: Any,
) -> Page[Any]:
    """One page of a listing."""
    listing = _listing(what)
    by = order or listing.order
    if by not in (listing.order, *listing.orders):
        raise InputError(
            f"{what} cannot be sorted by {by!r}: use {', '.join((listing.order, *listing.orders))}.",
            code="order_unknown",
        )
    most = deps.policy.limits.page_size
    if not 1 <= clean.count(limit) <= most:
        raise InputError(f"'limit' is from 1 to {most}, and is {limit!r}.", code="limit_invalid")
    times = _times(listing, since, until)
    with deps.store.reading(scope.user) as reader:
        where = [*_conditions(reader, scope, what, filters), *times]
        found = reader.find(listing.type, *where, order=by, limit=limit + 1, after=read_cursor(cursor, by, listing))
    if len(found) <= limit:
        return Page(items=found)
    last = found[limit - 1]
    return Page(items=found[:limit], next=write_cursor(by, getattr(last, by.removeprefix("-")), last.id))


def rows(
    deps: Deps, scope: Scope, what: str, *, order: str | None = None, limit: int | None = None, **filters: Any
) -> list[Any]:
    """The first rows of a listing, however many: what a verb of the library returns."""
    listing = _listing(what)
    with deps.store.reading(scope.user) as reader:
        where = _conditions(reader, scope, what, filters)
        return reader.find(listing.type, *where, order=order or listing.order, limit=limit)


def one(deps: Deps, scope: Scope, what: str, id: str) -> Any:
    """One row by its id, if this handle may see it."""
    listing = _listing(what)
    with deps.store.reading(scope.user) as reader:
        found = reader.get(listing.type, clean.storable(id, what="id"))
    if found is None or (listing.persona and scope.persona and found.persona not in (None, scope.persona)):
        raise NotFound(f"There is no {what} with the id {id!r} for this user.")
    return found


def write_cursor(order: str, value: Any, id: str) -> str:
    plain = micros(value) if isinstance(value, datetime) else value
    return base64.urlsafe_b64encode(msgspec.json.encode([order, plain, id])).decode().rstrip("=")


def read_cursor(cursor: str | None, order: str, listing: Listing) -> tuple[Any, str] | None:
    """What a cursor says; one of another order, or not ours, is refused."""
    if cursor is None:
        return None
    try:
        if not isinstance(cursor, str):
            raise ValueError
        made_for, value, id = msgspec.json.decode(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True),
            type=tuple[str, int | float | str, str],
        )
        column = order.removeprefix("-")
        if made_for != order or "\x00" in id or (isinstance(value, str) and "\x00" in value):
            raise ValueError
        if column == "id":
            return str(value), id
        if isinstance(value, str) or not -(2**62) < value < 2**62:
            raise ValueError
        return (from_micros(int(value)) if column.endswith("_at") or column == "at" else value), id
    except (ValueError, binascii.Error, OverflowError, msgspec.MsgspecError):
        raise InputError(
            "The cursor is not one of this listing: take it from 'next' of the page before, with the same order.",
            code="cursor_invalid",
        ) from None


def _listing(what: str) -> Listing:
    try:
        return LISTINGS[what]
    except KeyError:
        raise InputError(f"There is no listing {what!r}: use {', '.join(LISTINGS)}.", code="listing_unknown") from None


def _conditions(reader: Reader, scope: Scope, what: str, filters: Mapping[str, Any]) -> list[Where]:
    """What was asked for, what holds where nothing was, and what the persona sees."""
    listing = _listing(what)
    asked = {**listing.usual, **{name: value for name, value in filters.items() if value is not None}}
    where = _persona(listing, scope)
    for name, value in asked.items():
        if name == "entity" and listing.many:
            where.append(Where(listing.many, "has", clean.storable(value, what=name)))
        elif name not in listing.filters:
            known = ", ".join((*listing.filters, *(["entity"] if listing.many else [])))
            raise InputError(f"{what} cannot be filtered by {name!r}: use {known}.", code="filter_unknown")
        elif name in listing.usual and value == ANY:
            continue
        elif name == "merged":
            where.append(Where("merged_into", "is not" if _checked(name, bool, value) else "is", None))
        elif name == "session_id":
            given = [value] if isinstance(value, str) else value
            ids = [id for one in given for id in session_ids(reader, scope.persona, one)]
            where.append(Where(name, "in", ids))
        else:
            where.append(_condition(name, listing.filters[name], value))
    return where


def _condition(name: str, type_: Any, value: Any) -> Where:
    if isinstance(value, (list, tuple, set, frozenset)):
        return Where(name, "in", [_checked(name, type_, one) for one in value])
    return Where(name, "=", _checked(name, type_, value))


def _checked(name: str, type_: Any, value: Any) -> Any:
    if type_ is str:
        return clean.storable(value, what=name)
    if type_ is bool:
        if isinstance(value, bool):
            return value
        raise InputError(f"'{name}' is true or false, not {value!r}.", code="filter_invalid")
    try:
        return type_(value)
    except ValueError:
        raise InputError(f"'{name}' is one of {', '.join(type_)}, not {value!r}.", code="filter_invalid") from None


def _times(listing: Listing, since: datetime | None, until: datetime | None) -> list[Where]:
    if listing.time is None:
        return []
    found = [Where(listing.time, ">=", clean.moment(since, what="since"))] if since is not None else []
    return [*found, Where(listing.time, "<", clean.moment(until, what="until"))] if until is not None else found


def _persona(listing: Listing, scope: Scope) -> list[Where]:
    if not listing.persona or not scope.persona:
        return []
    return [Where("persona", "in", [scope.persona, None] if listing.shared else [scope.persona])]
