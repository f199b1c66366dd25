"""From lines to the finished context: cost them, let the budget decide, put the text together, count it again. Pure.

The last count is the one that holds: it reads the finished messages, so no tokenizer whose whole is larger than the sum
of its parts can push a context over its budget. The ceiling is then lowered by the excess and decided anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tenuto.context import budget as budgeting
from tenuto.context import render
from tenuto.context.blocks import Group, Place, Spec
from tenuto.context.budget import MESSAGE_OVERHEAD, Filled, Item, Plan
from tenuto.context.templates import Templates
from tenuto.errors import BudgetTooSmall
from tenuto.policy import ContextPolicy
from tenuto.records.context import Block, Context, Dropped, Included
from tenuto.text.fences import marks

Count = Callable[[str], int]
_HERE = "\x00"
"""Stands for the message while the text around it is put together; no kept text holds it."""
ROUNDS = 6
"""How often the ceiling is lowered before only what must be in remains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A rendered thing that is offered to a block, before it is costed. For a turn, ``text`` is what is replayed."""

    kind: str
    id: str
    text: str
    position: int = 0
    role: str | None = None
    step: bool = True
    tokens: int | None = None
    """Tokens of ``text`` where they are known already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Everything that could be in the context, rendered. ``lines`` are in the order of need (turns: oldest first)."""

    lines: Mapping[str, Sequence[Line]]
    fence: str
    persona: str = ""
    clock: str = ""
    message: str | None = None
    session_id: str | None = None
    anchor: str = ""
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, Sequence[Dropped]] = field(default_factory=dict)
    """What was put aside before the budget was asked, by block."""


def assemble(
    offer: Offer, specs: Sequence[Spec], templates: Templates, count: Count, *, budget: int, policy: ContextPolicy
) -> Context:
    """The context that fits."""
    items = _cost(offer, specs, count)
    labels = {spec.name: count(templates.fill("block", label=spec.label, items="")) + 1 for spec in specs}
    frame = _frame(offer, items, templates, count)
    withhold = 0
    for attempt in range(ROUNDS + 1):
        if attempt == ROUNDS:
            items = {spec.name: items.get(spec.name, ()) for spec in specs if spec.group is Group.ALWAYS}
            withhold = 0
        plan = budgeting.plan(specs, items, budget=budget, policy=policy, frame=frame, labels=labels, withhold=withhold)
        context = _compose(offer, plan, templates, count, budget)
        excess = context.tokens + plan.answer - budget
        if excess <= 0:
            return context
        withhold += excess
    if context.tokens <= budget:
        return context
    raise BudgetTooSmall(
        f"A budget of {budget} tokens is too small: the least context takes {context.tokens}.", needed=context.tokens
    )


def _cost(offer: Offer, specs: Sequence[Spec], count: Count) -> dict[str, tuple[Item, ...]]:
    found = {}
    for spec in specs:
        around = MESSAGE_OVERHEAD if spec.place is Place.TURNS else 1
        found[spec.name] = tuple(
            Item(
                kind=line.kind,
                id=line.id,
                text=line.text,
                tokens=(count(line.text) if line.tokens is None else line.tokens) + around,
                role=line.role,
                step=line.step,
                position=line.position,
            )
            for line in offer.lines.get(spec.name, ())
        )
    for name, text, around in (("persona", offer.persona, 2), ("clock", offer.clock, 2)):
        found[name] = (Item(kind=name, id=name, text=text, tokens=count(text) + around),) if text else ()
    if offer.message is not None:
        cost = count(offer.message) + MESSAGE_OVERHEAD
        found["message"] = (Item(kind="message", id="current", text=offer.message, tokens=cost, role="user"),)
    return found


def _frame(offer: Offer, items: Mapping[str, Sequence[Item]], templates: Templates, count: Count) -> int:
    """The cost of the fences and the words around them, as if both were needed."""
    opened, closed = marks(offer.fence)
    frames = [templates.fill(name, open=opened, close=closed, blocks="") for name in ("evidence", "notes")]
    if not any(found for name, found in items.items() if name not in ("persona", "clock", "message", "recent")):
        frames = []
    return sum(count(text) + 2 for text in frames) + 2 * MESSAGE_OVERHEAD


def _compose(offer: Offer, plan: Plan, templates: Templates, count: Count, budget: int) -> Context:
    """The texts, the turns and the receipts."""
    filled = {block.spec.name: block for block in plan.blocks}
    texts = {block.spec.name: _text(block, templates) for block in plan.blocks}
    stable = templates.fill(
        "stable",
        persona=offer.persona,
        guidance=_guidance(filled, templates),
        evidence=_evidence("evidence", [b for b in plan.blocks if b.spec.stable], texts, offer.fence, templates),
    )
    notes = _evidence("notes", [b for b in plan.blocks if not b.spec.stable], texts, offer.fence, templates)
    fresh = templates.fill("fresh", clock=offer.clock, evidence=notes)
    turns = tuple({"role": item.role or "user", "content": item.text} for item in filled["recent"].items)
    merged = None
    if offer.message is not None:
        merged = templates.fill("message", fresh=fresh, message=_HERE).replace(_HERE, offer.message)
        merged = merged if fresh else offer.message
    context = Context(
        stable=stable,
        volatile=_volatile(turns, fresh, offer.message),
        turns=turns,
        fresh=fresh,
        message=offer.message,
        merged=merged,
        blocks=tuple(_receipt(block, offer, texts[block.spec.name]) for block in plan.blocks),
        tokens=0,
        budget=budget,
        answer=plan.answer,
        session_id=offer.session_id,
        anchor=offer.anchor,
        notes=(*offer.notes, *plan.notes),
    )
    return _counted(context, count)


def _counted(context: Context, count: Count) -> Context:
    """With the tokens of the finished messages, in whichever of the two forms costs more."""
    forms = (context.messages, context.for_openai(single_system=True))
    tokens = max(sum(count(m["content"]) + MESSAGE_OVERHEAD for m in form) for form in forms)
    return replace(context, tokens=tokens)


def _guidance(filled: Mapping[str, Filled], templates: Templates) -> str:
    block = filled["guidance"]
    if not block.items:
        return ""
    return templates.fill("guidance", label=block.spec.label, items="\n".join(item.text for item in block.items))


def _evidence(name: str, blocks: Sequence[Filled], texts: Mapping[str, str], fence: str, templates: Templates) -> str:
    shown = [texts[block.spec.name] for block in blocks if block.items and block.spec.place is Place.EVIDENCE]
    if not shown:
        return ""
    opened, closed = marks(fence)
    return templates.fill(name, open=opened, close=closed, blocks="\n".join(shown))


def _text(block: Filled, templates: Templates) -> str:
    if not block.items:
        return ""
    if block.spec.place is Place.EVIDENCE:
        return render.block(templates, block.spec.label, (item.text for item in block.items))
    return "\n".join(item.text for item in block.items)


def _volatile(turns: Sequence[Mapping[str, str]], fresh: str, message: str | None) -> str:
    """Everything that changes per turn as one text, for prompts that are not chats."""
    said = "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
    last = f"user: {message}" if message is not None else ""
    return "\n\n".join(part for part in (said, fresh, last) if part)


def _receipt(block: Filled, offer: Offer, text: str) -> Block:
    spec = block.spec
    return Block(
        name=spec.name,
        label=spec.label,
        stable=spec.stable,
        text=text,
        tokens=sum(item.tokens for item in block.items),
        items=tuple(Included(kind=i.kind, id=i.id, text=i.text, tokens=i.tokens) for i in block.items),
        dropped=(*offer.dropped.get(spec.name, ()), *block.dropped),
    )
