"""Two accounts of the same person made into one, in whatever order they meet.

Every function here is a join: commutative, associative and idempotent, so that two channels, two devices or two stores
come to the same result however often and in whatever order they exchange what they have. Scalars: the last write wins,
by time and then by id (of two memories in one place: what was said last), and what loses stays in the history.
Messages: united by id, ordered by time. Preferences: united, each one a scalar. Conversations: a question of time
alone, so talk that ran on two channels at once is one conversation.

What would break it: choosing by "mine" and "theirs", or by the order of arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import msgspec

from tenuto.records.base import EPOCH, evolve
from tenuto.records.conversation import Message, SessionState
from tenuto.records.memory import AgentState, Entity, Evidence, Memory, Status, Version, said_at

V = TypeVar("V", bound=Hashable)


@dataclass(frozen=True, slots=True, order=True)
class Write(Generic[V]):
    """One write of a scalar: when, by which id, and what."""

    at: datetime
    id: str
    value: V


@dataclass(frozen=True, slots=True)
class Scalar(Generic[V]):
    """A value with everything it ever was. The last write counts."""

    writes: frozenset[Write[V]]

    @property
    def value(self) -> V:
        return self.current.value

    @property
    def current(self) -> Write[V]:
        return max(self.writes, key=_order)

    @property
    def history(self) -> tuple[Write[V], ...]:
        """What lost, oldest first."""
        return tuple(sorted(self.writes - {self.current}, key=_order))


def scalar(at: datetime, id: str, value: V) -> Scalar[V]:
    return Scalar(frozenset({Write(at, id, value)}))


def _order(write: Write[Any]) -> tuple[datetime, str, bytes]:
    return (write.at, write.id, canonical(write.value))


def canonical(value: Any) -> bytes:
    """Breaks a tie between two values that claim the same time and id: arbitrary, and the same everywhere."""
    return msgspec.json.encode(value, order="sorted")


def join_scalars(left: Scalar[V], right: Scalar[V]) -> Scalar[V]:
    return Scalar(left.writes | right.writes)


def join_preferences(left: Mapping[str, Scalar[V]], right: Mapping[str, Scalar[V]]) -> dict[str, Scalar[V]]:
    """Every preference of both; one that both have is a scalar."""
    return {
        name: join_scalars(left[name], right[name])
        if name in left and name in right
        else (left.get(name) or right[name])
        for name in sorted({*left, *right})
    }


def join_messages(left: Iterable[Message], right: Iterable[Message]) -> tuple[Message, ...]:
    """Both, each id once, in the order in which they were said."""
    found: dict[str, Message] = {}
    for message in (*left, *right):
        known = found.get(message.id)
        found[message.id] = message if known is None else max(known, message, key=canonical)
    return tuple(sorted(found.values(), key=lambda message: (message.at, message.id)))


def conversations(messages: Iterable[Message], idle: timedelta) -> tuple[tuple[Message, ...], ...]:
    """Messages of one person with one persona, from whatever channels, as ordered conversations.

    A pure function of the set of messages: it does not matter on which channel, in which session or in which order they
    arrived.
    """
    runs: list[list[Message]] = []
    for message in join_messages(messages, ()):
        if runs and message.at - runs[-1][-1].at < idle:
            runs[-1].append(message)
        else:
            runs.append([message])
    return tuple(tuple(run) for run in runs)


# --- records ----------------------------------------------------------------------------------------------------------


def join_evidence(left: Sequence[Evidence], right: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(
        sorted({canonical(one): one for one in (*left, *right)}.values(), key=lambda one: (one.at, canonical(one)))
    )


def join_versions(left: Sequence[Version], right: Sequence[Version]) -> tuple[Version, ...]:
    return tuple(
        sorted({canonical(one): one for one in (*left, *right)}.values(), key=lambda one: (one.at, canonical(one)))
    )


def join_memories(left: Memory, right: Memory) -> Memory:
    """Two states of one memory (the same id): the later one, with the evidence and history of both.

    What the earlier one was is in the history, even where it said the same: leaving it out would make the result depend
    on the order in which three states meet.
    """
    bare = [evolve(one, evidence=(), history=(), reinforcements=0) for one in (left, right)]
    winner, loser = sorted(bare, key=lambda one: (one.updated_at, canonical(one)), reverse=True)
    history = join_versions(left.history, right.history)
    if loser != winner:
        said = Version(
            at=loser.updated_at, content=loser.content, status=loser.status, reason="joined: a later one won"
        )
        history = join_versions(history, (said,))
    return evolve(
        winner,
        evidence=join_evidence(left.evidence, right.evidence),
        history=history,
        reinforcements=max(left.reinforcements, right.reinforcements),
    )


def settle_slot(left: Memory, right: Memory, at: datetime) -> tuple[Memory, Memory]:
    """(winner, loser) of two different memories that claim one slot: what was said later keeps it, whenever it arrived.

    The loser stays as history: deprecated, no longer valid, pointing at what replaced it, and found in the winner's
    history. Where both say the same, the winner gains its evidence.
    """
    loser, winner = sorted((left, right), key=lambda one: (said_at(one), one.updated_at, one.id))
    same = loser.content.casefold().strip() == winner.content.casefold().strip()
    if same:
        winner = evolve(
            winner,
            evidence=join_evidence(winner.evidence, loser.evidence),
            reinforcements=winner.reinforcements + loser.reinforcements + 1,
        )
    said = Version(at=at, content=loser.content, status=loser.status, reason="joined: a later one has its place")
    if not same and winner.supersedes is None:
        winner = evolve(winner, supersedes=loser.id)
    elif not same:
        winner = evolve(winner, history=join_versions(winner.history, (evolve(said, at=said_at(loser)),)))
    until = loser.valid_to or winner.valid_from or winner.created_at
    ended = evolve(
        loser,
        slot=None,
        status=Status.DEPRECATED,
        superseded_by=winner.id,
        valid_to=max(until, loser.valid_from) if loser.valid_from is not None else until,
        updated_at=at,
        history=(*loser.history, said),
    )
    return winner, ended


def join_entities(left: Entity, right: Entity) -> Entity:
    """One entity known to both: all names; the later label; as many mentions as the better informed of the two."""
    winner = max(left, right, key=lambda one: (one.updated_at, canonical(_bare(one))))
    names = {*left.aliases, *right.aliases, left.label, right.label} - {winner.label}
    return evolve(
        winner,
        aliases=tuple(sorted(names)),
        created_at=min(left.created_at, right.created_at),
        mentions=max(left.mentions, right.mentions),
        last_mentioned_at=max((at for at in (left.last_mentioned_at, right.last_mentioned_at) if at), default=None),
    )


def _bare(entity: Entity) -> Entity:
    """Without what is joined apart: a tie must not be broken by it."""
    return evolve(entity, aliases=(), created_at=EPOCH, mentions=0, last_mentioned_at=None)


def join_states(left: SessionState, right: SessionState) -> SessionState:
    """Counters never go back; what was said last is the last."""
    counters = {
        name: max(getattr(left, name), getattr(right, name))
        for name in ("message_count", "sessions_since_profile", "messages_since_spine", "summarised_until_seq")
    }
    bare = [evolve(one, **counters) for one in (left, right)]
    return max(bare, key=lambda one: (one.last_interaction or EPOCH, canonical(one)))


def join_agents(left: AgentState, right: AgentState) -> AgentState:
    return max(left, right, key=lambda one: (one.updated_at, canonical(one)))
