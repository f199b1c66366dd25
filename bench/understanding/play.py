"""Plays a gold conversation through the public surface, message by message at its own time, and keeps what is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import tenuto
from bench.understanding.replay import Replay

LIVE = {"confirmed", "active", "reinforced", "revised"}
GREETINGS = ("Good morning!", "What should I do this weekend?")
TOLD = {"guidance", "boundaries", "rules"}
"""Blocks that tell a model how to behave may name what it must not raise."""


def matches(text: str, must: list[list[str]]) -> bool:
    """Whether every group has an alternative that occurs in the text."""
    return bool(must) and held(text, must) == len(must)


def held(text: str, must: list[list[str]]) -> int:
    low = text.lower()
    return sum(any(one.lower() in low for one in group) for group in must or [])


@dataclass
class Played:
    """What a conversation left."""

    memories: list[Any] = field(default_factory=list)
    todos: list[Any] = field(default_factory=list)
    answers: list[tuple[dict[str, Any], list[str]]] = field(default_factory=list)
    leaks: list[tuple[dict[str, Any], list[str]]] = field(default_factory=list)
    known_at_end: dict[str, bool] = field(default_factory=dict)
    refused: list[tuple[int, str, str]] = field(default_factory=list)
    """(message, content, reason) of what a model proposed and the checks refused."""


def play(conversation: dict[str, Any], model: Any = None) -> Played:
    """One conversation in a store of its own."""
    now = [datetime.fromisoformat(conversation["messages"][0]["at"])]
    given = {} if model is None else {"model": model}
    store = tenuto.open("memory:", clock=lambda: now[0], **given)
    id, personas = conversation["id"], {m["persona"] for m in conversation["messages"]}
    played = Played()
    if isinstance(model, Replay):
        model.conversation(id)

    def alive() -> list[Any]:
        found = {m.id: m for p in personas for m in store.user(id, persona=p).memories(limit=1000)}
        return [m for m in found.values() if m.status.value in LIVE]

    for message in conversation["messages"]:
        n = message["n"]
        ending = [f for f in conversation["facts"] if f["until"] == n]
        if ending:
            texts = [m.content for m in alive()]
            played.known_at_end |= {f["id"]: any(matches(t, f["must"]) for t in texts) for f in ending}
        now[0] = datetime.fromisoformat(message["at"])
        user = store.user(id, persona=message["persona"], channel=message["channel"])
        if isinstance(model, Replay):
            model.n = n
        receipt = user.observe(message["text"], role=message["role"], at=now[0], id=str(n))
        store.settle()
        results = user.receipt(receipt.id).results
        played.refused += [(n, r.content, r.reason) for r in results if "refused" in (r.reason or "")]
        for question in (q for q in conversation["questions"] if q["after"] == n):
            asker = store.user(id, persona=question.get("persona", message["persona"]))
            played.answers.append((question, [hit.text for hit in asker.recall(question["q"], limit=5)]))
    now[0] += timedelta(days=1)
    store.settle()
    _wishes(conversation, store, played)
    played.memories = alive()
    found = {t.id: t for p in personas for t in store.user(id, persona=p).todos(status="*", limit=1000)}
    played.todos = list(found.values())
    store.close()
    return played


def _wishes(conversation: dict[str, Any], store: Any, played: Played) -> None:
    wishes = conversation["wishes"]
    personas = {m["n"]: m["persona"] for m in conversation["messages"]}
    for wish in wishes:
        lifted = any(w["n"] > wish["n"] and w["kind"] == "unsilence" and w["must"] == wish["must"] for w in wishes)
        if wish["kind"] not in ("forget", "silence", "off_record") or not wish["must"] or lifted:
            continue
        user = store.user(conversation["id"], persona=personas[wish["n"]])
        leaks = []
        for hello in GREETINGS:
            for block in user.context(hello).blocks:
                lines = [] if str(block.name) in TOLD else block.text.splitlines()
                leaks += [f"{block.name}: {line}" for line in lines if matches(line, wish["must"])]
            leaks += [f"recall: {hit.text}" for hit in user.recall(hello) if matches(hit.text, wish["must"])]
        played.leaks.append((wish, leaks))
