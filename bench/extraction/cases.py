"""The table of hand-written cases: what is true now, what the user wished, what was denied, which day was meant."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path

from bench.extraction.world import START, World, contents
from tenuto.language import times
from tenuto.records.memory import Kind

TABLE = Path(__file__).with_name("cases.jsonl")
APART = timedelta(days=30)


def load() -> list[dict]:
    return [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines() if line.strip()]


def check(case: dict, embedder) -> list[str]:
    """What is wrong with the result of one case; empty when it is right."""
    return _time(case) if case["family"] == "time" else _talk(case, embedder)


def _time(case: dict) -> list[str]:
    found = times.first(case["text"], START)
    got = None if found is None else found.start.isoformat()[:16]
    wanted = case.get("start")
    right = got is None if wanted is None else got is not None and got.startswith(wanted)
    return [] if right else [f"expected {wanted}, got {got}"]


def _talk(case: dict, embedder) -> list[str]:
    world = World(embedder)
    step = timedelta(minutes=1) if case["family"] == "consent" or case.get("same_day") else APART
    try:
        for text in case["said"]:
            world.say(text, after=step)
        return _wrong(case, world)
    finally:
        world.close()


def _wrong(case: dict, world: World) -> list[str]:
    user = world.user
    current = [one for one in user.memories() if one.kind is not Kind.CONTRADICTION]
    now, old = contents(current), contents(user.memories(status="deprecated"))
    wrong = [
        f"not current: {words!r}" for words in (*case.get("current", ()), *case.get("keep", ())) if not _in(words, now)
    ]
    wrong += [f"still current: {words!r}" for words in case.get("gone", ()) if _in(words, now)]
    wrong += [f"not kept as old: {words!r}" for words in case.get("old", ()) if not _in(words, old)]
    wrong += [f"still current: {words!r}" for words in case.get("old", ()) if any(words == one for one in now)]
    if case.get("none") and current:
        wrong.append(f"kept {now}")
    wrong += _attributes(case, current)
    wrong += _policies(case, current, user, world)
    if case.get("contradiction") and not user.memories(kind="contradiction"):
        wrong.append("no contradiction noted")
    return wrong


def _attributes(case: dict, current: list) -> list[str]:
    wrong = []
    for name, value in case.get("attribute", {}).items():
        if not any(one.attribute == name and value in (one.value or "") for one in current):
            wrong.append(f"no {name} = {value}: {[(one.attribute, one.value) for one in current]}")
    for pair in case.get("gone_positive", ()):
        name, value = pair.split(":")
        for one in current:
            denied = one.metadata.get("negated") or one.metadata.get("ends")
            if one.attribute == name and value.lower() in (one.value or "").lower() and not denied:
                wrong.append(f"kept {one.content!r} as {name}")
    counts = Counter(one.attribute for one in current)
    wrong += [f"{counts[name]} of {name}, not {n}" for name, n in case.get("count", {}).items() if counts[name] != n]
    if "total" in case and len(current) != case["total"]:
        wrong.append(f"{len(current)} memories, not {case['total']}: {contents(current)}")
    if "pinned" in case:
        pinned = contents(one for one in current if one.pinned)
        wrong += [f"not pinned: {words!r}" for words in case["pinned"] if not _in(words, pinned)]
        if not case["pinned"] and pinned:
            wrong.append(f"pinned {pinned}")
    return wrong


def _policies(case: dict, current: list, user, world: World) -> list[str]:
    wrong = []
    for words, use in case.get("proactive", {}).items():
        found = [one for one in current if words.lower() in one.content.lower()]
        if not found or any(one.proactive_use != use for one in found):
            wrong.append(f"{words!r} is {[one.proactive_use.value for one in found]}, not {use}")
    others = contents(world.store.user("someone", persona="tutor").memories())
    for words in case.get("private", ()):
        if not _in(words, contents(current)) or _in(words, others):
            wrong.append(f"{words!r} is not kept for this persona alone: {contents(current)}")
    for words, least in case.get("importance", {}).items():
        if not any(words in one.content and one.importance >= least for one in current):
            wrong.append(f"{words!r} is not at least {least}")
    wrong += [
        f"no rule {rule!r}" for rule in case.get("should_do", ()) if not any(one.should_do == rule for one in current)
    ]
    if "should_not_do" in case and any(one.should_not_do for one in current):
        wrong.append("a restriction was collected")
    if "todo" in case and not any(one.content == case["todo"] for one in user.todos()):
        wrong.append(f"no todo {case['todo']!r}: {contents(user.todos())}")
    if "messages" in case and len(user.messages()) != case["messages"]:
        wrong.append(f"{len(user.messages())} messages are left")
    return wrong


def _in(words: str, texts: list[str]) -> bool:
    return any(words.lower() in text.lower() for text in texts)


def measure(embedder, *, say=print) -> float:
    """Print the table's result by family and every failure; the share that is right."""
    right, total = Counter(), Counter()
    failures = []
    for case in load():
        wrong = check(case, embedder)
        total[case["family"]] += 1
        right[case["family"]] += not wrong
        if wrong:
            failures.append((case, wrong))
    for family in total:
        say(f"  {family:14} {right[family]:3} of {total[family]:3} right ({right[family] / total[family]:.1%})")
    share = sum(right.values()) / sum(total.values())
    say(f"  {'all':14} {sum(right.values()):3} of {sum(total.values()):3} right ({share:.1%})")
    for case, wrong in failures:
        say(f"    wrong: {case['id']} {case.get('said') or case.get('text')}: {'; '.join(wrong)}")
    return share
