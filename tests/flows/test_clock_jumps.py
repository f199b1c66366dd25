"""Clock jumps of an hour and a day, forth and back: nothing purged early, nothing out of order, no lease stuck.

``TENUTO_TEST_JUMPS`` sets how many jumps are made.
"""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from tenuto.lifecycle import retention
from tenuto.lifecycle.sessions import stamp
from tenuto.policy import SessionPolicy
from tenuto.storage.inmemory import InMemoryStore
from tests.flows.clock_jumps import Jumper
from tests.flows.world import START

JUMPS = int(os.environ.get("TENUTO_TEST_JUMPS", "100"))


@pytest.mark.parametrize("engine", ["memory", "file"])
def test_jumps_of_an_hour_and_a_day_harm_nothing(engine, fast_path):
    harm = Jumper(fast_path / "jumps.db" if engine == "file" else None).play(JUMPS)
    assert harm.purged > 0 or JUMPS < 60, "nothing was ever purged, so nothing could have been purged early"
    assert (harm.jumps, harm.early, harm.inversions, harm.stuck) == (JUMPS, 0, 0, 0)


def test_control_without_the_lag_text_goes_early(monkeypatch):
    monkeypatch.setattr(retention, "LAG", timedelta(0))
    assert Jumper().play(100).early > 0


def test_control_without_mending_jobs_are_stuck(monkeypatch):
    monkeypatch.setattr(InMemoryStore, "mend_jobs", lambda self, now, lease, backoff: 0)
    assert Jumper().play(8).stuck > 0


def test_control_with_the_bare_clock_answers_come_before_questions():
    assert Jumper(policy={"session": {"clock_set_back": 0}}).play(8).inversions > 0


def test_a_clock_that_was_wrong_by_years_is_not_believed_for_years():
    policy = SessionPolicy()
    assert stamp(START, START + timedelta(days=3650), policy) == START
    assert stamp(START, START + timedelta(hours=1), policy) == START + timedelta(hours=1, microseconds=1)
    assert stamp(START, START, policy) == START + timedelta(microseconds=1)
    assert stamp(START, None, policy) == stamp(START, START - timedelta(seconds=1), policy) == START
