"""The reasons of a hit in one sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tenuto.recall.plain import sentence

JANUARY, MAY = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("parts", "matched", "said", "until", "wanted"),
    [
        ({"meaning": 1.2, "speaker": 2.0}, (), [JANUARY], None,
         "Said on 5 January 2026; its speaker was named; close in meaning."),
        ({"meaning": 0.1, "words": 2.0}, ("dentist?",), [JANUARY], None,
         'Said on 5 January 2026; has the word "dentist".'),
        ({"words": 2.0}, ("a", "b", "c", "d"), [JANUARY, MAY], None,
         'Said on 5 January 2026 and 1 more time; has the words "a", "b", "c".'),
        ({"words": 2.0, "asked again": -2.0}, (), [JANUARY], MAY,
         "Said on 5 January 2026; true until 2 May 2026; asks the same."),
        ({}, (), [], None, "Kept."),
    ],
)  # fmt: skip
def test_the_sentence(parts, matched, said, until, wanted: str) -> None:  # type: ignore[no-untyped-def]
    assert sentence(parts, matched, said, until) == wanted
