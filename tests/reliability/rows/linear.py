"""Row 30: whatever a text says, the time to read it grows with its length and no faster."""

from __future__ import annotations

import re
from unittest import mock

from tests.reliability import linear
from tests.reliability.scorecard import Measured, Work, row

EVERYTHING = 3
"""Patterns, readers, importers."""


def measure(work: Work) -> Measured:
    sizes = linear.SIZES if work.count >= EVERYTHING else linear.SMALL[:2]
    found: list[str] = []
    for number in work:
        if number == 0:
            found += linear.slow_patterns(sizes)
        elif number == 1:
            found += linear.slow_readers(linear.READERS, sizes)
        else:
            found += linear.slow_readers(linear.importers(work.folder), sizes)
    for words in found:
        print(words)
    return Measured(done=work.done, bad=len(found), words=f"{len(found)} take more than linear time")


@row(
    30,
    "reading is linear: every pattern, reader and importer with 1, 4, 16 and 64 KB of alphabets and of the patterns' own tokens",
    unit="kinds",
    full=EVERYTHING,
    gate=2,
)
def linear_time(work: Work) -> Measured:
    return measure(work)


@linear_time.control("a pattern that looks for the end of a run from each of its places")
def looks_again(work: Work) -> Measured:
    bad = re.compile(r"\s+x")
    with mock.patch.object(linear, "kept_patterns", return_value=[("bad", bad)]):
        return measure(work.part(1, "pattern"))
