"""Mentions, keys, and names that may be one."""

from datetime import UTC, datetime

import pytest

from tenuto.language.mentions import key, resolve, slug
from tenuto.language.name_similarity import likeness, proposals
from tenuto.records.memory import Entity

NOW = datetime(2024, 5, 15, tzinfo=UTC)


def person(label: str, **more) -> Entity:
    return Entity(id=key("person", label), type="person", label=label, created_at=NOW, updated_at=NOW, **more)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("John Doe", "john_doe"),
        ("Acme Corp.", "acme_corp"),
        ("Jean-Luc O'Neil", "jean_luc_oneil"),
        ("  A  B ", "a_b"),
        ("Zoë", "zoë"),
    ],
)
def test_slugs_are_lower_case_without_punctuation_and_with_underscores(label: str, expected: str):
    assert slug(label) == expected


def test_misspellings_are_proposed_and_only_shared_context_makes_it_sure():
    alone = likeness(person("Makesh"), person("Mukesh"))
    together = likeness(person("Makesh", relation="friend"), person("Mukesh", relation="friend"), shared=0.5)
    assert alone is not None
    assert together is not None
    assert 0.7 <= alone.confidence < 0.92 <= together.confidence


@pytest.mark.parametrize(("one", "other"), [("Maria", "Marie"), ("Mark", "Mary"), ("Priya", "Preeti"), ("Al", "Bo")])
def test_different_real_names_are_never_sure(one: str, other: str):
    found = likeness(person(one), person(other))
    assert found is None or found.confidence < 0.92


def test_names_side_by_side_are_two_people():
    assert likeness(person("Makesh"), person("Mukesh"), side_by_side=True) is None
    pair = ("person:makesh", "person:mukesh")
    assert proposals([person("Makesh"), person("Mukesh")], ["person:makesh"], {}, frozenset({pair})) == []


def test_different_relations_refute():
    assert likeness(person("Makesh", relation="boss"), person("Mukesh", relation="brother")) is None


def test_merges_are_followed_and_a_loop_ends():
    a = person("A", merged_into="person:b")
    b = person("B", merged_into="person:a")
    assert resolve("person:a", {"person:a": a, "person:b": b}) in ("person:a", "person:b")
