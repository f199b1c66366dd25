"""How the weights of the profile ``default`` are found, and what they are worth on a kind of talk they never saw.

    python -m bench.recall.fit --data DIR --cache FILE

The engine's own signals are computed for every question over every message (weights of 1), and the weights are fitted
so that a softmax over the messages puts its weight on the evidence: log-probability of each evidence turn, or of all
turns of the evidence sessions. Every set counts the same. Each set is then ranked with weights that were fitted on the
other sets alone: people who chat briefly, people in the middle of work with an assistant, people who quiz one. A fit is
drawn to the weights in force by ``--pull``: a weight that the sets at hand say nothing about keeps its round number.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tenuto
from bench.recall import data, measures, offline
from bench.recall.cache import CachedEmbedder
from tenuto import settings
from tenuto.providers.embed import LocalEmbedder
from tenuto.recall.match import weigh

PARTS = ("words", "meaning", "own", "speaker", "recency", "length")


@dataclass(slots=True)
class Example:
    """One question: signals of every message, and which are evidence."""

    name: str
    signals: np.ndarray
    wanted: np.ndarray
    asked: offline.Asked


def examples(name: str, conversations: list[data.Conversation], embedder, passages: int | None) -> list[Example]:
    ones = settings.merge(tenuto.Policy(), {"recall": dict.fromkeys(PARTS, 1.0)}, where="fit").recall
    found = []
    for conversation in conversations:
        for one in offline.asked(conversation, embedder, passages):
            parts = weigh(one.view, one.query, one.view.living(), ones).parts
            signals = [parts.get(part, np.zeros(one.view.size, np.float32)) for part in PARTS]
            said, question = one.turns[: one.view.size], one.question
            wanted = [t.id in question.turns if question.turns else t.session in question.sessions for t in said]
            found.append(Example(name, np.stack(signals, axis=1), np.array(wanted), one))
    return found


def fit(given: list[Example], towards: np.ndarray, pull: float, rounds: int = 60) -> np.ndarray:
    """Newton steps on the softmax likelihood, drawn ``towards`` some weights; every set counts the same."""
    given = [one for one in given if one.wanted.any()]
    share = {name: 1 / sum(one.name == name for one in given) for name in {one.name for one in given}}
    weights = towards.copy()
    for _ in range(rounds):
        slope, bend = pull * (weights - towards), pull * np.eye(len(PARTS))
        for one in given:
            scores = one.signals @ weights
            chance = np.exp(scores - scores.max())
            chance /= chance.sum()
            mean = chance @ one.signals
            each = bool(one.asked.question.turns)
            target = one.wanted / one.wanted.sum() if each else one.wanted * chance / (one.wanted @ chance)
            slope -= share[one.name] * (target @ one.signals - mean)
            centred = one.signals - mean
            bend += share[one.name] * (centred.T * chance) @ centred
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def measure(given: list[Example], weights: np.ndarray) -> str:
    tally = measures.Tally()
    for one in given:
        order = np.argsort(-(one.signals @ weights), kind="stable")
        tally.add(one.asked.measures(order.tolist()))
    name = "R@10" if given[0].asked.question.turns else "sR@10"
    return f"{name} {tally.mean(name):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"))
    parser.add_argument("--cache", type=Path, required=True, help="file that keeps embeddings between runs")
    parser.add_argument("--only", type=int, help="only the first so many conversations of each set")
    parser.add_argument("--passages", type=int, help="only the first so many passages of a message: embeds faster")
    parser.add_argument("--pull", type=float, nargs="+", default=[0.002, 0.1, 1.0], help="how strongly, one fit each")
    given = parser.parse_args()
    if not given.data:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    embedder = CachedEmbedder(LocalEmbedder(), given.cache)
    sets = {
        name: examples(name, read(Path(given.data))[: given.only], embedder, given.passages)
        for name, read in offline.SETS.items()
    }
    print(f"  {'':26}" + "".join(f"{part:>10}" for part in PARTS))
    policy = tenuto.Policy().recall
    force = np.array([getattr(policy, part) for part in PARTS])
    _show("in force", force, sets)
    for pull in given.pull:
        whole = fit([one for some in sets.values() for one in some], force, pull)
        _show(f"fitted on all, pull {pull}", whole, sets)
        for left, unseen in sets.items():
            weights = fit([one for name, some in sets.items() if name != left for one in some], force, pull)
            _show(f"without {left}, pull {pull}", weights, {left: unseen})
    print("  the weights in force, without one part at a time")
    for number, part in enumerate(PARTS):
        weights = force * (np.arange(len(PARTS)) != number)
        print(f"    {part:24}" + "  ".join(f"{name} {measure(some, weights)}" for name, some in sets.items()))


def _show(name: str, weights: np.ndarray, sets: dict[str, list[Example]]) -> None:
    figures = "  ".join(f"{other} {measure(some, weights)}" for other, some in sets.items())
    print(f"  {name:26}" + "".join(f"{weight:10.2f}" for weight in weights) + f"   {figures}", flush=True)


if __name__ == "__main__":
    main()
