"""One turn at a time: what is applied, what is staged, what is confirmed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from examples.coding_exercises import ACTIVITY
from examples.patient_intake import INTAKE
from examples.travel_planner import TRIP
from tests.flows.workflow.desk import FULL, Desk, proposing, ready, stored

from tenuto.errors import Conflict
from tenuto.facade.workflows import WorkflowHandle
from tenuto.records.base import evolve


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


def test_a_staged_change_that_is_not_the_one_that_was_shown_is_not_applied(desk: Desk) -> None:
    work = ready(desk)
    shown = work.send("use java instead")
    record = stored(desk)
    patch = tuple({**one, "value": "sql"} for one in record.pending.patch)
    with desk.store.deps.store.writing("ana") as tx:
        tx.put(evolve(record, pending=evolve(record.pending, patch=patch)))
    with pytest.raises(Conflict):
        work.confirm(shown.digest)
    assert stored(desk).spec["language"] == "python"


def test_proposals_about_different_fields_wait_together(desk: Desk) -> None:
    work = desk.store.user("ana", channel="web").workflow(ACTIVITY, "w1")
    first = work.send("My class likes python a lot", keep=False)
    second = work.send("about 5 problems", keep=False)
    assert second.replaced == first.digest
    assert second.pending == "Set language to “python”; set problem count to 5? Answer yes or no."
    assert "replaces" not in second.text
    assert work.send("yes", keep=False).spec == {"language": "python", "problem_count": 5}


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("problem_count", "two or three", "Problem count: it needs one number."),
        ("problem_count", "I'd rather not say", "Problem count: it stays open, and nothing was kept."),
        ("date_of_birth", "31.02.1950", "Date of birth: that day is not in the calendar."),
        ("date_of_birth", "03/04/1950", "write the month as a word"),
        ("date_of_birth", "12 March", "Date of birth: say the year too."),
    ],
)
def test_what_stays_open_is_said(desk: Desk, asked: str, text: str, told: str) -> None:
    definition, given = (
        (ACTIVITY, {"language": "python"}) if asked == "problem_count" else (INTAKE, {"full_name": "A B"})
    )
    work = desk.store.user("ana").workflow(definition, given=given)
    assert work.send("hm", keep=False).question_key == asked
    reply = work.send(text, keep=False)
    assert told in reply.text
    assert (reply.applied, reply.pending) == ((), None)


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


def test_a_bare_yes_is_answered_truthfully(desk: Desk) -> None:
    work = desk.store.user("ana", channel="web").workflow(
        INTAKE, "w1", given={"clinic": "north", "full_name": "Ana Ruiz"}
    )
    work.send("hello", keep=False)
    reply = work.send("yes", keep=False)
    assert reply.settlement == "nothing_pending"
    assert "Nothing waits for a yes or no, so nothing was changed." in reply.text
    assert "Date of birth: a bare yes does not answer it." in reply.text
    other = desk.store.user("ana", channel="web").workflow(INTAKE, "w1")
    shown = other.send("full name: Anna Ruiz", keep=False)
    unseen = work.send("yes", keep=False)
    assert (unseen.settlement, unseen.digest) == ("confirmation_not_shown", shown.digest)
    assert "was not shown here" in unseen.text
    assert "Anna Ruiz" in unseen.text
    assert work.send("yes", keep=False).spec["full_name"] == "Anna Ruiz"


def test_a_workflow_stays_in_its_session(desk: Desk) -> None:
    ana = desk.store.user("ana", channel="web")
    work = ana.workflow(TRIP, "w1", given={"requested_by": "ana"}, session_id="s-1")
    work.send("hello")
    home = work.record.session_id
    ana.observe("something else altogether", session="s-2")
    desk.wait(hours=3)
    desk.store.user("ana", channel="sms").workflow_of("s-1").send("Lisbon")
    elsewhere = ana.observe("people: 2", session="s-2")
    ana.workflow_of("s-1").send("people: 2", keep=False, session_id=elsewhere.session_id)
    assert work.record.session_id == home
    assert ana.workflow_of("s-1").id == "w1"
    assert work.spec["destination"] == "Lisbon"
    kept = [message.content for message in ana.messages(session_id=home)]
    assert kept[0] == "hello"
    assert "Lisbon" in kept
    assert len(kept) == 4, "two messages and two replies"


def test_a_workflow_of_a_run_of_talk_goes_along_with_it(desk: Desk) -> None:
    ana = desk.store.user("ana", channel="web")
    work = ana.workflow(TRIP, "w1", given={"requested_by": "ana"})
    work.send("hello")
    first = work.record.session_id
    desk.wait(hours=3)
    work.send("Lisbon")
    assert work.record.session_id not in (None, first)


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
