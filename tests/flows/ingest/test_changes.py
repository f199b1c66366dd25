"""Short talks in ordinary words: what ends, changes, is done, dropped or put off, and what only looks like it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import tenuto
from tenuto.providers.embed import LocalEmbedder
from tenuto.records.memory import RECALLED, Todo, TodoStatus
from tenuto.testing.fakes import FakeTokens

HERE = Path(__file__).parent
MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
EMBEDDER = LocalEmbedder()
LEAST = 0.87
"""Share of the talks that must be understood."""
_OVER = re.compile(
    r"no longer|any ?more|used to|until|stopped|former|not |nicht mehr|ya no|já não|ne .*plus|deixou|dejó", re.I
)


@dataclass
class Talk:
    """One talk and what must hold after it."""

    kind: str
    language: str
    said: list[tuple[int, str, str]] = field(default_factory=list)
    wanted: list[tuple[str, str]] = field(default_factory=list)


def talks(path: Path) -> list[Talk]:
    """The talks of a file; its first lines say how they are written."""
    found: list[Talk] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("= "):
            kind, language = line[2:].split()
            found.append(Talk(kind, language))
        elif match := re.fullmatch(r"(\d+)(a?) (.+)", line):
            found[-1].said.append((int(match[1]), "assistant" if match[2] else "user", match[3]))
        elif match := re.fullmatch(r"(closed|open|due|gone|holds): (.+)", line):
            found[-1].wanted.append((match[1], match[2]))
    return found


def holds(content: str, words: str) -> bool:
    """Whether a content has every group of words, each in one of its forms."""
    return all(any(form.strip() in content.lower() for form in group.split("|")) for group in words.split(","))


def failures(talk: Talk) -> list[str]:
    """What does not hold after a talk."""
    clock = [MONDAY]
    with tenuto.open("memory:", clock=lambda: clock[0], embedder=EMBEDDER, tokens=FakeTokens()) as store:
        user = store.user("ana")
        before: list[str] = []
        for place, (day, role, text) in enumerate(talk.said):
            clock[0] = MONDAY + timedelta(days=day, minutes=2 * place)
            before = [one.content for one in user.memories(limit=100) if one.status in RECALLED]
            user.observe(text, role=role, at=clock[0])
            store.settle()
        kept = [one for one in user.memories(limit=100) if one.status in RECALLED]
        known = [one.content for one in kept if one.valid_to is None or one.valid_to > clock[0]]
        todos = user.todos(status="*", limit=100)
    shown = [(one.content, str(one.due)[:10], one.status.value) for one in todos]
    return [
        f"{what}: {said} · known {known} · before {before} · todos {shown}"
        for what, said in talk.wanted
        if not right(what, said, before, known, todos)
    ]


def right(what: str, said: str, before: list[str], known: list[str], todos: list[Todo]) -> bool:
    """Whether one expectation holds, by what was known before the last message and after it."""
    words, _, day = (part.strip() for part in said.partition("@"))
    mine = [one for one in todos if holds(one.content, words)]
    stated = any(holds(one, words) and not _OVER.search(one) for one in known)
    if what == "closed":
        return any(one.status in (TodoStatus.DONE, TodoStatus.CANCELLED) for one in mine)
    if what == "open":
        return any(one.status is TodoStatus.OPEN for one in mine)
    if what == "due":
        return any(str(one.due)[:10] == day for one in mine)
    return stated if what == "holds" else not stated and any(holds(one, words) for one in before)


def test_changes_are_understood() -> None:
    """At least nine of ten talks end as a careful listener would have it, and of those without a change as many."""
    all_talks = talks(HERE / "changes.txt")
    wrong = [(talk, found) for talk in all_talks if (found := failures(talk))]
    told = "\n".join(f"{talk.kind} {talk.language} {talk.said[-1][2]!r}\n    {found}" for talk, found in wrong)
    missed = Counter(talk.kind == "near" for talk, _ in wrong)
    near = sum(talk.kind == "near" for talk in all_talks)
    print(f"{len(all_talks) - len(wrong)} of {len(all_talks)} right\n{told}")
    assert missed[True] <= (1 - LEAST) * near, told
    assert missed[False] <= (1 - LEAST) * (len(all_talks) - near), told
