"""The gate: every row of the scorecard with its small count, and every control."""

from pathlib import Path

import pytest

from tests.reliability.scorecard import Row, Work, load

ROWS = load()
HERE = [row for row in ROWS.values() if not row.tests]
"""Rows whose gate is here; the others are whole test files that run anyway, named in ``tests``."""
CONTROLS = [(row, words) for row in HERE for words in row.controls]


@pytest.mark.parametrize("row", HERE, ids=lambda row: f"row {row.number}")
def test_a_row_with_its_small_count(row: Row, tmp_path: Path) -> None:
    measured = row.run(Work(count=row.gate, folder=tmp_path, seconds=240))
    assert measured.bad == 0, measured.words
    assert measured.done >= row.gate, f"the time ran out: {measured.words}"


@pytest.mark.parametrize(
    ("row", "words"), CONTROLS, ids=lambda value: value if isinstance(value, str) else value.number
)
def test_its_control_is_caught(row: Row, words: str, tmp_path: Path) -> None:
    measured = row.controls[words](Work(count=row.gate, folder=tmp_path, seconds=240))
    assert measured.bad > 0, f"the row cannot see: {words} ({measured.words})"


def test_every_row_has_a_control_and_those_kept_elsewhere_are_there() -> None:
    root = Path(__file__).parents[2]
    for row in ROWS.values():
        assert row.controls, f"row {row.number} has no control"
        assert all((root / path).exists() for path in row.tests.split()), row.tests
