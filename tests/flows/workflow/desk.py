"""A store with a clock that the test moves, and the few things that most stories begin with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from examples.coding_exercises import ACTIVITY
from tests.flows.workflow.world import Script

from tenuto.facade.store import Tenuto
from tenuto.facade.workflows import WorkflowHandle
from tenuto.records.workflow import Workflow


@dataclass
class Desk:
    store: Tenuto
    model: Script
    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def wait(self, **much: float) -> None:
        self.now += timedelta(**much)


FULL = ("python please", "3 problems", "1 easy, 1 medium, 1 hard", "loops")


def ready(desk: Desk, channel: str = "web", **more: Any) -> WorkflowHandle:
    work = desk.store.user("ana", channel=channel).workflow(ACTIVITY, "w1", **more)
    for text in FULL:
        work.send(text, keep=False)
    assert work.state == "READY"
    return work


def stored(desk: Desk, id: str = "w1") -> Workflow:
    with desk.store.deps.store.reading("ana") as reader:
        found = reader.get(Workflow, id)
    assert found is not None
    return found


def proposing(desk: Desk, *changes: dict[str, Any]) -> None:
    desk.model.answer = json.dumps({"intent": "inform", "changes": list(changes)})
