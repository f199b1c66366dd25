"""Rows 11 and 21: a source is taken back as if it had never come; no tampering with the log goes unseen."""

from __future__ import annotations

from tests.reliability.rows.elsewhere import noticed, run
from tests.reliability.scorecard import Measured, Work, row

UNDO = "tests/privacy/test_undo.py"
AUDIT = "tests/privacy/test_audit.py"


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
    return found.measured(work.count, "ways of poisoning after which the state differs from the clean run")


@undone.control("an undo that leaves what was derived")
def only_messages(work: Work) -> Measured:
    return noticed(run(work, UNDO, "-k", "only_removes_messages"))


@row(
    21,
    "1,000 of 1,000 single tamperings of the audit log are found",
    unit="tamperings",
    full=1000,
    gate=55,
    tests=AUDIT,
)
def tampered(work: Work) -> Measured:
    found = run(work, AUDIT, "-k", "every_single_tampering", TENUTO_TEST_TAMPERINGS=str(work.count))
    return found.measured(work.count, "engines on which a tampering went unseen")


@tampered.control("links that do not hold each other")
def loose(work: Work) -> Measured:
    return noticed(run(work, AUDIT, "-k", "do_not_hold_each_other"))
