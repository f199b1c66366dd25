"""The reader with its real weights: what it marks, in five languages, and what it does with rubbish."""

import random
import string
import time
from pathlib import Path

import pytest

from tenuto.errors import ReaderError
from tenuto.providers.reader import LocalReader
from tenuto.records.reading import Mark


@pytest.fixture(scope="module")
def reader() -> LocalReader:
    return LocalReader()


def words(message: str, marks: list[Mark]) -> set[tuple[str, str]]:
    return {(mark.type, message[mark.start : mark.end]) for mark in marks}


@pytest.mark.parametrize(
    ("message", "word", "owner"),
    [
        ("My dad is allergic to penicillin.", "penicillin", "other"),
        ("Mein Vater ist allergisch gegen Penicillin.", "Penicillin", "other"),
        ("Soy alérgica a la penicilina.", "penicilina", "self"),
        ("Je suis allergique à la pénicilline.", "pénicilline", "self"),
        ("Meu pai é alérgico a penicilina.", "penicilina", "other"),
    ],
)
def test_an_allergy_is_found_in_five_languages(reader: LocalReader, message: str, word: str, owner: str):
    found = [mark for mark in reader.read(message) if mark.type == "allergy"]
    assert [(message[mark.start : mark.end], mark.owner) for mark in found] == [(word, owner)]


def test_an_answer_is_read_in_the_light_of_the_question(reader: LocalReader):
    message = "Penicillin, and sulfa drugs too."
    found = words(message, reader.read(message, "Does your father have any allergies?"))
    assert {("allergy", "Penicillin"), ("allergy", "sulfa drugs")} <= found


def test_what_is_over_is_marked_so(reader: LocalReader):
    message = "They took me off the warfarin, I'm on apixaban 5 mg twice a day now."
    marks = {message[mark.start : mark.end]: mark for mark in reader.read(message)}
    assert (marks["warfarin"].type, marks["warfarin"].state) == ("med", "end")
    assert (marks["apixaban"].type, marks["apixaban"].state) == ("med", "now")
    assert marks["5 mg twice a day"].type == "dose"


@pytest.mark.parametrize(
    "message",
    ["lol same", "What's the capital of Peru?", "Schreib mir ein Gedicht über den Herbst.", "¿Qué tal?", "ok"],
)
def test_small_talk_has_no_marks(reader: LocalReader, message: str):
    assert reader.read(message) == []


def test_many_are_read_like_one(reader: LocalReader):
    turns: list[tuple[str, str | None]] = [
        ("I live in Ghent with my husband Pieter.", None),
        ("yes", "Do you have asthma?"),
        ("", None),
        ("Erinnere mich morgen an die Steuererklärung.", "Noch etwas?"),
    ]
    assert reader.read_many(turns) == [reader.read(*turn) for turn in turns]
    assert reader.read_many([]) == []


def test_a_long_message_is_read_to_its_end(reader: LocalReader):
    """Several windows long; each stretch is found at its own place, the last one too."""
    foods = ["peanuts", "shellfish", "latex", "penicillin", "eggs", "soy", "sesame", "kiwi", "codeine", "aspirin"]
    names = ["Ana", "Ben", "Cora", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jan", "Kim"]
    message = "\n".join(f"{names[at % 11]} is allergic to {foods[at % 10]}." for at in range(44))
    places = [mark.start for mark in reader.read(message) if mark.type == "allergy"]
    right = [place for place in places if message[:place].endswith(" is allergic to ")]
    assert len(right) >= 30 and len(right) == len(places)
    assert max(right) > 0.9 * len(message)


def test_marks_stand_on_words(reader: LocalReader):
    message = '  "Zoë" (my sister) lives in  Nîmes … she\'s a nurse!! '
    for mark in reader.read(message):
        stretch = message[mark.start : mark.end]
        assert stretch == stretch.strip(" .,;:!?…\"'") != ""


@pytest.mark.parametrize("kind", ["letters", "one word", "brackets", "surrogates", "emoji", "log"])
def test_rubbish_costs_bounded_time(reader: LocalReader, kind: str):
    chance = random.Random(7)
    rubbish = {
        "letters": "".join(chance.choices(string.printable, k=65_536)),
        "one word": "a" * 65_536,
        "brackets": "{[(<" * 16_384,
        "surrogates": "\ud800" * 65_536,
        "emoji": "👩‍👩‍👧" * 8_192,
        "log": "2026-01-01T00:00:00Z ERROR 0x7f3a at line 12 in main.c: null pointer\n" * 900,
    }[kind]
    began = time.monotonic()
    marks = reader.read(rubbish, rubbish)
    assert time.monotonic() - began < 60  # against hangs: machines are shared
    assert {mark.type for mark in marks} <= {"when"}  # the times of a log are times


def test_other_scripts_are_left_alone(reader: LocalReader):
    assert reader.read("父はペニシリンにアレルギーがあります。") == []
    assert reader.read("У папы аллергия на пенициллин.") == []


def test_a_folder_without_weights_is_named(tmp_path: Path):
    with pytest.raises(ReaderError, match=str(tmp_path)):
        LocalReader(tmp_path).read("hello")
