"""What is true now comes first, what was true before stays reachable, through the public surface.

Each case is a user of their own who says two or three things; the question comes later. ``current first``: the first
hit holds the current value. ``old reachable``: a hit holds the old value when the question is put into the past.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import tenuto


def run(cases: list[dict], embedder, url: str | None) -> None:
    now = [datetime(2025, 6, 1, tzinfo=UTC)]
    store = tenuto.open(url or "memory:", embedder=embedder, clock=lambda: now[0], background=False)
    current: Counter[str] = Counter()
    old: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    past: Counter[str] = Counter()
    misses = []
    for case in cases:
        memory = store.user(case["id"])
        for number, said in enumerate(case["propositions"]):
            at = datetime.fromisoformat(said["asserted_at"]).replace(tzinfo=UTC)
            now[0] = at
            memory.observe(said["text"], at=at, id=f"{case['id']}-{number}")
        now[0] = at + timedelta(days=30)
        store.settle()
        for question in case["questions"]:
            if question["type"] != "current_belief":
                continue
            family = case["family"]
            hits = memory.recall(question["q"], limit=5)
            asked[family] += 1
            good = bool(hits) and all(_holds(hits[0].text, value) for value in question["expected_current_contains"])
            current[family] += good
            if not good:
                misses.append((case["id"], question["q"], [(hit.kind.value, hit.text) for hit in hits[:3]]))
            if question["expected_superseded_contains"]:
                past[family] += 1
                before = memory.recall(
                    question["q"].replace(" currently", "").replace(" now", "").rstrip("?") + " before?", limit=5
                )
                texts = [hit.text for hit in before]
                old[family] += all(
                    any(_holds(text, value) for text in texts) for value in question["expected_superseded_contains"]
                )
    print(f"  {'family':28}{'questions':>10}{'current first':>15}{'old reachable':>15}")
    for family in asked:
        reach = f"{100 * old[family] / past[family]:.1f}" if past[family] else "–"
        print(f"  {family:28}{asked[family]:10}{100 * current[family] / asked[family]:15.1f}{reach:>15}")
    total = sum(asked.values())
    first, reached = 100 * sum(current.values()) / total, 100 * sum(old.values()) / sum(past.values())
    print(f"  {'all':28}{total:10}{first:15.1f}{reached:15.1f}")
    for miss in misses[:20]:
        print("   not first:", *miss)
    store.close()


def _holds(text: str, value: str) -> bool:
    return value.casefold() in text.casefold()
