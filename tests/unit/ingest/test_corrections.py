"""Marks set right by the words around them."""

import pytest
from tests.unit.marked import read


def contents(text: str, **more) -> list[str]:
    return [one.content for one in read(text, **more).candidates]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{rel:Mum}'s {med.o.end:eliquis} went down to {dose.o:2}.5 mg", ["Mum takes eliquis 2.5 mg"]),
        ("I'm off the {med.end:warfarin}", ["No longer takes warfarin"]),
        ("O {rel:avô} toma {med.o:Jardiance} em vez de {med.o:metformina} e não gosta",
         ["Avô toma Jardiance", "Avô já não toma metformina"]),
        ("We have settled in {home.end:Leeds} now", ["Lives in Leeds"]),
        ("Ich arbeite seit 30 Jahren als {job.plan:Lokführer}", ["Arbeitet als Lokführer"]),
    ],
)  # fmt: skip
def test_what_goes_on_is_not_over(said: str, told: list[str]):
    assert contents(said) == told


def test_brand_and_substance_are_one_attribute():
    brand, substance = (read(f"I take {{med:{name}}}").candidates[0].attribute for name in ("Eliquis", "apixaban"))
    assert brand == substance == "medication_apixaban"


def test_what_nobody_takes_is_no_medicine():
    assert contents("I told {med:Halpin} about it") == []
    assert contents("He lives with {home:Olly}, my mate {person:Olly}") == ["Olly is the user's mate"]


def test_an_answer_is_about_whom_the_question_was():
    said = "{allergy.o:Penicillin}, and {allergy.o:sulfa drugs} too."
    assert contents(said, before="Does your father have any allergies?") == [
        "Father is allergic to Penicillin",
        "Father is allergic to sulfa drugs",
    ]
    assert contents(said, before="Do you have any allergies, Mrs. Doyle?") == [
        "Is allergic to Penicillin",
        "Is allergic to sulfa drugs",
    ]


def test_whom_a_question_names_is_known_afterwards():
    found = read("{allergy.o:Penicillin}.", before="Does your father have any allergies?")
    assert [(one.id, one.relation) for one in found.mentions] == [("person:father", "father")]


def test_somebody_named_without_a_mark():
    said = "can I give Chidi paella when he's anaphylactic to {allergy.o:shellfish}?"
    assert contents(said) == ["Chidi is allergic to shellfish"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I can't eat {allergy.end:gluten} any more", "Is allergic to gluten"),
        ("I'm no longer allergic to {allergy.end:eggs}", "Is no longer allergic to eggs"),
        ("picked up the {med.end:warfarin} from the pharmacy, sorted", "Takes warfarin"),
        ("they took me off the {med.end:warfarin}", "No longer takes warfarin"),
        ("We moved to {home:Porto} today.", "Lives in Porto"),
        ("First days at {employer.end:Hill Mill} done.", "Works at Hill Mill"),
        ("my last day at {employer.end:Hill Mill}", "No longer works at Hill Mill"),
    ],
)
def test_nothing_that_matters_ends_without_a_word_that_says_so(text: str, said: str):
    assert any(one.content.startswith(said) for one in read(text).candidates), read(text)
