"""Which open todo is done, from words that the reader took to say that something is."""

from datetime import UTC, datetime, timedelta

import pytest

from tenuto.language.completion import completion, recurring
from tenuto.language.doings import stems
from tenuto.records.memory import Todo, TodoKind, TodoStatus

AT = datetime(2026, 5, 13, 14, 0, tzinfo=UTC)


def todo(id: str, content: str, kind: TodoKind = TodoKind.TASK, **more) -> Todo:
    return Todo(id=id, kind=kind, content=content, created_at=AT, updated_at=AT, **more)


OPEN = [
    todo("mom", "Call mom"),
    todo("thesis", "Submit their thesis"),
    todo("rent", "Pay the rent"),
    todo("run", "Go for a run", TodoKind.HABIT, recurrence="every morning"),
    todo("dentist", "Call the dentist"),
    todo("bank", "Call the bank"),
    todo("eyes", "Book the eye screening"),
]


def done(said: str, open_: list[Todo] = OPEN, meaning: dict[str, float] | None = None) -> str | None:
    found = completion(said, open_, AT, meaning or {})
    return found.todo.id if found and found.todo else None


@pytest.mark.parametrize(
    ("said", "id"),
    [
        ("called my mom", "mom"),
        ("phoned Mum yesterday", "mom"),
        ("paid the rent", "rent"),
        ("the thesis is submitted", "thesis"),
        ("rent's done", "rent"),
        ("went for a run this morning", "run"),
        ("booked the eye screening!", "eyes"),
        ("dentist done btw", "dentist"),
        ("the tax return is in", None),
        ("called them", None),
    ],
)
def test_the_todo_whose_words_are_said_again(said: str, id: str | None):
    assert done(said) == id


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Miete überweisen", "Miete ist überwiesen"),
        ("Llamar al dentista", "ya llamé al dentista"),
        ("Appeler le dentiste", "le dentiste, c'est fait"),
        ("Ligar ao dentista", "já liguei ao dentista"),
    ],
)
def test_in_other_languages_a_rare_word_is_enough(content: str, said: str):
    assert done(said, [todo("x", content), todo("y", "Etwas ganz anderes")]) == "x"


def test_several_that_fit_are_asked_about():
    found = completion("called the bank and the dentist", OPEN, AT, {})
    assert found is not None and found.todo is None
    assert {one.id for one in found.plausible} == {"bank", "dentist"}


def test_done_alone_is_clear_only_when_one_is_open_or_due():
    assert done("Done!", OPEN[:1]) == "mom"
    assert done("Erledigt!", OPEN[:1]) == "mom"
    several = completion("Done!", OPEN, AT, {})
    assert several is not None and several.todo is None and several.plausible
    due = [*OPEN, todo("due", "Water the plants", due=AT + timedelta(hours=2))]
    assert done("Done!", due) == "due"


def test_what_is_cancelled_says_so():
    found = completion("no longer need to call the bank", OPEN, AT, {}, cancelled=True)
    assert found is not None and found.todo is not None and (found.todo.id, found.cancelled) == ("bank", True)


def test_meaning_settles_what_words_leave_open():
    open_ = [todo("d", "Make dentist appointment soon"), todo("p", "Water plants")]
    assert done("dentist: sorted", open_, {"d": 0.5}) == "d"
    assert done("my teeth are seen to", open_, {"d": 0.7}) == "d"
    assert done("my teeth are seen to", open_, {"d": 0.4}) is None


def test_what_is_closed_or_only_a_thread_is_not_closed_again():
    assert done("called mom", [todo("mom", "Call mom", status=TodoStatus.DONE)]) is None
    assert done("called mom", [todo("mom", "Call mom", TodoKind.THREAD)]) is None
    assert done("called mom", []) is None


@pytest.mark.parametrize(
    ("said", "id"),
    [
        ("I called my mom", "mom"),
        ("I paid the rent this morning", "rent"),
        ("I went for a run", "run"),
        ("I went to the bank", None),
        ("I finished the thesis", None),
    ],
)
def test_what_is_only_told_closes_what_it_says_in_full(said: str, id: str | None):
    found = completion(said, OPEN, AT, {"thesis": 0.9}, told=True)
    assert (found.todo.id if found and found.todo else None) == id


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Die Bank anrufen", "Ich habe die Bank angerufen"),
        ("Llamar al banco", "Ya llamé al banco"),
        ("Appeler la banque", "J'ai appelé la banque"),
        ("Ligar ao banco", "Já liguei ao banco"),
    ],
)
def test_told_in_another_form_of_the_verb(content: str, said: str):
    found = completion(said, [todo("x", content), todo("y", "Comprar pan")], AT, {}, told=True)
    assert found is not None and found.todo is not None and found.todo.id == "x"


def test_habits_recur():
    assert [one.id for one in OPEN if recurring(one)] == ["run"]


def test_stems_leave_out_what_says_nothing():
    assert stems("It's done today!") == frozenset()
    assert stems("Phoned mum") == stems("call mother")


ERRANDS = [
    todo("room", "Advertise the attic flat online"),
    todo("book", "Return the borrowed drill"),
    todo("tom", "Ask Imre to trade the night shift"),
    todo("log", "Send the tender papers to Solveig"),
    todo("council", "Call the water board about the meter"),
    todo("tax", "Die Steuer abgeben"),
    todo("card", "Renew Mum's parking permit"),
]


@pytest.mark.parametrize(
    ("said", "id"),
    [
        ("attic flat is up online, two people wrote already", "room"),
        ("oh and the drill finally went back", "book"),
        ("Imre traded, by the way", "tom"),
        ("Tender papers have gone to Solveig", "log"),
        ("Steuer ist abgegeben!", "tax"),
        ("The parking permit is in the post, hurray", "card"),
        ("the meeting room is booked", None),
        ("Solveig is back", None),
    ],
)
def test_a_result_closes_what_is_about_those_things(said: str, id: str | None):
    found = completion(said, ERRANDS, AT, {}, reported=True)
    assert (found.todo.id if found and found.todo else None) == id


def test_what_is_told_as_past_must_say_the_doing():
    assert completion("I rang the water board after all", ERRANDS, AT, {}, told=True) is not None
    assert completion("I saw the water board building", ERRANDS, AT, {}, told=True) is None
