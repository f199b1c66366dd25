"""Which kept thing is offered to which block, in the order of need, each only once. Pure.

Blocks of the stable text are chosen as of ``start``, the beginning of the session: a memory or todo that came up since
then is offered to ``news`` instead, so that writing things down does not change the text that a prompt cache holds.
What was taken away meanwhile is gone from both. Order within a block is by time, not by a score that moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from tenuto.context import render
from tenuto.context.assemble import Line
from tenuto.context.gather import About, Gathered
from tenuto.context.templates import Templates
from tenuto.lifecycle import state as persona_state
from tenuto.policy import Policy
from tenuto.recall.cards import Card, foundation, guidance, make_cards, proactive, resolve, usable
from tenuto.records.base import evolve, micros
from tenuto.records.context import Dropped
from tenuto.records.conversation import KeyPoint, Message, Summary, SummaryKind
from tenuto.records.memory import RECALLED, Memory, Proactive, Todo, TodoKind, TodoStatus, Trust

Record = Memory | Message | Summary | KeyPoint | Todo
NOTHING = "- (nothing yet)"
PROMISES = frozenset({TodoKind.COMMITMENT, TodoKind.TASK, TodoKind.REMINDER, TodoKind.HABIT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every renderer needs, and the moment that the stable blocks are seen from."""

    templates: Templates
    fence: str
    zone: tzinfo
    start: datetime
    now: datetime
    policy: Policy


@dataclass(slots=True)
class _Sheet:
    """The lines so far; a record that was offered once is not offered again."""

    lines: dict[str, list[Line]] = field(default_factory=dict)
    dropped: dict[str, list[Dropped]] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    said: set[str] = field(default_factory=set)

    def offer(self, block: str, kind: str, id: str, text: str, at: datetime | None = None, content: str = "") -> None:
        key, words = (kind, id), " ".join(content.casefold().split())
        if key in self.seen:
            return
        self.seen.add(key)
        if words and words in self.said:
            self.dropped.setdefault(block, []).append(
                Dropped(kind=kind, id=id, tokens=0, why="says the same as another line")
            )
            return
        if words:
            self.said.add(words)
        position = micros(at) if at is not None else 0
        self.lines.setdefault(block, []).append(Line(kind=kind, id=id, text=text, position=position))


def select(
    found: Gathered,
    frame: Frame,
    about: About,
    semantic: Sequence[Record] = (),
    relevant: Sequence[Record] = (),
    variables: Mapping[str, Any] | None = None,
    *,
    replay: bool = True,
    message: str | None = None,
) -> tuple[dict[str, list[Line]], dict[str, list[Dropped]]]:
    """Lines per block, and what was put aside.

    ``about`` and ``semantic`` last for the session, ``relevant`` is this turn's.
    """
    sheet = _Sheet()
    turns = _turns(found, message)
    shown = {turn.id for turn in turns} if replay else set()
    sheet.seen |= {("message", turn.id) for turn in found.turns if turn.id not in shown}
    _facts(sheet, found, frame)
    _summaries(sheet, found, frame)
    _todos(sheet, found, frame)
    _messages(sheet, found, frame)
    _subject(sheet, found, frame, about, semantic)
    if replay:
        sheet.lines["recent"] = [_turn_line(turn, index, found, frame) for index, turn in enumerate(turns)]
    _at_hand(sheet, found, frame, variables or {})
    for record in relevant:
        _record(sheet, "relevant", record, frame)
    return sheet.lines, sheet.dropped


def in_sight(found: Gathered, sent: Iterable[str]) -> Gathered:
    """The same, with those turns alone that a caller sends by itself."""
    known = {_plain(text) for text in sent}
    turns = tuple(turn for turn in found.turns if _plain(turn.content) in known)
    return replace(found, turns=turns, turns_before=found.turns_before + len(found.turns) - len(turns))


def _plain(text: str) -> str:
    return " ".join(text.split())


def moment(record: Record) -> datetime:
    """When a record came to be."""
    return record.at if isinstance(record, Message) else record.created_at


def _facts(sheet: _Sheet, found: Gathered, frame: Frame) -> None:
    for memory in guidance(found.guiding, frame.policy.recall):
        for number, rule in enumerate(render.guidance(memory)):
            sheet.offer("guidance", "guidance", f"{memory.id}/{number}", rule, memory.created_at)
    for pin in found.pins:
        _record(sheet, "pins", pin, frame)
    for memory in foundation_of(found.important_memories, found.pins, frame.policy):
        if memory.created_at <= frame.start:
            _record(sheet, "foundation", memory, frame)
    if found.state is not None:
        axes = persona_state.axes_of(found.state.id or None, frame.policy.agent)
        then = persona_state.drifted(found.state, axes, frame.start)
        sheet.offer("state", "state", then.id, render.state(frame.templates, then, frame.zone))


def _summaries(sheet: _Sheet, found: Gathered, frame: Frame) -> None:
    """The current version of each, and past sessions: the last one, some in full, some by their headline."""
    here = found.current.id if found.current is not None else None
    latest: set[SummaryKind] = set()
    blocks = {SummaryKind.PROFILE: "profile", SummaryKind.BRIEF: "brief", SummaryKind.SPINE: "spine"}
    for summary in found.summaries:
        if summary.kind in blocks and summary.kind not in latest:
            latest.add(summary.kind)
            _portrait(sheet, blocks[summary.kind], summary, frame)
        elif summary.kind is SummaryKind.ROLLING and SummaryKind.ROLLING not in latest and not _all_in_sight(found):
            latest.add(summary.kind)
            _record(sheet, "rolling", summary, frame)
    _past_sessions(sheet, found, frame)
    for summary in found.summaries:
        if summary.created_at > frame.start:
            continue
        if summary.kind is SummaryKind.RANGE and summary.topic is None:
            _record(sheet, "ranges", summary, frame)
        elif summary.kind is SummaryKind.TOPIC:
            _record(sheet, "topics", summary, frame)
    for point in sorted(found.key_points, key=lambda point: (-point.weight, point.id)):
        if point.session_id != here:
            _record(sheet, "points", point, frame)


def _portrait(sheet: _Sheet, block: str, summary: Summary, frame: Frame) -> None:
    """A summary in sections, without the lines that stand among the facts already and the sections that are empty."""
    if "\n- " not in summary.content:
        _record(sheet, block, summary, frame)
        return
    sections: list[tuple[str, list[str]]] = []
    for row in summary.content.split("\n"):
        if not row.startswith("- "):
            sections.append((row.strip().replace("_", " ").capitalize(), []))
        elif sections and row != NOTHING and " ".join(row[2:].casefold().split()) not in sheet.said:
            sections[-1][1].append(row[2:])
    kept = [f"{heading}: {'; '.join(listed)}" for heading, listed in sections if listed]
    if kept:
        _record(sheet, block, evolve(summary, content="\n".join(kept)), frame)
    else:
        sheet.dropped.setdefault(block, []).append(
            Dropped(kind="summary", id=summary.id, tokens=0, why="says the same as other lines")
        )


def _past_sessions(sheet: _Sheet, found: Gathered, frame: Frame) -> None:
    by_session = {s.session_id: s for s in reversed(found.summaries) if s.kind is SummaryKind.SESSION and s.session_id}
    full, place = frame.policy.context.sessions_in_full, 0
    for past in found.previous:
        summary = by_session.get(past.id)
        if summary is None and not past.headline and not past.detailed_summary:
            continue
        block = "latest" if place == 0 else "sessions" if place < full else "headlines"
        if block == "headlines":
            headline = past.headline or (summary.content.split(". ")[0] if summary else "")
            text = render.line(frame.templates, render.day(past.started_at, frame.zone), Trust.INFERRED, headline)
        elif past.detailed_summary or summary is None:
            text = render.session(frame.templates, past, frame.zone)
        else:
            text = render.summary(frame.templates, summary, frame.zone)
        sheet.offer(block, "session", past.id, text, past.started_at)
        if summary is not None:
            sheet.seen.add(("summary", summary.id))
        place += 1


def _todos(sheet: _Sheet, found: Gathered, frame: Frame) -> None:
    since = frame.start - frame.policy.memory.recent_wins
    for todo in sorted(found.todos, key=lambda todo: (todo.due is None, todo.due or todo.created_at, todo.id)):
        if todo.status is TodoStatus.DONE:
            if todo.completed_at is not None and since <= todo.completed_at <= frame.start:
                _record(sheet, "wins", todo, frame)
            continue
        if todo.created_at > frame.start:
            _record(sheet, "news", todo, frame)
        elif todo.kind in PROMISES:
            _record(sheet, "commitments", todo, frame)
        else:
            _record(sheet, "threads" if todo.kind is TodoKind.THREAD else "frictions", todo, frame)


def _messages(sheet: _Sheet, found: Gathered, frame: Frame) -> None:
    """What was said before this session, and the weighty things that its window no longer shows."""
    for message in found.earlier:
        _record(sheet, "earlier", message, frame)
    for message in found.important:
        if not _said_here(message, found) and message.at <= frame.start:
            _record(sheet, "important", message, frame)
    for message in found.marked:
        _record(sheet, "marked", message, frame)


def _subject(sheet: _Sheet, found: Gathered, frame: Frame, about: About, semantic: Sequence[Record]) -> None:
    """What the session is about: the cards of those whom it names, and what was recalled for it."""
    for card, facts in cards_of(about, frame.start, frame.policy):
        sheet.offer("cards", "entity", card.entity, render.card(frame.templates, card, facts, frame.zone))
    for record in semantic:
        if moment(record) <= frame.start and not _said_here(record, found):
            _record(sheet, "semantic", record, frame)


def _at_hand(sheet: _Sheet, found: Gathered, frame: Frame, variables: Mapping[str, Any]) -> None:
    """The work in progress, what the application keeps at hand, and what is new since the session began."""
    if found.workflow is not None:
        text = render.workflow(frame.templates, found.workflow, frame.zone, frame.now)
        sheet.offer("workflow", "workflow", found.workflow.id, text)
    for name, value in sorted(variables.items()):
        sheet.offer("working", "variable", name, render.variable(frame.templates, name, value, frame.now, frame.zone))
    in_sight = {turn.id for turn in found.turns}
    for memory in found.new:
        if memory.proactive_use is not Proactive.NO:
            said = {evidence.message_id for evidence in memory.evidence}
            if not said or not said <= in_sight:
                _record(sheet, "news", memory, frame)


def _all_in_sight(found: Gathered) -> bool:
    """Whether this session is replayed from its first word, or has none yet; then nothing needs to stand for it."""
    return found.turns_before == 0


def _said_here(record: Record, found: Gathered) -> bool:
    return isinstance(record, Message) and found.current is not None and record.session_id == found.current.id


def _turns(found: Gathered, message: str | None) -> list[Message]:
    """The turns to replay: without the current message, which may have been observed already."""
    turns = list(found.turns)
    if turns and message is not None and turns[-1].role == "user" and turns[-1].content == message:
        turns.pop()
    return turns


def _turn_line(turn: Message, index: int, found: Gathered, frame: Frame) -> Line:
    shown = render.turn(frame.templates, turn, frame.fence, frame.zone)
    step = (found.turns_before + index) % max(frame.policy.context.window_step, 1) == 0
    return Line(kind="message", id=turn.id, text=shown["content"], role=shown["role"], step=step, position=index)


def _record(sheet: _Sheet, block: str, record: Record, frame: Frame) -> None:
    """Offer one record; what may not be shown is not."""
    templates, zone = frame.templates, frame.zone
    if isinstance(record, Memory):
        if record.status in RECALLED:
            sheet.offer(
                block, "memory", record.id, render.memory(templates, record, zone), record.created_at, record.content
            )
    elif isinstance(record, Message):
        sheet.offer(block, "message", record.id, render.message(templates, record, zone), record.at, record.content)
    elif isinstance(record, Summary):
        sheet.offer(block, "summary", record.id, render.summary(templates, record, zone), record.created_at)
    elif isinstance(record, KeyPoint):
        sheet.offer(
            block, "key_point", record.id, render.key_point(templates, record, zone), record.created_at, record.content
        )
    else:
        sheet.offer(block, "todo", record.id, render.todo(templates, record, zone), record.created_at, record.content)


def cards_of(about: About, start: datetime, policy: Policy) -> list[tuple[Card, list[Memory]]]:
    """A card for each entity that the session is about, as of its start, with the facts that it was made from."""
    then = [memory for memory in about.memories if memory.created_at <= start]
    found = []
    for shown in make_cards(about.wanted, then, about.entities, policy.recall):
        facts = [m for m in then if usable(m) and shown.entity in {resolve(e, about.entities) for e in m.entities}]
        found.append((shown, facts))
    return found


def foundation_of(memories: Sequence[Memory], pins: Sequence[Memory], policy: Policy) -> list[Memory]:
    """What is known without being asked: what may be brought up by itself, then what is important. Pins stand apart."""
    pinned = {pin.id for pin in pins}
    others = [memory for memory in memories if memory.id not in pinned]
    return list({m.id: m for m in (*proactive(others, policy.recall), *foundation(others, policy.recall))}.values())
