"""The filled scorecard: what was measured, whether the control was caught, and what falls short."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import apsw

from tests.reliability.scorecard import Row

HEAD = """# Reliability

`make reliability` runs every row below, each with a control: the same measurement of something broken on purpose,
which it must find. Every row can be run alone (`python -m tests.reliability --rows 12`), smaller (`--scale 0.1`) or for
a limited time (`--seconds 600`); a row that ran fewer than its goal asks for says "n of N" and does not count as met.
`make test` runs all of them with small counts. This page is written by that command.
"""


def read(folder: Path) -> dict[int, dict[str, Any]]:
    """The results that there are, by row."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("row-*.json"))]
    return {result["row"]: result for result in found}


def met(row: Row, result: dict[str, Any] | None) -> bool:
    """Whether a row's goal is met: as many as it asks for, none of them wrong, every control caught."""
    if result is None or result.get("error"):
        return False
    return result["bad"] == 0 and result["done"] >= row.full and bool(result["controls"]) and _caught(result)


def table(rows: dict[int, Row], results: dict[int, dict[str, Any]]) -> str:
    lines = ["| # | goal | measured | run | control caught | seconds | |", "|---|---|---|---|---|---|---|"]
    for number in range(1, 1 + max(rows)):
        row, result = rows.get(number), results.get(number)
        if row is None:
            lines.append(f"| {number} | – | not there yet | – | – | – | falls short |")
            continue
        lines.append(f"| {number} | {row.goal} | " + " | ".join(_cells(row, result)) + " |")
    return "\n".join(lines)


def page(rows: dict[int, Row], results: dict[int, dict[str, Any]]) -> str:
    dates = sorted(result["at"][:10] for result in results.values())
    latest = max(results.values(), key=lambda result: result["at"], default=None)
    made = latest["versions"] if latest else versions()
    when = f"{dates[0]} to {dates[-1]}" if dates and dates[0] != dates[-1] else (dates[0] if dates else "not yet")
    short = [str(n) for n in range(1, 1 + max(rows)) if n not in rows or not met(rows[n], results.get(n))]
    said = ", ".join(f"{name} {value}" for name, value in made.items())
    also = Path(__file__).with_name("also.md").read_text(encoding="utf-8")
    return (
        f"{HEAD}\nRun: {when}, row by row while the code went on. Last: {said}.\n\n"
        f"Rows that fall short of their goal: {', '.join(short) or 'none'}.\n\n{table(rows, results)}\n\n{also}"
    )


def versions() -> dict[str, str]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "Tenuto": version("tenuto"),
        "commit": commit.stdout.strip() or "unknown",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),
        "psycopg": version("psycopg"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cells(row: Row, result: dict[str, Any] | None) -> list[str]:
    if result is None:
        return ["not run", f"0 of {row.full:,} {row.unit}", "–", "–", "falls short"]
    if result.get("error"):
        return [result["error"].replace("|", "/"), "–", "–", f"{result['seconds']:.0f}", "falls short"]
    done = f"{result['done']:,}" if result["done"] >= row.full else f"{result['done']:,} of {row.full:,}"
    controls = result["controls"]
    caught = "; ".join(f"{'yes' if found else 'NO'}: {words}" for words, found in controls.items()) or "none"
    if met(row, result):
        state = "met"
    elif result["bad"] == 0 and controls and _caught(result):
        state = "none wrong, fewer run"
    else:
        state = "falls short"
    return [result["words"], f"{done} {row.unit}", caught, f"{result['seconds']:.0f}", state]


def _caught(result: dict[str, Any]) -> bool:
    return all(result["controls"].values())
