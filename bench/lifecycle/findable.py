"""What is still findable: a chat's questions asked of each layer alone and of all together.

The evaluation's chats are played through a store, and their questions (LoCoMo 1 and 4: facts said once or several
times) are asked before and after memories have faded and the text was purged. A question counts by the share of its
answer's words that stand in the first 1,000 tokens returned: no judge, no model.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.flows.world import Clock

import tenuto
from bench.recall import data
from bench.recall.cache import CachedEmbedder
from tenuto.ports import Where
from tenuto.providers.embed import LocalEmbedder
from tenuto.providers.tokens import LocalTokens
from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import RECALLED, Memory
from tenuto.text.words import tokens

BUDGET = 1000
"""Tokens of returned text."""
QUIZZED = ("1", "4")

LAYERS = {
    "the text itself": ({"message"}, None),
    "topic summaries": ({"summary"}, {"topic"}),
    "session summaries": ({"summary"}, {"session"}),
    "range summaries": ({"summary"}, {"range"}),
    "key points": ({"key_point"}, None),
    "memories": ({"memory"}, None),
    "all but the text": ({"summary", "key_point", "memory"}, None),
    "everything": ({"message", "summary", "key_point", "memory"}, None),
}


def findable(directory: Path | None, chats: int, cache: Path | None) -> None:
    if directory is None:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    embedder = LocalEmbedder() if cache is None else CachedEmbedder(LocalEmbedder(), cache)
    answers = _answers(directory)
    sizes: Counter[str] = Counter()
    found: dict[tuple[str, str], list[float]] = {}
    archived = kept = 0
    for chat in data.locomo(directory)[:chats]:
        clock = Clock(datetime(2020, 1, 1, tzinfo=UTC))
        with tempfile.TemporaryDirectory() as place:
            store = tenuto.open(f"{place}/chat.db", clock=clock, embedder=embedder, background=False)
            user = store.user("them")
            _play(store, user, clock, chat)
            quiz = [
                question for question in chat.questions if question.category in QUIZZED and answers.get(question.id)
            ]
            for name, size in _sizes(store).items():
                sizes[name] += size
            _ask(store, user, quiz, answers, "before", LAYERS, found)
            clock.forward(days=365)
            for _ in range(15):
                clock.forward(days=30)
                store.settle()
            archived += _count(store, archived=True)
            kept += _count(store, archived=False)
            _ask(store, user, quiz, answers, "faded", {"memories": LAYERS["memories"]}, found)
            user.set_retention({"purge_text": 86_400})
            purged = user.purge()
            _ask(store, user, quiz, answers, "purged", {"everything": LAYERS["everything"]}, found)
            store.close()
        print(f"  {chat.id}: {len(chat.turns)} messages, {len(quiz)} questions, {purged.messages} messages purged")
    _report(sizes, found, archived, kept)


def _answers(directory: Path) -> dict[str, frozenset[str]]:
    """The words of each answer, by question."""
    with gzip.open(directory / "locomo.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {
            raw["qid"]: frozenset(tokens(str(raw.get("a") or "")))
            for line in lines
            for raw in json.loads(line)["questions"]
        }


def _play(store, user, clock: Clock, chat) -> None:
    session = None
    for turn in chat.turns:
        if session is not None and turn.session != session:
            store.settle()
        session = turn.session
        clock.now = max(turn.at, clock.now)
        user.observe(turn.text, role=turn.role, speaker=turn.name, at=turn.at, id=turn.id)
    for _ in range(4):
        clock.forward(days=4)
        store.settle()


def _sizes(store) -> Counter[str]:
    """Characters of each layer."""
    sizes: Counter[str] = Counter()
    with store.deps.store.reading("them") as reader:
        sizes["the text itself"] = sum(len(one.content) for one in reader.find(Message))
        for one in reader.find(Summary, Where("current", "=", True)):
            sizes[f"{one.kind} summaries"] += len(one.content)
        sizes["key points"] = sum(len(one.content) for one in reader.find(KeyPoint))
        sizes["memories"] = sum(len(one.content) for one in reader.find(Memory) if one.status in RECALLED)
    layers = ("topic summaries", "session summaries", "range summaries", "key points", "memories")
    sizes["all but the text"] = sum(sizes[name] for name in layers)
    sizes["everything"] = sizes["all but the text"] + sizes["the text itself"]
    return sizes


def _count(store, *, archived: bool) -> int:
    with store.deps.store.reading("them") as reader:
        memories = reader.find(Memory)
    return sum((memory.status == "archived") is archived for memory in memories)


def _ask(store, user, quiz, answers, when, layers, found) -> None:
    counter = LocalTokens()
    with store.deps.store.reading("them") as reader:
        kinds = {one.id: str(one.kind) for one in reader.find(Summary)}
    for question in quiz:
        wanted = answers[question.id]
        for name, (kinds_, summary_kinds) in layers.items():
            hits = user.recall(question.text, limit=60, kinds=sorted(kinds_))
            text, spent = [], 0
            for hit in hits:
                if summary_kinds is not None and kinds.get(hit.id) not in summary_kinds:
                    continue
                spent += counter.count(hit.text)
                if spent > BUDGET:
                    break
                text.append(hit.text)
            have = frozenset(tokens(" ".join(text)))
            found.setdefault((when, name), []).append(len(wanted & have) / len(wanted))


def _report(sizes: Counter[str], found: dict, archived: int, kept: int) -> None:
    whole = sizes["the text itself"]
    print(f"\n{'layer':<22}{'characters':>12}{'of the text':>13}{'answer words found':>20}{'answers whole':>15}")
    for name in LAYERS:
        _row(name, sizes[name], whole, found[("before", name)])
    print(f"\nafter a year and a quarter of silence: {archived} of {archived + kept} memories archived")
    _row("memories, faded", 0, whole, found[("faded", "memories")])
    _row("after the purge", 0, whole, found[("purged", "everything")])


def _row(name: str, size: int, whole: int, values: list[float]) -> None:
    share = f"{size / whole:>12.1%}" if size else " " * 12
    shown = f"{size:>12,}" if size else " " * 12
    whole_answers = sum(value == 1.0 for value in values) / len(values)
    print(f"{name:<22}{shown} {share}{sum(values) / len(values):>19.1%}{whole_answers:>15.1%}")
