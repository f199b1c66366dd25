"""The net under the reader: plain words for what must not be lost, and what only looks like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.marked import marked

from tenuto.language.safety import HEDGED, PLAIN, plain_marks
from tenuto.language.sentences import spans


def found(text: str) -> list[tuple[str, str, str, str]]:
    """(type, words, owner, state) of what the net adds where the reader marked only people."""
    plain, marks = marked(text)
    return [
        (one.type, plain[one.start : one.end], one.owner, one.state)
        for one in plain_marks(plain, marks, spans(plain))
        if one.type != "rel"
    ]


@pytest.mark.parametrize(
    ("text", "what", "owner"),
    [
        ("I'm allergic to penicillin.", ["penicillin"], "self"),
        ("I am severely allergic to bee stings", ["bee stings"], "self"),
        ("I'm allergic to peanuts, shellfish and eggs.", ["peanuts", "shellfish", "eggs"], "self"),
        ("My {rel:dad} is allergic to penicillin", ["penicillin"], "other"),
        ("The patient is allergic to latex.", ["latex"], "other"),
        ("She has a nut allergy", ["nut"], "other"),
        ("can I give {person:Chidi} paella when he's anaphylactic to shellfish?", ["shellfish"], "other"),
        ("Ich bin allergisch gegen Nüsse.", ["Nüsse"], "self"),
        ("Mein {rel:Vater} ist allergisch gegen Penicillin.", ["Penicillin"], "other"),
        ("Soy alérgica a los cacahuetes.", ["cacahuetes"], "self"),
        ("Mi {rel:padre} es alérgico a la penicilina.", ["penicilina"], "other"),
        ("Je suis allergique aux arachides.", ["arachides"], "self"),
        ("Ma {rel:mère} est allergique à la pénicilline.", ["pénicilline"], "other"),
        ("Sou alérgica a amendoim.", ["amendoim"], "self"),
        ("O meu {rel:pai} é alérgico à penicilina.", ["penicilina"], "other"),
    ],
)
def test_allergies_in_so_many_words(text: str, what: list[str], owner: str):
    assert found(text) == [("allergy", one, owner, "now") for one in what]


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to Mondays lol",
        "she's allergic to nothing apparently",
        "Are you allergic to anything?",
        "Is anyone allergic to nuts?",
        "Do you have a nut allergy?",
        "any allergies I should know of?",
        "no allergies",
        "I hate 500 mg tablets",
        "Ich bin gegen nichts allergisch",
        "Soy alérgico a trabajar",
    ],
)
def test_jokes_and_questions_are_left_alone(text: str):
    assert found(text) == []


def test_a_denial_is_one():
    assert found("I'm not allergic to cats") == [("allergy", "cats", "self", "neg")]


def test_what_is_only_supposed_is_less_sure():
    plain, marks = marked("I think I might be allergic to kiwi")
    assert [one.score for one in plain_marks(plain, marks, spans(plain))] == [HEDGED]
    plain, marks = marked("I'm allergic to kiwi")
    assert [one.score for one in plain_marks(plain, marks, spans(plain))] == [PLAIN]


def test_a_medicine_with_its_dose():
    assert found("I take metformin 500 mg twice a day") == [
        ("med", "metformin", "self", "now"),
        ("dose", "500 mg", "self", "now"),
    ]
    assert [one[2] for one in found("My {rel:dad} is on apixaban 5 mg")] == ["other", "other"]
    assert [one[1] for one in found("Nehme Ramipril 5 mg")] == ["Ramipril", "5 mg"]


def test_what_the_reader_marked_is_not_marked_twice():
    plain, marks = marked("I'm allergic to {allergy:penicillin} and take {med:metformin} {dose:500 mg}")
    assert plain_marks(plain, marks, spans(plain)) == []


@given(
    st.lists(
        st.sampled_from(
            [
                "I",
                "am",
                "not",
                "allergic",
                "to",
                "gegen",
                "a",
                "the",
                "nuts",
                ",",
                "and",
                ".",
                "5",
                "mg",
                "metformin",
                "?",
                "allergy",
            ]
        ),
        max_size=60,
    )
)
def test_marks_lie_inside_any_text(words: list[str]):
    text = " ".join(words)
    for one in plain_marks(text, [], spans(text)):
        assert 0 <= one.start < one.end <= len(text) and text[one.start : one.end].strip()


def test_a_flood_of_words_takes_no_time():
    text = "allergic to a " * 5000
    assert len(plain_marks(text, [], spans(text))) < 5000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("im kezia but literally everyone says kez", ["kezia", "kez"]),
        ("Anjali Deshmukh, I run product", ["Anjali Deshmukh"]),
        ("Ich bin Katharina, aber alle nennen mich Kathi", ["Katharina", "Kathi"]),
        ("hi! call me Jo", ["Jo"]),
        ("Well, I rang the council", []),
        ("Thank God, I made it", []),
        ("I'm tired, people say that a lot", []),
        ("call me later", []),
    ],
)
def test_own_names_in_so_many_words(text: str, names: list[str]):
    found = [one for one in plain_marks(text, [], spans(text)) if one.type == "name"]
    assert [text[one.start : one.end] for one in found] == names
