"""The hand-written table of bench/extraction and its small talk hold, with the embedder that ships."""

import pytest
from bench.extraction import cases, critical, nearmisses, smalltalk

from tenuto.policy import MemoryPolicy
from tenuto.providers.embed import LocalEmbedder


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_at_least_nineteen_of_twenty_cases_are_right(embedder):
    table = cases.load()
    wrong = {case["id"]: found for case in table if (found := cases.check(case, embedder))}
    assert len(table) >= 150
    assert len(wrong) <= 0.05 * len(table), wrong


def test_the_table_can_fail(embedder):
    case = {
        "family": "supersession",
        "said": ["I live in Oslo", "I live in Bergen"],
        "current": ["Oslo"],
        "gone": ["Bergen"],
    }
    assert len(cases.check(case, embedder)) == 2


def test_what_is_life_critical_is_kept_however_it_is_said(embedder):
    wrong = {case["id"]: found for case in critical.load() if (found := critical.check(case, embedder))}
    seen = {id for id in wrong if critical.looked_at({"id": id})}
    assert not seen, wrong
    assert len(wrong) <= 5, wrong


def test_the_critical_table_can_fail(embedder):
    case = {"said": ["I'm not allergic to cats."], "want": [["allergy", "person:user", "cats"]]}
    assert critical.check(case, embedder)
    case = {"said": ["I'm allergic to cats."], "deny": [["allergy", "person:user", "cats"]], "none": True}
    assert len(critical.check(case, embedder)) == 2


def test_what_only_looks_like_a_change_changes_nothing(embedder):
    wrong = {text: gone for text, _ in nearmisses.load() if (gone := nearmisses.lost(text, embedder))}
    assert len(wrong) <= 5, wrong
    assert nearmisses.lost("I moved to Bergen last week.", embedder) == ["I live in Lisbon"]


def test_small_talk_leaves_next_to_nothing():
    lines = smalltalk.load()
    junk = [line for line in lines if smalltalk.kept(line, MemoryPolicy().keep_confidence)]
    assert len(lines) >= 200
    assert len(junk) <= 0.05 * len(lines), junk
