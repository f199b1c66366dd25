"""The threads and connections of the server: every verb is answered, and nothing waits for something slow."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from tenuto.surfaces.http import crew as module
from tenuto.surfaces.http.crew import Crew
from tenuto.surfaces.http.protocol import HELD, Joined

SOON = 30.0
"""Seconds after which something never comes."""


def with_crew(test: Callable[[Crew], Coroutine[Any, Any, None]], most: int = 4) -> None:
    async def whole() -> None:
        crew = Crew(most, asyncio.get_running_loop())
        try:
            await asyncio.wait_for(test(crew), SOON)
        finally:
            crew.close()

    asyncio.run(whole())


def test_answers_and_errors_come_back() -> None:
    async def test(crew: Crew) -> None:
        def fails() -> None:
            raise KeyError("no such thing")

        assert await crew.run(lambda: threading.current_thread().name) != threading.main_thread().name
        with pytest.raises(KeyError, match="no such thing"):
            await crew.run(fails)
        assert await crew.run(lambda: 3) == 3

    with_crew(test)


def test_one_thread_works_through_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACE", 3600.0)
    monkeypatch.setattr(module, "REST", 3600.0)
    order: list[int] = []

    async def test(crew: Crew) -> None:
        def note(number: int) -> str:
            order.append(number)
            return threading.current_thread().name

        names = await asyncio.gather(*(crew.run(partial(note, number)) for number in range(200)))
        assert len(set(names)) == 1

    with_crew(test)
    assert order == list(range(200))


def test_nothing_waits_for_something_slow() -> None:
    go = threading.Event()

    async def test(crew: Crew) -> None:
        slow = [asyncio.create_task(crew.run(go.wait)) for _ in range(3)]
        quick = [asyncio.create_task(crew.run(lambda: "quick")) for _ in range(20)]
        assert set(await asyncio.gather(*quick)) == {"quick"}
        assert not any(task.done() for task in slow)
        assert await crew.run(lambda: "later") == "later"
        go.set()
        assert await asyncio.gather(*slow) == [True] * 3

    with_crew(test)


def test_what_was_done_before_something_slow_is_handed_over() -> None:
    go = threading.Event()

    async def test(crew: Crew) -> None:
        quick = [asyncio.create_task(crew.run(lambda: "quick")) for _ in range(3)]
        slow = asyncio.create_task(crew.run(go.wait))
        assert await asyncio.gather(*quick) == ["quick"] * 3
        assert not slow.done()
        go.set()
        assert await slow

    with_crew(test, most=1)


def test_beyond_the_last_thread_verbs_wait_their_turn() -> None:
    go, most = threading.Event(), 3
    lock, counts = threading.Lock(), [0, 0]

    def works() -> None:
        with lock:
            counts[0] += 1
            counts[1] = max(counts)
        go.wait(SOON)
        with lock:
            counts[0] -= 1

    async def test(crew: Crew) -> None:
        tasks = [asyncio.create_task(crew.run(works)) for _ in range(10)]
        while counts[0] < most:
            await asyncio.sleep(0.001)
        go.set()
        await asyncio.gather(*tasks)

    with_crew(test, most)
    assert counts == [0, most]


def test_a_system_without_a_thread_to_give_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    start, refused = threading.Thread.start, [1, 1]

    def sometimes(thread: threading.Thread) -> None:
        if refused and thread.name.startswith("tenuto-http"):
            refused.pop()
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", sometimes)

    async def test(crew: Crew) -> None:
        assert await crew.run(lambda: "at last") == "at last"

    with_crew(test)
    assert not refused


def test_someone_who_left_is_not_missed() -> None:
    go = threading.Event()

    async def test(crew: Crew) -> None:
        left = asyncio.create_task(crew.run(go.wait))
        await asyncio.sleep(0)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        go.set()
        assert await crew.run(lambda: "still here") == "still here"

    with_crew(test, most=1)


def _after(seconds: float, value: int) -> int:
    time.sleep(seconds)
    return value


def test_every_verb_is_answered_whatever_comes_between() -> None:
    dice = random.Random(5)

    async def test(crew: Crew) -> None:
        async def person(number: int) -> int:
            for turn in range(60):
                assert await crew.run(partial(_after, dice.choice((0, 0, 0, 0, 0.001, 0.006)), turn)) == turn
                if dice.random() < 0.2:
                    await asyncio.sleep(dice.choice((0, 0.001)))
            return number

        assert await asyncio.gather(*(person(number) for number in range(12))) == list(range(12))

    with_crew(test)


class Wire:
    """Notes what is sent, and how often."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def test_what_is_written_in_one_turn_is_sent_together() -> None:
    async def whole() -> None:
        wire = Wire()
        joined = Joined(wire, asyncio.get_running_loop())  # type: ignore[arg-type]
        joined.write(b"head ")
        joined.write(b"body")
        assert wire.sent == []
        await asyncio.sleep(0)
        assert wire.sent == [b"head body"]
        joined.write(b"x" * (HELD + 1))
        assert len(wire.sent) == 2, "much is not held back"
        joined.write(b"last")
        joined.close()
        assert wire.sent[2:] == [b"last"] and joined.is_closing()
        await asyncio.sleep(0)
        assert len(wire.sent) == 3

    asyncio.run(whole())
