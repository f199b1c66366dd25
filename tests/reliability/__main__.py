"""The fault campaign: every row of the scorecard with its control, and the table of what came out.

    python -m tests.reliability [--rows 1,2,12] [--scale 0.1] [--count 50] [--seconds 600] …

Each row runs in a process of its own with a time limit and leaves ``build/reliability/row-NN.json``; a row that has a
result of at least this size is not run again unless ``--again`` says so, so a stopped campaign is taken up where it
was. ``--seconds`` limits each row: what was not reached shows as "n of N". At the end the table is printed and written
to ``docs/reliability.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.reliability import report
from tests.reliability.scorecard import Row, Work, load

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "reliability"
GRACE = 300
"""Seconds beyond its limit after which a row is ended."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="", help="numbers such as 1,2,12; all without it")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full counts")
    parser.add_argument("--count", type=int, help="this many instead of the full count")
    parser.add_argument("--seconds", type=float, default=7200.0, help="limit of each row")
    parser.add_argument("--again", action="store_true", help="run rows that have a result, too")
    parser.add_argument("--table", action="store_true", help="only print the table of what there is")
    parser.add_argument("--no-page", action="store_true", help="leave docs/reliability.md as it is")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    rows = load()
    if given.one:
        return _one(rows[int(given.rows)], given.count, given.seconds, Path(given.one))
    RESULTS.mkdir(parents=True, exist_ok=True)
    chosen = [int(number) for number in given.rows.split(",")] if given.rows else list(rows)
    for number in [] if given.table else chosen:
        _row(rows[number], given)
    results = report.read(RESULTS)
    page = report.page(rows, results)
    print(report.table(rows, results))
    if not given.no_page:
        (ROOT / "docs" / "reliability.md").write_text(page, encoding="utf-8")
    fell_short = [number for number in chosen if not report.met(rows[number], results.get(number))]
    print(f"rows that fall short: {', '.join(map(str, fell_short)) or 'none'}")
    return 1 if fell_short else 0


def _row(row: Row, given: argparse.Namespace) -> None:
    path = RESULTS / f"row-{row.number:02}.json"
    count = given.count or max(1, int(row.full * given.scale))
    known = json.loads(path.read_text()) if path.exists() else None
    if known and not given.again and known.get("done", 0) >= count and not known.get("error"):
        print(f"row {row.number:2}: {known['done']} {row.unit} are there already", flush=True)
        return
    print(f"row {row.number:2}: {count} {row.unit} … ", end="", flush=True)
    command = [sys.executable, "-m", "tests.reliability", "--rows", str(row.number), "--count", str(count)]
    command += ["--seconds", str(given.seconds), "--one", str(path)]
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        process.wait(given.seconds * 2 + GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _write(path, row, error="it did not end in time", seconds=time.monotonic() - begun)
    if process.returncode not in (0, 1, -signal.SIGKILL):
        _write(path, row, error=f"it ended with {process.returncode}", seconds=time.monotonic() - begun)
    result = json.loads(path.read_text())
    print(result.get("error") or f"{result['words']} ({result['seconds']:.0f} s)", flush=True)


def _one(row: Row, count: int, seconds: float, path: Path) -> int:
    """Run one row and its controls here."""
    begun = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="tenuto-row-") as folder:
            measured = row.run(Work(count=count, folder=Path(folder), seconds=seconds))
        took = time.monotonic() - begun
        caught = {words: _caught(control, row) for words, control in row.controls.items()}
    except Exception as error:
        traceback.print_exc()
        _write(path, row, error=f"{type(error).__name__}: {error}"[:300], seconds=time.monotonic() - begun)
        return 1
    _write(path, row, done=measured.done, bad=measured.bad, words=measured.words, controls=caught, seconds=took)
    return 0


def _caught(control: Any, row: Row) -> bool:
    with tempfile.TemporaryDirectory(prefix="tenuto-row-") as folder:
        return control(Work(count=row.gate, folder=Path(folder), seconds=600.0)).bad > 0


def _write(path: Path, row: Row, **result: Any) -> None:
    said = {"row": row.number, "full": row.full, "unit": row.unit, "at": datetime.now(UTC).isoformat(), **result}
    said["versions"] = report.versions()
    path.write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    sys.exit(main())
