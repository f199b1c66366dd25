"""A server with ten weeks of talk in it: the conversation that ships, and a few things that wait for a word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import groupby
from typing import Any

import msgspec

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.records.memory import Trust
from tenuto.surfaces.http.serving import sign_in_link
from tenuto.testing.fakes import FakeClock
from tests.surfaces.kit import GENEROUS, listening

USER = "maya"


def replay(store: Tenuto, clock: FakeClock) -> None:
    """Say everything again, at the time it was said, with the background work after each session."""
    lines = [
        msgspec.json.decode(line)
        for line in files("tenuto.surfaces.cli").joinpath("demo.jsonl").read_bytes().splitlines()
    ]
    for _, day in groupby(lines, key=lambda line: (line["at"][:10], line["persona"])):
        for line in day:
            clock.now = datetime.fromisoformat(line["at"])
            person = store.user(USER, persona=line["persona"], channel=line["channel"])
            person.observe(line["text"], role=line["role"])
        clock.advance(minutes=45)
        person.close_session()
        store.settle()


def waiting(store: Tenuto) -> None:
    """What a mail said, which counts only after a yes; a memory to correct; a todo that is late."""
    mail = store.user(USER, channel="email")
    mail.remember("Maya's sister Ida has moved to Oslo", trust=Trust.EXTERNAL, source="email")
    mail.remember("Maya prefers window seats", trust=Trust.EXTERNAL, source="email")
    web = store.user(USER, channel="web")
    web.remember("I drink oat milk")
    web.remember("My colleague Samantha plays chess")
    web.remember("Sam from work lent me a chess book")


@contextmanager
def world(policy: dict[str, Any] | None = None) -> Iterator[tuple[Tenuto, str, FakeClock]]:
    """The store, the server's address, and the clock."""
    clock = FakeClock()
    rules = {**GENEROUS, "server": {**GENEROUS["server"], "poll": 0.1}, **(policy or {})}
    store = tenuto.open("memory:", clock=clock, policy=rules, background=False)
    replay(store, clock)
    waiting(store)
    clock.advance(hours=3)
    with listening(store) as (address, _):
        yield store, address, clock
    store.close()


def link(store: Tenuto, address: str, user: str | None = None) -> str:
    return sign_in_link(store, address, user)


VALID = timedelta(days=7)
