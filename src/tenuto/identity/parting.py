"""Taking two merged users apart again: what belongs to whom, decided from values alone.

Before the merge it is simple: each gets back what they had. What came since belongs to the one through whose address
it came; what was concluded since belongs to the one whose words it rests on. Something that rests on both goes to
both, each with their own evidence. A row that the merge itself touched goes back to what it was, with the evidence
that came since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenuto.records.base import evolve
from tenuto.records.conversation import KeyPoint, Message, Session, Summary, SummaryKind
from tenuto.records.memory import Evidence, Memory, Todo

WHOLE_PERSON = (SummaryKind.SPINE, SummaryKind.PROFILE, SummaryKind.BRIEF)
"""Summaries of everything: after a merge they speak of both and are made anew."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What to write for the user who stays (``keep``), what for the other (``give``), and what leaves the first."""

    keep: tuple[Any, ...] = ()
    give: tuple[Any, ...] = ()
    drop: tuple[Any, ...] = ()


def is_others(
    message: Message, added: set[str], until: int, addresses: frozenset[str], channels: frozenset[str] = frozenset()
) -> bool:
    """Whether a message belongs to the other user: it was theirs, or came since through one of their addresses.

    ``channels`` are those on which only the other user has an address: what names no address came through that one.
    """
    if message.id in added:
        return True
    through = message.metadata.get("identity")
    return message.seq > until and (through in addresses if through else message.channel in channels)


def part(
    record: Any,
    *,
    before: Any | None,
    was_added: bool,
    touched: bool,
    others: Callable[[str | None], bool],
    session_others: Callable[[str | None], bool],
    channels: frozenset[str] = frozenset(),
) -> Shares:
    """What becomes of one record. ``others`` tells of a message id whether it belongs to the other user.

    ``channels`` are those on which only the other user has an address: what was written there without a message, by
    ``remember`` say, is theirs as well.
    """
    if was_added:
        return _part_added(record, others)
    if before is not None:
        return _part_old(record, before, touched, others)
    if isinstance(record, (Memory, Todo)):
        return _part_evidence(record, others, channels)
    if isinstance(record, KeyPoint):
        theirs = others(record.message_id) if record.message_id else session_others(record.session_id)
        return Shares(give=(record,), drop=(record,)) if theirs else Shares()
    if isinstance(record, Summary):
        return _part_summary(record, others, session_others)
    if isinstance(record, Session):
        return Shares(give=(record,), drop=(record,)) if session_others(record.id) else Shares()
    return Shares()


def _part_added(record: Any, others: Callable[[str | None], bool]) -> Shares:
    """A copy of the other's row: gone from here; what it gained since by their own words goes along."""
    if isinstance(record, (Memory, Todo)):
        own = tuple(one for one in record.evidence if one.message_id is None or others(one.message_id))
        return Shares(give=(evolve(record, evidence=own),), drop=(record,))
    return Shares(drop=(record,))


def _part_old(record: Any, before: Any, touched: bool, others: Callable[[str | None], bool]) -> Shares:
    if isinstance(record, (Memory, Todo)):
        own = tuple(one for one in record.evidence if one.message_id is None or not others(one.message_id))
        base = before if touched else record
        kept = tuple(dict.fromkeys((*base.evidence, *own))) if touched else own
        result = evolve(base, evidence=kept)
        return Shares(keep=(result,)) if result != record else Shares()
    return Shares(keep=(before,)) if touched and before != record else Shares()


def _part_evidence(record: Any, others: Callable[[str | None], bool], channels: frozenset[str]) -> Shares:
    def is_theirs(one: Evidence) -> bool:
        return others(one.message_id) if one.message_id else one.channel in channels

    theirs = tuple(one for one in record.evidence if is_theirs(one))
    if not theirs:
        return Shares()
    own = tuple(one for one in record.evidence if not is_theirs(one))
    if not any(one.message_id or one.channel for one in own):
        return Shares(give=(record,), drop=(record,))
    return Shares(keep=(evolve(record, evidence=own),), give=(evolve(record, evidence=theirs, slot=None),))


def _part_summary(
    record: Summary, others: Callable[[str | None], bool], session_others: Callable[[str | None], bool]
) -> Shares:
    if record.session_id is not None and session_others(record.session_id):
        return Shares(give=(record,), drop=(record,))
    mixed = record.kind in WHOLE_PERSON or others(record.start_message_id) or others(record.end_message_id)
    return Shares(drop=(record,)) if mixed else Shares()
