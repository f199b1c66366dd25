from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tenuto.lifecycle import due
from tenuto.policy import Policy
from tenuto.records.conversation import Session, SessionState, SessionStatus

POLICY = Policy()
T0 = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def kinds(count: int, since_spine: int = 0, turns: int = 5, status: SessionStatus = SessionStatus.OPEN) -> list[str]:
    state = SessionState(id="coach", message_count=count, messages_since_spine=since_spine)
    session = Session(
        id="s", persona="coach", channel="api", started_at=T0, last_activity_at=T0, turn_count=turns, status=status
    )
    return [found.kind for found in due.due_after_message(state, session, POLICY, T0)]


def test_most_messages_make_nothing_due():
    assert kinds(5) == []


def test_every_fourth_turn_rolls_and_every_fiftieth_message_makes_a_range():
    assert kinds(4) == [due.ROLLING]
    assert kinds(50) == [due.RANGE]
    assert kinds(100) == [due.ROLLING, due.RANGE]


def test_twenty_messages_make_a_spine():
    assert kinds(21, since_spine=19) == []
    assert kinds(21, since_spine=20) == [due.SPINE]


def test_a_new_session_and_a_late_message_set_the_timer():
    assert kinds(1, turns=1) == [due.CLOSE_SESSION]
    assert kinds(5, status=SessionStatus.CLOSED) == [due.CLOSE_SESSION]


def test_the_timer_runs_when_the_session_can_be_idle_and_never_at_once_for_an_import():
    session = Session(id="s", persona=None, channel="api", started_at=T0, last_activity_at=T0, turn_count=1)
    assert due.timer(session, POLICY, T0).run_at == T0 + timedelta(minutes=30)
    later = T0 + timedelta(days=900)
    assert due.timer(session, POLICY, later).run_at == later + due.ARRIVAL_SLACK


def test_profile_after_ten_sessions_or_seven_days_or_at_first():
    week = timedelta(days=7)
    assert due.profile_due(1, None, POLICY, T0)
    assert not due.profile_due(9, T0, POLICY, T0 + timedelta(days=6))
    assert due.profile_due(10, T0, POLICY, T0)
    assert due.profile_due(1, T0, POLICY, T0 + week)
    assert not due.profile_due(0, T0, POLICY, T0 + week)


def test_the_curator_runs_when_enough_has_changed():
    def curates(memories: int) -> bool:
        found = due.due_after_close(
            sessions_since_profile=0,
            profile_at=T0,
            changed_memories=memories,
            persona="",
            policy=POLICY,
            now=T0,
        )
        return due.CURATE in [job.kind for job in found]

    assert not curates(19)
    assert curates(20)
