"""Longer-lived text about the user, made of what is known: the spine, the profile, the relationship brief.

Lists of memories as they are worded, best first, so every line can be traced. Only what recall may read enters, and
never what may not be brought up (``proactive_use = no``): these texts stand in contexts that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from tenuto.lifecycle.fade import strength
from tenuto.lifecycle.lines import shorten
from tenuto.lifecycle.summarise import Draft
from tenuto.policy import FadingPolicy
from tenuto.records.conversation import Session
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
    memories: Sequence[Memory], todos: Sequence[Todo], loops: Sequence[str], now: datetime, policy: FadingPolicy
) -> Draft:
    """PROFILE, PROJECTS, PEOPLE, OPEN_LOOPS. ``loops`` are those of the last sessions, beside the todos."""
    sections = {
        name: best([m for m in memories if m.domain is domain], now, policy, SPINE_LINES)
        for name, domain in (("PROFILE", Domain.PROFILE), ("PROJECTS", Domain.PROJECT), ("PEOPLE", Domain.PEOPLE))
    }
    texts = {name: [memory.content for memory in found] for name, found in sections.items()}
    texts["OPEN_LOOPS"] = list(dict.fromkeys([*open_loops(todos, SPINE_LINES), *loops]))[:SPINE_LINES]
    return _draft(texts, _flat(sections))


def profile(memories: Sequence[Memory], now: datetime, policy: FadingPolicy) -> Draft | None:
    """Who the user is, regenerated wholesale."""
    own = [memory for memory in memories if memory.domain is Domain.PROFILE]
    sections = {
        name: best([memory for memory in own if memory.kind in kinds], now, policy, PROFILE_LINES)
        for name, kinds in _PROFILE_SECTIONS
    }
    sections["THEIR PEOPLE"] = best([m for m in memories if m.domain is Domain.PEOPLE], now, policy, PROFILE_LINES)
    texts = {name: [memory.content for memory in found] for name, found in sections.items()}
    if not any(texts.values()):
        return None
    return _draft({name: listed for name, listed in texts.items() if listed}, _flat(sections))


def _flat(sections: dict[str, list[Memory]]) -> list[Memory]:
    return [memory for found in sections.values() for memory in found]


def brief(
    memories: Sequence[Memory],
    todos: Sequence[Todo],
    sessions: int,
    recent: Sequence[Session],
    state: AgentState,
    now: datetime,
    policy: FadingPolicy,
) -> Draft | None:
    """How the persona and the user stand: how long they have talked, what they share, what is owed, how it feels.

    ``memories`` are those between them (domains relational and agent).
    """
    if not recent:
        return None
    kept = best(memories, now, policy, SPINE_LINES)
    last = max(recent, key=lambda session: session.last_activity_at)
    between = [f"{sessions} session{'' if sessions == 1 else 's'}; the last on {last.last_activity_at:%Y-%m-%d}."]
    if last.headline:
        between.append(f"Last time: {last.headline}")
    axes = ", ".join(f"{name} {value:.2f}" for name, value in sorted(state.axes.items()))
    owed = [shorten(todo.content, LINE) for todo in todos if todo.status is TodoStatus.OPEN and todo.by == "assistant"]
    texts = {
        "BETWEEN US": between,
        "SHARED": [memory.content for memory in kept],
        "OWED BY THE PERSONA": owed[:SPINE_LINES],
        "STATE": [axes],
    }
    return _draft({name: listed for name, listed in texts.items() if listed}, kept)


def open_loops(todos: Sequence[Todo], most: int) -> list[str]:
    """Open commitments, threads, tasks and reminders: due ones first, then the newest."""
    listed = [todo for todo in todos if todo.status is TodoStatus.OPEN and todo.kind is not TodoKind.HABIT]
    ranked = sorted(listed, key=lambda todo: (todo.due is None, todo.due or todo.created_at, -todo.importance, todo.id))
    return [f"{todo.content} (due {todo.due:%Y-%m-%d})" if todo.due else todo.content for todo in ranked[:most]]


def render(texts: dict[str, list[str]]) -> str:
    """Sections of lines, as they stand in a context."""
    parts = []
    for name, listed in texts.items():
        lines = [f"- {shorten(' '.join(text.split()), LINE)}" for text in listed] or ["- (nothing yet)"]
        parts.append("\n".join([name, *lines]))
    return "\n\n".join(parts)


def _draft(texts: dict[str, list[str]], used: Sequence[Memory]) -> Draft:
    trust = min((Trust.INFERRED, *(memory.trust for memory in used)), key=TRUST_ORDER.index)
    importance = max((memory.importance for memory in used), default=5.0)
    return Draft(render(texts), importance, trust, structured={"sections": texts, "memories": [m.id for m in used]})
