"""Two hundred pastes and two hundred messages of people's own: whose words are whose."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tenuto
from tenuto.language.own_words import own_words
from tenuto.language.pasted import pasted, without_pasted
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens

SET = tomllib.loads(Path(__file__).with_name("pasted.toml").read_text(encoding="utf-8"))
LEAST = 0.97
OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}


def test_the_set_is_whole() -> None:
    assert len(SET["paste"]) == len(SET["own"]) == 200
    for kind, word in (("paste", "hidden"), ("own", "kept")):
        assert len({one["text"] for one in SET[kind]}) == 200
        assert all(one[word].casefold() in one["text"].casefold() for one in SET[kind])


def test_what_was_pasted_is_not_the_speakers_own() -> None:
    wrong = [one["text"] for one in SET["paste"] if one["hidden"] in own_words(one["text"]).casefold()]
    assert len(wrong) <= (1 - LEAST) * len(SET["paste"]), wrong


def test_what_people_say_themselves_stays_theirs() -> None:
    wrong = [one["text"] for one in SET["own"] if one["kept"].casefold() not in own_words(one["text"]).casefold()]
    assert len(wrong) <= (1 - LEAST) * len(SET["own"]), wrong


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('Translate this: "I hate nuts". By the way, I am vegan.', ["By the way, I am vegan."]),
        ("Summarise this mail:\nI am Ben.\n---\nI have to answer by Friday.", ["I have to answer by Friday."]),
        ("I sent my resignation letter today.\nMy last day is Friday.", ["My last day is Friday."]),
        ("Can you check my calendar this week?\nI see the dentist on Thursday.", ["dentist on Thursday"]),
    ],
)
def test_the_rest_of_a_message_stays_the_speakers(text: str, left: list[str]) -> None:
    kept = without_pasted(text)
    assert all(one in kept for one in left) and "nuts" not in kept and "Ben" not in kept


def test_stretches_are_in_order_and_apart() -> None:
    for one in (*SET["paste"], *SET["own"]):
        ends = [place for stretch in pasted(one["text"]) for place in stretch]
        assert ends == sorted(ends) and all(0 <= place <= len(one["text"]) for place in ends)


def test_no_paste_becomes_an_instruction_or_a_pin() -> None:
    with tenuto.open("memory:", clock=FakeClock(), **OPTIONS) as store:
        for number, one in enumerate(SET["paste"]):
            store.user(f"user{number % 20}").observe(one["text"])
        store.settle()
        held = [
            memory.content
            for user in store.users()
            for memory in store.user(user).memories(status="*", limit=1000)
            if memory.pinned or memory.should_do or memory.should_not_do
        ]
    assert held == []
