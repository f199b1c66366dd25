"""Which kept thing is offered to which block, in the order of need, each only once. Pure.

Blocks of the stable text are chosen as of ``start``, the beginning of the session: a memory or todo that came up since
then is offered to ``news`` instead, so that writing things down does not change the text that a prompt cache holds.
What was taken away meanwhile is gone from both. Order within a block is by time, not by a score that moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tenuto.context import render
from tenuto.context.assemble import Line
from tenuto.context.blocks import table
from tenuto.context.budget import MESSAGE_OVERHEAD
from tenuto.context.gather import About, Gathered
from tenuto.context.sheet import SAYS_THE_SAME, Frame, Sheet, sentence_of
from tenuto.language import sentences
from tenuto.lifecycle import state as persona_state
from tenuto.lifecycle import told
from tenuto.policy import Policy
from tenuto.recall.cards import card_facts, foundation, guidance, proactive
from tenuto.recall.gate import Admitted, Verdict
from tenuto.recall.scoring import message_relevance
from tenuto.records.context import Dropped
from tenuto.records.conversation import KeyPoint, Message, Session, Summary, SummaryKind
from tenuto.records.memory import Kind, Memory, Todo, TodoKind, TodoStatus
from tenuto.records.wishes import forget_question
from tenuto.text.words import distinct_tokens

Record = Memory | Message | Summary | KeyPoint | Todo
PROMISES = frozenset({TodoKind.COMMITMENT, TodoKind.TASK, TodoKind.REMINDER, TodoKind.HABIT})


TOPIC = 2
"""Words that a turn shares with the message from which both are about the same."""
BOUNDARIES = 8
"""Things not to be raised that the model is told of, the latest."""
SURE = 0.7
"""Part of the room of a block that is surely its own: the pins take some."""
CHARACTERS = 3
"""Characters of a token, at least; most texts have more."""


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
    sheet = Sheet()
    turns = _turns(found, message)
    shown = {turn.id for turn in turns} if replay else set()
    sheet.seen |= {("message", turn.id) for turn in found.turns if turn.id not in shown}
    _facts(sheet, found, frame)
    _todos(sheet, found, frame)
    _messages(sheet, found, frame)
    offered = {line.id for lines in sheet.lines.values() for line in lines if line.kind == "todo"}
    quotes = [one.quote for todo in found.todos if todo.id in offered for one in todo.evidence if one.quote]
    sheet.said |= {sentence_of(quote) for quote in quotes}
    _summaries(sheet, found, frame)
    _subject(sheet, found, frame, about, semantic)
    if replay:
        admitted = [(index, frame.here.admit(turn)) for index, turn in enumerate(turns)]
        sheet.lines["recent"] = [
            _turn_line(turn, index, found, frame) for index, turn in admitted if isinstance(turn, Admitted)
        ]
    _at_hand(sheet, found, frame, variables or {})
    for record in relevant:
        _record(sheet, "relevant", record, frame)
    for one in _worth_keeping(found, frame, turns, message or ""):
        _record(sheet, "marked", one, frame)
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


def _facts(sheet: Sheet, found: Gathered, frame: Frame) -> None:
    for memory in guidance(frame.unasked.only(found.guiding), frame.policy.recall):
        admitted = frame.unasked.admit(memory)
        for number, rule in enumerate(render.guidance(admitted) if isinstance(admitted, Admitted) else ()):
            sheet.offer("guidance", "guidance", f"{memory.id}/{number}", rule, memory.created_at)
    for wish in frame.unasked.holds.boundaries[-BOUNDARIES:]:
        sheet.offer("guidance", "wish", wish.id, render.boundary(wish), wish.created_at)
    for pin in found.pins:
        silenced = isinstance(frame.unasked.admit(pin), Verdict)
        _record(sheet, "relevant" if silenced and isinstance(frame.asked.admit(pin), Admitted) else "pins", pin, frame)
    for memory in foundation_of(frame.unasked.only(found.important_memories), found.pins, frame.policy):
        if memory.created_at <= frame.start:
            _record(sheet, "foundation", memory, frame)
    if found.state is not None:
        axes = persona_state.axes_of(found.state.id or None, frame.policy.agent)
        then = persona_state.drifted(found.state, axes, frame.start)
        sheet.offer("state", "state", then.id, render.state(frame.templates, then, frame.zone))


def _summaries(sheet: Sheet, found: Gathered, frame: Frame) -> None:
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
    for summary in sorted(found.summaries, key=lambda one: -one.importance):
        if summary.created_at > frame.start:
            continue
        if summary.kind is SummaryKind.RANGE and summary.topic is None:
            _record(sheet, "ranges", summary, frame)
        elif summary.kind is SummaryKind.TOPIC:
            _record(sheet, "topics", summary, frame)
    for point in sorted(found.key_points, key=lambda point: (-point.weight, point.id)):
        if sheet.repeats(point.content):
            sheet.put_aside("points", "key_point", point.id, SAYS_THE_SAME)
        elif point.session_id != here:
            _record(sheet, "points", point, frame)


def _portrait(sheet: Sheet, block: str, summary: Summary, frame: Frame) -> None:
    """A summary in sections, without the lines that stand among the facts already and the sections that are empty."""
    admitted = frame.gate(block).admit(summary)
    if isinstance(admitted, Verdict):
        sheet.put_aside(block, "summary", summary.id, admitted.rule)
        return
    if not any(line.part for line in admitted.lines):
        _record(sheet, block, summary, frame)
        return
    kept = []
    for heading, listed in told.sections([line for line in admitted.lines if line.part.casefold() != "state"]):
        new = [text for text in listed if not sheet.repeats(text)]
        if new:
            kept.append(f"{heading.replace('_', ' ').capitalize()}: {'; '.join(new)}")
    if kept:
        text = render.summary(frame.templates, admitted, frame.zone, "\n".join(kept))
        sheet.offer(block, "summary", summary.id, text, summary.created_at)
    else:
        sheet.put_aside(block, "summary", summary.id, SAYS_THE_SAME)


def _past_sessions(sheet: Sheet, found: Gathered, frame: Frame) -> None:
    """The last session; of those before it the most important ones in full (among equals the newer), the others in
    short.
    """
    by_session = {s.session_id: s for s in reversed(found.summaries) if s.kind is SummaryKind.SESSION and s.session_id}
    full, most = frame.policy.context.sessions_in_full, frame.policy.context.session_headlines
    told_of = []
    for past in found.previous:
        summary = by_session.get(past.id)
        if summary is None:
            continue
        sheet.seen.add(("summary", summary.id))
        admitted = frame.unasked.admit(summary)
        if isinstance(admitted, Verdict):
            sheet.put_aside("sessions", "session", past.id, admitted.rule)
        else:
            told_of.append((past, admitted))
    recent = told_of[1 : full + most]
    weightiest = sorted(recent, key=lambda pair: -pair[1].record.importance)[: max(full - 1, 0)]
    in_full = {past.id for past, _ in weightiest}
    for place, (past, admitted) in enumerate(told_of):
        block = "latest" if place == 0 else "sessions" if past.id in in_full else "headlines"
        _past_session(sheet, block, past, admitted, frame)


def _past_session(sheet: Sheet, block: str, past: Session, admitted: Admitted[Summary], frame: Frame) -> None:
    """A past session by its headline or in full, without the lines that stand there already."""
    headline = block == "headlines"
    wanted = told.of_part(admitted.lines, told.HEADLINE) if headline else admitted.lines
    new = [line for line in wanted if line.computed or not sheet.repeats(line.text)]
    words = {id for line in told.of_part(new, *told.ARC, told.TOLD) for id in line.messages}
    new = [line for line in new if line.part != told.DIARY or not words.issuperset(line.messages)]
    if wanted and (not words if told.of_part(wanted, *told.ARC, told.TOLD) else not new):
        sheet.put_aside(block, "session", past.id, SAYS_THE_SAME)
        return
    if headline:
        text = render.headline(frame.templates, admitted, past.started_at, frame.zone)
    else:
        text = render.session(frame.templates, admitted, past.started_at, frame.zone, new)
    sheet.said |= {sentence_of(line.text) for line in new}
    sheet.offer(block, "session", past.id, text, past.started_at)


def _todos(sheet: Sheet, found: Gathered, frame: Frame) -> None:
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


def _messages(sheet: Sheet, found: Gathered, frame: Frame) -> None:
    """What was said before this session."""
    important = [one for one in found.important if not _said_here(one, found) and one.at <= frame.start]
    for message in found.earlier:
        _record(sheet, "earlier", message, frame)
    for message in important:
        _record(sheet, "important", message, frame)
    offered = {line.id for block in ("earlier", "important") for line in sheet.lines.get(block, ())}
    for block, some in (("earlier", found.earlier), ("important", important)):
        for message in _surely_shown(some, frame, block):
            if message.id in offered:
                sheet.said |= {sentence_of(one) for one in sentences.split(message.content)}


def _worth_keeping(found: Gathered, frame: Frame, turns: Sequence[Message], message: str) -> list[Message]:
    """What was said in this session and should stay in sight when its window does not reach back, the worthiest first.

    Worth is :func:`tenuto.recall.scoring.message_relevance`: age, the topic of the message, what was marked as
    important, and what opened something to do. Age alone keeps nothing: that is what the window is for.
    """
    asked = distinct_tokens(message)
    opened = {said.message_id for todo in found.todos for said in todo.evidence}
    worth: dict[str, tuple[float, Message]] = {}
    for one in (*found.marked, *turns):
        hours = (frame.now - one.at).total_seconds() / 3600
        topic = bool(asked) and len(asked & distinct_tokens(one.content)) >= min(TOPIC, len(asked))
        important = bool(one.metadata.get("important")) or one.importance >= frame.policy.context.important_from
        action = one.id in opened
        if topic or important or action:
            score = message_relevance(hours, topic=topic, important=important, action=action)
            worth[one.id] = (score, one)
    return [one for _, one in sorted(worth.values(), key=lambda pair: (-pair[0], -pair[1].seq))]


def _surely_shown(messages: Sequence[Message], frame: Frame, block: str) -> Iterable[Message]:
    """The first of some messages that have room in their block, whatever else there is."""
    spec = next(one for one in table(frame.policy) if one.name == block)
    room = frame.tokens * frame.policy.context.messages * spec.part * SURE * CHARACTERS
    for message in messages[: spec.most]:
        room -= len(message.content) + CHARACTERS * MESSAGE_OVERHEAD * 4
        if room < 0:
            return
        yield message


def _subject(sheet: Sheet, found: Gathered, frame: Frame, about: About, semantic: Sequence[Record]) -> None:
    """What the session is about: the cards of those whom it names, and what was recalled for it."""
    for entity, facts in cards_of(about, frame):
        sheet.offer("cards", "entity", entity, render.card(frame.templates, entity, facts, frame.zone))
    for record in semantic:
        if moment(record) <= frame.start and not _said_here(record, found):
            _record(sheet, "semantic", record, frame)


def _at_hand(sheet: Sheet, found: Gathered, frame: Frame, variables: Mapping[str, Any]) -> None:
    """What waits for an answer, the work in progress, what the application keeps at hand, and what is new since the
    session began."""
    if asked := frame.asked.only(frame.question):
        text = render.line(
            frame.templates,
            render.day(frame.now, frame.zone),
            "recorded",
            forget_question([one.content for one in asked]),
        )
        sheet.offer("question", "question", asked[0].id, text)
    if found.workflow is not None:
        text = render.workflow(frame.templates, found.workflow, frame.zone, frame.now)
        sheet.offer("workflow", "workflow", found.workflow.id, text)
    for name, value in sorted(variables.items()):
        sheet.offer("working", "variable", name, render.variable(frame.templates, name, value, frame.now, frame.zone))
    in_sight = {turn.id for turn in found.turns}
    for memory in found.new:
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


def _turn_line(turn: Admitted[Message], index: int, found: Gathered, frame: Frame) -> Line:
    shown = render.turn(frame.templates, turn, frame.fence, frame.zone)
    step = (found.turns_before + index) % max(frame.policy.context.window_step, 1) == 0
    return Line(kind="message", id=turn.record.id, text=shown["content"], role=shown["role"], step=step, position=index)


def _record(sheet: Sheet, block: str, record: Record, frame: Frame) -> None:
    """Offer one record; what the gate keeps back is put aside with the reason."""
    templates, zone, gate = frame.templates, frame.zone, frame.gate(block)
    admitted: Admitted[Any] | Verdict = gate.admit(record)
    kind = _KINDS[type(record)]
    if isinstance(admitted, Verdict):
        sheet.put_aside(block, kind, record.id, admitted.rule)
    elif isinstance(record, Memory):
        sheet.offer(block, kind, record.id, render.memory(templates, admitted, zone), record.created_at, record.content)
    elif isinstance(record, Message):
        sheet.offer(block, kind, record.id, render.message(templates, admitted, zone), record.at, record.content)
    elif isinstance(record, Summary):
        sheet.offer(block, kind, record.id, render.summary(templates, admitted, zone), record.created_at)
    elif isinstance(record, KeyPoint):
        text = render.key_point(templates, admitted, zone)
        sheet.offer(block, kind, record.id, text, record.created_at, record.content)
    else:
        sheet.offer(block, kind, record.id, render.todo(templates, admitted, zone), record.created_at, record.content)


_KINDS = {Memory: "memory", Message: "message", Summary: "summary", KeyPoint: "key_point", Todo: "todo"}


def cards_of(about: About, frame: Frame) -> list[tuple[str, list[Admitted[Memory]]]]:
    """The facts of each entity that the session is about, as of its start."""
    then = frame.unasked.only(memory for memory in about.memories if memory.created_at <= frame.start)
    found = []
    for entity, facts in card_facts(about.wanted, then, about.entities, frame.policy.recall):
        admitted = [frame.unasked.admit(fact) for fact in facts]
        found.append((entity, [fact for fact in admitted if isinstance(fact, Admitted)]))
    return found


def foundation_of(memories: Sequence[Memory], pins: Sequence[Memory], policy: Policy) -> list[Memory]:
    """What is known without being asked: what may be brought up by itself, then what is important.

    Pins and rules about answers stand apart.
    """
    pinned = {pin.id for pin in pins}
    others = [one for one in memories if one.id not in pinned and one.kind is not Kind.STYLE_ADJUSTMENT]
    return list({m.id: m for m in (*proactive(others, policy.recall), *foundation(others, policy.recall))}.values())
