"""What a caller asked, checked: one clear error, or a request that the search can trust."""

from __future__ import annotations

from typing import Any

import msgspec

from tenuto.errors import InputError
from tenuto.policy import Limits
from tenuto.recall import filters
from tenuto.recall.filters import Filters
from tenuto.recall.scoring import Feeling, check_profile
from tenuto.text import clean

QUERY_CHARACTERS = 4000
"""Of a longer query only this much is searched for: an encoder reads less, and words beyond it only blur."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    limit: int
    profile: str
    filters: Filters
    passages: bool = False
    """Hand each message over with its neighbours, as one dated passage."""
    feeling: Feeling | None = None


def check(query: object, limits: Limits, *, limit: object, profile: object, **given: Any) -> Request:
    """Everything that can be wrong with a request, before anything is read."""
    passages = given.pop("passages", False)
    valence, arousal = given.pop("valence", None), given.pop("arousal", None)
    return Request(
        text=_query(query, limits),
        limit=_limit(limit, limits),
        profile=check_profile(profile),
        filters=filters.parse(given, limits),
        passages=bool(passages),
        feeling=_feeling(valence, arousal),
    )


def _query(value: object, limits: Limits) -> str:
    if isinstance(value, str) and len(value.encode("utf-8", "replace")) > limits.query_bytes:
        raise InputError(
            f"The query is longer than {limits.query_bytes:,} bytes: ask for less at once.", code="query_too_long"
        )
    return clean.text(value, limits, what="query")[:QUERY_CHARACTERS]


def _limit(value: object, limits: Limits) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"'limit' takes a whole number, not {value!r}.", code="limit_invalid")
    if not 1 <= value <= limits.recall_limit:
        raise InputError(f"'limit' is from 1 to {limits.recall_limit:,}, and is {value}.", code="limit_invalid")
    return value


def _feeling(valence: object, arousal: object) -> Feeling | None:
    if valence is None and arousal is None:
        return None
    for name, value in (("valence", valence), ("arousal", arousal)):
        if value is not None and (not isinstance(value, (int, float)) or not -1 <= value <= 1):
            raise InputError(f"'{name}' is a number from -1 to 1, and is {value!r}.", code="feeling_invalid")
    return Feeling(
        float(valence) if isinstance(valence, (int, float)) else None,
        float(arousal) if isinstance(arousal, (int, float)) else None,
    )
