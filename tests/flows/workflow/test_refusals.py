"""What nobody can do: bad patches, rubbish from models, illegal moves; nothing changes and one answer says why."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.travel_planner import TRIP
from pydantic import BaseModel
from pydantic import Field as Limits
from tests.flows.workflow.desk import Desk, proposing, ready, stored

from tenuto.errors import Conflict, IllegalMove, InputError, ModelError, SettingError, TenutoError
from tenuto.records.base import to_plain
from tenuto.workflow import define


class Badge(BaseModel):
    badge: str = Limits(pattern=r"^[A-Z]{2}\d{4}$")


BADGE_SCHEMA = {
    "type": "object",
    "properties": {"badge": {"type": "string", "pattern": r"^[A-Z]{2}\d{4}$", "examples": ["AB1234"]}},
    "required": ["badge"],
}


@pytest.mark.parametrize("spec", [Badge, BADGE_SCHEMA], ids=["pydantic", "schema"])
def test_nobody_is_shown_a_regular_expression(desk: Desk, spec: Any) -> None:
    work = desk.store.user("ana").workflow(define("badge", spec))
    work.send("hello", keep=False)
    reply = work.send("badge: 12", keep=False)
    assert "another form" in reply.text
    assert not any(sign in reply.text for sign in "^$\\{}[]")
    with pytest.raises(InputError, match="another form") as refused:
        work.set(badge="12")
    assert "A-Z" not in str(refused.value)


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


def test_a_failed_write_leaves_the_record_as_it_was(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    work = ready(desk)
    before = stored(desk)

    def broken(*_: Any) -> Any:
        raise RuntimeError("between the decision and the commit")

    monkeypatch.setattr("tenuto.workflow.advance.trace", broken)
    with pytest.raises(RuntimeError):
        work.send("use java instead", keep=False)
    assert stored(desk) == before


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
