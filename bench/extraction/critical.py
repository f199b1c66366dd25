"""What a caregiver's assistant must not lose: allergies, intolerances, medicines, diagnoses, whom to call, names.

``critical.jsonl`` holds phrasings written by hand, with what each must leave (``want``: attribute, subject, words of
the value; life-critical ones pinned) and what must not stand (``deny``, ``none``). All were written before the rules;
what went wrong with the odd ones was looked at while the rules were mended, the even ones are reported apart.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path

from bench.extraction.world import World

TABLE = Path(__file__).with_name("critical.jsonl")
CRITICAL = ("allergy", "intolerance", "medication", "condition", "emergency_contact", "name")
PINNED = ("allergy", "intolerance", "condition", "emergency_contact")


def load() -> list[dict]:
    return [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines() if line.strip()]


def looked_at(case: dict) -> bool:
    return int(case["id"].rpartition("-")[2]) % 2 == 1


def check(case: dict, embedder) -> list[str]:
    """What is wrong with the result of one case; empty when it is right."""
    world = World(embedder)
    try:
        for text in case["said"]:
            world.say(text, after=timedelta(minutes=1))
        current = [one for one in world.user.memories() if not _denied(one)]
    finally:
        world.close()
    got = [(one.attribute, _subject(one), one.value) for one in current if one.attribute]
    wrong = []
    for attribute, subject, value in case.get("want", ()):
        found = [one for one in current if _is(one, attribute, subject, value)]
        if not found:
            wrong.append(f"no {attribute} of {subject} = {value}: {got}")
        elif any(one.attribute in PINNED and not one.pinned for one in found):
            wrong.append(f"{value!r} is not pinned")
    wrong += [f"kept {row}" for row in case.get("deny", ()) if any(_is(one, *row) for one in current)]
    if case.get("none"):
        wrong += [f"kept {one.content!r} as {one.attribute}" for one in current if one.attribute in CRITICAL]
    return wrong


def _denied(memory) -> bool:
    return bool(memory.metadata.get("negated") or memory.metadata.get("ends"))


def _subject(memory) -> str:
    return ":".join(memory.key.split("|")[1:3])


def _is(memory, attribute: str, subject: str, value: str) -> bool:
    return (
        memory.attribute in attribute.split("|")
        and _subject(memory) == subject
        and value.lower() in (memory.value or "").lower()
    )


def measure(embedder, *, show: bool = False, say=print) -> dict[bool, float]:
    """Print both halves; the share that is right of each."""
    right: Counter[bool] = Counter()
    total: Counter[bool] = Counter()
    for case in load():
        seen, wrong = looked_at(case), check(case, embedder)
        total[seen] += 1
        right[seen] += not wrong
        if wrong and (seen or show):
            say(f"    wrong: {case['id']} {case['said']}: {'; '.join(wrong)}")
    for seen, name in ((True, "looked at"), (False, "held out")):
        say(f"  {name:10} {right[seen]:3} of {total[seen]:3} right ({right[seen] / total[seen]:.1%})")
    return {seen: right[seen] / total[seen] for seen in total}
