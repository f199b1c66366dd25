"""The record around the turns: repeats, restarts, migrations, personas, context, events, clients."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.travel_planner import TRIP
from tests.flows.workflow.desk import Desk, proposing, ready, stored
from tests.upstream import Served, Step, Upstream

import tenuto
from tenuto import AsyncTenuto
from tenuto.errors import Conflict, NotFound
from tenuto.records.operations import Event
from tenuto.records.workflow import Workflow, WorkflowTurn
from tenuto.workflow import Field, Migration, define


def test_the_same_message_twice_counts_once(desk: Desk) -> None:
    work = ready(desk)
    staged = work.send("use java instead", id="m1")
    again = work.send("use java instead", id="m1")
    assert again.duplicate
    assert again.turn == staged.turn
    assert work.send("yes", id="m2").settlement == "confirmed"
    assert work.send("yes", id="m2").duplicate
    messages = desk.store.user("ana", channel="web").messages()
    assert [message.content for message in messages].count("yes") == 1


def test_discarding_what_a_turn_worked_with_changes_nothing(desk: Desk) -> None:
    """The record follows from the record and the words: handles, models and traces may be thrown away at any point."""
    kept = desk.store.user("ana").workflow(ACTIVITY, "kept")
    thrown = "thrown"
    script = ("hello", "use java", "5 problems", "2 easy, 3 hard", "trees", "use sql instead", "yes", "4 problems")
    for text in script:
        kept.send(text, keep=False)
        desk.store.user("ana").workflow(ACTIVITY, thrown).send(text, keep=False)
        with desk.store.deps.store.writing("ana") as tx:
            turns = [turn.id for turn in tx.find(WorkflowTurn) if turn.workflow_id == thrown]
            tx.remove(WorkflowTurn, *turns)
    one, other = stored(desk, "kept"), stored(desk, thrown)
    assert _without_digests(one) == _without_digests(other)
    assert one.pending is None
    assert other.pending is None


def _without_digests(workflow: Workflow) -> Workflow:
    """A digest binds the workflow's own id, so two workflows have different ones."""
    return replace(workflow, id="", settled=None, asked=tuple(key.partition(":")[0] for key in workflow.asked))


def test_workflows_are_found_and_belong_to_their_persona(desk: Desk) -> None:
    desk.store.define(ACTIVITY)
    coach = desk.store.user("ana", persona="coach")
    work = coach.workflow("activity")
    reply = work.send("hello")
    assert [found.id for found in coach.workflows(definition="activity")] == [work.id]
    session = stored(desk, work.id).session_id
    assert session is not None
    assert coach.workflow_of(session).id == work.id
    mine = coach.observe("in a session of my own", session="mine").session_id
    other = coach.workflow("activity", session_id=mine)
    assert coach.workflow_of("mine").id == other.id
    assert coach.workflow_of(work.id).spec == reply.spec
    for stranger in (desk.store.user("ana", persona="nurse"), desk.store.user("bob", persona="coach")):
        with pytest.raises(NotFound):
            stranger.workflow_of(work.id)
    with pytest.raises(NotFound):
        coach.workflow("unheard of")
    with pytest.raises(Conflict):
        desk.store.user("ana", persona="coach").workflow(TRIP, work.id, given={"requested_by": "x"})


def test_an_older_record_is_migrated_or_refused(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    old = define("place", schema)
    renamed = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    ana = desk.store.user("ana")
    work = ana.workflow(old, "w1")
    work.send("hi", keep=False)
    work.send("Porto", keep=False)
    with pytest.raises(Conflict) as refused:
        ana.workflow(define("place", renamed, version=2), "w1")
    assert refused.value.code == "workflow_version"
    assert stored(desk).spec == {"town": "Porto"}
    newer = define(
        "place", renamed, version=3,
        migrations=[Migration(to=2, spec=lambda spec: {"city": spec["town"]}), Migration(to=3)],
    )  # fmt: skip
    moved = ana.workflow(newer, "w1")
    assert moved.spec == {"city": "Porto"}
    moved.send("thanks", keep=False)
    assert (stored(desk).definition_version, stored(desk).spec) == (3, {"city": "Porto"})


def test_a_field_may_lock_by_an_inference_only_if_its_definition_says_so(desk: Desk) -> None:
    eager = define(
        "eager",
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
        fields={"a": Field(lock_at=0.7), "b": Field(lock_at=0.95)},
    )
    work = desk.store.user("ana").workflow(eager, "w1", model=desk.model)
    proposing(
        desk,
        {"op": "add", "path": "/a", "value": 1, "confidence": 0.75},
        {"op": "add", "path": "/b", "value": 1, "confidence": 1.0},
    )
    work.send("whatever suits", keep=False)
    assert {lock.field: lock.locked for lock in work.record.locks} == {"a": True, "b": False}


def test_the_context_has_the_state_the_draft_and_the_question(desk: Desk) -> None:
    ana = desk.store.user("ana", channel="web")
    work = ana.workflow(ACTIVITY)
    work.send("python please")
    text = json.dumps(ana.context("what now?", replay=False).messages, ensure_ascii=False)
    for part in ("CLARIFYING", "python", "settled", "How many problems"):
        assert part in text
    work.send("use java instead")
    text = json.dumps(ana.context("what now?", replay=False).messages, ensure_ascii=False)
    assert "not done" in text
    desk.wait(minutes=29)
    ana.observe("still here")
    desk.wait(minutes=5)
    assert "not done" not in json.dumps(ana.context("what now?").messages, ensure_ascii=False), "it has expired"


def test_events_are_numbered_and_name_the_workflow(desk: Desk) -> None:
    work = ready(desk)
    work.send("use java instead", keep=False)
    work.send("yes", keep=False)
    with desk.store.deps.store.reading("ana") as reader:
        events = reader.find(Event, order="seq")
    kinds = [event.kind for event in events]
    assert kinds[0] == "workflow.started"
    assert {"workflow.staged", "workflow.answered", "workflow.changed", "workflow.moved"} <= set(kinds)
    assert {event.subject_id for event in events} == {work.id}


def test_a_real_client_talks_to_a_real_server_with_the_persons_own_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENUTO_MODEL_KEYS", f"file:{tmp_path / 'seals'}")
    changes = [{"op": "add", "path": "/language", "value": "java", "confidence": 0.9}]
    upstream = Upstream()
    upstream.script(Step(text=json.dumps({"intent": "inform", "changes": changes})))
    with Served(upstream.app()) as server, tenuto.open(tmp_path / "w.db", background=False) as store:
        ana = store.user("ana", channel="web")
        ana.model_keys.set("own", "sk-ana")
        work = ana.workflow(ACTIVITY, model=f"openai+{server.url}/v1:scripted")
        reply = work.send("whatever the bank's people use, as I told you")
        assert "java" in str(reply.pending)
        assert upstream.headers[0]["authorization"] == "Bearer sk-ana"
        assert "as I told you" in json.dumps(upstream.asked[0])
        upstream.script(Step(status=400))
        assert work.send("5 problems").spec == {"problem_count": 5}


def test_the_asynchronous_face_has_the_same_verbs() -> None:
    async def talk() -> dict[str, Any]:
        async with AsyncTenuto.open("memory:", background=False) as store:
            await store.define(ACTIVITY)
            work = await store.user("ana").workflow("activity")
            await work.send("python please")
            reply = await work.send("3 problems")
            await store.user("ana").record_outcome("python", "loops", True)
            assert (await store.user("ana").learner("python")).outcomes == 1
            return dict(reply.spec)

    assert asyncio.run(talk()) == {"language": "python", "problem_count": 3}
