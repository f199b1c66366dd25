"""Rows whose measurement is a test file of its own, run here with larger counts: 11, 13, 14, 21, 23, 24 and 25.

A file's own tests are the gate. What is broken on purpose is either among them (each that passes has caught something),
or one guard is broken for a whole run of them (:mod:`tests.reliability.broken`), which must fail then.
"""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from tests.reliability.scorecard import Measured, Row, Work, row

ROOT = Path(__file__).parents[3]
MANY = 1000


@dataclass(frozen=True)
class Run:
    """What came of a run of pytest; a skipped test counts as failed."""

    tests: int
    failed: int
    names: tuple[str, ...]

    def measured(self, done: int, words: str) -> Measured:
        return Measured(done=done, bad=self.failed, words=f"{self.failed} {words}")


def run(work: Work, *arguments: str, **environment: str) -> Run:
    """Run tests in a process of their own."""
    path = work.folder / "junit.xml"
    command = [sys.executable, "-m", "pytest", *arguments, f"--junitxml={path}", "-p", "no:cacheprovider"]
    command += ["--timeout=7200"]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if not path.exists():
        raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
    suites = ElementTree.parse(path).getroot().iter("testsuite")
    counts = [
        {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")} for suite in suites
    ]
    failed = sum(one["failures"] + one["errors"] + one["skipped"] for one in counts)
    if failed:
        print(ended.stdout[-3000:], file=sys.stderr)
    cases = ElementTree.parse(path).getroot().iter("testcase")
    names = tuple(str(case.get("name")) for case in cases)
    return Run(sum(one["tests"] for one in counts), max(failed, int(ended.returncode != 0)), names)


def broken(work: Work, what: str, *arguments: str) -> Measured:
    """The same tests with one guard broken: those that fail have noticed."""
    found = run(work, *arguments, "-p", "tests.reliability.broken", TENUTO_TEST_BREAK=what, TENUTO_TEST_CASES="240")
    return Measured(done=found.tests, bad=found.failed, words=f"{found.failed} were noticed")


def noticed(found: Run) -> Measured:
    """For files whose own tests are the controls: each that passes has caught something broken."""
    caught = found.tests if not found.failed else 0
    return Measured(done=found.tests, bad=caught, words=f"{caught} of {found.tests} broken variants were noticed")


def in_file(
    number: int,
    goal: str,
    *,
    tests: str,
    unit: str,
    full: int,
    gate: int,
    said: str,
    only: str = "",
    count: str = "",
    counted: str = "test_",
    share: float = 1.0,
    also: str = "",
) -> Row:
    """Registers a row that is a file of tests: those with ``only`` in their names, ``count`` times if that names how to
    tell them, and otherwise as many as have names that begin with ``counted``. ``also``: a file that is too slow for a
    small count, from ``MANY`` on."""

    def measure(work: Work) -> Measured:
        times = {count: str(work.count)} if count else {}
        files = [tests, also] if also and work.count >= MANY else [tests]
        found = run(work, *files, *(["-k", only] if only else []), **times)
        done = work.count if count else sum(name.startswith(counted) for name in found.names)
        return found.measured(done, said)

    return row(number, goal, unit=unit, full=full, gate=gate, share=share, tests=tests)(measure)


def its_own_controls(of: Row, words: str, only: str) -> None:
    """Tests in the same file that break something and must notice it."""
    of.control(words)(lambda work: noticed(run(work, of.tests, "-k", only)))


def breaking(of: Row, words: str, guard: str, only: str = "") -> None:
    """The same tests with a guard broken."""
    of.control(words)(lambda work: broken(work, guard, of.tests, *(["-k", only] if only else [])))


undone = in_file(
    11, "100 runs of poison, then `undo(source, since)`: state equals the clean run",
    tests="tests/privacy/test_undo.py", unit="runs", full=100, gate=6, only="equals_the_clean_run",
    count="TENUTO_TEST_UNDO_RUNS", said="of 2 kinds of source left something behind",
)  # fmt: skip
its_own_controls(undone, "an undo that only removes messages", "the_same_test")

interleavings = in_file(
    13, "0 applied ≠ shown in 10,000 interleavings of stage, confirm, expire, restart; 0 illegal transitions",
    tests="tests/flows/workflow/test_interleavings.py", unit="stories", full=10_000, gate=60, share=3,
    only="nothing_slips", count="TENUTO_TEST_STORIES", said="stories in which something slipped",
)  # fmt: skip
its_own_controls(
    interleavings,
    "an ignored expiry, a yes to something newer or on another channel, an illegal move, a guess",
    "the_judge_notices",
)

cases = in_file(
    14, "0 server errors in 10,000 Schemathesis cases, all operations, stateful",
    tests="tests/surfaces/test_schemathesis.py", unit="cases", full=10_000, gate=240, share=3,
    count="TENUTO_TEST_CASES", also="tests/surfaces/sequences.py",
    said="operations with a server error or an answer that its schema does not allow",
)  # fmt: skip
breaking(cases, "a route that raises", "route", "stats")

tamperings = in_file(
    21, "1,000 of 1,000 single tamperings of the audit log are found", tests="tests/privacy/test_audit.py",
    unit="tamperings", full=1000, gate=55, only="every_single_tampering", count="TENUTO_TEST_TAMPERINGS",
    said="stores in which one was missed",
)  # fmt: skip
its_own_controls(tamperings, "links that do not hold each other", "the_same_test")

behind_its_back = in_file(
    37, "rows that were deleted, moved, changed in any deciding column, set back or put in by SQL are named; sealed and plain, both "
    "engines; what an earlier release wrote is taken over once",
    tests="tests/privacy/test_listing.py", unit="tests", full=15, gate=15, only="not the_same_test",
    said="ways of tampering missed",
)  # fmt: skip
its_own_controls(behind_its_back, "digests that are the same for every row", "the_same_test")

matrix = in_file(
    23,
    "every route and tool has a row in an authorisation matrix {none, user, other user, app, admin}; one without a row fails",
    tests="tests/surfaces/test_authorisation.py", unit="checks", full=100, gate=1,
    said="routes or tools without a row, or that answer the wrong caller",
)  # fmt: skip
breaking(matrix, "a reader who may write", "reader", "test_the_matrix")

hostile = in_file(
    24, "50 hostile Host, Origin and content-type combinations: 0 accepted; over 4 MiB → 413",
    tests="tests/surfaces/test_hardening.py", unit="requests", full=50, gate=50,
    only="another_host or another_origin or is_not_json or over_the_limit or other_sites",
    said="hostile requests accepted",
)  # fmt: skip
breaking(hostile, "a guard that is switched off", "guard", "another_host or another_origin")

addresses = in_file(
    25,
    "60 SSRF addresses (model base URL, webhooks, imports): 0 connections to private ranges unless an admin allowed that host",
    tests="tests/surfaces/test_outbound.py", unit="addresses", full=60, gate=60, counted="test_no_private_address",
    said="private addresses reached",
)  # fmt: skip
breaking(addresses, "a check that believes every address", "outbound")
