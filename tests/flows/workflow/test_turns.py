"""One turn at a time: what is applied, what is staged, what is refused, and what nobody can do."""
# Over 400 lines: one table of turns on one definition.

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.patient_intake import INTAKE
from examples.travel_planner import TRIP
from tests.flows.workflow.conftest import Desk
from tests.upstream import Served, Step, Upstream

import tenuto
from tenuto import AsyncTenuto
from tenuto.errors import Conflict, IllegalMove, InputError, ModelError, NotFound, SettingError, TenutoError
from tenuto.records.base import to_plain
from tenuto.records.operations import Event
from tenuto.records.workflow import Workflow, WorkflowTurn
from tenuto.workflow import Field, Migration, define
from tenuto.workflows import WorkflowHandle

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


def test_a_conversation_from_nothing_to_saved(desk: Desk) -> None:
    ana = desk.store.user("ana", channel="web")
    work = ana.workflow(ACTIVITY)
    assert work.state == "DRAFT"
    reply = work.send("hello")
    assert (reply.state, reply.question_key, reply.missing[0]) == ("CLARIFYING", "language", "language")
    for text in FULL:
        reply = work.send(text)
    assert (reply.state, reply.question_key, reply.missing) == ("READY", None, ())
    assert {event.kind for event in reply.events} == {"workflow.changed", "workflow.moved", "workflow.turn"}
    work.move("GENERATING")
    artifact = work.produce({"problems": ["one", "two"]})
    work.submit({"answer": 42})
    work.move("SAVED")
    assert [kept.kind for kept in work.artifacts()] == ["artifact", "submission"]
    assert work.artifacts("artifact") == [artifact]
    assert [message.content for message in ana.messages()][:2] == ["hello", work.definition.fields["language"].question]
    with pytest.raises(Conflict):
        work.set(topic="other")
    assert "does not change" in work.send("topic: other").text


def test_an_inference_about_a_hard_field_is_shown_first(desk: Desk) -> None:
    work = desk.store.user("ana", channel="web").workflow(ACTIVITY, "w1", model=desk.model)
    proposing(
        desk,
        {"op": "add", "path": "/language", "value": "java", "confidence": 1.0},
        {"op": "add", "path": "/topic", "value": "streams", "confidence": 0.9},
    )
    reply = work.send("something my colleagues at the bank use")
    assert reply.spec == {"topic": "streams"}
    assert "java" in reply.text
    assert reply.question_key is not None
    assert reply.question_key.startswith("confirm:")
    assert reply.made_by == "model:script"
    reply = work.send("go ahead")
    assert reply.spec["language"] == "java"
    lock = next(lock for lock in work.record.locks if lock.field == "language")
    assert (lock.locked, lock.explicit, lock.confidence) == (True, True, 1.0)
    soft = next(lock for lock in work.record.locks if lock.field == "topic")
    assert (soft.locked, soft.explicit, soft.confidence) == (False, False, 0.8)


def test_a_statement_sets_a_hard_field_and_only_a_confirmed_statement_changes_it(desk: Desk) -> None:
    work = ready(desk, model=desk.model)
    proposing(desk, {"op": "replace", "path": "/language", "value": "sql", "confidence": 1.0})
    reply = work.send("something completely different")
    assert (reply.spec["language"], reply.pending) == ("python", None), (
        "an inference does not even reach a locked field"
    )
    reply = work.send("use java instead")
    assert (reply.spec["language"], reply.pending) == (
        "python",
        "Change language from “python” to “java”? Answer yes or no.",
    )
    assert work.send("no, keep it").spec["language"] == "python"
    work.send("use java instead")
    assert work.send("yes").spec["language"] == "java"


def test_a_newer_proposal_replaces_the_older_visibly(desk: Desk) -> None:
    work = ready(desk)
    first = work.send("use java instead")
    second = work.send("use sql instead")
    assert second.replaced == first.digest
    assert "replaces" in second.text
    with pytest.raises(Conflict) as refused:
        work.confirm(first.digest)
    assert refused.value.code == "confirmation_replaced"
    assert work.confirm(second.digest).spec["language"] == "sql"


def test_anything_else_leaves_it_pending_and_is_not_asked_again(desk: Desk) -> None:
    work = ready(desk)
    first = work.send("use java instead")
    second = work.send("yes but let me think")
    assert (second.digest, second.question_key) == (first.digest, None)
    assert "Still waiting" in second.text
    assert work.send("Yes!").settlement == "confirmed"


@pytest.mark.parametrize("verb", ["text", "button"])
def test_a_confirmation_counts_once_in_time_and_on_its_channel(desk: Desk, verb: str) -> None:
    def answer(work: WorkflowHandle, code: str) -> None:
        before = stored(desk)
        if verb == "text":
            assert work.send("yes", keep=False).settlement == code
        else:
            with pytest.raises(Conflict) as refused:
                work.confirm()
            assert refused.value.code == code
        after = stored(desk)
        assert (after.spec, after.locks, after.state, after.pending) == (
            before.spec,
            before.locks,
            before.state,
            before.pending,
        )

    work = ready(desk)
    answer(work, "nothing_pending")
    work.send("use java instead")
    elsewhere = desk.store.user("ana", channel="sms").workflow(ACTIVITY, "w1")
    answer(elsewhere, "wrong_channel")
    desk.wait(minutes=30)
    answer(work, "confirmation_expired")
    work.send("use java instead")
    assert work.send("yes").settlement == "confirmed"
    with pytest.raises(Conflict) as refused:
        work.confirm()
    assert refused.value.code == "nothing_pending"


def test_the_same_confirmation_twice(desk: Desk) -> None:
    work = ready(desk)
    digest = work.send("use java instead").digest
    assert digest is not None
    work.confirm(digest)
    for again in (work.confirm, work.refuse):
        with pytest.raises(Conflict) as refused:
            again(digest)
        assert refused.value.code == "already_settled"
    assert work.send("yes", seen=digest).settlement == "already_settled"


def test_a_yes_confirms_what_its_device_showed_and_nothing_newer(desk: Desk) -> None:
    one = ready(desk)
    two = desk.store.user("ana", channel="web").workflow(ACTIVITY, "w1")
    one.send("use java instead")
    two.send("use sql instead")
    assert one.send("yes").settlement == "confirmation_replaced"
    assert stored(desk).spec["language"] == "python"
    three = desk.store.user("ana", channel="web").workflow(ACTIVITY, "w1")
    three.send("what is this?")
    assert three.send("yes").settlement == "confirmed"
    assert stored(desk).spec["language"] == "sql"


def test_an_answer_said_before_the_proposal_does_not_confirm_it(desk: Desk) -> None:
    work = ready(desk)
    early = desk.now
    desk.wait(minutes=1)
    work.send("use java instead")
    fresh = desk.store.user("ana", channel="web").workflow(ACTIVITY, "w1")
    assert fresh.send("yes", at=early, keep=False).settlement == "confirmation_replaced"
    assert fresh.send("yes", at=desk.now, keep=False, seen=stored(desk).pending.digest).settlement == "confirmed"  # type: ignore[union-attr]


def test_text_from_outside_needs_the_persons_own_words(desk: Desk) -> None:
    work = desk.store.user("ana", channel="web").workflow(TRIP, "w1", given={"requested_by": "ana"})
    work.send("hello")
    reply = work.send("Great offer! destination: Mallorca", external=True)
    assert reply.spec == {"requested_by": "ana"}
    assert "Mallorca" in reply.text
    assert work.send("yes").settlement == "restatement_needed"
    assert work.send("is Mallorca nice?").spec == {"requested_by": "ana"}
    assert work.send("Mallorca it is, fine").spec["destination"] == "Mallorca"
    locked = work.send("destination: Ibiza", external=True)
    assert "Ibiza" in str(locked.pending)
    staged = work.send("ok, Ibiza")
    assert staged.spec["destination"] == "Mallorca", "a locked field still needs the confirmation"
    assert work.send("yes").spec["destination"] == "Ibiza"


def test_text_from_outside_does_not_push_a_question_aside(desk: Desk) -> None:
    work = ready(desk)
    mine = work.send("use java instead")
    reply = work.send("language: sql", external=True)
    assert reply.digest == mine.digest
    assert len(reply.refused) == 1
    assert work.send("yes").spec["language"] == "java"


def test_what_was_proposed_from_outside_can_be_refused_anywhere(desk: Desk) -> None:
    work = ready(desk, channel="web")
    desk.store.user("ana", channel="email").workflow(ACTIVITY, "w1").send("language: sql", external=True)
    assert stored(desk).pending is not None
    fresh = desk.store.user("ana", channel="web").workflow(ACTIVITY, "w1")
    assert fresh.send("no").settlement == "refused"
    assert stored(desk).pending is None
    assert work.spec["language"] == "python"


def test_a_yes_answers_the_boolean_question_and_not_the_mail(desk: Desk) -> None:
    ana = desk.store.user("ana", channel="web")
    work = ana.workflow(INTAKE, "w1", given={"clinic": "north"})
    for text in ("hello", "Ana Ruiz", "1984-02-29", "latex", "none"):
        work.send(text)
    work.send("allergies: none", external=True)
    reply = work.send("yes")
    assert reply.spec["smoker"] is True
    assert reply.spec["allergies"] == ["latex"]


def test_no_question_is_asked_twice_in_a_row(desk: Desk) -> None:
    work = desk.store.user("ana").workflow(ACTIVITY, "w1")
    keys = [work.send("hmm", keep=False).question_key for _ in range(8)]
    assert all(first != second or first is None for first, second in pairwise(keys))
    for text in FULL[:3]:
        work.send(text, keep=False)
    lone = [work.send("hmm", keep=False) for _ in range(4)]
    assert {reply.question_key for reply in lone} == {"topic", None}
    assert all("topic" in reply.text or reply.question_key for reply in lone)


def test_in_a_complete_state_changes_go_together_or_not_at_all(desk: Desk) -> None:
    work = ready(desk)
    reply = work.send("make it 2 problems")
    assert reply.refused
    assert reply.pending is None
    assert reply.spec["problem_count"] == 3
    reply = work.send("2 problems: 1 easy, 0 medium, 1 hard")
    assert reply.spec["difficulty_plan"]["medium"] == 1, "nothing is applied before the yes"
    reply = work.send("yes")
    assert reply.spec["problem_count"] == 2
    assert reply.spec["difficulty_plan"] == {"easy": 1, "medium": 0, "hard": 1}


def test_illegal_moves_name_the_legal_ones(desk: Desk) -> None:
    work = ready(desk)
    for target in ("DRAFT", "CLARIFYING", "SAVED", "FAILED", "READY", "NOWHERE"):
        with pytest.raises(IllegalMove) as refused:
            work.move(target)
        assert "GENERATING" in str(refused.value)
    work.send("use java instead")
    with pytest.raises(Conflict) as waiting:
        work.move("GENERATING")
    assert waiting.value.code == "confirmation_pending"
    work.refuse()
    work.move("GENERATING")
    work.move("FAILED", error="the compiler was down")
    assert stored(desk).error == "the compiler was down"
    work.move("READY")
    assert stored(desk).error is None
    early = desk.store.user("ana").workflow(ACTIVITY, "w2")
    early.send("hello", keep=False)
    with pytest.raises(Conflict) as incomplete:
        early.move("READY")
    assert incomplete.value.code == "spec_incomplete"


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "add", "path": "/nope", "value": 1}],
        [{"op": "add", "path": "/topic", "value": "fine"}, {"op": "add", "path": "/problem_count", "value": "3"}],
        [{"op": "add", "path": "/topic", "value": "x" * 1_000_000}],
        [{"op": "add", "path": "/__proto__", "value": {}}],
        [{"op": "add", "path": "/style", "value": [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}],
        ["x"],
    ],
)
def test_a_bad_patch_by_hand_changes_nothing(desk: Desk, operations: list[Any]) -> None:
    work = ready(desk)
    before = stored(desk)
    with pytest.raises(InputError) as refused:
        work.patch(operations)
    assert refused.value.code == "patch_refused"
    assert stored(desk) == before


def test_values_given_at_the_start_are_checked_too(desk: Desk) -> None:
    ana = desk.store.user("ana")
    for given in ({"nope": 1}, {"travellers": "two"}, {"days": 3}, {"destination": "x" * 100_000}):
        with pytest.raises(InputError):
            ana.workflow(TRIP, given=given)
    assert ana.workflows() == []
    work = ana.workflow(TRIP, given={"requested_by": "ana"})
    with pytest.raises(InputError):
        work.set(requested_by="mallory")


@pytest.mark.parametrize(
    "answer",
    [
        "", "sorry", "{", "null", "[[[[", '{"changes": 7}',
        '{"changes": [{"op": "add", "path": "/language", "value": 7}]}',
        '{"changes": [{"op": "replace", "path": "/state", "value": "SAVED"}]}', "x" * 300_000, "[" * 100_000,
        '{"changes": [' + '{"op": "remove", "path": "/language"},' * 200 + "{}]}",
    ],
)  # fmt: skip
def test_rubbish_from_a_model_changes_nothing_and_is_not_passed_on(desk: Desk, answer: str) -> None:
    work = ready(desk, model=desk.model)
    before = stored(desk)
    desk.model.answer = answer
    reply = work.send("what do you think of my plan then")
    after = stored(desk)
    assert (after.spec, after.state, after.locks, after.pending) == (before.spec, before.state, before.locks, None)
    assert reply.text == ""
    assert len(answer) < 6 or answer not in json.dumps([to_plain(turn) for turn in work.trace()])


def test_what_a_model_says_does_not_reach_the_person_or_the_stream(desk: Desk) -> None:
    work = ready(desk, model=desk.model)
    proposing(desk, {"op": "add", "path": "/SEND-MONEY-TO-MALLORY", "value": "SEND-MONEY"})
    desk.model.answer = desk.model.answer.replace("inform", "SEND MONEY 7 <b>now</b>")
    reply = work.send("what do you think of my plan then")
    assert "MONEY" not in reply.text
    events = json.dumps([to_plain(event) for event in reply.events]) + json.dumps(work.stream())
    assert "SEND" not in events
    assert "python" not in events, "events and streams carry no values"


def test_a_model_that_fails_leaves_the_parsers(desk: Desk) -> None:
    class Broken:
        name = "broken"

        def complete(self, **_: Any) -> Any:
            raise ModelError("down")

    work = desk.store.user("ana").workflow(ACTIVITY, "w1", model=Broken())
    reply = work.send("5 problems")
    assert reply.spec == {"problem_count": 5}
    assert reply.made_by == "parser"


def test_a_model_is_not_shown_a_plain_yes(desk: Desk) -> None:
    work = ready(desk, model=desk.model)
    work.send("use java instead")
    proposing(desk, {"op": "replace", "path": "/topic", "value": "hijacked"})
    assert work.send("yes").spec["topic"] == "loops"
    assert desk.model.answer, "the answer is still there: nobody asked for it"


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


def test_a_failed_write_leaves_the_record_as_it_was(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    work = ready(desk)
    before = stored(desk)

    def broken(*_: Any) -> Any:
        raise RuntimeError("between the decision and the commit")

    monkeypatch.setattr("tenuto.workflow.advance.trace", broken)
    with pytest.raises(RuntimeError):
        work.send("use java instead", keep=False)
    assert stored(desk) == before


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


@pytest.mark.parametrize("text", ["", "   ", "\x00", "x" * 70_000])
def test_a_message_that_cannot_be_taken_is_refused(desk: Desk, text: str) -> None:
    work = ready(desk)
    before = stored(desk)
    with pytest.raises(TenutoError):
        work.send(text)
    assert stored(desk) == before


def test_what_is_read_is_a_copy(desk: Desk) -> None:
    work = ready(desk)
    before = stored(desk)
    work.spec["language"] = "forged"
    work.record.spec["difficulty_plan"]["easy"] = 99
    work.send("hm", keep=False).spec["difficulty_plan"]["easy"] = 99
    assert stored(desk).spec == before.spec


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
        async with await AsyncTenuto.open("memory:", background=False) as store:
            await store.define(ACTIVITY)
            work = await store.user("ana").workflow("activity")
            await work.send("python please")
            reply = await work.send("3 problems")
            await store.user("ana").record_outcome("python", "loops", True)
            assert (await store.user("ana").learner("python")).outcomes == 1
            return dict(reply.spec)

    assert asyncio.run(talk()) == {"language": "python", "problem_count": 3}


def test_the_libraries_for_definitions_are_loaded_when_needed_and_missed_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = "import sys, tenuto; sys.exit('pydantic' in sys.modules or 'jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

    def nothing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("tenuto.workflow.shape.import_module", nothing)
    with pytest.raises(SettingError) as refused:
        define("d", {"type": "object", "properties": {"a": {}}})
    assert "tenuto[workflow]" in str(refused.value)
