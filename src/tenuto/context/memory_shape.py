"""A context as the four parts that other programs know: recent messages, pins, summaries, tokens. Pure.

It holds what the budget let in and the gate admitted, each as it is now; nothing else can enter by this way. A summary
is listed also where the text leaves it out because its sentences stand there already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenuto.context.gather import Gathered
from tenuto.context.select import Record
from tenuto.context.sheet import SAYS_THE_SAME, Frame
from tenuto.recall.gate import Admitted
from tenuto.records.context import (
    Context,
    ConversationSummary,
    Dropped,
    Included,
    MemoryContext,
    MessageWithImportance,
    SemanticPin,
)
from tenuto.records.conversation import Message, Summary, SummaryKind
from tenuto.records.memory import Memory, Trust


def memory_context(context: Context, found: Gathered, frame: Frame, recalled: Iterable[Record]) -> MemoryContext:
    """What is in the context, by kind; ``recalled`` are the records that recall brought."""
    known = _known(found, recalled)
    near = (*found.previous, found.current) if found.current is not None else found.previous
    sessions = {one.id: one.external_id or one.id for one in near}
    messages: list[MessageWithImportance] = []
    pins: list[SemanticPin] = []
    summaries: list[ConversationSummary] = []
    tokens = 0
    for block in context.blocks:
        repeated = [one for one in block.dropped if one.why == SAYS_THE_SAME and one.kind in ("session", "summary")]
        items: list[Included | Dropped] = [*block.items, *repeated]
        for item in items:
            shown = _admitted(known, item, frame, block.name)
            if shown is None:
                continue
            record = shown.record
            if isinstance(record, Message):
                messages.append(_message(record, sessions))
            elif isinstance(record, Summary):
                summaries.append(_summary(record, shown.text, sessions))
            elif isinstance(record, Memory) and block.name == "pins":
                pins.append(_pin(record, shown.mark, sessions))
            else:
                continue
            tokens += item.tokens
    return MemoryContext(
        recentMessages=tuple(sorted(messages, key=lambda one: (one.created_at, one.id))),
        semanticPins=tuple(pins),
        summaries=tuple(sorted(summaries, key=lambda one: (one.created_at, one.id))),
        totalTokens=tokens,
    )


def _known(found: Gathered, recalled: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """The records that items of a context may name; a session is told by its record."""
    said = (*found.turns, *found.earlier, *found.important, *found.marked)
    known: dict[tuple[str, str], Record] = {("message", one.id): one for one in said}
    known |= {("memory", pin.id): pin for pin in found.pins}
    for summary in reversed(found.summaries):
        known["summary", summary.id] = summary
        if summary.kind is SummaryKind.SESSION and summary.session_id:
            known["session", summary.session_id] = summary
    names = {Message: "message", Summary: "summary"}
    return known | {(names[type(one)], one.id): one for one in recalled if type(one) in names}


def _admitted(
    known: Mapping[tuple[str, str], Record], item: Included | Dropped, frame: Frame, block: str
) -> Admitted[Record] | None:
    record = known.get((item.kind, item.id))
    if record is None or (isinstance(record, Message) and record.trust is Trust.EXTERNAL):
        return None
    shown: object = frame.gate(block).admit(record)
    return shown if isinstance(shown, Admitted) else None


def _message(one: Message, sessions: Mapping[str, str]) -> MessageWithImportance:
    return MessageWithImportance(
        id=one.external_id or one.id,
        session_id=sessions.get(one.session_id, one.session_id),
        role=str(one.role),
        text=one.content,
        model_id=one.model,
        token_usage=one.tokens,
        created_at=one.at,
        importance_score=one.importance,
    )


def _pin(one: Memory, mark: str, sessions: Mapping[str, str]) -> SemanticPin:
    session = one.pin_session_id or one.session_id
    return SemanticPin(
        id=one.id,
        session_id=sessions.get(session, session) if session else None,
        content=f"{one.content} ({mark})" if mark else one.content,
        source_message_id=next((e.message_id for e in reversed(one.evidence) if e.message_id), None),
        importance_score=one.importance,
        pin_type=str(one.pin_kind or "manual"),
        created_at=one.created_at,
    )


def _summary(one: Summary, text: str, sessions: Mapping[str, str]) -> ConversationSummary:
    return ConversationSummary(
        id=one.id,
        session_id=sessions.get(one.session_id, one.session_id) if one.session_id else None,
        summary=text,
        message_count=one.message_count,
        start_message_id=one.start_message_id,
        end_message_id=one.end_message_id,
        importance_score=one.importance,
        created_at=one.created_at,
    )
