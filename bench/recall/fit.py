"""How the five weights of the profile ``default`` are found, and what they are worth on conversations they never saw.

    python -m bench.recall.fit --data DIR [--cache FILE]

The product's own signals are computed for every question over every message (weights of 1), and five numbers are fitted
so that a softmax over the messages puts its weight on the evidence: log-probability of each evidence turn (LoCoMo,
categories 1–4), of all turns of the evidence sessions (RealMem). Both sets count the same. Five folds by conversation:
two of LoCoMo and one of RealMem are left out of each fit, and what is printed for them was computed with weights that
never saw them.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tenuto
from bench.recall import data, measures
from bench.recall.cache import CachedEmbedder
from bench.recall.run import POLICY, Clock
from tenuto import settings
from tenuto.providers.embed import LocalEmbedder
from tenuto.recall.entry import query_tokens
from tenuto.recall.match import Query, weigh
from tenuto.recall.rank import hashes, names_of

PARTS = ("words", "meaning", "speaker", "recency", "length")
FOLDS = 5


@dataclass(slots=True)
class Example:
    """One question: signals of every message, which are evidence, and what is needed to measure."""

    conversation: int
    turns: bool
    signals: np.ndarray
    wanted: np.ndarray
    ids: list[str]
    sessions: list[int]
    question: data.Question


def examples(conversations, first: int, embedder) -> list[Example]:
    found = []
    ones = settings.merge(tenuto.Policy(), {"recall": dict.fromkeys(PARTS, 1.0)}, where="fit").recall
    for number, conversation in enumerate(conversations, first):
        clock, turns = Clock(), conversation.turns
        store = tenuto.open("memory:", embedder=embedder, clock=clock, background=False, policy=POLICY)
        user = store.user("one")
        place: dict[str, int] = {}
        for question in sorted(conversation.questions, key=lambda one: one.before or 10**9):
            if question.category == "5":
                continue
            until = len(turns) if question.before is None else sum(turn.session < question.before for turn in turns)
            for turn in turns[len(place) : until]:
                clock.now = max(clock.now, turn.at)
                receipt = user.observe(turn.text, role=turn.role, speaker=turn.name, at=turn.at, id=turn.id)
                place[receipt.message_id] = len(place)
            found.append(_example(store, question, turns, place, ones, embedder, number))
        store.close()
    return found


def _example(store, question, turns, place, ones, embedder, number: int) -> Example:
    with store.deps.store.reading("one") as reader:
        index = store.deps.indexes.fresh(reader, embedder.model, embedder.dimension)
    view = index.view()
    waiting = {view.ids[row]: turns[place[view.ids[row]]].text for row in view.unembedded().tolist()}
    if waiting:
        index.set_vectors(dict(zip(waiting, embedder.embed([text[:4000] for text in waiting.values()]), strict=True)))
        view = index.view()
    vector = embedder.embed([question.text[:4000]], query=True)[0]
    query = Query(hashes(query_tokens(question.text), b""), hashes(names_of(question.text), b""), vector)
    signals = weigh(view, query, view.living(), ones)
    matrix = np.stack([signals.parts.get(part, np.zeros(view.size, np.float32)) for part in PARTS], axis=1)
    said = [turns[place[id]] for id in view.ids[: view.size]]
    wanted = [turn.id in question.turns if question.turns else turn.session in question.sessions for turn in said]
    return Example(
        number, bool(question.turns), matrix, np.array(wanted), [turn.id for turn in said],
        [turn.session for turn in said], question,
    )  # fmt: skip


def fit(given: list[Example], rounds: int = 60) -> np.ndarray:
    """Newton steps on the softmax likelihood, with a little weight decay."""
    given = [one for one in given if one.wanted.any()]
    share = {kind: 1 / max(sum(one.turns is kind for one in given), 1) for kind in (True, False)}
    weights = np.full(len(PARTS), 0.5)
    for _ in range(rounds):
        slope, bend = 2e-3 * weights, 2e-3 * np.eye(len(PARTS))
        for one in given:
            scores = one.signals @ weights
            chance = np.exp(scores - scores.max())
            chance /= chance.sum()
            mean = chance @ one.signals
            target = one.wanted / one.wanted.sum() if one.turns else one.wanted * chance / (one.wanted @ chance)
            slope -= share[one.turns] * (target @ one.signals - mean)
            centred = one.signals - mean
            bend += share[one.turns] * (centred.T * chance) @ centred
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def measure(given: list[Example], weights: np.ndarray, tally: dict[str, measures.Tally]) -> None:
    for one in given:
        order = np.argsort(-(one.signals @ weights), kind="stable").tolist()
        if one.turns:
            found = measures.by_turn([one.ids[row] for row in order], one.question.turns)
        else:
            found = measures.by_session([one.sessions[row] for row in order], one.question.sessions)
        tally.setdefault("LoCoMo" if one.turns else "RealMem", measures.Tally()).add(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"))
    parser.add_argument("--cache", type=Path)
    given = parser.parse_args()
    if not given.data:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    embedder = CachedEmbedder(LocalEmbedder(), given.cache) if given.cache else LocalEmbedder()
    people = data.locomo(Path(given.data))
    assisted = data.realmem(Path(given.data))
    every = examples(people, 0, embedder) + examples(assisted, len(people), embedder)
    print(f"  {'':26}" + "".join(f"{part:>10}" for part in PARTS))
    unseen: dict[str, measures.Tally] = {}
    for fold in range(FOLDS):
        out = {number for number in range(len(people)) if number % FOLDS == fold}
        out |= {len(people) + number for number in range(len(assisted)) if number % FOLDS == fold}
        weights = fit([one for one in every if one.conversation not in out])
        print(f"  {f'without fold {fold + 1}':26}" + "".join(f"{weight:10.2f}" for weight in weights))
        measure([one for one in every if one.conversation in out], weights, unseen)
    whole = fit(every)
    print(f"  {'all':26}" + "".join(f"{weight:10.2f}" for weight in whole))
    policy = tenuto.Policy().recall
    print(f"  {'in force':26}" + "".join(f"{getattr(policy, part):10.2f}" for part in PARTS))
    print("\n  conversations that the weights never saw")
    print(
        "    LoCoMo 1–4  "
        + "  ".join(f"{name} {unseen['LoCoMo'].mean(name):.1f}" for name in ("R@1", "R@5", "R@10", "R@20"))
    )
    print(
        "    RealMem     "
        + "  ".join(f"{name} {unseen['RealMem'].mean(name):.1f}" for name in ("sR@1", "sR@5", "sR@10"))
    )
    force = np.array([getattr(policy, part) for part in PARTS])
    print("  the weights in force, on all of them, and without one part at a time")
    for name, weights in [
        ("all parts", force),
        *((f"without {part}", force * (np.array(PARTS) != part)) for part in PARTS),
    ]:
        seen: dict[str, measures.Tally] = {}
        measure(every, weights, seen)
        shown = (
            f"LoCoMo 1–4  R@10 {seen['LoCoMo'].mean('R@10'):.1f}    RealMem  sR@10 {seen['RealMem'].mean('sR@10'):.1f}"
        )
        print(f"    {name:20}{shown}")


if __name__ == "__main__":
    main()
