"""Mentions, keys, and names that may be one."""

from datetime import UTC, datetime

import pytest

from tenuto.ingest.entities import Registry, key, mentions, resolve, slug
from tenuto.ingest.likeness import likeness, proposals
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My dad is allergic to penicillin", [("person:dad", "father")]),
        ("Mom lives in Seattle", [("person:mom", "mother"), ("place:seattle", None)]),
        ("John, my cofounder, handles it", [("person:john", "cofounder")]),
        ("My sister Anna moved to Berlin", [("person:anna", "sister"), ("place:berlin", None)]),
        ("I live in Austin, Texas", [("place:austin_texas", None)]),
        ("I met Austin yesterday", [("person:austin", None)]),
        ("I work at Canva as a designer", [("org:canva", None)]),
        ("Sarah is CEO of TechStartup Inc", [("person:sarah", None), ("org:techstartup_inc", None)]),
        ("We are working on project Falcon", [("project:falcon", None)]),
        ("I moved my newsletter to Beehiiv", []),
        ("I love Python", []),
    ],
)
def test_who_and_what_is_mentioned(text: str, expected: list):
    assert [(one.id, one.relation) for one in mentions(text)] == expected


def test_known_names_and_relations_lead_to_the_known_entity():
    registry = Registry.of([person("Anna", relation="sister", aliases=("sister", "Annie"))])
    assert [one.id for one in mentions("my sister called", registry)] == ["person:anna"]
    assert [one.id for one in mentions("I saw Annie today", registry)] == ["person:anna"]


def test_two_sisters_are_not_mixed_up():
    registry = Registry.of([person("Anna", relation="sister"), person("Eva", relation="sister")])
    assert [one.id for one in mentions("my sister called", registry)] == ["person:sister"]


def test_a_thousand_entities_in_one_message_are_bounded():
    assert (
        len(mentions(" and ".join(f"my friend Bob{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(1000))))
        <= 50
    )


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
