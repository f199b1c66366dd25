"""Followers see everything once and in order, from any process, and after any absence.

The store is polled only once an hour here, so whatever arrives was announced by the bus.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from tenuto.errors import SettingError
from tenuto.providers.bus import LocalBus
from tenuto.records.operations import Event
from tenuto.sync.subscribe import pause
from tests.transfer.world import world

SLOW = {"jobs": {"poll": 3600}}
LONG = 60.0


def collect(subscription, count: int, timeout: float = LONG) -> list[Event]:
    found: list[Event] = []
    end = time.monotonic() + timeout
    while len(found) < count and time.monotonic() < end:
        found += subscription.next(timeout=end - time.monotonic())
    return found


def until_heard(store, subscription, text: str) -> list[Event]:
    """What one hears who is already waiting when it is said, again and again: nobody knows when listening has begun."""
    heard: list[Event] = []
    waiting = threading.Thread(target=lambda: heard.extend(subscription.next(timeout=LONG)))
    waiting.start()
    waiting.join(0.3)
    while waiting.is_alive():
        store.user("ana").observe(text)
        waiting.join(0.5)
    return heard


def texts(store, user: str, events: list[Event]) -> list[str]:
    by_id = {one.id: one.content for one in store.user(user).messages(limit=1000)}
    return [by_id[one.subject_id] for one in events]


@pytest.mark.parametrize("engine", ["memory:", "sqlite"])
def test_every_message_is_an_event_in_order(tmp_path: Path, engine: str) -> None:
    with world(tmp_path / "t.db" if engine == "sqlite" else engine, policy=SLOW) as store:
        ana = store.user("ana", channel="imessage")
        ana.observe("before")
        with ana.subscribe() as live, ana.subscribe(after=0) as whole:
            writers = [
                threading.Thread(target=lambda n=n: [ana.observe(f"{n} {i}") for i in range(10)]) for n in range(4)
            ]
            for writer in writers:
                writer.start()
            found = collect(live, 40)
            for writer in writers:
                writer.join()
            every = collect(whole, 41)
        assert [one.seq for one in found] == sorted({one.seq for one in found}) and len(found) == 40
        assert every[1:] == found and texts(store, "ana", every)[0] == "before"
        assert {one.channel for one in found} == {"imessage"}
        assert live.next(timeout=1) == [], "a closed subscription ends"


def test_whoever_was_away_resumes_without_gap_or_double(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with world(path, policy=SLOW) as store:
        ana = store.user("ana")
        with ana.subscribe() as live:
            ana.observe("one")
            first = collect(live, 1)
            mark = live.last
        ana.observe("two")
        ana.observe("three")
    with world(path, policy=SLOW) as store:
        ana = store.user("ana")
        with ana.subscribe(after=mark) as live:
            ana.observe("four")
            rest = collect(live, 3)
        assert texts(store, "ana", first + rest) == ["one", "two", "three", "four"]
        assert [one.seq for one in ana.events(after=mark)] == [one.seq for one in rest]


def test_followers_hear_of_their_user_only() -> None:
    with world(policy=SLOW) as store, store.user("ana").subscribe() as live:
        store.user("ben").observe("secret")
        assert live.next(timeout=0.3) == []


def test_what_comes_close_together_travels_together() -> None:
    with world(policy={**SLOW, "context": {"batch": 0.3}}) as store:
        ana = store.user("ana")
        with ana.subscribe() as live:
            ana.observe("one")
            assert len(live.next(timeout=LONG)) == 1, "the first goes out at once"
            for number in range(5):
                ana.observe(f"more {number}")
            assert len(live.next(timeout=LONG)) == 5


@given(st.floats(0, 1e6), st.none() | st.floats(0, 1e6), st.floats(0, 10))
def test_pause(now: float, delivered: float | None, window: float) -> None:
    wait = pause(now, delivered, window)
    assert wait >= 0 and (delivered is not None or wait == 0)
    if delivered is not None and delivered <= now:
        assert wait <= window + 1e-6


def test_async_followers() -> None:
    async def follow() -> list[Event]:
        with world(policy={"jobs": {"poll": 0.2}}) as store:
            ana = store.user("ana")
            with ana.subscribe() as live:
                await asyncio.to_thread(ana.observe, "hello")
                async for batch in live:
                    return batch
        return []

    assert [one.kind for one in asyncio.run(follow())] == ["message.observed"]


def test_a_listener_that_is_gone_does_not_hinder_the_writer() -> None:
    bus, heard = LocalBus(), []

    def broken() -> None:
        raise RuntimeError("Event loop is closed")

    bus.listen("ana", broken)
    stop = bus.listen("ana", lambda: heard.append(1))
    bus.publish("ana", 1)
    stop()
    bus.publish("ana", 2)
    assert heard == [1]


# --- across processes -------------------------------------------------------------------------------------------------


def test_postgres_tells_other_processes(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    with world(url, policy=SLOW) as here, world(url, policy=SLOW) as there, there.user("ana").subscribe() as live:
        said = until_heard(here, live, "from another process")
        assert texts(there, "ana", said) == ["from another process"] * len(said) and said


def test_redis_tells_other_processes_and_whoever_subscribes(redis_url: str, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    outside = redis.Redis.from_url(redis_url).pubsub(ignore_subscribe_messages=True)
    outside.subscribe("context:ana")
    with world(path, policy=SLOW, redis=redis_url) as here, world(path, policy=SLOW, redis=redis_url) as there:
        with there.user("ana").subscribe() as live:
            event = until_heard(here, live, "over redis")[0]
        end = time.monotonic() + LONG
        message = None
        while message is None and time.monotonic() < end:
            message = outside.get_message(timeout=0.5)
    assert message is not None and json.loads(message["data"]) == {"user": "ana", "seq": event.seq}
    outside.close()


def test_without_redis_everything_still_works(tmp_path: Path) -> None:
    policy = {"jobs": {"poll": 0.2}}
    with world(tmp_path / "t.db", policy=policy, redis="redis://127.0.0.1:1/0") as store:
        ana = store.user("ana")
        with ana.subscribe() as live:
            ana.observe("no redis")
            assert len(collect(live, 1)) == 1
    with pytest.raises(SettingError):
        world("memory:", redis="http://nonsense").__enter__()
