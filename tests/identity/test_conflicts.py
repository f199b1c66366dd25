"""The joins are commutative, associative and idempotent, whatever they are given."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.identity import conflicts
from tenuto.records.conversation import SessionState
from tenuto.records.memory import AgentState, Entity, Evidence, Status, said_at
from tenuto.testing.samples import memory, message

START = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = st.integers(0, 5).map(lambda minutes: START + timedelta(minutes=minutes))
WORDS = st.sampled_from(["a", "b", "c"])
SCALARS = st.sets(st.tuples(TIMES, WORDS, WORDS), min_size=1, max_size=3).map(
    lambda writes: conflicts.Scalar(frozenset(conflicts.Write(*one) for one in writes))
)
PREFERENCES = st.dictionaries(WORDS, SCALARS, max_size=3)
MESSAGES = st.lists(
    st.builds(
        lambda id, at, text, channel: message(id, at=at, content=text, channel=channel, external_id=None, seq=1),
        st.sampled_from(["m1", "m2", "m3", "m4"]),
        TIMES,
        WORDS,
        st.sampled_from(["imessage", "email"]),
    ),
    max_size=5,
).map(lambda found: conflicts.join_messages(found, ()))
EVIDENCE = st.lists(
    st.builds(lambda at, quote: Evidence(message_id="m", at=at, quote=quote), TIMES, WORDS), max_size=3
).map(lambda found: conflicts.join_evidence(found, ()))
MEMORIES = st.builds(
    lambda at, text, evidence, count: memory(
        "mem_1", content=text, updated_at=at, evidence=evidence, history=(), reinforcements=count
    ),
    TIMES,
    WORDS,
    EVIDENCE,
    st.integers(0, 3),
)
ENTITIES = st.builds(
    lambda at, label, aliases, count: Entity(
        id="person:a",
        type="person",
        label=label,
        created_at=at,
        updated_at=at,
        mentions=count,
        aliases=tuple(sorted(set(aliases) - {label})),
    ),
    TIMES,
    WORDS,
    st.lists(WORDS, max_size=2),
    st.integers(0, 3),
)
STATES = st.builds(
    lambda at, count, said: SessionState(id="", message_count=count, last_interaction=at, last_user_message=said),
    st.none() | TIMES,
    st.integers(0, 3),
    st.none() | WORDS,
)
AGENTS = st.builds(lambda at, mood: AgentState(id="", axes={"mood": mood}, updated_at=at), TIMES, st.floats(-1, 1))


def laws(join: Callable[[Any, Any], Any], a: Any, b: Any, c: Any) -> None:
    assert join(a, b) == join(b, a), "commutative"
    assert join(join(a, b), c) == join(a, join(b, c)), "associative"
    assert join(a, a) == a, "idempotent"
    assert join(join(a, b), b) == join(a, b), "and stable"


@given(SCALARS, SCALARS, SCALARS)
def test_scalars(a, b, c) -> None:
    laws(conflicts.join_scalars, a, b, c)
    both = conflicts.join_scalars(a, b)
    assert both.current.at == max(one.at for one in both.writes)
    assert {both.current, *both.history} == both.writes, "what loses stays in the history"


@given(PREFERENCES, PREFERENCES, PREFERENCES)
def test_preferences(a, b, c) -> None:
    laws(conflicts.join_preferences, a, b, c)
    assert set(conflicts.join_preferences(a, b)) == set(a) | set(b)


@given(MESSAGES, MESSAGES, MESSAGES)
def test_messages(a, b, c) -> None:
    laws(conflicts.join_messages, a, b, c)
    both = conflicts.join_messages(a, b)
    assert [one.id for one in both] == [one.id for one in sorted(both, key=lambda one: (one.at, one.id))]
    assert {one.id for one in both} == {one.id for one in (*a, *b)}


@given(MEMORIES, MEMORIES, MEMORIES)
@settings(max_examples=200)
def test_memories(a, b, c) -> None:
    laws(conflicts.join_memories, a, b, c)
    both = conflicts.join_memories(a, b)
    assert {*a.evidence, *b.evidence} == set(both.evidence)
    assert {a.content, b.content} <= {both.content, *(one.content for one in both.history)}, "nothing said is lost"


@given(ENTITIES, ENTITIES, ENTITIES)
def test_entities(a, b, c) -> None:
    laws(conflicts.join_entities, a, b, c)


@given(STATES, STATES, STATES)
def test_session_states(a, b, c) -> None:
    laws(conflicts.join_states, a, b, c)


@given(AGENTS, AGENTS, AGENTS)
def test_agent_states(a, b, c) -> None:
    laws(conflicts.join_agents, a, b, c)


@given(st.permutations(range(12)), st.integers(0, 11))
def test_two_channels_at_once_end_as_one_ordered_conversation(order, split) -> None:
    said = [
        message(
            f"m{i:02}", at=START + timedelta(minutes=7 * i), channel="email" if i % 2 else "imessage", external_id=None
        )
        for i in range(12)
    ]
    arrived = [said[i] for i in order]
    (run,) = conflicts.conversations([*arrived[:split], *arrived[split:]], timedelta(minutes=30))
    assert [one.id for one in run] == [one.id for one in said]
    later = message("m99", at=START + timedelta(hours=9), external_id=None)
    assert len(conflicts.conversations([later, *arrived], timedelta(minutes=30))) == 2


@given(MEMORIES, MEMORIES)
def test_a_slot_has_one_holder_and_the_loser_is_history(a, b) -> None:
    other = conflicts.evolve(b, id="mem_2")
    winner, loser = conflicts.settle_slot(a, other, START)
    assert conflicts.settle_slot(other, a, START) == (winner, loser)
    kept, beaten = (other, a) if winner.id == "mem_2" else (a, other)
    assert (said_at(kept), kept.updated_at, kept.id) > (said_at(beaten), beaten.updated_at, beaten.id)
    if loser.content != winner.content:
        told = {one.content for one in winner.history}
        assert winner.supersedes == loser.id if kept.supersedes is None else loser.content in told
    if loser.valid_from is not None:
        assert loser.valid_to >= loser.valid_from
    assert loser.slot is None and loser.status is Status.DEPRECATED and loser.superseded_by == winner.id
    assert loser.history[-1].content == loser.content
