"""Erasing a message reaches the typed work that rests on it: draft, locks, trace, artifacts, replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenuto.facade.workflows import WorkflowHandle
from tenuto.privacy import removal
from tenuto.workflow import Field, define
from tests.privacy.test_parts import MARK, World, keys, traces, whole

__all__ = ["keys"]

VISIT = define(
    "visit",
    {
        "type": "object",
        "properties": {
            "neighbour": {"type": "string"},
            "guests": {"type": "integer"},
            "bring": {"type": "string"},
            "title": {"type": "string"},
        },
        "required": ["neighbour", "guests"],
    },
    fields={
        "neighbour": Field(question="Whom do you visit?"),
        "guests": Field(question="How many guests come?"),
        "title": Field(derive=lambda spec: f"A visit to {spec['neighbour']} with {spec['guests']}"),
    },
)


def begun(world: World) -> tuple[WorkflowHandle, dict[str, str]]:
    """A visit that is ready, and by field the message that told it."""
    work = world.ana.workflow(VISIT, "w1")
    said: dict[str, str] = {}
    for field, text in (("", "hello"), ("neighbour", MARK), ("guests", "4 guests")):
        work.send(text)
        said[field] = next(one.id for one in world.ana.messages(limit=10) if one.content == text)
        world.clock.advance(minutes=1)
    assert work.spec["neighbour"] == MARK and work.state == "READY"
    return work, said


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_what_rests_on_a_message_goes_with_it(sealed: bool, tmp_path: Path, keys: Path) -> None:
    world = World(str(tmp_path / "a.db"), keys if sealed else None)
    work, said = begun(world)
    artifact = work.produce({"letter": f"Dear {MARK}, we are four."})
    world.ana.record_outcome("letters", "greeting", True, artifact_id=artifact.id)
    proof = world.ana.erase(message=said["neighbour"])
    assert proof.complete and proof.erased["workflow_fields"] == 1
    assert proof.ids["artifacts"] == [artifact.id] and proof.ids["workflow_turns"]
    assert MARK.lower() not in whole(world.store)
    assert (
        work.spec == {"guests": 4}
        and work.state == "DRAFT"
        and [lock.field for lock in work.record.locks] == ["guests"]
    )
    assert world.ana.verify_erasure(proof) == []
    work.send("hello again")
    work.send("Oslo")
    assert work.state == "READY" and work.spec["title"] == "A visit to Oslo with 4"
    world.store.settle()
    world.store.close()
    assert traces(tmp_path) == []


def test_a_number_that_only_the_message_told_goes_too(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    work, said = begun(world)
    world.ana.erase(message=said["guests"])
    assert work.spec == {"neighbour": MARK}
    assert any(MARK in str(turn.applied) for turn in work.trace()), "the turn of another message stays"
    world.store.close()


def test_what_was_set_by_hand_stays(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    work, said = begun(world)
    work.set(bring="cake")
    handed = work.submit({"note": "cake"})
    world.ana.erase(message=said["neighbour"])
    assert work.spec == {"guests": 4, "bring": "cake"} and [one.id for one in work.artifacts()] == [handed.id]
    world.store.close()


def test_a_change_that_waits_goes_with_the_words_that_proposed_it(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    work, _ = begun(world)
    work.send(f"neighbour: {MARK}heim", external=True)
    assert work.pending is not None and f"{MARK}heim" in work.pending.shown
    shown = next(one for one in world.ana.messages(limit=20) if f"{MARK}heim" in one.content)
    world.ana.erase(message=shown.id)
    assert work.pending is None and f"{MARK}heim".lower() not in whole(world.store)
    assert work.spec["neighbour"] == MARK and work.state == "READY", "what was settled before stays"
    world.store.close()


def test_one_that_has_ended_stays_ended(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    work, said = begun(world)
    for state in ("GENERATING", "SAVED"):
        work.move(state)
    world.ana.erase(message=said["neighbour"])
    assert work.state == "SAVED" and work.spec == {"guests": 4}
    world.store.close()


def test_an_artifact_that_quotes_an_erased_memory_goes(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    work, _ = begun(world)
    kept = world.ana.remember("The spare key is under the third flower pot").memory
    quoting = work.submit({"plan": "Remember: the spare key is under the third flower pot."})
    other = work.submit({"plan": "Bring wine."})
    world.ana.erase(memory=kept.id)
    assert [one.id for one in work.artifacts()] == [other.id] and quoting.id != other.id
    world.store.close()


def test_taking_back_a_source_takes_its_fields(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    work, _ = begun(world)
    undone = world.ana.undo("workflow", preview=True)
    assert undone.removed["workflow_fields"] == 2 and work.state == "READY"
    world.ana.undo("workflow")
    assert work.spec == {} and work.state == "DRAFT"
    world.store.close()


def test_the_same_test_finds_work_that_was_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control."""
    nothing: Any = lambda *rest: 0  # noqa: E731
    monkeypatch.setattr(removal, "take_work", nothing)
    world = World(str(tmp_path / "a.db"))
    work, said = begun(world)
    world.ana.erase(message=said["neighbour"])
    assert MARK.lower() in whole(world.store) and work.spec["neighbour"] == MARK
    world.store.close()
