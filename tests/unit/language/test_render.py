"""A proposition as a sentence of its own."""

import re
from datetime import UTC, datetime

import pytest

from tenuto.language.dates import Moment
from tenuto.language.lexicon import packaged
from tenuto.language.people import Person
from tenuto.language.render import clause, dated, related, sentence, subject, template
from tenuto.language.voice import LANGUAGES

MARCH = Moment(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC), "month", "since", "March 2026")


def person(label: str, relation: str | None = None, word: str | None = None, *, named: bool = True) -> Person:
    return Person(id="person:x", label=label, start=0, end=0, relation=relation, word=word, named=named)


@pytest.mark.parametrize(
    ("who", "shown"),
    [
        (None, ""),
        (person("Chidi", "friend", "mate"), "Chidi (mate)"),
        (person("Frank", "father"), "Frank (father)"),
        (person("Dad", "father", "dad", named=False), "Dad"),
        (person("Aunt Jo", "aunt", "aunt"), "Aunt Jo"),
        (person("Miso", "pet"), "Miso"),
        (person("Bo", "mother_in_law"), "Bo (mother in law)"),
    ],
)
def test_who_it_is_about(who: Person | None, shown: str):
    assert subject(who) == shown


def test_the_user_is_left_out():
    assert sentence(None, "lives in Oslo") == "Lives in Oslo"
    assert sentence(person("Anna", "sister"), "lives in Oslo") == "Anna (sister) lives in Oslo"


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "lives in Oslo since March 2026"),
        ("de", "lives in Oslo seit March 2026"),
        ("es", "lives in Oslo desde March 2026"),
        ("fr", "lives in Oslo depuis March 2026"),
        ("pt", "lives in Oslo desde March 2026"),
    ],
)
def test_its_time_stands_behind_it_once(language: str, told: str):
    assert dated("lives in Oslo", MARCH, language) == told
    assert dated(told, MARCH, language) == told
    assert dated("lives in Oslo", None, language) == "lives in Oslo"


@pytest.mark.parametrize(
    ("language", "own", "named"),
    [
        ("en", "Jana is the user's wife", "Jana is Tom's wife"),
        ("de", "Jana ist wife des Nutzers", "Jana ist wife von Tom"),
        ("es", "Jana es wife del usuario", "Jana es wife de Tom"),
        ("fr", "Jana : wife de l'utilisateur", "Jana : wife de Tom"),
        ("pt", "Jana é wife do utilizador", "Jana é wife de Tom"),
    ],
)
def test_who_is_who(language: str, own: str, named: str):
    assert related("Jana", "wife", None, language) == own
    assert related("Jana", "wife", "Tom", language) == named


def test_somebodys_clause_begins_with_their_name():
    anna = person("Anna", "sister", "sister")
    assert clause("she runs the choir", anna, "en", own=False) == "Anna (sister) runs the choir"
    assert clause("she's in the choir", anna, "en", own=False) == "Anna (sister) is in the choir"
    assert clause("my sister runs the choir", anna, "en", own=False) == "Anna (sister) runs the choir"
    assert clause("Anna runs the choir", anna, "en", own=False) == "Anna runs the choir"
    assert clause("I run the choir,", None, "en", own=True) == "Runs the choir"


def test_every_language_can_say_what_english_says():
    tables = packaged("render")
    for language in LANGUAGES:
        assert set(tables[language]) >= set(tables["en"]), language
        for name, said in tables["en"].items():
            places = set(re.findall(r"\{(\w+)\}", said))
            assert set(re.findall(r"\{(\w+)\}", tables[language][name])) == places, (language, name)


def test_a_state_without_a_form_has_none_and_another_language_is_english():
    assert template("blood", "end", "en") is None
    assert template("home", "now", "ja") == template("home", "now", "en")
    assert template("home", "end", "de") == "wohnt nicht mehr in {v}"
