"""The user's own name in a query."""

import pytest

from tenuto.recall.selfnamed import first_person, may_name


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Where does Kim live now?", "Where do I live now?"),
        ("What is Kim's job?", "What is my job?"),
        ("Has Kim got a cat?", "Have I got a cat?"),
        ("Is Kim Berger allergic to nuts?", "Am I allergic to nuts?"),
        ("What did Kimberly say?", "What did Kimberly say?"),
        ("kim chi recipes", "kim chi recipes"),
        ("Where do I live?", "Where do I live?"),
    ],
)
def test_it_means_i(asked: str, meant: str) -> None:
    assert first_person(asked, ["Kim Berger"]) == meant


def test_without_a_name_nothing_changes() -> None:
    assert first_person("Where does Kim live?", []) == "Where does Kim live?"


def test_only_a_capitalised_word_can_be_a_name() -> None:
    assert may_name("Where does Kim live?") and not may_name("Where do I live?")
