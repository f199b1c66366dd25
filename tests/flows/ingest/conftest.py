"""A store on each engine, a clock that is moved, and short ways to talk."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

import tenuto
from tenuto.records.operations import Receipt
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def store(store_url: str, clock: FakeClock, embedder: FakeEmbedder) -> Iterator[tenuto.Tenuto]:
    with tenuto.open(store_url, clock=clock, embedder=embedder, tokens=FakeTokens(), background=False) as opened:
        yield opened


@pytest.fixture
def ana(store: tenuto.Tenuto) -> tenuto.UserMemory:
    return store.user("ana", persona="coach")


@pytest.fixture
def say(store: tenuto.Tenuto, ana: tenuto.UserMemory, clock: FakeClock) -> Callable[..., Receipt]:
    def say(
        text: str, *, user: tenuto.UserMemory | None = None, after: timedelta = timedelta(minutes=1), **options
    ) -> Receipt:
        speaker = user or ana
        clock.now += after
        receipt = speaker.observe(text, **options)
        assert store.settle()
        settled = speaker.receipt(receipt.id)
        assert settled is not None
        assert settled.settled
        return settled

    return say
