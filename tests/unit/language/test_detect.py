"""Which language a message is in; where it says too little, the language of the talk before."""

import pytest

from tenuto.language.detect import language_of

TALK = {
    "en": ["My dad is allergic to penicillin.", "I have to call the bank tomorrow", "she's with her mum at the moment"],
    "de": [
        "Mein Vater ist allergisch gegen Penicillin.",
        "Ich wohne seit März in Augsburg",
        "Bitte speichere das nicht",
    ],
    "es": ["Mi padre es alérgico a la penicilina.", "Vivo en Sevilla y tengo dos hijos", "Hoy no puedo, mañana sí"],
    "fr": ["Mon père est allergique à la pénicilline.", "J'habite à Lyon depuis mars", "Il ne prend plus rien"],
    "pt": ["O meu pai é alérgico à penicilina.", "Moro em Braga e não como carne", "Hoje não posso, ele também não"],
}


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in TALK.items() for text in texts])
def test_sentences_are_in_their_language_whatever_came_before(language: str, text: str):
    for before in TALK:
        assert language_of(text, before) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich wohne in Augsburg"), ("de", "Ich bin vegan"), ("es", "Quiero meditar cada mañana"),
        ("es", "Soy alérgico a la leche"), ("fr", "J'habite à Lyon"), ("fr", "Je suis végane"), ("pt", "Moro em Braga"),
        ("pt", "Sou alérgica a amendoim"), ("en", "I live in Augsburg"), ("en", "I am vegan"),
    ],
)  # fmt: skip
def test_a_few_words_are_enough(language: str, text: str):
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "12:30", "Lisbon", "ok", "Ibuprofen 400", "😀", "東京", "..."])
def test_what_is_in_no_language_is_in_that_of_the_talk(text: str):
    assert [language_of(text, before) for before in TALK] == list(TALK)


def test_a_word_of_another_language_changes_nothing():
    assert language_of("I had Kaffee und Kuchen at the Café in the old town") == "en"
    assert language_of("Ich habe heute ein Meeting und das Briefing ist noch nicht fertig", "en") == "de"


def test_a_long_text_is_not_read_to_its_end():
    assert language_of("Ich bin nicht da. " * 200 + "the and is my " * 90_000) == "de"
