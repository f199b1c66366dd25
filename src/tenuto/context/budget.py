"""What fits: which whole items enter a context of so many tokens, and why each other one does not. Pure.

    budget = answer + always + messages 40 % + recent summaries 30 % + facts 20 % + history 10 %

The answer keeps 2,000 of 8,000 tokens (a quarter of a smaller budget). What must always be in (persona, pins, clock,
the message) comes first; where even that is too much, the least important pins stay out and a note says so. The shares
apply to what persona and pins leave; the message lives in the messages' share, unless it is larger than that. An unused
share flows on: first among the stable blocks, then to the volatile ones, and what the turns leave to what was recalled.
It never flows back from volatile to stable, because recent messages grow with every turn and no two messages
are of the same length: a stable text that shrinks as they grow would be a new text for every prompt cache. For the same
reason the recent messages have a ceiling that depends neither on what this turn recalled nor on the length of a usual
message.

Items are whole: a fact is in or out, never cut. Costs are counted per item with a line break each; :mod:`assemble`
counts the finished text again and lowers the ceiling if a tokenizer counts the whole higher than the sum of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tenuto.context.blocks import Group, Place, Spec
from tenuto.errors import BudgetTooSmall, InputError
from tenuto.policy import ContextPolicy
from tenuto.records.context import Dropped

CACHED = 2048
"""Tokens below which nothing is gained by keeping the volatile part small: providers cache no prefix under 1,024."""
USUAL_MESSAGE = 0.05
"""Part of the budget that is kept free for the message, so that a longer one than the last does not move the window."""
MESSAGE_OVERHEAD = 4
"""Tokens that a chat interface adds to each message for its role and its borders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One whole thing that may enter a block. ``tokens`` is its cost with everything around it."""

    kind: str
    id: str
    text: str
    tokens: int
    role: str | None = None
    """Set for turns of the chat."""
    step: bool = True
    """For turns: the window may begin here without shifting on every turn."""
    position: int = 0
    """Where it stands in its block; items are offered in the order of need, and shown in this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What one block got."""

    spec: Spec
    items: tuple[Item, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    blocks: tuple[Filled, ...]
    answer: int
    """Tokens left for the answer."""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tray:
    """A block while it is being filled."""

    spec: Spec
    waiting: list[Item]
    offered: tuple[Item, ...]
    taken: list[Item] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    label_cost: int = 0

    def cost(self, item: Item) -> int:
        return item.tokens + (0 if self.taken else self.label_cost)

    def spent(self) -> int:
        return sum(item.tokens for item in self.taken) + (self.label_cost if self.taken else 0)


def check(budget: object) -> int:
    """A budget that can be used."""
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise InputError(f"'budget' takes a whole number of tokens, not {budget!r}.", code="budget_invalid")
    if budget <= 0:
        raise InputError(
            f"'budget' is {budget}: give a positive number of tokens, such as 8000.", code="budget_invalid"
        )
    return budget


def answer_share(budget: int, policy: ContextPolicy) -> int:
    """Tokens kept for the answer: the policy's number, or its proportion of a smaller budget."""
    return min(policy.answer, budget * policy.answer // max(policy.budget, 1))


def plan(
    specs: Sequence[Spec],
    offered: Mapping[str, Sequence[Item]],
    *,
    budget: int,
    policy: ContextPolicy,
    frame: int = 0,
    labels: Mapping[str, int] | None = None,
    withhold: int = 0,
) -> Plan:
    """Decide what enters.

    ``offered`` holds the items of each block, best first (turns: oldest first). ``frame`` is the cost of the text
    around the blocks, ``labels`` the cost of each block's heading, ``withhold`` lowers the ceiling.
    """
    trays = {spec.name: _tray(spec, offered.get(spec.name, ()), (labels or {}).get(spec.name, 0)) for spec in specs}
    answer = answer_share(budget, policy)
    needed = frame + _take_required(trays)
    notes: list[str] = []
    if needed + withhold > budget:
        needed, notes = _spare_pins(trays["pins"], needed, budget - withhold) if "pins" in trays else (needed, [])
    if needed + withhold > budget:
        raise BudgetTooSmall(_too_small(budget, needed, frame, trays), needed=needed)
    if needed + withhold > budget - answer:
        answer = budget - needed - withhold
        notes.append(f"What must always be in takes {needed} of {budget} tokens: the answer has {answer} left.")
    turn = sum(t.spent() for t in trays.values() if t.spec.group is Group.ALWAYS and not t.spec.stable)
    left = budget - answer - withhold - (needed - turn)
    share, extra = _shares(left, policy), 0
    if turn > share[Group.MESSAGES] * (1 - sum(t.spec.part for t in _of(trays, Group.MESSAGES, stable=True))):
        share, extra = _shares(left - turn, policy), turn
    held = int(share[Group.FACTS] * policy.fresh)
    unused = _fill_stable(trays, share, held)
    room = share[Group.MESSAGES] + extra + held + unused - _spent_on_earlier(trays)
    usual = min(int(left * USUAL_MESSAGE), share[Group.MESSAGES])
    ceiling = held if left >= CACHED else room
    left_over = _fill_volatile(trays, room - turn, window=room - held - max(turn, usual), ceiling=ceiling)
    _flow_on(trays, left_over)
    blocks = tuple(_close(tray) for tray in trays.values())
    return Plan(blocks=blocks, answer=answer, notes=tuple(notes))


def _shares(left: int, policy: ContextPolicy) -> dict[Group, int]:
    left = max(left, 0)
    return {
        Group.MESSAGES: int(left * policy.messages),
        Group.SUMMARIES: int(left * policy.recent_summaries),
        Group.FACTS: int(left * policy.facts),
        Group.HISTORY: int(left * policy.history),
    }


def _tray(spec: Spec, items: Sequence[Item], label_cost: int) -> _Tray:
    headed = spec.place in (Place.EVIDENCE, Place.GUIDANCE)
    tray = _Tray(spec, list(items), tuple(items), label_cost=label_cost if headed else 0)
    if spec.stable and spec.group is not Group.ALWAYS:
        _cap(tray)
    return tray


def _cap(tray: _Tray, used: int = 0) -> None:
    """Put aside what exceeds the number of items that the block takes."""
    if tray.spec.most is not None:
        most = max(0, tray.spec.most - used)
        tray.dropped += [_drop(item, f"the block takes at most {tray.spec.most}") for item in tray.waiting[most:]]
        del tray.waiting[most:]


def _take_required(trays: Mapping[str, _Tray]) -> int:
    needed = 0
    for tray in trays.values():
        if tray.spec.group is Group.ALWAYS:
            tray.taken, tray.waiting = tray.waiting, []
            needed += tray.spent()
    return needed


def _spare_pins(tray: _Tray, needed: int, room: int) -> tuple[int, list[str]]:
    """Leave out the last pins, never the best, until what must be in fits; what it takes then, and what to say."""
    spared: list[Item] = []
    while len(tray.taken) > 1 and needed > room:
        before = tray.spent()
        spared.append(tray.taken.pop())
        needed -= before - tray.spent()
    tray.dropped += [_drop(item, "the budget has no room for all pins") for item in reversed(spared)]
    said = f"The budget has no room for {len(spared)} of the pins: the most important ones are in."
    return needed, [said] if spared else []


def _too_small(budget: int, needed: int, frame: int, trays: Mapping[str, _Tray]) -> str:
    parts = [
        f"{tray.spec.name} {tray.spent()}" for tray in trays.values() if tray.spec.group is Group.ALWAYS and tray.taken
    ]
    parts += [f"the words around them {frame}"] if frame else []
    return (
        f"A budget of {budget} tokens is too small: what must always be in takes {needed} ({', '.join(parts)}). "
        f"Give budget={needed} or more (and room for the answer), or unpin something."
    )


def _fill_stable(trays: Mapping[str, _Tray], share: Mapping[Group, int], held: int) -> int:
    """Fill the stable blocks group by group; what is left of their shares."""
    unused = 0
    for group in (Group.FACTS, Group.SUMMARIES, Group.HISTORY):
        own = share[group] - (held if group is Group.FACTS else 0)
        room = own + unused
        for tray in _of(trays, group, stable=True):
            room -= _fill(tray, min(room, int(own * tray.spec.part) + unused))
        unused = room
    for tray in _of(trays, Group.MESSAGES, stable=True):
        _fill(tray, int(share[Group.MESSAGES] * tray.spec.part), contiguous=tray.spec.name == "earlier")
    for group in (Group.FACTS, Group.SUMMARIES, Group.HISTORY):
        for tray in _of(trays, group, stable=True):
            before = tray.spent()
            unused -= _fill(tray, unused + before) if tray.waiting else 0
    return unused


def _flow_on(trays: Mapping[str, _Tray], room: int) -> None:
    """Hand out what nobody used to what this turn recalled."""
    for tray in trays.values():
        if tray.spec.ceiling and tray.waiting:
            room -= _fill(tray, tray.spent() + room)


def _fill_volatile(trays: Mapping[str, _Tray], room: int, *, window: int, ceiling: int) -> int:
    """Recent messages up to ``window``; then this turn's own blocks in what is left, the recalled up to ``ceiling``.

    What nobody used.
    """
    for tray in trays.values():
        if tray.spec.place is Place.TURNS and tray.spec.group is not Group.ALWAYS:
            room -= _fill_window(tray, max(0, min(room, window)))
            _leave_out_shown(trays, {(item.kind, item.id) for item in tray.taken})
    for group in (Group.FACTS, Group.SUMMARIES, Group.HISTORY, Group.MESSAGES):
        for tray in _of(trays, group, stable=False):
            if tray.spec.place is not Place.TURNS:
                _cap(tray, len(trays[tray.spec.together].taken) if tray.spec.together in trays else 0)
                added = _fill(tray, min(room, ceiling) if tray.spec.ceiling else room)
                room -= added
                ceiling -= added if tray.spec.ceiling else 0
    return room


def _fill(tray: _Tray, ceiling: int, *, contiguous: bool = False) -> int:
    """Take waiting items while they fit under ``ceiling`` (all of the block counted); what was added."""
    spent = before = tray.spent()
    still: list[Item] = []
    for item in tray.waiting:
        cost = tray.cost(item)
        if spent + cost <= ceiling and not (contiguous and still):
            tray.taken.append(item)
            spent += cost
        else:
            still.append(item)
    tray.waiting = still
    return spent - before


def _fill_window(tray: _Tray, ceiling: int) -> int:
    """The newest turns, beginning at a step of the window if any step fits; never with a gap."""
    items, most = tray.waiting, tray.spec.most
    first, cost = len(items), 0
    for index in range(len(items) - 1, -1, -1):
        cost += items[index].tokens
        if cost > ceiling or (most is not None and len(items) - index > most):
            break
        first = index
    if first > 0:
        first = next((index for index in range(first, len(items)) if items[index].step), first)
    tray.taken, tray.waiting = items[first:], items[:first]
    return tray.spent()


def _leave_out_shown(trays: Mapping[str, _Tray], shown: set[tuple[str, str]]) -> None:
    """What the turns already say is not said again in this turn's notes."""
    for tray in trays.values():
        if not tray.spec.stable and tray.spec.place is not Place.TURNS:
            again = [item for item in tray.waiting if (item.kind, item.id) in shown]
            tray.waiting = [item for item in tray.waiting if (item.kind, item.id) not in shown]
            tray.dropped += [_drop(item, "is among the turns of this conversation") for item in again]


def _spent_on_earlier(trays: Mapping[str, _Tray]) -> int:
    return sum(tray.spent() for tray in _of(trays, Group.MESSAGES, stable=True))


def _of(trays: Mapping[str, _Tray], group: Group, *, stable: bool) -> list[_Tray]:
    found = [tray for tray in trays.values() if tray.spec.group is group and tray.spec.stable is stable]
    return sorted(found, key=lambda tray: tray.spec.need)


def _close(tray: _Tray) -> Filled:
    why = (
        "older than the window of this conversation" if tray.spec.place is Place.TURNS else "no room left in the budget"
    )
    need = {id(item): index for index, item in enumerate(tray.offered)}
    return Filled(
        spec=tray.spec,
        items=tuple(sorted(tray.taken, key=lambda item: (item.position, need[id(item)]))),
        dropped=(*tray.dropped, *(_drop(item, why) for item in tray.waiting)),
    )


def _drop(item: Item, why: str) -> Dropped:
    return Dropped(kind=item.kind, id=item.id, tokens=item.tokens, why=why)
