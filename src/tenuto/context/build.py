"""Build a context: read, choose, render, fit. The flow; what decides lies in the pure modules beside it.

    gather (one read) → select (which thing in which block) → assemble (budget, text, count)

Nothing is written. Recall is another flow: whoever calls passes what it found (``hits`` for this turn, ``lasting`` to
ask for the whole session) and this flow reads those records again through its own reader, so that nothing forgotten or
another user's can enter by a stale hit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import structs

from tenuto.context import budget as budgeting
from tenuto.context import gather as gathering
from tenuto.context import render, templates, topic
from tenuto.context.assemble import Offer, assemble
from tenuto.context.blocks import table
from tenuto.context.memory_shape import memory_context
from tenuto.context.select import Record, in_sight, select
from tenuto.context.sheet import Frame
from tenuto.context.surroundings import counter, fence, persona_words, zone_of
from tenuto.context.topic import Found
from tenuto.deps import Deps
from tenuto.ports import Reader
from tenuto.recall.gate import Asked, Gate, cited
from tenuto.recall.holds import Holds
from tenuto.recall.timewords import times
from tenuto.records.context import Context
from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import Memory, Todo
from tenuto.records.scope import Scope
from tenuto.text import clean

__all__ = ["Context", "build"]

TYPES: dict[str, type[Record]] = {
    "memory": Memory,
    "message": Message,
    "summary": Summary,
    "key_point": KeyPoint,
    "todo": Todo,
}


def build(
    deps: Deps,
    scope: Scope,
    message: str | None = None,
    *,
    budget: int | None = None,
    hits: Iterable[Found] = (),
    lasting: Callable[[str], Iterable[Found]] | None = None,
    persona_text: str | None = None,
    session: str | None = None,
    refresh: bool = False,
    replay: bool = True,
    sent: Iterable[str] | None = None,
) -> Context:
    """The context for ``message``.

    ``hits`` are what recall found for it; ``lasting`` recalls what a whole session is about, and is asked once for its
    first substantive message, or again to ``refresh`` it. ``session`` is the caller's own id of the session.
    ``replay=False`` leaves this session's turns out, for a caller who sends them anyway: all of them, or those in
    ``sent``; then the others may come to mind like anything that was said before.
    """
    policy = deps.policy
    hits = list(hits)
    tokens = budgeting.check(policy.context.budget if budget is None else budget)
    if message is not None:
        message = clean.text(message, policy.limits, what="message")
    texts = templates.load(policy.context.templates)
    persona = persona_words(scope, persona_text, policy.context.personas, texts)
    now = deps.clock()
    with deps.store.reading(scope.user) as reader:
        holds = deps.holds.fresh(reader, policy.retention)
        found = gathering.gather(reader, scope, policy, now, session)
        relevant = _read(reader, _named(hits))
    anchor = found.previous[0].id if found.previous else ""
    query, named = topic.of_session(deps.working, scope, session, anchor, found, message, lasting, refresh)
    with deps.store.reading(scope.user) as reader:
        semantic = _read(reader, named)
        about = gathering.about(reader, scope, query or "", semantic, policy)
        derived = [*found.summaries, *found.key_points, *relevant, *semantic]
        near = {one.id for one in hits if getattr(one, "mark", "")}
        gates = _gates(reader, scope, holds, message or "", now, derived, near)
    zone_name, zone, notes = zone_of(found)
    start = found.current.started_at if found.current is not None else now
    frame = Frame(
        templates=texts,
        fence=fence(found, scope),
        zone=zone,
        start=start,
        now=now,
        policy=policy,
        tokens=tokens - budgeting.answer_share(tokens, policy.context),
        question=holds.question(scope.channel, scope.persona, now),
        **gates,
    )
    variables = topic.variables(deps.working, scope)
    if not replay and sent is not None:
        found = in_sight(found, sent)
    lines, dropped = select(found, frame, about, semantic, relevant, variables, replay=replay, message=message)
    offer = Offer(
        lines=lines,
        dropped=dropped,
        fence=frame.fence,
        persona=persona,
        clock=render.clock(texts, now, zone, zone_name),
        message=message,
        session_id=found.current.id if found.current is not None else None,
        anchor=anchor,
        notes=tuple(notes),
    )
    fitted = _fitted(deps, offer, texts, tokens)
    return replace(fitted, memory=memory_context(fitted, found, frame, [*relevant, *semantic]))


def _gates(
    reader: Reader,
    scope: Scope,
    holds: Holds,
    message: str,
    now: datetime,
    records: Sequence[Record],
    near: Collection[str],
) -> dict[str, Gate]:
    """The gates for what stands there unasked, what answers the message, the turns, what was before, what is done."""
    unasked = Asked(now=now, persona=scope.persona)
    asked = structs.replace(unasked, text=message, past=bool(message) and times(message, now).past)
    gates = {
        "unasked": Gate(holds, unasked),
        "asked": Gate(holds, asked, near),
        "here": Gate(holds, structs.replace(unasked, text=message, outside=True, here=True)),
        "before": Gate(holds, structs.replace(unasked, outside=True)),
        "over": Gate(holds, structs.replace(unasked, past=True)),
    }
    messages, memories = cited(records, holds)
    said = reader.get_many(Message, messages) if messages else {}
    known = reader.get_many(Memory, memories) if memories else {}
    for gate in gates.values():
        gate.know(said, known)
    return gates


def _fitted(deps: Deps, offer: Offer, texts: templates.Templates, tokens: int) -> Context:
    """The context within its budget; it says so where the tokens had to be estimated."""
    count, notes = counter(deps.tokens)
    context = assemble(offer, table(deps.policy), texts, count, budget=tokens, policy=deps.policy.context)
    return replace(context, notes=(*context.notes, *notes)) if notes else context


def _named(found: Iterable[Found]) -> list[tuple[str, str]]:
    return [(str(one.kind), one.id) for one in found]


def _read(reader: Reader, wanted: Sequence[tuple[str, str]]) -> list[Record]:
    """The records that recall named, as they are now, in its order."""
    records: dict[tuple[str, str], Record] = {}
    for kind, type_ in TYPES.items():
        ids = [id for name, id in wanted if name == kind]
        if ids:
            records.update({(kind, id): record for id, record in reader.get_many(type_, ids).items()})
    return [records[key] for key in dict.fromkeys(wanted) if key in records]
