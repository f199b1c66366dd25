"""What a caller may narrow a recall by: checked once, then turned into a mask over the index.

A filter is a keyword with a plain value. Unknown keywords and values of the wrong kind are errors; a value never
becomes part of a query's text, so nothing can be injected through it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import numpy as np

from tenuto.errors import InputError
from tenuto.policy import Limits
from tenuto.ports import Reader, Where
from tenuto.recall.index import KIND_CODE, KINDS, NONE, Bools, UserIndex, View, constant
from tenuto.records.base import micros
from tenuto.records.conversation import Message, Session
from tenuto.records.memory import Domain, Kind, Memory, Status, Todo, TodoKind, TodoStatus
from tenuto.records.operations import EntryKind
from tenuto.text import clean

ANY = "*"
"""As a persona: all of them, for a caller who is not bound to one."""


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller asked for. ``None`` asks for nothing."""

    kinds: tuple[EntryKind, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    persona: str | None = None
    domain: str | None = None
    kind: str | None = None
    entity: str | None = None
    status: str | None = None
    channel: str | None = None
    session: str | None = None
    source: str | None = None
    role: str | None = None
    speaker: str | None = None
    outside: bool = False
    held: bool = False
    """For the person's own eyes: what is held back is found, too, and marked."""

    @property
    def of_records(self) -> bool:
        """Whether something is asked that the index does not know."""
        return bool(self.domain or self.kind or self.entity or self.status or self.channel or self.source)


NAMES = Filters.__struct_fields__


def parse(given: dict[str, Any], limits: Limits) -> Filters:
    """Check what a caller gave as keywords."""
    for name in given:
        if name not in NAMES:
            raise InputError(f"recall has no filter '{name}'; there are: {', '.join(NAMES)}.", code="unknown_filter")
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "kinds":
            checked[name] = _kinds(value)
        elif name in ("since", "until"):
            checked[name] = clean.moment(value, what=name)
        elif name in ("outside", "held"):
            checked[name] = bool(value)
        else:
            checked[name] = clean.name(str(value) if isinstance(value, str) else value, limits, what=name)
    _known(checked.get("domain"), "domain", Domain)
    _known(checked.get("kind"), "kind", Kind, TodoKind)
    _known(checked.get("status"), "status", Status, TodoStatus)
    return Filters(**checked)


def _kinds(value: Any) -> tuple[EntryKind, ...]:
    names = [value] if isinstance(value, str) else list(value)
    try:
        return tuple(dict.fromkeys(EntryKind(name) for name in names))
    except ValueError:
        known = ", ".join(KINDS)
        raise InputError(f"'kinds' takes names among {known}, not {names!r}.", code="unknown_kind") from None


def _known(value: str | None, what: str, *enums: Any) -> None:
    if value is None:
        return
    known = list(dict.fromkeys(str(member) for enum in enums for member in enum))
    if value not in known:
        raise InputError(f"There is no {what} {value!r}; known are: {', '.join(known)}.", code=f"unknown_{what}")


def mask(view: View, index: UserIndex, reader: Reader | None, wanted: Filters, persona: str | None) -> Bools:
    """The rows that may be found. ``persona`` is the one that the caller is bound to.

    A reader is needed only for what :attr:`Filters.of_records` tells of.
    """
    allowed = _usual(view, wanted, persona)
    if wanted.since is not None:
        allowed = allowed & np.asarray(view.column("at") >= micros(wanted.since))
    if wanted.until is not None:
        allowed = allowed & np.asarray(view.column("at") < micros(wanted.until))
    for table, value in (("session", wanted.session), ("role", wanted.role), ("speaker", wanted.speaker)):
        if value is not None:
            allowed = allowed & np.asarray(view.column(table) == view.code(table, value))
    if wanted.of_records:
        if reader is None:
            raise TypeError("These filters need a reader.")
        allowed = allowed & _by_record(view, index, reader, wanted)
    return allowed


def _usual(view: View, wanted: Filters, persona: str | None) -> Bools:
    """The rows of the persona and the kinds. Whoever asks again mostly asks for the same ones: the last are kept."""
    asked = wanted.persona, persona, wanted.kinds
    known: tuple[object, Bools] | None = view.kept.get("usual")
    if known is not None and known[0] == asked:
        return known[1]
    allowed = view.living().copy()
    if not (wanted.persona == ANY and persona is None):
        allowed &= _persona(view, wanted.persona, persona)
    if wanted.kinds is not None:
        wanted_codes = np.zeros(len(KINDS), bool)
        wanted_codes[[KIND_CODE[kind] for kind in wanted.kinds]] = True
        allowed &= wanted_codes[view.column("kind")]
    view.kept["usual"] = asked, constant(allowed)
    return allowed


def _persona(view: View, wanted: str | None, bound: str | None) -> Bools:
    column = view.column("persona")
    if wanted is None:
        return np.asarray((column == NONE) | (column == view.code("persona", bound)))
    if bound is not None and wanted not in (bound, ANY):
        raise InputError(
            f"This handle talks as '{bound}' and cannot see what belongs to '{wanted}': open one without a persona.",
            code="persona_mismatch",
        )
    return np.asarray(column == view.code("persona", wanted))


def _by_record(view: View, index: UserIndex, reader: Reader, wanted: Filters) -> Bools:
    """Conditions on columns that only the store knows."""
    ids: set[str] = set()
    memory = [
        Where(name, "=", getattr(wanted, name))
        for name in ("domain", "kind", "status", "source")
        if getattr(wanted, name)
    ]
    todo = [condition for condition in memory if condition.column != "domain"]
    if wanted.entity:
        memory.append(Where("entities", "has", wanted.entity))
        todo.append(Where("entities", "has", wanted.entity))
    sessions = reader.ids(Session, Where("channel", "=", wanted.channel)) if wanted.channel else None
    if memory or sessions is not None:
        ids |= _in_sessions(view, index, reader.ids(Memory, *memory), sessions)
    if (todo or sessions is not None) and not wanted.domain:
        ids |= _in_sessions(view, index, reader.ids(Todo, *todo), sessions)
    if not (wanted.domain or wanted.kind or wanted.status):
        ids |= _messages(view, index, reader, wanted, ids)
    allowed = np.zeros(view.size, bool)
    rows = [row for row in map(index.row, ids) if row is not None and row < view.size]
    allowed[rows] = True
    return allowed


def _in_sessions(view: View, index: UserIndex, ids: set[str], sessions: set[str] | None) -> set[str]:
    if sessions is None:
        return ids
    codes = {view.code("session", session) for session in sessions}
    column = view.column("session")
    rows = ((id, index.row(id)) for id in ids)
    return {id for id, row in rows if row is not None and row < view.size and int(column[row]) in codes}


def _messages(view: View, index: UserIndex, reader: Reader, wanted: Filters, ids: set[str]) -> set[str]:
    """Messages by channel and source; by entity, those that the entity's memories came from."""
    linked: set[str] = set()
    if wanted.entity:
        for row in filter(None, map(index.row, ids)):
            linked.update(view.links.get(row, ()))
    where = [Where(name, "=", getattr(wanted, name)) for name in ("channel", "source") if getattr(wanted, name)]
    if not where:
        return linked
    found = reader.ids(Message, *where)
    return found & linked if wanted.entity else found
