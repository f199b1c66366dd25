"""The shape of a model's answer, and its parsing. Total: what cannot be read becomes a reason, never an exception of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
LARGEST = 256 * 1024
"""Characters of an answer that are parsed."""
MOST = 200
"""Entries of one list of an answer that are looked at."""
KINDS = (
    "fact",
    "preference",
    "relationship",
    "habit",
    "trajectory",
    "project",
    "constraint",
    "boundary",
    "somatic_affective",
)
STATES = ("now", "ended", "planned", "not")
TODOS = ("task", "reminder", "commitment", "habit", "thread", "friction")


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
_NUMBER: dict[str, Any] = {"type": "integer"}
SCHEMA: dict[str, Any] = _object(
    memories=_list(
        _object(
            message=_NUMBER,
            quote=_TEXT,
            content=_TEXT,
            kind={"type": "string", "enum": list(KINDS)},
            attribute=_MAYBE,
            value=_MAYBE,
            about=_TEXT,
            relation=_MAYBE,
            state={"type": "string", "enum": list(STATES)},
            replaces=_MAYBE,
            importance={"type": "number"},
        )
    ),
    todos=_list(
        _object(
            message=_NUMBER,
            quote=_TEXT,
            content=_TEXT,
            kind={"type": "string", "enum": list(TODOS)},
            due=_MAYBE,
        )
    ),
    done=_list(_object(message=_NUMBER, quote=_TEXT, what=_TEXT, cancelled={"type": "boolean"})),
)


class Unusable(Exception):
    """The answer as a whole cannot be read; the message says why, in words that a model can act on."""


class Proposal(msgspec.Struct, forbid_unknown_fields=False):
    """One proposed memory, of the right types."""

    quote: str
    content: str
    message: int = 0
    kind: str = "fact"
    attribute: str | None = None
    value: str | None = None
    about: str | None = "self"
    relation: str | None = None
    state: str = "now"
    replaces: str | None = None
    importance: float = 5.0


class ProposedTodo(msgspec.Struct, forbid_unknown_fields=False):
    """Something that is to be done."""

    quote: str
    content: str
    message: int = 0
    kind: str = "task"
    due: str | None = None


class ProposedDone(msgspec.Struct, forbid_unknown_fields=False):
    """Something that is done, or need not be done any more."""

    quote: str
    what: str = ""
    message: int = 0
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that was thrown away, and why."""

    content: str
    reason: str
    message: int | None = None


@dataclass(slots=True)
class Parsed:
    """What an answer holds, and what of it has the wrong shape."""

    memories: list[Proposal] = field(default_factory=list)
    todos: list[ProposedTodo] = field(default_factory=list)
    done: list[ProposedDone] = field(default_factory=list)
    malformed: list[Refused] = field(default_factory=list)


def parse(text: str) -> Parsed:
    """The proposals in an answer. Raises :class:`Unusable` when there is nothing to read."""
    if not text.strip():
        raise Unusable("the answer is empty")
    if len(text) > LARGEST:
        raise Unusable(f"the answer has more than {LARGEST:,} characters")
    try:
        data = msgspec.json.decode(_json_part(text))
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise Unusable(f"the answer is not valid JSON: {error}") from None
    if isinstance(data, list):
        data = {"memories": data}
    if not isinstance(data, dict) or not isinstance(data.get("memories"), list):
        raise Unusable("the answer has no list 'memories'")
    malformed: list[Refused] = []
    return Parsed(
        memories=_rows(data, "memories", Proposal, malformed),
        todos=_rows(data, "todos", ProposedTodo, malformed),
        done=_rows(data, "done", ProposedDone, malformed),
        malformed=malformed,
    )


def _rows(data: dict[str, Any], name: str, type_: type[T], malformed: list[Refused]) -> list[T]:
    rows, found = data.get(name), []
    for row in rows[:MOST] if isinstance(rows, list) else ():
        try:
            found.append(msgspec.convert(row, type_))
        except msgspec.ValidationError as error:
            malformed.append(Refused(content=str(row)[:120], reason=f"of the wrong shape: {error}"))
    return found


def _json_part(text: str) -> bytes:
    """The outermost object or list, without fences and chatter around it."""
    starts = [position for position in (text.find("{"), text.find("[")) if position >= 0]
    if not starts:
        raise Unusable("the answer holds no JSON")
    start = min(starts)
    end = max(text.rfind("}"), text.rfind("]"))
    if end < start:
        raise Unusable("the JSON of the answer is cut off")
    return text[start : end + 1].encode("utf-8")
