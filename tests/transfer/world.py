"""A store for these tests: real SQLite, a fake embedder, a clock that is set by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens

NOW = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


@contextmanager
def world(url: str | Path = "memory:", **options: object) -> Iterator[Tenuto]:
    clock = options.pop("clock", None) or FakeClock(NOW)
    with tenuto.open(
        str(url), embedder=FakeEmbedder(), tokens=FakeTokens(), clock=clock, background=False, **options
    ) as store:
        yield store
