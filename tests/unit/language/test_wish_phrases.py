"""The plainest wordings of wishes in five languages, and what only looks like one."""

from __future__ import annotations

import pytest

from tenuto.language.wishes import Wish, wish_of

SILENCED = {
    "hm could you simply not bring dorian up, not even once": "dorian",
    "please dont mention my ex again": "my ex",
    "I'd rather not talk about the divorce": "the divorce",
    "Let's keep Tom out of it": "Tom",
    "My sister is off limits": "My sister",
    "Bitte sprich mich nicht mehr auf Petra an": "Petra",
    "Ich will nicht über die Scheidung reden": "die Scheidung",
    "Kein Wort mehr über Jonas bitte": "Jonas",
    "No me hables más de Carlos": "Carlos",
    "No quiero hablar de mi divorcio": "mi divorcio",
    "Ne me parle plus de Julien": "Julien",
    "Pas un mot sur Marc": "Marc",
    "Não quero falar sobre o acidente": "acidente",
}
FORGOTTEN = {
    "forget the bit about that karaoke wizard idea, silly of me": "that karaoke wizard idea",
    "Can you delete what I told you about my salary?": "my salary",
    "Pretend I never told you about the loan": "the loan",
    "Vergiss bitte das mit der Kündigung": "der Kündigung",
    "Olvida lo de la boda": "la boda",
    "Oublie ce que je t'ai dit sur Marc": "Marc",
    "Esquece o que eu disse sobre a Ana": "Ana",
    "forget that please": "",
    "Forget I said anything": "",
    "If you noted it, wipe it out, I do not want that kept anywhere.": "",
    "Vergiss das bitte": "",
    "Apaga isso por favor": "",
}
UNSAVED = (
    "She told me in confidence, please don't save that part.",
    "Merk dir das bitte nicht",
    "No guardes eso",
    "N'enregistre pas ça",
    "Não guardes isso",
    "Keep that out of your notes",
)
NONE = (
    "I never mention Petra at work",
    "We don't talk about Bruno",
    "I'll never forget that",
    "don't forget to call mum",
    "He told me to forget about the money",
    "Forget it, let's go",
    "I don't remember that",
    "I hope they stop asking me about it",
)


@pytest.mark.parametrize(("said", "about"), SILENCED.items())
def test_what_is_not_to_be_brought_up(said: str, about: str) -> None:
    found = wish_of(said)
    assert found is not None and found.wish is Wish.DO_NOT_BRING_UP
    assert about.casefold() in found.about.casefold() and len(found.about) <= len(about) + 4


@pytest.mark.parametrize(("said", "about"), FORGOTTEN.items())
def test_what_is_to_be_forgotten(said: str, about: str) -> None:
    found = wish_of(said)
    assert found is not None and found.wish is Wish.FORGET
    assert about.casefold() in found.about.casefold() and bool(found.about) is bool(about)


@pytest.mark.parametrize("said", UNSAVED)
def test_what_is_not_to_be_kept(said: str) -> None:
    found = wish_of(said)
    assert found is not None and found.wish is Wish.DO_NOT_SAVE


@pytest.mark.parametrize("said", NONE)
def test_what_only_looks_like_a_wish(said: str) -> None:
    assert wish_of(said) is None
