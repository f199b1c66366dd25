"""The small form of row 36: one round, and a bound that holds on a busy machine, too; the row itself is stricter."""

from __future__ import annotations

from pathlib import Path

from tests.reliability.rows import flooded
from tests.reliability.scorecard import Work

NOTICED = 1.0
"""Seconds that nobody else may have to wait."""


def test_a_flood_of_the_worst_texts_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    measured = flooded.under_flood(Work(count=1, folder=tmp_path))
    assert measured.done == 1 and measured.seconds < NOTICED, measured.words
