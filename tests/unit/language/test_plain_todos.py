"""Obligations that are said in so many words."""

import pytest

from tenuto.language.detect import language_of
from tenuto.language.plain_todos import plain_todos
from tenuto.language.sentences import spans


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in plain_todos(text, spans(text), language_of(text))]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("I need to cancel my gym membership", "cancel my gym membership"),
        ("ok so i still have to ring the vet, but not today", "ring the vet"),
        ("gotta pay the rent because it is late", "pay the rent"),
        ("Ich muss noch am 9. Januar zum Zahnarzt", "am 9. Januar zum Zahnarzt"),
        ("Tengo que llamar al banco", "llamar al banco"),
        ("Je dois appeler la banque", "appeler la banque"),
        ("Tenho de ligar ao senhorio", "ligar ao senhorio"),
    ],
)
def test_what_is_to_be_done(text: str, what: str):
    assert found(text) == [what]


@pytest.mark.parametrize(
    "text",
    [
        "I have to say it was great",
        "Do I need to call them?",
        "She needs to call the bank",
        "I don't need to call the bank",
        "if I need to call the bank I will",
        "I had to call the bank",
    ],
)
def test_what_is_no_task(text: str):
    assert found(text) == []
