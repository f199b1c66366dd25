"""What is to be done, and when it is done."""

from datetime import UTC, datetime

import pytest

from tenuto.ingest.completion import completion
from tenuto.ingest.sentences import classify, read
from tenuto.ingest.todos import find, find_all
from tenuto.records.memory import Todo, TodoKind

AT = datetime(2024, 5, 15, 14, 0, tzinfo=UTC)


def todo(id: str, content: str, kind: TodoKind = TodoKind.TASK, **more) -> Todo:
    return Todo(id=id, kind=kind, content=content, created_at=AT, updated_at=AT, **more)


OPEN = [
    todo("mom", "Call mom"),
    todo("thesis", "Submit my thesis"),
    todo("rent", "Pay the rent"),
    todo("run", "Go for a run", TodoKind.HABIT, recurrence="every morning"),
    todo("dentist", "Call the dentist"),
    todo("bank", "Call the bank"),
]


@pytest.mark.parametrize(
    ("text", "kind", "content", "due"),
    [
        ("Remind me to call mom tomorrow at 5pm", "reminder", "Call mom", "2024-05-16T17:00"),
        ("Can you remind me to pay the rent on Friday?", "reminder", "Pay the rent", "2024-05-17T23:59"),
        ("I need to submit my thesis by June 1", "task", "Submit my thesis", "2024-06-01T23:59"),
        ("I'll call the dentist tomorrow", "commitment", "Call the dentist", "2024-05-16T23:59"),
        ("I promise to go to the gym this week", "commitment", "Go to the gym", "2024-05-19T23:59"),
        ("I want to meditate every morning", "habit", "Meditate", None),
        ("I'm struggling with my sleep schedule", "friction", "I'm struggling with my sleep schedule", None),
        ("Let's talk about the trip next time", "thread", "Let's talk about the trip next time", None),
        ("My essay is due on Friday", "task", "My essay", "2024-05-17T23:59"),
    ],
)
def test_what_is_to_be_done(text: str, kind: str, content: str, due: str | None):
    draft = find(read(text)[0], AT)
    assert draft is not None
    assert (draft.kind, draft.content, draft.due and draft.due.isoformat()[:16]) == (kind, content, due)


@pytest.mark.parametrize(
    "text",
    [
        "I have to say it was great",
        "I'll be fine",
        "I'll see",
        "If I call mom tomorrow",
        "I don't need to call mom",
        "He said I need to call mom",
        "I'll move one day",
    ],
)
def test_talk_is_no_todo(text: str):
    assert find(read(text)[0], AT) is None


def test_only_what_binds_the_assistant_is_its_promise():
    promise = find(read("I'll remind you tomorrow morning about the tickets.")[0], AT, by_assistant=True)
    assert promise is not None
    assert promise.by == "assistant"
    assert find(read("You live in Rome and love cats.")[0], AT, by_assistant=True) is None


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("I called my mom", "mom"),
        ("I phoned Mum yesterday", "mom"),
        ("Paid the rent!", "rent"),
        ("The thesis is submitted!", "thesis"),
        ("I went for a run this morning", "run"),
        ("I haven't called my mom yet", None),
        ("I will call mom", None),
        ("Did I call mom?", None),
        ("I finished the thesis", None),
        ("I called them", None),
        ("She called the bank", None),
    ],
)
def test_what_is_done(text: str, done: str | None):
    found = completion(read(text)[0], OPEN, AT, threshold=0.8)
    assert (found.todo.id if found and found.todo else None) == done


def test_several_plausible_todos_are_asked_about_not_guessed():
    found = completion(read("I called the bank and the dentist")[0], OPEN, AT, threshold=0.8)
    assert found is not None
    assert found.todo is None
    assert {one.id for one in found.plausible} == {"bank", "dentist"}
    bare = completion(read("Done!")[0], OPEN, AT, threshold=0.8)
    assert bare is not None
    assert bare.todo is None


def test_a_bare_done_is_clear_when_only_one_is_open():
    found = completion(read("Done!")[0], OPEN[:1], AT, threshold=0.8)
    assert found is not None
    assert found.todo is OPEN[0]


def test_what_is_no_longer_needed_is_cancelled():
    found = completion(read("I no longer need to call the bank")[0], OPEN, AT, threshold=0.8)
    assert found is not None
    assert (found.todo and found.todo.id, found.cancelled) == ("bank", True)


def test_meaning_settles_what_words_leave_open_and_completes_nothing_alone():
    sentence = read("I rang my dentist office")[0]
    open_ = [todo("d", "Make dentist appointment soon")]
    assert completion(sentence, open_, AT, threshold=0.8) is None
    assert completion(sentence, [todo("x", "Water plants")], AT, threshold=0.8, meaning={"x": 0.99}) is None
    settled = completion(sentence, open_, AT, threshold=0.8, meaning={"d": 0.9})
    assert settled is not None
    assert settled.todo is open_[0]


def test_two_tasks_in_one_sentence_are_two_each_with_its_own_time():
    said = classify("I need to send the invoice to Acme by Friday and book the flights to Lisbon.")
    first, second = find_all(said, AT)
    assert (first.content, second.content) == ("Send the invoice to Acme", "Book the flights to Lisbon")
    assert first.due is not None and second.due is None


def test_a_time_at_the_end_holds_for_both():
    first, second = find_all(classify("I have to buy the cake and call my mother tomorrow."), AT)
    assert first.due == second.due is not None


def test_a_noun_is_no_second_task():
    assert [one.content for one in find_all(classify("I need to buy bread and water."), AT)] == ["Buy bread and water"]


def test_an_assistants_question_for_later_binds_it():
    draft = find(classify("I'll ask you about Mia's sleep next week."), AT, by_assistant=True)
    assert draft is not None and draft.by == "assistant" and draft.due is not None


def test_an_hour_at_the_end_of_the_sentence_is_heard():
    (draft,) = find_all(classify("I need to call the dentist on Friday at 10."), AT)
    assert draft.content == "Call the dentist" and draft.due == datetime(2024, 5, 17, 10, tzinfo=UTC)
