"""Attribute rules: what each reads, and the figures of speech that they must not fall for."""

import pytest

from tenuto.ingest.checks import CHECKS
from tenuto.ingest.facts import facts, rules


def read(text: str) -> list[tuple[str, str | None, bool]]:
    return [(one.attribute, one.value, one.negated) for one in facts(text)]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("My name is Sam Carter", "name", "Sam Carter"),
        ("Call me Alex", "name", "Alex"),
        ("I live in Austin, Texas", "home", "Austin, Texas"),
        ("I moved to Sofia last month", "home", "Sofia"),
        ("I grew up in Lagos", "origin", "Lagos"),
        ("I work at Canva as a designer", "employer", "Canva"),
        ("I'm a software engineer", "job", "software engineer"),
        ("I was promoted to CTO", "job", "CTO"),
        ("I'm 34 years old", "age", "34"),
        ("My daughter is three years old", "age", "three"),
        ("My birthday is on March 3rd", "birthday", "March 3rd"),
        ("I'm vegetarian", "diet", "vegetarian"),
        ("I can't eat gluten", "avoids", "gluten"),
        ("I take metformin 500mg", "medication", "metformin 500mg"),
        ("My mom has diabetes", "condition", "diabetes"),
        ("I was diagnosed with celiac disease last year", "condition", "celiac disease"),
        ("My emergency contact is Jane", "emergency_contact", "Jane"),
        ("I'm married to Tom", "relationship_status", "married to Tom"),
        ("My boss is Priya", "boss", "Priya"),
        ("I adopted a dog named Rex", "pet", "a dog named Rex"),
        ("I speak French", "language", "French"),
        ("My favorite color is blue", "favorite_color", "blue"),
        ("I love hiking", "like", "hiking"),
        ("I'm not a fan of coffee", "dislike", "coffee"),
        ("I wake up at 6am", "wake_time", "6am"),
        ("I cycle to work", "commute", "cycle to work"),
        ("I want to run a marathon", "goal", "run a marathon"),
        ("My mortgage rate is 3.5 percent", "mortgage_rate", "3.5 percent"),
        ("My email is kim@new.org", "email", "kim@new.org"),
    ],
)
def test_what_a_clause_says(text: str, attribute: str, value: str):
    assert read(text)[0][:2] == (attribute, value)


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to Mondays",
        "I'm a mess",
        "I moved my notes to Obsidian",
        "I was moved to tears",
        "I love it",
        "I love that",
        "My car is broken",
        "I live in fear",
        "My point is that it works",
        "I'm a big fan",
        "I'm a morning person",
    ],
)
def test_figures_of_speech_are_no_facts(text: str):
    assert [one for one in read(text) if one[0] != "like"] == []


def test_a_list_of_allergies_becomes_one_fact_each():
    assert [value for _, value, _ in read("I'm allergic to peanuts, shellfish and eggs")] == [
        "peanuts",
        "shellfish",
        "eggs",
    ]


def test_negation_is_seen():
    assert read("I'm not allergic to cats") == [("allergy", "cats", True)]
    assert read("I don't work at Google")[0] == ("employer", "Google", True)


def test_the_table_is_whole():
    table = rules()
    assert len(table) >= 70
    assert {rule.check.__name__.strip("_") for rule in table if rule.check} <= set(CHECKS)
    assert all(0 < rule.importance <= 10 and 0 < rule.confidence <= 1 for rule in table)
    assert {rule.attribute for rule in table if rule.pin} == {
        "allergy",
        "emergency_contact",
        "blood_type",
        "name",
        "condition",
        "intolerance",
    }
