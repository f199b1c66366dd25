"""Whom a message speaks of: names, relation words, pronouns."""

from datetime import UTC, datetime

import pytest
from tests.unit.marked import marked

from tenuto.language.mentions import EMPTY, Registry, key
from tenuto.language.people import Person, in_turn, known_id, people_in, tidy_name, treats
from tenuto.language.pronouns import Subjects, fits
from tenuto.language.relations import only_one, relation_of
from tenuto.language.sentences import spans
from tenuto.records.memory import Entity

NOW = datetime(2026, 5, 13, tzinfo=UTC)


def registry(*people: tuple[str, str | None]) -> Registry:
    return Registry.of(
        Entity(id=key("person", label), type="person", label=label, relation=relation, created_at=NOW, updated_at=NOW)
        for label, relation in people
    )


def named(text: str, known: Registry = EMPTY) -> list[tuple[str, str | None]]:
    plain, marks = marked(text)
    return [(one.id, one.relation) for one in people_in(plain, marks, known)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My {rel:husband} {person:Tom} cooks", [("person:tom", "husband")]),
        ("{person:Tom}, my {rel:husband}, cooks", [("person:tom", "husband")]),
        ("My {rel:manager} is {person:Gillian Frost}", [("person:gillian_frost", "manager")]),
        ("my {rel:mum} called", [("person:mum", "mother")]),
        ("{person:Zoë} and {person:Nguyễn} came", [("person:zoë", None), ("person:nguyễn", None)]),
        ("{person:Zoë}'s {rel.o:brother} came", [("person:zoë", None), ("person:zoës_brother", "Zoë's brother")]),
        ("I saw {person:Dr. Wrona}. My {rel:neurologist}.", [("person:dr_wrona", "neurologist")]),
        ("I met {person:Sam}. He is my {rel:cousin}.", [("person:sam", "cousin")]),
        ("{person:Phil}, {person:Philomena}, cooks", [("person:phil", None), ("person:phil", None)]),
        ("mein {rel:Mann} {person:Tom} kocht", [("person:tom", "husband")]),
        ("Mein {rel:Bruder} heißt {person:Jonas}", [("person:jonas", "brother")]),
        ("mi {rel:hermana} se llama {person:Lucía}", [("person:lucía", "sister")]),
        ("ma {rel:sœur} s'appelle {person:Chloé}", [("person:chloé", "sister")]),
        ("a minha {rel:irmã} chama-se {person:Inês}", [("person:inês", "sister")]),
    ],
)
def test_names_and_relations_are_one_person(text: str, expected: list):
    assert named(text) == expected


def test_the_word_for_a_relation_is_whoever_is_known_to_be_it():
    known = registry(("Anna", "sister"))
    assert named("my {rel:sister} called", known) == [("person:anna", "sister")]
    assert named("meine {rel:Schwester} kommt", known) == [("person:anna", "sister")]
    two = registry(("Anna", "sister"), ("Eva", "sister"))
    assert named("my {rel:sister} called", two) == [("person:sister", "sister")]


def test_a_name_is_given_to_who_was_known_by_the_relation_alone():
    known = registry(("Dad", "father"))
    assert named("my {rel:dad} is called {person:Frank}", known) == [("person:dad", "father")]


@pytest.mark.parametrize(
    ("label", "expected"),
    [("John", "person:john_oneill_smith"), ("Mr. John O'Neill-Smith", "person:john_oneill_smith"),
     ("Joan", "person:joan"), ("John Doe", "person:john_doe")],
)  # fmt: skip
def test_a_first_name_is_the_one_person_who_has_it(label: str, expected: str):
    assert known_id(label, None, registry(("John O'Neill-Smith", "cofounder"))) == expected


@pytest.mark.parametrize(
    ("word", "relation"),
    [("Mum", "mother"), ("Mutter", "mother"), ("madre", "mother"), ("maman", "mother"), ("mãe", "mother"),
     ("best friend", "friend"), ("sisters", "sister"), ("Schwager", "brother_in_law"), ("bookkeeper", "bookkeeper")],
)  # fmt: skip
def test_relation_words_of_each_language(word: str, relation: str):
    assert relation_of(word) == relation


def test_who_has_one_at_a_time():
    assert only_one("manager") and only_one("husband")
    assert not only_one("friend") and not only_one("sister")


@pytest.mark.parametrize(
    ("said", "name"), [("tom's", "Tom"), (" anna maria ", "Anna Maria"), ("O’Neill", "O’Neill"), ('"Bea"', "Bea")]
)
def test_names_are_tidied(said: str, name: str):
    assert tidy_name(said) == name


def about(text: str, earlier: list[Person] | None = None, *, patient: bool = False) -> str | None:
    """Of whom the value that is marked last is told."""
    plain, marks = marked(text)
    subjects = Subjects(plain, spans(plain), people_in(plain, marks, EMPTY), earlier or [])
    last = [one for one in marks if one.type not in ("person", "rel")][-1]
    found = subjects.of(last.start, patient=patient)
    return found and found.label


def person(label: str, relation: str | None = None) -> Person:
    return Person(id=key("person", label), label=label, start=0, end=0, relation=relation)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("{person:Anna} lives in {home.o:Rome}", "Anna"),
        ("My {rel:sister} {person:Anna} moved. She is a {job.o:nurse}.", "Anna"),
        ("My {rel:dad} saw my {rel:aunt}. He takes {med.o:apixaban}.", "Dad"),
        ("My {rel:dad} saw my {rel:aunt}. She takes {med.o:apixaban}.", "Aunt"),
        ("{person:Bo} came with her {rel.o:husband}. Works as a {job.o:nurse}.", "Bo"),
        ("{person:Bo} came with her {rel.o:husband}. He works as a {job.o:nurse}.", "Bo's husband"),
        ("Meine {rel:Mutter} kam. Sie nimmt {med.o:Ramipril}.", "Mutter"),
        ("Mi {rel:padre} vino. Él toma {med.o:sintrom}.", "Padre"),
        ("Ma {rel:mère} est là. Elle prend {med.o:Eliquis}.", "Mère"),
        ("O meu {rel:pai} veio. Ele toma {med.o:varfarina}.", "Pai"),
        ("He takes {med.o:apixaban}.", None),
    ],
)
def test_a_pronoun_is_the_last_who_fits(text: str, who: str | None):
    assert about(text) == who


def test_he_and_she_may_be_somebody_of_the_talk_before():
    before = [person("Dad", "father"), person("Ruth", "sister")]
    assert about("He is allergic to {allergy.o:penicillin}.", before) == "Dad"
    assert about("She is allergic to {allergy.o:penicillin}.", before) == "Ruth"


def test_who_treats_is_not_the_patient():
    text = "My {rel:dad} saw {person:Dr. Wrona}. New dose: {med.o:apixaban}."
    assert about(text, patient=True) == "Dad"
    assert treats(person("Dr. Wrona")) and treats(person("Wrona", "gp")) and not treats(person("Ruth", "sister"))


def test_a_turn_before_names_people_too():
    known = registry(("Frank", "father"))
    assert [one.id for one in in_turn("How is your father's knee?", known)] == ["person:frank"]
    assert [one.id for one in in_turn("Is Chidi coming?", EMPTY)] == []
    assert [one.id for one in in_turn("And how is Chidi doing?", EMPTY, names=True)] == ["person:chidi"]
    assert in_turn("See you on Monday in Rome.", EMPTY, names=True) == []


def test_what_is_known_of_somebody_excludes_a_pronoun():
    assert fits(person("Ruth", "sister"), "f") and not fits(person("Ruth", "sister"), "m")
    assert fits(person("Alex"), "f") and fits(person("Alex"), "m")
