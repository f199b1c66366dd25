"""The ranking measured without a store: the engine's own index and scoring over vectors that were made once.

    python -m bench.recall.offline --data DIR --cache FILE [--set locomo realmem beam] [--policy recall.meaning=1 …]

Every message becomes an entry as the write path makes it, and every question goes through ``tenuto.recall.match.weigh``
with the policy in force. Gate, floor and collapse are left out: ``bench.recall`` measures those through the public
surface. The first run embeds (hours of talk take minutes); after that all sets are scored in seconds.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import tenuto
from bench.recall import data, measures
from bench.recall.cache import CachedEmbedder
from tenuto import settings
from tenuto.policy import RecallPolicy
from tenuto.providers.embed import LocalEmbedder
from tenuto.recall.asking import tells
from tenuto.recall.entry import embedding_texts, make_entry, query_tokens
from tenuto.recall.index import UserIndex, View, pack
from tenuto.recall.known import faint
from tenuto.recall.match import Query, weigh
from tenuto.recall.passages import grouped
from tenuto.recall.rank import hashes, names_of
from tenuto.recall.timewords import times
from tenuto.records.conversation import Message, Role
from tenuto.records.operations import Entry

SETS: dict[str, Callable[[Path], list[data.Conversation]]] = {
    "locomo": data.locomo,
    "realmem": data.realmem,
    "beam": data.beam,
}
LEFT_OUT = ("5",)
"""Categories that are not part of the figure."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question at its place in the talk: the view that it is asked on, and which rows are evidence."""

    question: data.Question
    view: View
    query: Query
    turns: list[data.Turn]

    def measures(self, order: list[int]) -> dict[str, float]:
        """Of rows in rank order."""
        found = measures.by_session([self.turns[row].session for row in order], self.question.sessions)
        if self.question.turns:
            found |= measures.by_turn([self.turns[row].id for row in order], self.question.turns)
        return found


def asked(conversation: data.Conversation, embedder, passages: int | None = None) -> Iterator[Asked]:
    """Every question of a conversation, on the index as it is when the question is asked.

    ``passages``: only the first so many of a message get a vector.
    """
    turns, index, done = conversation.turns, UserIndex(embedder.model, embedder.dimension), 0
    entries = _entries(turns, embedder, passages)
    for question in sorted(conversation.questions, key=lambda one: one.before or 10**9):
        until = len(turns) if question.before is None else sum(turn.session < question.before for turn in turns)
        if until == 0 or question.category in LEFT_OUT:
            continue
        if until > done:
            index.apply(entries[done:until])
            done = until
        said = times(question.text, turns[until - 1].at)
        vector = embedder.embed([question.text[:4000]], query=True)[0]
        names = hashes(names_of(question.text), b"")
        tokens = hashes(query_tokens(question.text), b"")
        running = tells(question.text)
        recent = said.now or (running and not said.past)
        query = Query(tokens, names, vector, said.span, recent, running, faint(embedder.calibration))
        yield Asked(question, index.view(), query, turns)


def _entries(turns: list[data.Turn], embedder, passages: int | None) -> list[Entry]:
    messages = [
        Message(
            id=f"msg_{number:07d}", session_id=str(turn.session), role=Role(turn.role), content=turn.text, at=turn.at,
            channel="api", speaker=turn.name,
        )
        for number, turn in enumerate(turns)
    ]  # fmt: skip
    texts = {message.id: embedding_texts(message, embedder.dimension)[:passages] for message in messages}
    flat = [text for some in texts.values() for text in some]
    vectors = np.concatenate([embedder.embed(flat[at : at + 500]) for at in range(0, len(flat), 500)])
    packed = {id: pack(some) for id, some in grouped(texts, vectors).items()}
    return [
        replace(make_entry(message, vector=packed[message.id], model=embedder.model), seq=number)
        for number, message in enumerate(messages, 1)
    ]


def measure(questions: list[Asked], policy: RecallPolicy) -> measures.Tally:
    tally = measures.Tally()
    for one in questions:
        tally.add(one.measures(weigh(one.view, one.query, one.view.living(), policy).pool(200).tolist()))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"))
    parser.add_argument("--cache", type=Path, required=True, help="file that keeps embeddings between runs")
    parser.add_argument("--set", nargs="+", default=list(SETS))
    parser.add_argument("--only", type=int, help="only the first so many conversations")
    parser.add_argument("--passages", type=int, help="only the first so many passages of a message: embeds faster")
    parser.add_argument("--policy", nargs="*", default=[], metavar="NAME=NUMBER", help="such as meaning=1.1")
    given = parser.parse_args()
    if not given.data:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    changed = {name: float(value) for name, _, value in (one.partition("=") for one in given.policy)}
    policy = settings.merge(tenuto.Policy(), {"recall": changed}, where="bench").recall
    embedder = CachedEmbedder(LocalEmbedder(), given.cache)
    for name in given.set:
        talks = SETS[name](Path(given.data))[: given.only]
        tally = measure([one for talk in talks for one in asked(talk, embedder, given.passages)], policy)
        figures = ("sR@1", "sR@5", "sR@10", "sR@20") if name == "realmem" else ("R@1", "R@5", "R@10", "R@20", "NDCG@10")
        print(
            f"  {name:10} {tally.count:5} " + "  ".join(f"{one} {tally.mean(one):.1f}" for one in figures), flush=True
        )


if __name__ == "__main__":
    main()
