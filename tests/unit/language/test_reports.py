"""Clauses that report a result."""

import pytest

from tenuto.language.detect import language_of
from tenuto.language.reports import reports
from tenuto.language.sentences import spans


def kinds(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in reports(text, spans(text), language_of(text))]


@pytest.mark.parametrize(
    "said",
    [
        "The book went back",
        "dentist done btw",
        "Tender papers have gone to Solveig",
        "Solveig said yes",
        "Bank: done",
        "Steuer ist abgegeben",
        "DNI renovado",
        "le loyer est payé",
        "consulta marcada",
    ],
)
def test_results(said: str):
    assert [kind for kind, _ in kinds(said)] == ["done"]


@pytest.mark.parametrize(
    "said",
    [
        "I called my mom.",
        "ok, I finally rang them",
        "called the bank",
        "Ich habe die Bank angesprochen.",
        "Ya le hablé ayer al banco.",
        "J'ai appelé la banque hier",
        "Eu liguei ao banco.",
    ],
)
def test_what_somebody_did(said: str):
    assert kinds(said)


@pytest.mark.parametrize(
    "said",
    [
        "I haven't called my mom yet",
        "Did I call mom?",
        "I will call mom",
        "She called the bank",
        "I forgot to call mom",
        "I had to call the bank",
        "just the council left",
        "Ich habe die Bank nicht angerufen",
        "Ich muss die Bank anrufen",
        "No llamé al banco",
        "Je n'ai pas appelé la banque",
        "Não liguei ao banco",
    ],
)
def test_what_nobody_did(said: str):
    assert kinds(said) == []


def test_each_clause_is_heard_for_itself():
    assert kinds("actually did the bank one just now so just the council left") == [
        ("done", "actually did the bank one just now")
    ]


def test_what_is_dropped_and_what_is_put_off():
    assert kinds("scrap the tent thing") == [("dropped", "scrap the tent thing")]
    assert kinds("Ya no hace falta llamar al banco") == [("dropped", "Ya no hace falta llamar al banco")]
    assert kinds("The dinner's moved to Thursday") == [("moved", "The dinner's moved to Thursday")]
