"""What a caller says about a memory by hand: how it feels, how it is known, when it may be used. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from tenuto.errors import InputError
from tenuto.policy import Limits
from tenuto.records.memory import Domain, Epistemic, Memory, Sensitivity, TimeScope
from tenuto.text import clean

E = TypeVar("E", bound=StrEnum)
WORDS: Mapping[str, type[StrEnum]] = {
    "domain": Domain,
    "sensitivity": Sensitivity,
    "time_scope": TimeScope,
    "epistemic": Epistemic,
}
NUMBERS = {"valence": (-1.0, 1.0), "arousal": (0.0, 1.0), "salience": (0.0, 1.0)}
CONDITIONS = ("retrieval_conditions", "do_not_use_when")
EDITABLE = (*(name for name in WORDS if name != "domain"), *NUMBERS, *CONDITIONS)
"""What ``edit`` can change of it; the domain is part of the key."""


def described(limits: Limits, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a memory that were given, checked; salience (0–1) is importance (0–10) by another name."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in WORDS and value is not None:
            found[name] = word(value, WORDS[name], name)
        elif name in NUMBERS and value is not None:
            found[name] = _number(value, name)
        elif name in CONDITIONS:
            found[name] = None if value is None else clean.text(value, limits, what=name)
    if "salience" in found:
        found["importance"] = 10.0 * found.pop("salience")
    return found


def word(value: object, type_: type[E], name: str) -> E:
    """One of the words that there are for it."""
    try:
        return type_(str(value))
    except ValueError:
        known = ", ".join(type_)
        raise InputError(f"Unknown {name} {value!r}: use one of {known}.", code=f"{name}_invalid") from None


def _number(value: object, name: str) -> float:
    low, high = NUMBERS[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise InputError(f"'{name}' is a number from {low:g} to {high:g}, not {value!r}.", code=f"{name}_invalid")
    return float(value)


def like(memories: Iterable[Memory], **wanted: Any) -> list[Memory]:
    """The memories that are as wanted: a word of :data:`WORDS`, or a number's pair of from and to."""
    tests = {name: word(value, WORDS[name], name) for name, value in wanted.items() if name in WORDS and value}
    spans = {name: _span(value, name) for name, value in wanted.items() if name in NUMBERS and value is not None}
    return [
        one
        for one in memories
        if all(getattr(one, name) == value for name, value in tests.items())
        and all(low <= _felt(one, name) <= high for name, (low, high) in spans.items())
    ]


def _felt(memory: Memory, name: str) -> float:
    return memory.importance / 10 if name == "salience" else float(getattr(memory, name))


def _span(value: object, name: str) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"'{name}' takes two numbers, from and to, not {value!r}.", code=f"{name}_invalid")
    return _number(value[0], name), _number(value[1], name)
