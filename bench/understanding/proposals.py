"""Judged answers of a model beside what the checks say of each: which right ones pass, which wrong ones are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from tenuto.ingest.extract.checks import check
from tenuto.ingest.extract.claims import Claim, Line, Shown, Verdict
from tenuto.ingest.extract.proposals import attribute_name


def verdict(case: dict[str, Any]) -> Verdict:
    """What the checks say of one case."""
    said = case["proposal"]
    shown = Shown(
        lines=tuple(
            Line(m["text"], datetime.fromisoformat(m["at"]), m["role"] == "user", str(place))
            for place, m in enumerate(case["messages"])
        ),
        known=tuple(case["known"]),
    )
    claim = Claim(
        quote=said["quote"],
        content=said["content"],
        message=said["message"],
        about=said["about"],
        attribute=attribute_name(said["attribute"]),
        value=said["value"],
        ended=said.get("state") in ("ended", "not"),
    )
    return check(claim, shown)


def judge(path: Path, tell: Callable[[str], None]) -> tuple[int, int, int, int]:
    """(right accepted, right, wrong refused, wrong); misjudged cases and every reason go to ``tell``."""
    accepted = right = refused = wrong = 0
    for number, line in enumerate(filter(str.strip, path.read_text(encoding="utf-8").splitlines()), 1):
        case = json.loads(line)
        said = verdict(case)
        passes = said.reason is None
        accepted += passes and case["accept"]
        right += case["accept"]
        refused += not passes and not case["accept"]
        wrong += not case["accept"]
        mark = "" if passes == case["accept"] else "MISJUDGED "
        outcome = "accepted" + (", inferred" if said.inferred else "") if passes else f"refused: {said.reason}"
        tell(f"{mark}{number:3} {case['proposal']['content']!r}: {outcome} ({case['why']})")
    return accepted, right, refused, wrong
