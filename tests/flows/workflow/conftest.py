"""The desk that the tests work at: on the fake and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.flows.workflow.desk import Desk
from tests.flows.workflow.world import Script

import tenuto


@pytest.fixture(params=["memory", "sqlite"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    url = "memory:" if request.param == "memory" else tmp_path / "desk.db"
    model = Script()
    made = Desk(store=None, model=model)  # type: ignore[arg-type]
    made.store = tenuto.open(url, clock=lambda: made.now, background=False)
    yield made
    made.store.close()
