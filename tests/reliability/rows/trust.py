"""Rows 11 and 21: what a source brought in is taken back, and no tampering with the audit log goes unseen."""

from __future__ import annotations

from pathlib import Path

from tests.reliability.rows.elsewhere import noticed, run
from tests.reliability.scorecard import Measured, Work, row

UNDO = "tests/privacy/test_undo.py"
AUDIT = "tests/privacy/test_audit.py"
ROOT = Path(__file__).parents[3]


def undo_row() -> None:
    @row(
        11,
        "100 runs of poison, then `undo(source, since)`: state equals the clean run",
        unit="runs",
        full=100,
        gate=6,
        tests=UNDO,
    )
    def undone(work: Work) -> Measured:
        found = run(work, UNDO, "-k", "equals_the_clean_run", TENUTO_TEST_UNDO_RUNS=str(work.count))
        return found.measured(work.count, "of 2 kinds of source left something behind")

    @undone.control("an undo that only removes messages")
    def only_messages(work: Work) -> Measured:
        return noticed(run(work, UNDO, "-k", "the_same_test"))


def audit_row() -> None:
    @row(
        21,
        "1,000 of 1,000 single tamperings of the audit log are found",
        unit="tamperings",
        full=1000,
        gate=55,
        tests=AUDIT,
    )
    def tamperings(work: Work) -> Measured:
        found = run(work, AUDIT, "-k", "every_single_tampering", TENUTO_TEST_TAMPERINGS=str(work.count))
        return found.measured(work.count, "stores in which one was missed")

    @tamperings.control("links that do not hold each other")
    def unlinked(work: Work) -> Measured:
        return noticed(run(work, AUDIT, "-k", "the_same_test"))


for path, register in ((UNDO, undo_row), (AUDIT, audit_row)):
    if (ROOT / path).exists():
        register()
