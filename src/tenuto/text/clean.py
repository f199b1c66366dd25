"""What a caller may give: each function returns the value that is used, or raises one clear error."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tenuto.errors import InputError
from tenuto.policy import Limits

FIRST_YEAR, LAST_YEAR = 1000, 3000


def text(value: object, limits: Limits, *, what: str = "text") -> str:
    """Text that can be kept: not blank, within the limit, storable as UTF-8 without NUL."""
    checked = _string(value, what)
    if not checked.strip():
        raise InputError(f"The {what} is empty: give at least one visible character.", code="text_empty")
    size = len(checked.encode("utf-8"))
    if size > limits.text_bytes:
        raise InputError(
            f"The {what} has {size:,} bytes and the limit is {limits.text_bytes:,}: split it, or raise the setting "
            "limits.text_bytes.",
            code="text_too_long",
        )
    return checked


def name(value: object, limits: Limits, *, what: str) -> str:
    """A user, persona, channel, speaker or external id."""
    checked = _string(value, what)
    if not checked.strip():
        raise InputError(f"The {what} is empty.", code="name_empty")
    if checked != checked.strip():
        raise InputError(f"The {what} {checked!r} begins or ends with white space.", code="name_invalid")
    if len(checked) > limits.name_length:
        raise InputError(f"The {what} is longer than {limits.name_length} characters.", code="name_too_long")
    if not checked.isprintable() and any(unicodedata.category(char) == "Cc" for char in checked):
        raise InputError(f"The {what} {checked!r} holds a control character.", code="name_invalid")
    return checked


def optional_name(value: object, limits: Limits, *, what: str) -> str | None:
    """Like :func:`name`, with ``None`` allowed."""
    return None if value is None else name(value, limits, what=what)


def storable(value: object, *, what: str) -> str:
    """Any string that a store can compare with: an id or a filter's value, which may well match nothing."""
    return _string(value, what)


def count(value: object, *, what: str = "limit") -> int:
    """A whole number from 0 on that every engine can take."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InputError(f"'{what}' is a whole number from 0 on, not {str(value)[:40]!r}.", code=f"{what}_invalid")
    return value


def flag(value: object, *, what: str) -> bool:
    """True or false, and nothing that merely passes for it."""
    if not isinstance(value, bool):
        raise InputError(f"'{what}' is true or false, not {str(value)[:40]!r}.", code="filter_invalid")
    return value


def moment(value: object, *, what: str = "at") -> datetime:
    """An aware datetime of a year that can be reckoned with: days before and after it exist in every time zone."""
    if not isinstance(value, datetime):
        raise InputError(f"'{what}' takes a datetime, not {type(value).__name__}.", code="time_invalid")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InputError(
            f"'{what}' is a datetime without a time zone: use datetime.now(timezone.utc) or attach one.",
            code="time_naive",
        )
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise InputError(
            f"'{what}' is of the year {value.year}: years go from {FIRST_YEAR} to {LAST_YEAR}.",
            code="time_out_of_range",
        )
    return value


def metadata(value: object, limits: Limits) -> dict[str, Any]:
    """A small JSON object."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"'metadata' takes a mapping, not {type(value).__name__}.", code="metadata_invalid")
    try:
        encoded = msgspec.json.encode(dict(value))
        decoded = msgspec.json.decode(encoded, type=dict[str, Any])
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise InputError(f"'metadata' cannot be written as JSON: {error}.", code="metadata_invalid") from None
    if len(encoded) > limits.metadata_bytes:
        raise InputError(f"'metadata' is larger than {limits.metadata_bytes:,} bytes.", code="metadata_too_large")
    return decoded


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"The {what} must be a string, not {type(value).__name__}.", code="not_text")
    if "\x00" in value:
        raise InputError(f"The {what} holds a NUL character: remove it.", code="text_nul")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"The {what} holds half of a surrogate pair at position {error.start}: decode it as UTF-16 first, or "
            "replace it.",
            code="text_surrogate",
        ) from None
    return value
