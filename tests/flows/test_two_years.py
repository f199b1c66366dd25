"""Two years of daily talk on a simulated clock: what must hold at every step, holds.

The talk comes from a seeded generator; with ``TENUTO_BENCH_DATA`` set, the long run also plays the evaluation's chats.
``TENUTO_TEST_LONG=1`` runs it with several times as many messages, with work every day and with extraction, which the
short run leaves out for the sake of time.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from tenuto.ports import Where
from tenuto.records.conversation import Message, Session, SessionStatus, Summary, SummaryKind
from tenuto.records.memory import Memory, PinKind, Proactive, Status
from tests.flows.talk import days
from tests.flows.world import START, World

LONG = bool(os.environ.get("TENUTO_TEST_LONG"))
DATA = os.environ.get("TENUTO_BENCH_DATA")


def live(world: World, talk, *, check_every: int, work_every: int = 1) -> int:
    """Play the days through two personas and two channels, with the clock moving along; how many messages.

    Background work runs every ``work_every`` days, as with a worker that is not always up.
    """
    said = 0
    coach, friend = world.user(channel="imessage"), world.user(persona="friend", channel="email")
    for day, lines in enumerate(talk):
        for at, role, text in lines:
            world.clock.now = at
            (friend if day % 5 == 4 else coach).observe(text, role=role)
            said += 1
        world.clock.now = START + timedelta(days=day + 1)
        if day % work_every == 0:
            world.runner.drain()
        if day % check_every == 0:
            world.check()
    return said


@pytest.mark.timeout(1800 if LONG else 300)
def test_two_years_of_daily_talk(fast_path):
    world = World(fast_path / "years.db", leave_out=() if LONG else ("digest",))
    pins = [
        world.keep(f"Pin {n}: allergic to penicillin", pinned=True, pin_kind=PinKind.MANUAL, importance=2)
        for n in range(3)
    ]
    held = world.keep("Likes to be asked about the garden", proactive_use=Proactive.YES, importance=2)
    weak = world.keep("Had toast for breakfast", importance=2)
    strong = world.keep("Works at the harbour", importance=8)
    scale, work, look = (2.5, 1, 30) if LONG else (0.5, 4, 73)
    said = live(world, days(7, START, 730, scale=scale), check_every=look, work_every=work)
    world.runner.drain()
    world.check()
    assert said > (8000 if LONG else 2000)
    assert len(world.all(Message)) == said

    for pin in (*pins, held):
        assert world.all(Memory, Where("status", "=", Status.ACTIVE)).count(pin) == 1, "a pin was touched"
    by_id = {memory.id: memory for memory in world.all(Memory)}
    assert by_id[weak.id].status is Status.ARCHIVED
    assert by_id[weak.id].history[-1].reason.startswith("faded")
    assert by_id[strong.id].status is Status.ACTIVE

    sessions = world.all(Session)
    open_ = [session for session in sessions if session.status is SessionStatus.OPEN]
    assert len(open_) <= 2
    assert all(session.classified_turns == session.turn_count for session in sessions if session not in open_)
    kinds = Counter(one.kind for one in world.all(Summary))
    messages = world.all(Message)
    for persona in ("coach", "friend"):
        own = sum(message.persona == persona for message in messages)
        ranges = world.all(Summary, Where("kind", "=", SummaryKind.RANGE), Where("persona", "=", persona))
        assert len(ranges) == own // 50
    assert kinds[SummaryKind.SPINE] >= said // 20 * 0.6, "work runs rarely here, so a few long days make one spine"
    assert kinds[SummaryKind.PROFILE] >= 730 // 10 - 5
    week = world.clock() - timedelta(days=8)
    mark = {
        persona: max(
            one.end_seq
            for one in world.all(Summary, Where("kind", "=", SummaryKind.TOPIC), Where("persona", "=", persona))
        )
        for persona in ("coach", "friend")
    }
    assert all(message.seq <= mark[message.persona] for message in messages if message.at < week)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_two_years_of_the_evaluation_chats(fast_path):
    assert DATA, "set TENUTO_BENCH_DATA to the folder with the evaluation's chats"
    world = World(fast_path / "chats.db")
    lines = []
    with gzip.open(Path(DATA) / "locomo.jsonl.gz", "rt") as file:
        chats = [json.loads(raw) for raw in file]
    for chat in chats:
        by_session: dict[int, list[dict]] = {}
        for turn in chat["turns"]:
            by_session.setdefault(turn["sess"], []).append(turn)
        for turns in by_session.values():
            lines.append([("user" if t["speaker"] == chat["speakers"][0] else "assistant", t["text"]) for t in turns])
    talk = (
        [(START + timedelta(days=day, minutes=m), role, text) for m, (role, text) in enumerate(turns)]
        for day, turns in enumerate(lines)
    )
    said = live(world, talk, check_every=20)
    world.check()
    assert said > 5000
