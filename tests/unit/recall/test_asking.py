"""A query that only asks is told from a message that goes on with a conversation."""

from __future__ import annotations

import pytest

from tenuto.recall.asking import asked_again, tells
from tenuto.text import words


@pytest.mark.parametrize(
    "query",
    [
        "What is my blood type?",
        "antibiotics",
        "Can you list the order in which I brought up the topics of my training",
        "Wo wohnt meine Schwester seit dem letzten Sommer",
        "¿Dónde vive mi hermana desde el verano pasado?",
        "Hi! Where did I leave the keys?",
    ],
)
def test_what_only_asks(query: str) -> None:
    assert not tells(query)


@pytest.mark.parametrize(
    "query",
    [
        "Scene 3 is delivered and it nails the escalation. What is the next scene?",
        "I booked a flight, please help me confirm it.",
        "Mi hermana se muda mañana a Lisboa. ¿Qué le regalo?",
    ],
)
def test_what_goes_on_with_a_conversation(query: str) -> None:
    assert tells(query)


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("Where does my sister live?", True),
        ("And where does my sister live now?", True),
        ("My sister lives in Lisbon, where does yours live?", False),
        ("My sister lives in Lisbon.", False),
        ("Who?", False),
    ],
)
def test_the_same_question_again(text: str, again: bool) -> None:
    query = words.tokens("Where does my sister live?")
    assert asked_again(text, words.tokens(text), query) is again
