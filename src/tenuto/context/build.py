"""Build a context: read, choose, render, fit. The flow; what decides lies in the pure modules beside it.

    gather (one read) → select (which thing in which block) → assemble (budget, text, count)

Nothing is written. Recall is another flow: whoever calls passes what it found (``hits`` for this turn, ``semantic`` for
the whole session) and this flow reads those records again through its own reader, so that nothing forgotten or another
user's can enter by a stale hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from tenuto.context import budget as budgeting
from tenuto.context import render, templates
from tenuto.context.assemble import Offer, assemble
from tenuto.context.blocks import table
from tenuto.context.gather import gather
from tenuto.context.select import Frame, Record, foundation_of, guidance_of, select
from tenuto.context.surroundings import counter, fence, persona_words, zone_of
from tenuto.deps import Deps
from tenuto.ports import Reader
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


class Found(Protocol):
    """Something that recall found: all that is used of it is what it names."""

    @property
    def kind(self) -> str: ...

    @property
    def id(self) -> str: ...


def build(
    deps: Deps,
    scope: Scope,
    message: str | None = None,
    *,
    budget: int | None = None,
    hits: Iterable[Found] = (),
    semantic: Iterable[Found] = (),
    cards: Sequence[tuple[str, str]] = (),
    persona_text: str | None = None,
    session: str | None = None,
    replay: bool = True,
) -> Context:
    """The context for ``message``.

    ``session`` is the caller's own id of the session. ``replay=False`` leaves this session's turns out, for a caller
    who sends them anyway. ``cards`` are entities with what is known of each: (entity id, line).
    """
    policy = deps.policy
    tokens = budgeting.check(policy.context.budget if budget is None else budget)
    if message is not None:
        message = clean.text(message, policy.limits, what="message")
    texts = templates.load(policy.context.templates)
    persona = persona_words(scope, persona_text, policy.context.personas, texts)
    now = deps.clock()
    with deps.store.reading(scope.user) as reader:
        found = gather(reader, scope, policy, now, session)
        relevant = _read(reader, hits)
        lasting = _read(reader, semantic)
    zone_name, zone, notes = zone_of(found)
    start = found.current.started_at if found.current is not None else now
    frame = Frame(templates=texts, fence=fence(found, scope), zone=zone, start=start, now=now, policy=policy)
    lines, dropped = select(
        found,
        frame,
        foundation=foundation_of(found.memories, policy),
        guidance=guidance_of(found.memories),
        cards=cards,
        semantic=lasting,
        relevant=relevant,
        variables=deps.working.variables(scope.user) if deps.working is not None else None,
        replay=replay,
        message=message,
    )
    count, counting = counter(deps.tokens)
    context = assemble(
        Offer(
            lines=lines,
            dropped=dropped,
            fence=frame.fence,
            persona=persona,
            clock=render.clock(texts, now, zone, zone_name),
            message=message,
            session_id=found.current.id if found.current is not None else None,
            anchor=found.previous[0].id if found.previous else "",
            notes=tuple(notes),
        ),
        table(policy),
        texts,
        count,
        budget=tokens,
        policy=policy.context,
    )
    return _noted(context, counting)


def _read(reader: Reader, found: Iterable[Found]) -> list[Record]:
    """The records that recall named, as they are now, in its order."""
    wanted = [(str(one.kind), one.id) for one in found]
    records: dict[tuple[str, str], Record] = {}
    for kind, type_ in TYPES.items():
        ids = [id for name, id in wanted if name == kind]
        if ids:
            records.update({(kind, id): record for id, record in reader.get_many(type_, ids).items()})
    return [records[key] for key in dict.fromkeys(wanted) if key in records]


def _noted(context: Context, notes: Sequence[str]) -> Context:
    return replace(context, notes=(*context.notes, *notes)) if notes else context
