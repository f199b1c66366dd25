"""How well recall finds what was said, through the public surface: ``observe`` → ``settle`` → ``recall``.

    python -m bench.recall --data DIR [--set locomo realmem supersession] [--ablation] [--cache FILE]

Offline, no model. Questions of RealMem stand inside the stream: each is asked when only the sessions before it are
kept.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import tenuto
from bench.recall import data, measures, supersession
from bench.recall.baselines import Simple
from bench.recall.cache import CachedEmbedder
from tenuto import settings
from tenuto.providers.embed import LocalEmbedder
from tenuto.providers.tokens import LocalTokens

DEPTH = 100
"""Hits asked for, so that ten sessions and 4,000 tokens are reached."""
POLICY = {"limits": {"text_bytes": 1 << 20}}
"""One turn of RealMem is larger than the default lets in."""
ABLATIONS = {
    "without words": {"words": 0},
    "without meaning": {"meaning": 0},
    "without neighbours": {"neighbours": 0},
    "without speaker": {"speaker": 0},
    "without recency": {"recency": 0},
    "without length": {"length": 0},
}


class Clock:
    """Stands at the last thing that was said."""

    def __init__(self) -> None:
        self.now = datetime(2020, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Table:
    """Tallies by method and category."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, measures.Tally]] = {}

    def add(self, method: str, category: str, found: dict[str, float]) -> None:
        for name in ("all", category):
            self.rows.setdefault(method, {}).setdefault(name, measures.Tally()).add(found)

    def show(self, columns: tuple[str, ...], categories: str | None = None) -> None:
        print("  " + " " * 34 + "".join(f"{column:>10}" for column in columns))
        for method, tallies in self.rows.items():
            print(f"  {method:34}" + "".join(f"{tallies['all'].mean(column):10.1f}" for column in columns))
            if categories and method.startswith("tenuto"):
                for name in sorted(set(tallies) - {"all"}):
                    tally = tallies[name]
                    shown = "".join(f"{tally.mean(column):10.1f}" for column in columns)
                    print(f"    {name + f' ({tally.count})':32}" + shown)


def variants(store: tenuto.Tenuto, user: str, ablation: bool) -> dict[str, tenuto.UserMemory]:
    """The user's memory under the policy in force, and with one part of the ranking taken out at a time."""
    found = {"tenuto": store.user(user)}
    for name, change in ABLATIONS.items() if ablation else ():
        policy = settings.merge(store.deps.policy, {"recall": change}, where="bench")
        found[f"  {name}"] = tenuto.Tenuto(replace(store.deps, policy=policy), background=False).user(user)
    return found


def ask(memory, question, sessions: dict[str, int], tokens, kinds=("message",)) -> dict[str, float]:
    hits = [hit for hit in memory.recall(question.text, limit=DEPTH, kinds=kinds) if hit.message_id in sessions]
    found = measures.by_session([sessions[hit.message_id] for hit in hits], question.sessions)
    if question.turns:
        found |= measures.by_turn([hit.message_id for hit in hits], question.turns)
        found |= measures.in_budget([(hit.message_id, hit.text) for hit in hits], question.turns, tokens.count)
    return found


def run(conversations, table: Table, adversarial: Table, embedder, ablation: bool, url) -> None:
    tokens = LocalTokens()
    for conversation in conversations:
        clock = Clock()
        simple = Simple(conversation.turns, embedder)
        sessions = {turn.id: turn.session for turn in conversation.turns}
        starts = [number for number, turn in enumerate(conversation.turns)]
        with tempfile.TemporaryDirectory() as directory:
            place = url or Path(directory) / "bench.db"
            store = tenuto.open(place, embedder=embedder, clock=clock, background=False, policy=POLICY)
            memories = variants(store, conversation.id, ablation)
            kept = 0
            for question in sorted(conversation.questions, key=lambda one: one.before or 10**9):
                until = (
                    len(starts)
                    if question.before is None
                    else sum(t.session < question.before for t in conversation.turns)
                )
                kept = keep(store, memories["tenuto"], conversation.turns, kept, until, clock)
                target = adversarial if question.category == "5" else table
                vector = embedder.embed([question.text], query=True)[0]
                for method, order in simple.rankings(question.text, vector, until).items():
                    turns = [conversation.turns[number] for number in order]
                    found = measures.by_session([turn.session for turn in turns], question.sessions)
                    if question.turns:
                        found |= measures.by_turn([turn.id for turn in turns], question.turns)
                        pairs = [(turn.id, turn.text) for turn in turns[:DEPTH]]
                        found |= measures.in_budget(pairs, question.turns, tokens.count)
                    target.add(method, question.category, found)
                for method, memory in memories.items():
                    target.add(method, question.category, ask(memory, question, sessions, tokens))
                target.add(
                    "tenuto, all kinds", question.category, ask(memories["tenuto"], question, sessions, tokens, None)
                )
            store.close()
        print(
            f"  {conversation.id}: {len(conversation.turns)} turns, {len(conversation.questions)} questions", flush=True
        )


def keep(store, memory, turns, start: int, until: int, clock: Clock) -> int:
    """Observe turns up to ``until`` and wait until they are worked on."""
    for turn in turns[start:until]:
        clock.now = max(clock.now, turn.at)
        memory.observe(turn.text, role=turn.role, speaker=turn.name, at=turn.at, id=turn.id)
    if until > start:
        store.settle()
    return max(start, until)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"), help="directory with the data")
    parser.add_argument("--set", nargs="+", default=["locomo", "realmem", "supersession"])
    parser.add_argument("--ablation", action="store_true", help="also without each part of the ranking")
    parser.add_argument("--cache", type=Path, help="file that keeps embeddings between runs")
    parser.add_argument("--url", help="another store, such as memory: or postgresql://…")
    parser.add_argument("--only", type=int, help="only the first so many conversations")
    given = parser.parse_args()
    if not given.data:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    directory = Path(given.data)
    embedder = CachedEmbedder(LocalEmbedder(), given.cache) if given.cache else LocalEmbedder()
    turn_columns = (
        "R@1",
        "R@5",
        "R@10",
        "R@20",
        "all@10",
        "NDCG@10",
        "sR@10",
        "500 tok",
        "1000 tok",
        "2000 tok",
        "4000 tok",
    )
    if "locomo" in given.set:
        table, adversarial = Table(), Table()
        print("LoCoMo")
        run(data.locomo(directory)[: given.only], table, adversarial, embedder, given.ablation, given.url)
        print("\nLoCoMo, categories 1–4 (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop)")
        table.show(turn_columns, categories="yes")
        print("\nLoCoMo, category 5 (adversarial)")
        adversarial.show(turn_columns)
    if "realmem" in given.set:
        table = Table()
        print("\nRealMem 1–5, sessions, in the stream")
        run(data.realmem(directory)[: given.only], table, table, embedder, given.ablation, given.url)
        table.show(("sR@1", "sR@5", "sR@10", "sR@20"), categories="yes")
    if "supersession" in given.set:
        print("\nSupersession")
        supersession.run(data.supersession(directory), embedder, given.url)


if __name__ == "__main__":
    main()
