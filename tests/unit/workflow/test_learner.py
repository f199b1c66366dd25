import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.policy import WorkflowPolicy
from tenuto.records.workflow import Outcome
from tenuto.workflow.learner import profile

POLICY = WorkflowPolicy()
START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def outcome(number: int, skill: str, success: bool, day: float, style: str | None = None, track: str = "py") -> Outcome:
    detail = {"style": style} if style else {}
    at = START + day * DAY
    return Outcome(id=f"o{number:04}", track=track, skill=skill, success=success, at=at, seq=number, detail=detail)


def test_the_formula_by_hand() -> None:
    log = [outcome(1, "loops", True, 0), outcome(2, "loops", False, 60)]
    first = 0.5 + 0.3 * (1 - 0.5)
    assert profile("py", log[:1], START, POLICY).mastery("loops") == pytest.approx(first)
    drifted = 0.5 + (first - 0.5) / 2
    assert profile("py", log[:1], START + 60 * DAY, POLICY).mastery("loops") == pytest.approx(drifted)
    second = drifted + 0.3 * (0 - drifted)
    assert profile("py", log, START + 60 * DAY, POLICY).mastery("loops") == pytest.approx(second)
    assert profile("py", log, START + 10_000 * DAY, POLICY).mastery("loops") == pytest.approx(0.5)
    assert profile("py", log, START, POLICY).mastery("never tried") == 0.5


def test_failures_are_the_latest_fifty_counted_and_dated() -> None:
    log = [outcome(number, f"s{number % 3}", False, number) for number in range(70)]
    found = profile("py", log, START + 100 * DAY, POLICY)
    assert len(found.failures) == 50
    assert found.failures[0].at == START + 69 * DAY
    assert sum(found.failure_counts.values()) == 50


def test_the_preferred_style_is_the_one_that_works() -> None:
    log = [outcome(number, "s", number % 3 == 0, number, "lecture") for number in range(9)]
    log += [outcome(100 + number, "s", number != 0, number, "puzzle") for number in range(4)]
    log += [outcome(200, "s", True, 1, "new")]
    assert profile("py", log, START + 100 * DAY, POLICY).preferred_style == "puzzle"
    assert profile("py", log[-1:], START + 100 * DAY, POLICY).preferred_style is None


logs = st.lists(
    st.tuples(
        st.sampled_from(["loops", "types", "tests"]),
        st.booleans(),
        st.floats(0, 400, allow_nan=False),
        st.sampled_from([None, "puzzle", "lecture"]),
        st.sampled_from(["py", "sql"]),
    ),
    max_size=80,
).map(lambda rows: [outcome(number, *row) for number, row in enumerate(rows)])


@given(logs, st.randoms(use_true_random=False))
def test_replaying_the_log_in_any_order_gives_the_same_profile(log: list[Outcome], chance: random.Random) -> None:
    now = START + 500 * DAY
    expected = profile("py", log, now, POLICY)
    shuffled = log[:]
    chance.shuffle(shuffled)
    assert profile("py", shuffled, now, POLICY) == expected
    assert profile("py", [one for one in log if one.track == "py"], now, POLICY) == expected
    assert all(0 <= skill.mastery <= 1 for skill in expected.skills.values())


@given(logs, st.floats(0, 400))
def test_the_future_does_not_reach_back(log: list[Outcome], day: float) -> None:
    now = START + day * DAY
    assert profile("py", log, now, POLICY) == profile("py", [one for one in log if one.at <= now], now, POLICY)
