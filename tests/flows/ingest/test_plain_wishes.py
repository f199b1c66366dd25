"""Wishes in plain words hold whatever the reader marks: "just between us", and "forget that" in other languages."""

from typing import Any

import pytest

import tenuto
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.unit.marked import MarkedReader, marked


def said(*texts: str) -> tuple[tenuto.Tenuto, tenuto.UserMemory]:
    parts: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
    store = tenuto.open("memory:", reader=MarkedReader(*texts), **parts)
    ana = store.user("ana", persona="coach")
    for text in texts:
        ana.observe(marked(text)[0])
        store.settle()
    return store, ana


@pytest.mark.parametrize("wish", ["just between us", "don't tell anyone", "unter uns", "entre nous"])
def test_what_is_said_in_private_stays_with_its_persona(wish: str):
    store, ana = said(f"{{fact:My salary is 61000}}, {wish}.")
    with store:
        assert [one.persona for one in ana.memories()] == ["coach"]
        assert not store.user("ana", persona="banker").recall("salary")


@pytest.mark.parametrize(
    ("told", "wish"),
    [
        ("Meine {rel:Tante} {person:Hedwig} hat {cond.o:Diabetes}.", "Bitte vergiss, dass Hedwig Diabetes hat."),
        ("Mi {rel:prima} {person:Nuria} tiene {cond.o:cáncer}.", "Por favor olvida que Nuria tiene cáncer."),
        ("Ma {rel:sœur} {person:Odile} est {cond.o:enceinte}.", "Oublie qu'Odile est enceinte, s'il te plaît."),
    ],
)
def test_forget_that_is_obeyed_in_other_languages(told: str, wish: str):
    store, ana = said(told, wish)
    with store:
        assert [one.content for one in ana.memories() if one.attribute == "condition"] == []
