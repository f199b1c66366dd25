"""The cost of a message does not grow with the history: counted in rows that are read, which no other load disturbs.

Time itself is printed by ``python -m bench.lifecycle cost``. Extraction is left out: it has its own room.
"""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from tenuto.records.conversation import Message, SessionStatus, Summary
from tenuto.storage.sqlite import SqliteConnection
from tests.flows.talk import days, line
from tests.flows.world import START, World

LEFT_OUT = ("digest", "candidates")


@pytest.fixture
def read(monkeypatch):
    """How many rows were read so far."""
    rows, count = SqliteConnection.rows, [0]

    def counted(connection, sql, parameters):
        found = rows(connection, sql, parameters)
        count[0] += len(found)
        return found

    monkeypatch.setattr(SqliteConnection, "rows", counted)
    return count


def test_a_session_that_never_ends_stays_cheap_and_whole(fast_path, read):
    world = World(fast_path / "endless.db", leave_out=LEFT_OUT)
    coach, random, at = world.user(), Random(3), START
    spent = []
    for part in range(4):
        before = read[0]
        for number in range(200):
            at += timedelta(minutes=random.uniform(1, 20))
            world.clock.now = at
            coach.observe(line(random, number % 2 == 0, part), role="user" if number % 2 == 0 else "assistant")
            if number % 10 == 9:
                world.runner.drain()
        spent.append((read[0] - before) / 200)
        world.check()
    (session,) = coach.sessions()
    assert (session.status, session.turn_count) == (SessionStatus.OPEN, 800)
    assert session.classified_turns >= 600
    ranges = coach.summaries(kind="range")
    assert len(ranges) == 16
    assert sum(one.message_count for one in ranges) == len(world.all(Message)) == 800
    assert len(world.all(Summary)) < 800
    assert spent[3] <= 1.15 * spent[1], spent


def test_daily_talk_stays_cheap(fast_path, read):
    world = World(fast_path / "daily.db", leave_out=LEFT_OUT)
    coach, spent = world.user(), []
    said, before = 0, 0
    for day, lines in enumerate(days(5, START, 200)):
        for at, role, text in lines:
            world.clock.now = at
            coach.observe(text, role=role)
            said += 1
        world.clock.now = START + timedelta(days=day + 1)
        world.runner.drain()
        if day % 50 == 49:
            spent.append((read[0] - before) / said)
            said, before = 0, read[0]
    assert spent[3] <= 1.15 * spent[1], spent
