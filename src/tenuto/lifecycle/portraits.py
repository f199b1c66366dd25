"""Longer-lived text about the user, made of what is known: the spine, the profile, the relationship brief.

Lists of memories as they are worded, best first, so every line can be traced. Only what recall may read enters, and
never what may not be brought up (``proactive_use = no``): these texts stand in contexts that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from tenuto.lifecycle.fade import strength
from tenuto.lifecycle.ranked_sentences import shorten
from tenuto.lifecycle.summarise import Draft
from tenuto.policy import FadingPolicy
from tenuto.records.conversation import Session, SourcedLine
from tenuto.records.memory import (
    RECALLED,
    TRUST_ORDER,
    AgentState,
    Domain,
    Kind,
    Memory,
    Proactive,
    Todo,
    TodoKind,
    TodoStatus,
    Trust,
)
from tenuto.text.words import tokens

SPINE_LINES = 8
PROFILE_LINES = 10
LINE = 200
"""Characters of one line."""
LOOPS, BETWEEN = "OPEN_LOOPS", "BETWEEN US"

_PROFILE_SECTIONS: tuple[tuple[str, frozenset[Kind]], ...] = (
    ("CRITICAL", frozenset({Kind.CONSTRAINT, Kind.BOUNDARY})),
    ("WHO THEY ARE", frozenset({Kind.FACT, Kind.RELATIONSHIP, Kind.SOMATIC_AFFECTIVE})),
    ("WHAT THEY LIKE", frozenset({Kind.PREFERENCE, Kind.STYLE_ADJUSTMENT})),
    ("HOW THEY LIVE", frozenset({Kind.HABIT, Kind.RITUAL, Kind.TRAJECTORY})),
)


def best(memories: Iterable[Memory], now: datetime, policy: FadingPolicy, most: int) -> list[Memory]:
    """The strongest first, without repetition: pins, then importance × strength."""
    usable = [
        m for m in memories if m.status in RECALLED and m.proactive_use is not Proactive.NO and m.valid_to is None
    ]
    ranked = sorted(
        usable, key=lambda m: (not m.pinned, -m.importance * strength(m, now, policy), m.created_at, m.content, m.id)
    )
    found: dict[frozenset[str], Memory] = {}
    for memory in ranked:
        if len(found) == most:
            break
        found.setdefault(frozenset(tokens(memory.content)), memory)
    return list(found.values())


def spine(
    memories: Sequence[Memory], todos: Sequence[Todo], loops: Sequence[SourcedLine], now: datetime, policy: FadingPolicy
) -> Draft:
    """PROFILE, PROJECTS, PEOPLE, OPEN_LOOPS. ``loops`` are those of the last sessions, beside the todos."""
    sections = {
        name: best([m for m in memories if m.domain is domain], now, policy, SPINE_LINES)
        for name, domain in (("PROFILE", Domain.PROFILE), ("PROJECTS", Domain.PROJECT), ("PEOPLE", Domain.PEOPLE))
    }
    lines = [line for name, found in sections.items() for line in _known(name, found)]
    open_ = [*open_loops(todos, SPINE_LINES), *(replace(loop, part=LOOPS, who="") for loop in loops)]
    lines += list({line.text: line for line in reversed(open_)}.values())[::-1][:SPINE_LINES]
    return _draft([*sections, LOOPS], lines, _flat(sections))


def profile(memories: Sequence[Memory], now: datetime, policy: FadingPolicy) -> Draft | None:
    """Who the user is, regenerated wholesale."""
    own = [memory for memory in memories if memory.domain is Domain.PROFILE]
    sections = {
        name: best([memory for memory in own if memory.kind in kinds], now, policy, PROFILE_LINES)
        for name, kinds in _PROFILE_SECTIONS
    }
    sections["THEIR PEOPLE"] = best([m for m in memories if m.domain is Domain.PEOPLE], now, policy, PROFILE_LINES)
    lines = [line for name, found in sections.items() for line in _known(name, found)]
    return _draft([name for name, found in sections.items() if found], lines, _flat(sections)) if lines else None


def _flat(sections: dict[str, list[Memory]]) -> list[Memory]:
    return [memory for found in sections.values() for memory in found]


def brief(
    memories: Sequence[Memory],
    todos: Sequence[Todo],
    sessions: int,
    recent: Sequence[Session],
    headline: Sequence[SourcedLine],
    state: AgentState,
    now: datetime,
    policy: FadingPolicy,
) -> Draft | None:
    """How the persona and the user stand: how long they have talked, what they share, what is owed, how it feels.

    ``memories`` are those between them (domains relational and agent), ``headline`` is that of the last session.
    """
    if not recent:
        return None
    kept = best(memories, now, policy, SPINE_LINES)
    last = max(recent, key=lambda session: session.last_activity_at)
    count = f"{sessions} session{'' if sessions == 1 else 's'}; the last on {last.last_activity_at:%Y-%m-%d}."
    axes = ", ".join(f"{name} {value:.2f}" for name, value in sorted(state.axes.items()))
    owed = [todo for todo in todos if todo.status is TodoStatus.OPEN and todo.by == "assistant"]
    lines = [
        SourcedLine(text=count, part=BETWEEN, computed=True),
        *(replace(line, text=f"Last time: {line.text}", part=BETWEEN, who="") for line in headline[:1]),
        *_known("SHARED", kept),
        *(_owed(todo, shorten(todo.content, LINE), "OWED BY THE PERSONA") for todo in owed[:SPINE_LINES]),
        SourcedLine(text=axes, part="STATE", computed=True),
    ]
    return _draft(list(dict.fromkeys(line.part for line in lines)), lines, kept)


def open_loops(todos: Sequence[Todo], most: int) -> list[SourcedLine]:
    """Open commitments, threads, tasks and reminders: due ones first, then the newest."""
    listed = [todo for todo in todos if todo.status is TodoStatus.OPEN and todo.kind is not TodoKind.HABIT]
    ranked = sorted(listed, key=lambda todo: (todo.due is None, todo.due or todo.created_at, -todo.importance, todo.id))
    return [
        _owed(todo, f"{todo.content} (due {todo.due:%Y-%m-%d})" if todo.due else todo.content, LOOPS)
        for todo in ranked[:most]
    ]


def _owed(todo: Todo, text: str, part: str) -> SourcedLine:
    """A todo as a line: it rests on the messages that it came from, or was written by hand."""
    said = tuple(dict.fromkeys(one.message_id for one in todo.evidence if one.message_id))
    trust = min((Trust.INFERRED, todo.trust), key=TRUST_ORDER.index)
    return SourcedLine(text=text, messages=said, part=part, persona=todo.persona, trust=trust, computed=not said)


def _known(part: str, memories: Sequence[Memory]) -> list[SourcedLine]:
    return [
        SourcedLine(
            text=shorten(" ".join(memory.content.split()), LINE),
            memories=(memory.id,),
            part=part,
            persona=memory.persona,
            trust=min((Trust.INFERRED, memory.trust), key=TRUST_ORDER.index),
        )
        for memory in memories
    ]


def render(texts: dict[str, list[str]]) -> str:
    """Sections of lines, as they stand in a context."""
    parts = []
    for name, listed in texts.items():
        lines = [f"- {shorten(' '.join(text.split()), LINE)}" for text in listed] or ["- (nothing yet)"]
        parts.append("\n".join([name, *lines]))
    return "\n\n".join(parts)


def _draft(parts: Sequence[str], lines: Sequence[SourcedLine], used: Sequence[Memory]) -> Draft:
    trust = min((Trust.INFERRED, *(memory.trust for memory in used)), key=TRUST_ORDER.index)
    importance = max((memory.importance for memory in used), default=5.0)
    texts = {part: [line.text for line in lines if line.part == part] for part in parts}
    told = {"sections": texts, "memories": [memory.id for memory in used]}
    return Draft(render(texts), importance, trust, structured=told, lines=tuple(lines))
