"""The gate: what passes for which reading, by record and by line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from tenuto.language.topics import described, topic_of
from tenuto.recall.gate import DO_NOT_RAISE, Admitted, Asked, Gate, Verdict
from tenuto.recall.holds import FORGOTTEN, NOTHING, SILENCED, Held, Holds, Place
from tenuto.recall.holds import SPOKEN as SPEAKS
from tenuto.records.conversation import Message, Role, SourcedLine, Summary, SummaryKind
from tenuto.records.memory import (
    Domain,
    Kind,
    Memory,
    Status,
    Todo,
    TodoKind,
    TodoStatus,
    Trust,
)

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
ASKED = Asked(now=NOW, persona="coach", anchor=0.65)


def memory(id: str = "mem_1", **changes: Any) -> Memory:
    made = Memory(
        id=id,
        content=f"content of {id}",
        domain=Domain.PROFILE,
        kind=Kind.FACT,
        created_at=NOW - timedelta(days=5),
        updated_at=NOW,
        trust=Trust.USER_STATED,
    )
    return replace(made, **changes)


def message(**changes: Any) -> Message:
    made = Message(id="msg_1", session_id="s", role=Role.USER, content="hello there", at=NOW, channel="api")
    return replace(made, **changes)


def gate(record: Any, asked: Asked, cosine: float | None = None, holds: Holds = NOTHING) -> Verdict:
    found = Gate(holds, asked).admit(record, cosine)
    return found if isinstance(found, Verdict) else Verdict(True, found.rule, found.mark)


def test_only_the_gate_admits() -> None:
    with pytest.raises(TypeError):
        Admitted(object(), memory(), Verdict(True, "mine"), (), True)


@pytest.mark.parametrize(
    ("changes", "passes"),
    [
        ({}, True),
        ({"persona": "coach"}, True),
        ({"persona": "tutor"}, False),
        ({"trust": Trust.EXTERNAL}, False),
        ({"status": Status.CANDIDATE}, False),
        ({"status": Status.REINFORCED}, True),
        ({"status": Status.REVISED}, True),
        ({"status": Status.DEPRECATED}, False),
        ({"status": Status.FORGOTTEN}, False),
        ({"status": Status.ARCHIVED}, False),
        ({"valid_to": NOW - timedelta(days=1)}, False),
        ({"valid_to": NOW + timedelta(days=1)}, True),
        ({"superseded_by": "mem_2"}, False),
    ],
)
def test_what_a_memory_needs_to_pass(changes: dict[str, Any], passes: bool) -> None:
    verdict = gate(memory(**changes), ASKED, 0.5)
    assert verdict.passed is passes
    assert verdict.rule


def test_superseded_facts_answer_questions_about_the_past_but_forgotten_ones_never_do() -> None:
    past = structs.replace(ASKED, past=True)
    old = memory(valid_to=NOW - timedelta(days=1), superseded_by="mem_2", status=Status.DEPRECATED)
    assert gate(old, past).passed
    assert "past" in gate(old, past).rule
    assert not gate(replace(old, status=Status.FORGOTTEN), past).passed
    assert not gate(replace(old, status=Status.CANDIDATE), past).passed


def test_what_shall_not_be_brought_up_needs_a_question_that_names_it() -> None:
    ill = memory(content="Mother has diabetes", pinned=True, importance=10)
    silenced = Holds(memories={"mem_1": Held(SILENCED, asked=described([ill.content], "diabetes", []))})
    for text in ("", "What's a good film?", "How is the weather in Rome?"):
        assert not gate(ill, structs.replace(ASKED, text=text), 0.9, silenced).passed, text
    for text in ("Who has diabetes?", "What shall we cook for dinner?", "My mother is coming"):
        assert gate(ill, structs.replace(ASKED, text=text), None, silenced).mark == DO_NOT_RAISE, text
    plain = replace(ill, pinned=False)
    assert not gate(plain, structs.replace(ASKED, text="My mother is coming"), 0.9, silenced).passed
    assert gate(plain, structs.replace(ASKED, text="my mother's diabetes"), None, silenced).passed


def test_what_was_forgotten_and_what_speaks_a_wish_never_passes() -> None:
    asked = structs.replace(ASKED, text="hello there")
    for why in (FORGOTTEN, SPEAKS):
        assert gate(message(), asked, 1.0, Holds(messages={"msg_1": Held(why)})).rule == why
    owner = structs.replace(asked, owner=True)
    assert gate(message(), owner, None, Holds(messages={"msg_1": Held(FORGOTTEN)})).mark == FORGOTTEN


def test_a_topic_holds_for_whatever_speaks_of_it() -> None:
    holds = Holds(topics=(Held(SILENCED, topic_of("Petra"), since=NOW - timedelta(days=1)),))
    assert not gate(message(content="I met Petra again"), ASKED, None, holds).passed
    assert not gate(memory(content="Petra lives in Bonn"), ASKED, None, holds).passed
    assert gate(message(content="I met Paula again"), ASKED, None, holds).passed
    assert gate(
        message(content="I met Petra again"), structs.replace(ASKED, text="Where is Petra?"), None, holds
    ).passed
    turn = structs.replace(ASKED, here=True)
    assert gate(message(content="Petra called me"), turn, None, holds).passed, "raised again by the person"
    before = message(content="Petra called me", at=NOW - timedelta(days=2))
    assert not gate(before, turn, None, holds).passed
    past = Holds(topics=(Held(FORGOTTEN, topic_of("Petra"), NOW - timedelta(days=1)),))
    assert not gate(before, ASKED, None, past).passed
    assert gate(message(content="Petra and I marry"), ASKED, None, past).passed, "said after it was forgotten"


def test_a_derived_text_loses_the_lines_that_rest_on_what_is_held_back() -> None:
    lines = (
        SourcedLine(text="takes citalopram.", messages=("m1",), who="Ana"),
        SourcedLine(text="lives in Oslo.", messages=("m2",), who="Ana"),
        SourcedLine(text="rests on nothing.", who="Ana"),
        SourcedLine(text="of another persona.", messages=("m3",), who="Ana", persona="tutor"),
        SourcedLine(text="from outside.", messages=("m4",), who="Ana", trust=Trust.EXTERNAL),
        SourcedLine(text="erased.", memories=("mem_9",), who="Ana"),
        SourcedLine(text="no longer true.", memories=("mem_8",), who="Ana"),
    )
    whole = " ".join(line.text for line in lines)
    summary = Summary(id="s", kind=SummaryKind.RANGE, content=whole, created_at=NOW, made_by="rules", lines=lines)
    asked = Gate(Holds(messages={"m1": Held(FORGOTTEN)}), ASKED)
    asked.know({}, {"mem_8": memory("mem_8", superseded_by="mem_7")})
    admitted = asked.admit(summary)
    assert isinstance(admitted, Admitted) and not admitted.whole
    assert admitted.text == "Ana: lives in Oslo."
    gone = Holds(messages={"m1": Held(FORGOTTEN), "m2": Held(SILENCED)})
    assert isinstance(Gate(gone, ASKED).admit(summary), Verdict)


def test_a_text_of_the_time_before_lines_rests_on_its_whole_range() -> None:
    old = Summary(id="s", kind=SummaryKind.RANGE, content="c", created_at=NOW, made_by="rules", start_seq=1, end_seq=50)
    holds = Holds(messages={"m": Held(FORGOTTEN)}, places=(Place(None, "x", 7, Held(FORGOTTEN)),))
    assert gate(old, ASKED).passed
    assert not gate(old, ASKED, None, holds).passed
    assert gate(replace(old, start_seq=8), ASKED, None, holds).passed


def test_candidates_and_outside_texts_come_when_asked_for() -> None:
    outside = structs.replace(ASKED, outside=True)
    assert gate(memory(status=Status.CANDIDATE, trust=Trust.EXTERNAL), outside).passed
    assert gate(message(trust=Trust.EXTERNAL, role=Role.TOOL), outside).passed
    assert not gate(message(trust=Trust.EXTERNAL, role=Role.TOOL), ASKED).passed
    named = structs.replace(ASKED, statuses=frozenset({"archived"}))
    assert gate(memory(status=Status.ARCHIVED), named).passed
    assert not gate(memory(status=Status.ACTIVE), named).passed


def test_todos_and_summaries() -> None:
    todo = Todo(id="t", kind=TodoKind.TASK, content="call", created_at=NOW, updated_at=NOW)
    assert gate(todo, ASKED).passed
    assert not gate(replace(todo, status=TodoStatus.DONE), ASKED).passed
    assert gate(replace(todo, status=TodoStatus.DONE), structs.replace(ASKED, past=True)).passed
    summary = Summary(id="s", kind=SummaryKind.ROLLING, content="c", created_at=NOW, made_by="rules")
    assert gate(summary, ASKED).passed
    assert not gate(replace(summary, current=False), ASKED).passed
