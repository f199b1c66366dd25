"""What is true now and what was true before, after everything of a case was said."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from bench.extraction.world import World
from bench.recall.data import MISSING
from tenuto.records.memory import RECALLED, Status


def measure(directory: Path, embedder, *, show: bool = False, say=print) -> None:
    """By family: the last statement is current; an earlier one that it replaces no longer is, and is not lost.

    What was missed among the cases with an odd number was looked at; the even ones are reported apart.
    """
    path = directory / "supersession.jsonl"
    if not path.exists():
        raise SystemExit(MISSING.format(path=path))
    counts: dict[str, Counter[str]] = {}
    halves: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        wanted = [one for one in case["questions"] if "expected_current_contains" in one]
        if not wanted:
            continue
        result = _result(case, any(one["expected_superseded_contains"] for one in wanted), embedder)
        counts.setdefault(case["family"], Counter()).update({"cases": 1, **result})
        seen = int(re.findall(r"\d+", case["id"])[-1]) % 2 == 1
        halves[seen].update({"cases": 1, **result})
        if show and seen and not result["retired"]:
            say(f"    not retired: {[one['text'] for one in case['propositions']]}")
    say("  family                    cases  newest current  older retired  nothing lost")
    named = {"looked at (odd)": halves[True], "held out (even)": halves[False]}
    for family, found in (*sorted(counts.items()), *named.items()):
        say(f"  {family:25} {found['cases']:5} {found['current']:15} {found['retired']:14} {found['kept']:13}")


def _result(case: dict, replaces: bool, embedder) -> dict[str, int]:
    said = [one["text"] for one in case["propositions"]]
    world = World(embedder, at=datetime(2000, 1, 1, tzinfo=UTC))
    for one in case["propositions"]:
        world.say(one["text"], at=datetime.fromisoformat(one["asserted_at"]).replace(tzinfo=UTC))
    memories = world.user.memories(status="*")
    messages = world.user.messages()
    world.close()
    current = {quote for one in memories if one.status in RECALLED for quote in _quotes(one)}
    old = {quote for one in memories if one.status is Status.DEPRECATED for quote in _quotes(one)}
    return {
        "current": int(said[-1] in current),
        "retired": int(
            not replaces or (len(said) > 1 and all(text in old and text not in current for text in said[:-1]))
        ),
        "kept": int(len(messages) == len(said)),
    }


def _quotes(memory) -> set[str]:
    return {evidence.quote for evidence in memory.evidence if evidence.quote}
