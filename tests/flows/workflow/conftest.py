"""A store with a clock that the test moves, on the fake and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.flows.workflow.world import Script

import tenuto
from tenuto.engine import Tenuto


@dataclass
class Desk:
    store: Tenuto
    model: Script
    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def wait(self, **much: float) -> None:
        self.now += timedelta(**much)


@pytest.fixture(params=["memory", "sqlite"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    url = "memory:" if request.param == "memory" else tmp_path / "desk.db"
    model = Script()
    made = Desk(store=None, model=model)  # type: ignore[arg-type]
    made.store = tenuto.open(url, clock=lambda: made.now, background=False)
    yield made
    made.store.close()
