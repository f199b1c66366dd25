"""From the first person to the third, clause by clause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.language.voice import LANGUAGES, third_person


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", "I do Anki every morning", "does Anki every morning"),
        ("en", "I'm learning the cello", "is learning the cello"),
        ("en", "I've got two kids", "has got two kids"),
        ("en", "I usually play chess on Sundays", "usually plays chess on Sundays"),
        ("en", "my rent is 480 a month", "their rent is 480 a month"),
        ("en", "we share our car with my sister", "they share their car with their sister"),
        ("en", "I went home because I was ill", "went home because they were ill"),
        ("en", "I don't eat before 12", "doesn't eat before 12"),
        ("en", "I carry an umbrella", "carries an umbrella"),
        ("en", "I watch birds", "watches birds"),
        ("en", "the band plays for me", "the band plays for them"),
        ("de", "ich spiele jeden Sonntag Schach", "spielt jeden Sonntag Schach"),
        ("de", "jeden Sonntag spiele ich Schach", "jeden Sonntag spielt Schach"),
        ("de", "ich arbeite mit meiner Schwester", "arbeitet mit seiner Schwester"),
        ("de", "ich nehme den Bus", "nimmt den Bus"),
        ("de", "ich habe zwei Kinder", "hat zwei Kinder"),
        ("es", "toco el piano todos los días", "toca el piano todos los días"),
        ("es", "yo trabajo con mi hermana", "trabaja con su hermana"),
        ("es", "tengo dos hijos", "tiene dos hijos"),
        ("es", "corro cada mañana", "corre cada mañana"),
        ("fr", "je joue aux échecs le dimanche", "joue aux échecs le dimanche"),
        ("fr", "j'ai deux enfants", "a deux enfants"),
        ("fr", "je prends le bus avec ma sœur", "prend le bus avec sa sœur"),
        ("fr", "je ne bois pas de café", "ne boit pas de café"),
        ("pt", "toco piano todos os dias", "toca piano todos os dias"),
        ("pt", "eu trabalho com a minha irmã", "trabalha com a sua irmã"),
        ("pt", "tenho dois filhos", "tem dois filhos"),
        ("pt", "corro todas as manhãs", "corre todas as manhãs"),
    ],
)
def test_what_somebody_says_of_themselves(language: str, said: str, told: str):
    assert third_person(said, language) == told


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Teresa runs the parish choir"),
        ("en", "the boiler is 12 years old"),
        ("de", "Teresa leitet den Kirchenchor"),
        ("es", "Teresa dirige el coro"),
        ("fr", "Teresa dirige la chorale"),
        ("pt", "a Teresa dirige o coro"),
    ],
)
def test_what_is_said_of_others_stays(language: str, said: str):
    assert third_person(said, language) == said


def test_a_language_without_a_table_is_told_as_english():
    assert third_person("I live here", "ja") == "lives here"


@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_words_can_be_told(text: str, language: str):
    assert len(third_person(text, language)) <= 4 * len(text) + 40


def test_the_speaker_with_others():
    assert third_person("Tess and I broke up", "en") == "Tess and the user broke up"
    assert third_person("I swim and I run", "en") == "swims and they run"
