"""Questions whether something is done, and what answers them."""

import pytest

from tenuto.language.asked import asked_whether_done, says_yes


@pytest.mark.parametrize(
    ("question", "language", "what"),
    [
        ("Did you pay the window cleaner?", "en", "pay the window cleaner"),
        ("Did you manage to return the parcel?", "en", "return the parcel"),
        ("Hast du Oma angerufen?", "de", "Oma angerufen"),
        ("¿Ya pagaste la luz?", "es", "pagaste la luz"),
        ("Tu as appelé la banque ?", "fr", "appelé la banque"),
        ("How are things at work?", "en", None),
    ],
)
def test_what_a_question_asks_about(question: str, language: str, what: str | None):
    assert asked_whether_done(question, language) == what


@pytest.mark.parametrize(
    "answer", ["yep, yesterday", "Yes!! finally", "I did", "ja, gestern", "sí", "oui, hier", "sim"]
)
def test_yes(answer: str):
    assert says_yes(answer)


@pytest.mark.parametrize(
    "answer", ["not yet", "no, tomorrow", "yes but only half", "nein", "I will", "yeah no", "maybe"]
)
def test_no(answer: str):
    assert not says_yes(answer)
