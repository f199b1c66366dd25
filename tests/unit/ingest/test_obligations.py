"""What is to be done, and words that say that it is done. The marks are made by hand."""

from datetime import UTC, datetime

import pytest
from tests.unit.marked import read

from tenuto.records.conversation import Role


@pytest.mark.parametrize(
    ("text", "kind", "content", "due"),
    [
        ("Remind me to {todo:call mom {when:tomorrow at 5pm}}", "reminder", "Call mom", "2026-05-14T17:00"),
        ("I need to {todo:submit my thesis by {when:June 1}}", "task", "Submit their thesis", "2026-06-01T23:59"),
        ("{todo:pay the rent {when:on Friday}}", "task", "Pay the rent", "2026-05-15T23:59"),
        ("I promised to {todo:go to the gym {when:this week}}", "commitment", "Go to the gym", "2026-05-17T23:59"),
        ("I want to {todo:meditate {when:every morning}}", "habit", "Meditate every morning", None),
        ("I {bad:keep skipping the stretching}", "friction", "Keep skipping the stretching", None),
        ("Ich muss {todo:{when:morgen} die Bank anrufen}", "task", "Die Bank anrufen", "2026-05-14T23:59"),
        ("Erinnere mich, {todo:{when:am Freitag} Miete zu zahlen}", "reminder", "Miete zu zahlen", "2026-05-15T23:59"),
        ("Tengo que {todo:llamar al banco {when:mañana}}", "task", "Llamar al banco", "2026-05-14T23:59"),
        ("Il faut {todo:appeler la banque {when:demain}}", "task", "Appeler la banque", "2026-05-14T23:59"),
        ("Tenho de {todo:ligar ao banco {when:amanhã}} e não sei", "task", "Ligar ao banco", "2026-05-14T23:59"),
        ("quiero {todo:meditar {when:cada mañana}}", "habit", "Meditar cada mañana", None),
    ],
)  # fmt: skip
def test_what_is_to_be_done(text: str, kind: str, content: str, due: str | None):
    (draft,) = read(text).todos
    assert (draft.kind, draft.content, draft.due and draft.due.isoformat()[:16]) == (kind, content, due)


def test_two_tasks_in_one_sentence_are_two_each_with_its_own_time():
    first, second = read(
        "I need to {todo:send the invoice {when:by Friday}} and {todo:book the flights to Lisbon}."
    ).todos
    assert (first.content, second.content) == ("Send the invoice", "Book the flights to Lisbon")
    assert first.due is not None and second.due is None


def test_a_time_at_the_end_holds_for_both():
    first, second = read("I have to {todo:buy the cake} and {todo:call my mother} {when:tomorrow}.").todos
    assert first.due == second.due == datetime(2026, 5, 14, 23, 59, 59, tzinfo=UTC)


def test_only_what_binds_the_assistant_is_its_promise():
    said = "You should {todo:call the bank}. I'll {todo.o:remind you about the tickets {when:tomorrow}}."
    (promise,) = read(said, role=Role.ASSISTANT).todos
    assert (promise.content, promise.by, promise.kind) == (
        "Remind you about the tickets tomorrow",
        "assistant",
        "commitment",
    )


@pytest.mark.parametrize(
    "lead", ["Remind me to", "Erinnere mich daran", "Recuérdame", "Rappelle-moi de", "Lembra-me de"]
)
def test_the_asking_alone_is_no_todo(lead: str):
    found = read(f"{{todo.o:{lead}}} {{todo.o:xyz abc def}}")
    assert [(one.kind, one.content) for one in found.todos] == [("reminder", "Xyz abc def")]


def test_what_is_done_or_dropped_is_handed_on_with_its_words():
    found = read("{done:rang the council}! And {cancel:scrap the tent thing}.").finished
    assert [(one.text, one.cancelled) for one in found] == [("rang the council", False), ("scrap the tent thing", True)]
    (short,) = read("The rota's {done:done}.").finished
    assert short.text == "The rota's done."
    (broken,) = read("{done:I called the} bank.", score=0.35).finished
    assert broken.text == "I called the bank."
