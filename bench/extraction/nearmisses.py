"""Sentences that look like a change and are none: after each of them everything known before must still be current."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

from bench.extraction.world import World

LINES = Path(__file__).with_name("nearmisses.txt")
KNOWN = (
    "My name is Dana.",
    "I live in Lisbon.",
    "I work at Siemens.",
    "I'm a nurse.",
    "My husband is Tom.",
    "I'm married.",
    "I'm vegetarian.",
    "My boss is Helen.",
    "I'm 34 years old.",
    "I drive to work.",
    "My favourite food is sushi.",
    "I wake up at 7 every day.",
    "I drink coffee every morning.",
)


def load() -> list[tuple[str, bool]]:
    """The sentences, and whether they were looked at while the rules were mended."""
    looked_at, found = False, []
    for line in LINES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            looked_at = "[looked at]" in line
        elif line.strip():
            found.append((line, looked_at))
    return found


def lost(text: str, embedder) -> list[str]:
    """What is no longer current after the sentence was said."""
    world = World(embedder)
    try:
        for one in KNOWN:
            world.say(one, after=timedelta(minutes=1))
        before = {memory.id: memory.content for memory in world.user.memories()}
        world.say(text, after=timedelta(days=30))
        after = {memory.id for memory in world.user.memories()}
    finally:
        world.close()
    return [content for id, content in before.items() if id not in after]


def measure(embedder, *, show: bool = False, say=print) -> dict[bool, float]:
    """Print what was looked at and what was held out."""
    right: Counter[bool] = Counter()
    total: Counter[bool] = Counter()
    for text, seen in load():
        gone = lost(text, embedder)
        total[seen] += 1
        right[seen] += not gone
        if gone and (seen or show):
            say(f"    {text!r} retired {gone}")
    for seen, name in ((True, "looked at"), (False, "held out")):
        say(
            f"  {name:10} {right[seen]:3} of {total[seen]:3} left everything as it was "
            f"({right[seen] / total[seen]:.1%})"
        )
    return {seen: right[seen] / total[seen] for seen in total}
