"""Rows whose measurement is a test file of its own, run here with larger counts: 13, 14, 23, 24 and 25."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from tests.reliability.scorecard import Measured, Work, row

ROOT = Path(__file__).parents[3]
INTERLEAVINGS = "tests/flows/workflow/test_interleavings.py"
MATRIX = "tests/surfaces/test_authorisation.py"
SCHEMATHESIS = "tests/surfaces/test_schemathesis.py"
SEQUENCES = "tests/surfaces/sequences.py"
MANY = 1000
"""Cases from which on requests that follow from each other are among them: finding the links takes its time."""


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


@row(
    13,
    "0 applied ≠ shown in 10,000 interleavings of stage, confirm, expire, restart; 0 illegal transitions",
    unit="stories",
    full=10_000,
    gate=60,
    share=3,
    tests=INTERLEAVINGS,
)
def interleavings(work: Work) -> Measured:
    found = run(work, INTERLEAVINGS, "-k", "nothing_slips", TENUTO_TEST_STORIES=str(work.count))
    return found.measured(work.count, "stories in which something slipped")


@interleavings.control("an ignored expiry, a yes to something newer or on another channel, an illegal move, a guess")
def judges(work: Work) -> Measured:
    return noticed(run(work, INTERLEAVINGS, "-k", "the_judge_notices"))


@row(
    14,
    "0 server errors in 10,000 Schemathesis cases, all operations, stateful",
    unit="cases",
    full=10_000,
    gate=240,
    share=3,
    tests=SCHEMATHESIS,
)
def cases(work: Work) -> Measured:
    files = [SCHEMATHESIS, SEQUENCES] if work.count >= MANY else [SCHEMATHESIS]
    found = run(work, *files, TENUTO_TEST_CASES=str(work.count))
    return found.measured(work.count, "operations with a server error or an answer that its schema does not allow")


@cases.control("a route that raises")
def broken_routes(work: Work) -> Measured:
    return broken(work, "route", SCHEMATHESIS, "-k", "stats")


@row(
    23,
    "every route and tool has a row in an authorisation matrix {none, user, other user, app, admin}; one without a row fails",
    unit="checks",
    full=100,
    gate=1,
    tests=MATRIX,
)
def matrix(work: Work) -> Measured:
    found = run(work, MATRIX)
    return found.measured(found.tests, "routes or tools without a row, or that answer the wrong caller")


@matrix.control("a reader who may write")
def unguarded(work: Work) -> Measured:
    return broken(work, "reader", MATRIX, "-k", "test_the_matrix")


HARDENING = "tests/surfaces/test_hardening.py"


@row(
    24,
    "50 hostile Host, Origin and content-type combinations: 0 accepted; over 4 MiB → 413",
    unit="requests",
    full=50,
    gate=50,
    tests=HARDENING,
)
def hostile(work: Work) -> Measured:
    found = run(work, HARDENING, "-k", "another_host or another_origin or is_not_json or over_the_limit or other_sites")
    return found.measured(found.tests, "hostile requests accepted")


@hostile.control("a guard that is switched off")
def switched_off(work: Work) -> Measured:
    return broken(work, "guard", HARDENING, "-k", "another_host or another_origin")


OUTBOUND = "tests/surfaces/test_outbound.py"


@row(
    25,
    "60 SSRF addresses (model base URL, webhooks, imports): 0 connections to private ranges unless an admin allowed that host",
    unit="addresses",
    full=60,
    gate=60,
    tests=OUTBOUND,
)
def addresses(work: Work) -> Measured:
    found = run(work, OUTBOUND)
    private = sum(name.startswith("test_no_private_address") for name in found.names)
    return found.measured(private, "private addresses reached")


@addresses.control("a check that believes every address")
def believing(work: Work) -> Measured:
    return broken(work, "outbound", OUTBOUND)
