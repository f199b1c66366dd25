"""What is measured of a ranking, without a judge and without a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

KS = (1, 5, 10, 20)
BUDGETS = (500, 1000, 2000, 4000)


@dataclass(slots=True)
class Tally:
    """Means over questions."""

    sums: dict[str, float] = field(default_factory=dict)
    count: int = 0

    def add(self, measures: dict[str, float]) -> None:
        self.count += 1
        for name, value in measures.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def mean(self, name: str) -> float:
        return 100 * self.sums.get(name, 0.0) / self.count if self.count else float("nan")


def by_turn(found: Sequence[str], wanted: frozenset[str]) -> dict[str, float]:
    """R@k, all@10 and NDCG@10 of message ids in rank order."""
    distinct = list(dict.fromkeys(found))
    measures = {f"R@{k}": len(wanted & set(distinct[:k])) / len(wanted) for k in KS}
    measures["all@10"] = float(wanted <= set(distinct[:10]))
    gain = sum(1 / math.log2(place + 2) for place, id in enumerate(distinct[:10]) if id in wanted)
    measures["NDCG@10"] = gain / sum(1 / math.log2(place + 2) for place in range(min(len(wanted), 10)))
    return measures


def by_session(found: Sequence[int], wanted: frozenset[int]) -> dict[str, float]:
    """sR@k: sessions in the order of their best message."""
    distinct = list(dict.fromkeys(found))
    return {f"sR@{k}": len(wanted & set(distinct[:k])) / len(wanted) for k in KS}


def in_budget(
    found: Sequence[tuple[str, str]], wanted: frozenset[str], count: Callable[[str], int]
) -> dict[str, float]:
    """Evidence recall in so many tokens of returned text; ``found`` holds (message id, text) in rank order."""
    measures = {f"{budget} tok": 0.0 for budget in BUDGETS}
    used, seen = 0, set()
    for id, text in found:
        if id in seen:
            continue
        seen.add(id)
        used += count(text)
        for budget in BUDGETS:
            if used <= budget and id in wanted:
                measures[f"{budget} tok"] += 1 / len(wanted)
        if used > BUDGETS[-1]:
            break
    return measures
