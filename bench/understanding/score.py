"""What a careful listener would have noted, beside what is known after a conversation: one list of hits per column."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from bench.understanding.play import Played, held, matches

COLUMNS = (
    "facts", "standalone", "retired", "precision", "vital", "pins", "never", "todos", "due", "closed", "wishes", "answers",
)  # fmt: skip
OVER = re.compile(
    r"no longer|not any ?more|any more|anymore|used to|left |ended|until|stopped|gave up|given up|outgrown|outgrew|former|passed the|"
    r"was moved|postponed|nicht mehr|früher|bis |beendet|verließ|ya no|hasta|dejó|antes|já não|até |deixou|ne .* plus|jusqu",
    re.I,
)
FIRST = re.compile(
    r"\b(I|I'm|I've|I'd|I'll|my|me|mine|ich|mein\w*|mir|mich|yo|mis?|eu|meus?|minhas?|je|j'|mon|ma|mes)\b", re.I
)
Tell = Callable[[str], None]


def score(conversation: dict[str, Any], played: Played, tell: Tell) -> dict[str, list[bool]]:
    """Hits and misses by column."""
    found: dict[str, list[bool]] = {name: [] for name in COLUMNS}
    current = [f for f in conversation["facts"] if f["until"] is None]
    _facts(current, played, found, tell)
    _retired(conversation, current, played, found, tell)
    _precision(conversation, current, played, found, tell)
    for never in conversation["never"]:
        kept = [m.content for m in played.memories if matches(m.content, never["must"])]
        found["never"].append(not kept)
        if kept:
            tell(f"never: {never['why']} → {kept}")
    _todos(conversation, played, found, tell)
    for wish, leaks in played.leaks:
        found["wishes"].append(not leaks)
        if leaks:
            tell(f"wish broken: {wish['kind']} {wish['must']} → {leaks[:3]}")
    for question, hits in played.answers:
        wanted = not question["must"] or any(matches(hit, question["must"]) for hit in hits)
        shunned = hits[: 1 if question["must"] else 5]
        good = wanted and not any(matches(hit, question["not"]) for hit in shunned)
        found["answers"].append(good)
        if not good:
            tell(f"answer: {question['q']} → {hits[:2]}")
    return found


def _facts(current: list[dict[str, Any]], played: Played, found: dict[str, list[bool]], tell: Tell) -> None:
    for fact in current:
        said = [m for m in played.memories if matches(m.content, fact["must"])]
        found["facts"].append(bool(said))
        if fact["vital"]:
            found["vital"].append(any(m.pinned for m in said))
            if not any(m.pinned for m in said):
                tell(f"not pinned: {fact['text']}")
        if not said:
            tell(f"missed: {fact['text']} {fact['from']}")
            continue
        names = _names(fact)
        named = [m for m in said if fact["about"] == "user" or any(n in m.content.lower() for n in names)]
        good = any(not FIRST.search(m.content) for m in named)
        found["standalone"].append(good)
        if not good:
            tell(f"not standalone: {[m.content for m in said]}")


def _names(fact: dict[str, Any]) -> set[str]:
    about = fact["about"].lower()
    return {about, *(one.lower() for group in fact["must"] if about in [x.lower() for x in group] for one in group)}


def _retired(
    conversation: dict[str, Any],
    current: list[dict[str, Any]],
    played: Played,
    found: dict[str, list[bool]],
    tell: Tell,
) -> None:
    for fact in conversation["facts"]:
        if fact["until"] is None or fact.get("passed") or not played.known_at_end.get(fact["id"]):
            continue
        stale = [
            m.content
            for m in played.memories
            if matches(m.content, fact["must"])
            and not OVER.search(m.content)
            and not any(matches(m.content, other["must"]) for other in current)
        ]
        found["retired"].append(not stale)
        if stale:
            tell(f"stale: {fact['text']} → {stale}")


def _precision(
    conversation: dict[str, Any],
    current: list[dict[str, Any]],
    played: Played,
    found: dict[str, list[bool]],
    tell: Tell,
) -> None:
    wanted = [w["must"] for w in conversation["wishes"] if w["kind"] == "remember"]
    for memory in played.memories:
        if memory.should_do or memory.kind.value in ("boundary", "style_adjustment"):
            continue
        near = any(
            held(memory.content, fact["must"]) >= _most(len(fact["must"]))
            for fact in conversation["facts"] + conversation["fine"]
        )
        good = near and not any(matches(memory.content, never["must"]) for never in conversation["never"])
        found["precision"].append(good)
        if not good:
            tell(f"extra: {memory.content}")
        if memory.pinned:
            vital = any(f["vital"] and held(memory.content, f["must"]) >= min(2, len(f["must"])) for f in current)
            asked = any(matches(memory.content, must) for must in wanted)
            name = any(f["attribute"] in ("name", "nickname") and matches(memory.content, f["must"]) for f in current)
            found["pins"].append(vital or asked or name)
            if not (vital or asked or name):
                tell(f"pinned: {memory.content}")


def _most(groups: int) -> int:
    return groups if groups < 3 else groups - 1


def _todos(conversation: dict[str, Any], played: Played, found: dict[str, list[bool]], tell: Tell) -> None:
    for todo in conversation["todos"]:
        kept = [t for t in played.todos if matches(t.content, todo["must"])]
        found["todos"].append(bool(kept))
        if not kept:
            tell(f"todo missed: {todo['must']} {todo['from']}")
        if kept and todo["due"]:
            right = any(t.due and str(t.due)[:10] == todo["due"][:10] for t in kept)
            found["due"].append(right)
            if not right:
                tell(f"due {todo['due']}: {[(t.content, str(t.due)[:10]) for t in kept]}")
        if todo["done"] is not None:
            closed = any(t.status.value not in ("open", "pending", "active") for t in kept)
            found["closed"].append(closed)
            if kept and not closed:
                tell(f"todo open: {[t.content for t in kept]} done {todo['done']}")
