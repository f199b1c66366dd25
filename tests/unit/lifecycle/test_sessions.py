from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.lifecycle.sessions import EXPLICIT, IDLE, Closing, near_window, place
from tenuto.policy import SessionPolicy
from tenuto.records.base import evolve
from tenuto.records.conversation import Session, SessionStatus

POLICY = SessionPolicy()
T0 = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def minutes(count: float) -> datetime:
    return T0 + timedelta(minutes=count)


def session(id: str, start: float, last: float, **changes) -> Session:
    made = Session(
        id=id, persona="coach", channel="api", started_at=minutes(start), last_activity_at=minutes(last), turn_count=2
    )
    return evolve(made, **changes)


def closed(id: str, start: float, last: float, end_type: str = IDLE, **changes) -> Session:
    return session(id, start, last, status=SessionStatus.CLOSED, ended_at=minutes(last), end_type=end_type, **changes)


def test_the_first_message_opens_a_session():
    placement = place(T0, "coach", None, [], POLICY)
    assert placement.session_id is None
    assert placement.resumes is None
    assert placement.close == ()


@pytest.mark.parametrize(("gap", "joins"), [(0, True), (29.99, True), (30, False), (31, False)])
def test_a_session_ends_after_thirty_idle_minutes(gap, joins):
    placement = place(minutes(gap), "coach", None, [session("a", 0, 0)], POLICY)
    assert (placement.session_id == "a") is joins
    assert placement.close == (() if joins else (Closing("a", minutes(0)),))


@pytest.mark.parametrize(("gap", "resumes"), [(31, "a"), (120, "a"), (121, None)])
def test_a_return_within_the_grace_window_takes_up_the_thread(gap, resumes):
    assert place(minutes(gap), "coach", None, [closed("a", -10, 0)], POLICY).resumes == resumes


def test_a_session_ended_on_purpose_is_not_carried_on_but_resumed():
    placement = place(minutes(1), "coach", None, [closed("a", -10, 0, EXPLICIT)], POLICY)
    assert placement.session_id is None
    assert placement.resumes == "a"


def test_a_late_message_joins_the_closed_session_it_was_said_in():
    placement = place(minutes(-5), "coach", None, [closed("a", -10, 0, EXPLICIT), session("b", 60, 61)], POLICY)
    assert placement.session_id == "a"
    assert not placement.reopen
    assert placement.close == ()


def test_the_clock_set_back_opens_the_idle_session_again():
    placement = place(minutes(10), "coach", None, [closed("a", -10, 0)], POLICY)
    assert placement.session_id == "a"
    assert placement.reopen


def test_other_personas_are_left_alone():
    placement = place(minutes(5), "coach", None, [session("a", 0, 0, persona="friend")], POLICY)
    assert placement.session_id is None
    assert placement.close == ()


def test_an_external_id_decides_alone():
    near = [session("a", 0, 0), session("x", -600, -500, external_id="run-1")]
    assert place(minutes(5), "coach", "run-1", near, POLICY).session_id == "x"
    assert place(minutes(5), "coach", "run-2", near, POLICY).session_id is None
    assert place(minutes(5), "coach", None, near, POLICY).session_id == "a"
    assert place(minutes(5), "coach", None, near[1:], POLICY).session_id is None


def test_a_closed_external_session_opens_again_for_what_comes_after_its_end_only():
    near = [closed("x", 0, 10, EXPLICIT, external_id="run-1")]
    assert place(minutes(400), "coach", "run-1", near, POLICY).reopen
    assert not place(minutes(5), "coach", "run-1", near, POLICY).reopen


def test_an_older_message_does_not_close_a_newer_session():
    placement = place(minutes(-600), "coach", None, [session("a", 0, 0)], POLICY)
    assert placement.session_id is None
    assert placement.close == ()


def test_between_two_sessions_the_nearer_one_wins():
    near = [closed("a", 0, 10), session("b", 50, 60)]
    assert place(minutes(25), "coach", None, near, POLICY).session_id == "a"
    assert place(minutes(35), "coach", None, near, POLICY).session_id == "b"


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=40), st.randoms())
def test_in_order_the_sessions_are_the_runs_of_the_timeline(offsets, random):
    """Whatever the order of arrival, no two messages of one session are further apart than a chain of idle windows."""
    arrival = list(offsets)
    random.shuffle(arrival)
    sessions: dict[str, Session] = {}
    members: dict[str, list[int]] = {}
    for number, offset in enumerate(arrival):
        at = minutes(offset)
        placement = place(at, "coach", None, list(sessions.values()), POLICY)
        for closing in placement.close:
            assert at - sessions[closing.session_id].last_activity_at >= POLICY.idle_close
            sessions[closing.session_id] = evolve(
                sessions[closing.session_id], status=SessionStatus.CLOSED, ended_at=closing.ended_at, end_type=IDLE
            )
        if placement.session_id is None:
            key = f"s{number}"
            sessions[key] = Session(id=key, persona="coach", channel="api", started_at=at, last_activity_at=at)
        else:
            key = placement.session_id
            old = sessions[key]
            sessions[key] = evolve(
                old,
                started_at=min(old.started_at, at),
                last_activity_at=max(old.last_activity_at, at),
                status=SessionStatus.OPEN if placement.reopen else old.status,
            )
        members.setdefault(key, []).append(offset)
    for found in members.values():
        ordered = sorted(found)
        assert all(b - a < 30 for a, b in itertools.pairwise(ordered))
    if arrival == sorted(arrival):
        runs = 1 + sum(b - a >= 30 for a, b in itertools.pairwise(arrival))
        assert len(members) == runs


def test_the_window_reaches_back_over_the_grace_time():
    conditions = near_window(T0, POLICY)
    assert {condition.column for condition in conditions} == {"last_activity_at", "started_at"}
    assert conditions[0].value == T0 - POLICY.grace
