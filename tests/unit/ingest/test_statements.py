"""What a clause is told as: whole, standing by itself, and only what the sentence says."""

import pytest
from tests.unit.marked import read


def contents(text: str, **more) -> list[str]:
    return [one.content for one in read(text, **more).candidates]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("heads up, Kim gave me {habit:late shifts tue n} thu now", "Kim gave them late shifts tue n thu now"),
        ("started {habit:drum lessons} {habit:on Mondays}, because why not", "Started drum lessons on Mondays"),
        ("Standup is {fact:9:15} daily; nobody likes it.", "Standup is 9:15 daily"),
        ("so what counts is {fact:all 90} shelves in the cellar", "What counts is all 90 shelves in the cellar"),
    ],
)  # fmt: skip
def test_a_clause_is_told_whole_also_where_the_reader_cut_it_short(text: str, said: str):
    assert contents(text) == [said]


def test_what_points_at_something_said_before_stays_a_message():
    found = read("{fact:It runs out in the autumn}.")
    assert not found.candidates and "said before" in found.unkept[0].reason


def test_an_answer_is_kept_with_its_question_only_where_it_was_asked_of_them():
    assert contents("{habit:Tuesday and Thursday evenings}", before="Which days work for you?") == [
        "Which days work for you? Tuesday and Thursday evenings"
    ]
    assert contents("{habit:Mondays to Wednesdays only}", before="Who else is on it?") == []


@pytest.mark.parametrize(
    "text", ["the big thing this quarter is {employer:Osprey}", "we talked about {home:Lugano} for an hour"]
)
def test_a_home_or_workplace_of_which_the_reader_is_unsure_needs_a_word_that_says_so(text: str):
    assert contents(text, score=0.7) == [] and len(contents(text, score=0.9)) == 1
    assert len(contents("I work at {employer:Osprey}", score=0.7)) == 1
