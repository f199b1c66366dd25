"""Wishes that stand can be listed and lifted, wherever the verb is called from."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import tenuto
from tenuto.errors import IllegalMove, NotFound
from tenuto.facade.user import UserMemory
from tenuto.records.memory import Proactive, Status
from tenuto.testing.fakes import FakeClock

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def told(store: tenuto.Tenuto, *texts: str) -> UserMemory:
    ana = store.user("ana", persona="friend")
    for text in texts:
        ana.observe(text)
        store.settle()
    return ana


def test_a_lifted_silence_may_come_up_when_it_is_relevant(store_url: str) -> None:
    with tenuto.open(store_url, clock=FakeClock(START)) as store:
        ana = told(store, "My sister Petra lives in Lyon.", "Please don't bring up Petra.")
        (wish,) = ana.wishes()
        assert (wish.kind, wish.about) == ("silence", "Petra")
        assert not ana.recall("Good morning!")
        assert ana.lift(wish.id).lifted_at == START
        assert ana.wishes() == []
        uses = {one.proactive_use for one in ana.memories() if "Petra" in one.content}
        assert uses == {Proactive.ONLY_WHEN_RELEVANT}
        with pytest.raises(IllegalMove):
            ana.lift(wish.id)


def test_a_lifted_forgetting_brings_memories_and_messages_back() -> None:
    with tenuto.open("memory:", clock=FakeClock(START)) as store:
        ana = told(store, "My sister Petra lives in Lyon.", "Forget everything about Petra, please.")
        assert ana.recall("Where does Petra live?") == []
        (wish,) = ana.wishes()
        ana.lift(wish.id)
        assert {one.status for one in ana.memories() if "Petra" in one.content} == {Status.ACTIVE}
        assert ana.recall("Where does Petra live?")


def test_another_persona_and_another_user_see_no_wish() -> None:
    with tenuto.open("memory:", clock=FakeClock(START)) as store:
        ana = told(store, "My sister Petra lives in Lyon.", "Please don't bring up Petra.")
        (wish,) = ana.wishes()
        assert store.user("ana", persona="coach").wishes() == []
        with pytest.raises(NotFound):
            store.user("ben").lift(wish.id)
