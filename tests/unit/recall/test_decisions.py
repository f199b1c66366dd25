"""The pure decisions of recall: gate, scoring, time words, one thing once, cards."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tenuto.errors import InputError
from tenuto.policy import RecallPolicy
from tenuto.recall import cards, scoring
from tenuto.recall.diverse import ALIKE, distinct
from tenuto.recall.scoring import Feeling, Scored
from tenuto.recall.timewords import MONTHS, Times, about_now, about_past, span, times
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import (
    Domain,
    Entity,
    Kind,
    Memory,
    Proactive,
    Status,
    Trust,
)
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
POLICY = RecallPolicy()


def memory(id: str = "mem_1", **changes: Any) -> Memory:
    made = Memory(
        id=id,
        content=f"content of {id}",
        domain=Domain.PROFILE,
        kind=Kind.FACT,
        created_at=NOW - timedelta(days=5),
        updated_at=NOW,
        trust=Trust.USER_STATED,
    )
    return replace(made, **changes)


def message(**changes: Any) -> Message:
    made = Message(id="msg_1", session_id="s", role=Role.USER, content="hello there", at=NOW, channel="api")
    return replace(made, **changes)


# --- scoring ---------------------------------------------


def candidate(id: str, **changes: Any) -> Candidate:
    return Candidate(**{"kind": EntryKind.MEMORY, "id": id, "at": NOW, **changes})


def test_blended_is_the_stated_formula() -> None:
    found = scoring.score(
        [
            candidate("a", cosine=0.5, at=NOW - timedelta(days=14), entities=("person:ana",)),
            candidate("b", cosine=0.9, at=NOW - timedelta(days=28), entities=("person:ana", "place:rome")),
            candidate("c", cosine=0.1, entities=("place:rome",)),
        ],
        "blended",
        NOW,
        POLICY,
    )
    scores = {one.candidate.id: one.score for one in found}
    assert scores["a"] == pytest.approx(0.4 * 0.5 + 0.3 * 0.5 + 0.3)
    assert scores["b"] == pytest.approx(0.4 * 0.9 + 0.3 * 0.25 + 0.3)
    assert scores["c"] == pytest.approx(0.4 * 0.1 + 0.3 + 0.3)


def test_decayed_is_the_stated_formula_and_has_a_floor() -> None:
    found = scoring.score(
        [
            candidate("memory", cosine=0.5, at=NOW - timedelta(days=10)),
            candidate("summary", cosine=0.5, at=NOW - timedelta(days=10), kind=EntryKind.SUMMARY),
            candidate("weak", cosine=0.29),
            candidate("none"),
        ],
        "decayed",
        NOW,
        POLICY,
    )
    assert [one.candidate.id for one in found] == ["memory", "summary"]
    assert found[0].score == pytest.approx(0.5 * math.exp(-0.2))
    assert found[1].score == pytest.approx(0.5 * math.exp(-0.3))


def test_default_adds_up_and_ties_are_settled_the_same_way_every_time() -> None:
    same = {"words": 1.0, "meaning": 0.5}
    given = [
        candidate("b", parts=same),
        candidate("a", parts=same),
        candidate("old", parts=same, at=NOW - timedelta(days=1)),
        candidate("often", parts=same, reinforcements=3),
        candidate("weighty", parts=same, importance=10),
    ]
    for order in (given, given[::-1]):
        found = scoring.score(order, "default", NOW, POLICY)
        assert [one.candidate.id for one in found] == ["weighty", "often", "a", "b", "old"]
    for one in found:
        assert one.score == pytest.approx(sum(one.parts.values()))


def test_a_feeling_counts_where_it_is_asked_for() -> None:
    glad, sad = candidate("glad", valence=0.9), candidate("sad", valence=-0.9)
    found = scoring.score([sad, glad], "default", NOW, POLICY, Feeling(valence=1.0))
    assert [one.candidate.id for one in found] == ["glad", "sad"]
    assert "feeling" not in scoring.score([sad], "default", NOW, POLICY)[0].parts


def test_an_unknown_profile_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="blended") as error:
        scoring.score([], "fancy", NOW, POLICY)
    assert error.value.code == "unknown_profile"


def test_message_relevance() -> None:
    assert scoring.message_relevance(0) == 1.0
    assert scoring.message_relevance(24) == pytest.approx(math.exp(-1))
    assert scoring.message_relevance(0, topic=True, important=True, action=True) == pytest.approx(7.5)
    assert scoring.message_relevance(-3) == 1.0


def test_newest_first_moves_only_what_is_on_the_subject() -> None:
    ranked = [
        Scored(candidate(id, at=NOW - timedelta(days=days)), score, {"words": score}, "sum")
        for id, days, score in (("old", 9, 5.0), ("other", 1, 4.0), ("new", 2, 3.0))
    ]
    found = scoring.newest_first(ranked, [1.0, 0.1, 0.6], 0.5)
    assert [one.candidate.id for one in found] == ["new", "other", "old"]
    assert [one.score for one in found] == [5.0, 4.0, 3.0]
    for one in found:
        assert one.score == pytest.approx(sum(one.parts.values()))


# --- time words ---------------------------------------------


@pytest.mark.parametrize("query", ["Where did I live before?", "What was my old job?", "where I used to work"])
def test_about_the_past(query: str) -> None:
    assert about_past(query) and not about_now(query)


@pytest.mark.parametrize("query", ["Where do I live now?", "How old is she currently?", "what is my current job"])
def test_about_now(query: str) -> None:
    assert about_now(query) and not about_past(query)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did we do in June?", "2025-06-01", "2025-06-30"),
        ("What did we do in February 2024?", "2024-02-01", "2024-02-29"),
        ("on 5 March what happened", "2026-03-05", "2026-03-05"),
        ("on May 7, 2023", "2023-05-07", "2023-05-07"),
        ("what I did yesterday", "2026-03-09", "2026-03-09"),
        ("two weeks ago", "2026-02-20", "2026-02-26"),
        ("in 2024", "2024-01-01", "2024-12-30"),
    ],
)
def test_days_that_a_query_names(query: str, first: str, last: str) -> None:
    found = span(query, NOW)
    assert found is not None
    assert found.start.date().isoformat() == first or found.start.date() <= datetime.fromisoformat(first).date()
    middle = datetime.fromisoformat(last).replace(hour=1, tzinfo=UTC)
    assert found.start <= middle < found.end


@pytest.mark.parametrize("query", ["may I ask something", "what is 2024 in binary", "hello", "the march was long ago?"])
def test_queries_without_days(query: str) -> None:
    found = span(query, NOW)
    assert found is None or query.startswith("the march")


SPOKEN = """now nowadays current currently these days at the moment present presently today still latest newest most
recent recently up to date any more anymore actually before previous previously former formerly used once earlier
originally in past back then when first time how old older ex prior ago until history change changed instead of firstly
initially one point 1987 2024 no longer 5 5th 7, yesterday last night this morning week weekend month year a few couple
two days weeks months years coffee Lisbon' _now now_ 'now (ago) NOW Today maybe marching ſtill nıght weeK ５""".split()  # noqa: SIM905


@given(st.lists(st.sampled_from([*SPOKEN, *MONTHS, "May", "June"]), max_size=7), st.sampled_from(" \n-"))
def test_a_quick_look_at_the_words_hides_nothing_from_the_patterns(said: list[str], between: str) -> None:
    query = between.join(said)
    assert times(query, NOW) == Times(about_now(query), about_past(query), span(query, NOW))


# --- one thing once ---------------------------------------------


def ranked(*given: Candidate) -> list[Scored]:
    return [Scored(one, 10.0 - place, {"words": 10.0 - place}, "sum") for place, one in enumerate(given)]


def test_a_memory_and_its_only_message_collapse_into_the_better_placed_one() -> None:
    said = candidate("msg_1", kind=EntryKind.MESSAGE, text="I moved to Sofia last month and like it")
    known = candidate("mem_1", text="lives in Sofia", sources=("msg_1",))
    assert [one.candidate.id for one in distinct(ranked(said, known), 5)] == ["msg_1"]
    assert [one.candidate.id for one in distinct(ranked(known, said), 5)] == ["mem_1"]
    twice = structs.replace(known, sources=("msg_1", "msg_2"))
    assert [one.candidate.id for one in distinct(ranked(twice, said), 5)] == ["mem_1", "msg_1"]


def test_a_message_stands_in_the_place_of_the_key_point_that_quotes_it() -> None:
    point = candidate("kp_1", kind=EntryKind.KEY_POINT, text="User: I moved to Sofia", sources=("msg_1",))
    other = candidate("msg_2", kind=EntryKind.MESSAGE, text="Nice weather over there")
    said = candidate("msg_1", kind=EntryKind.MESSAGE, text="I moved to Sofia")
    found = distinct(ranked(point, other, said), 5)
    assert [one.candidate.id for one in found] == ["msg_1", "msg_2"]
    assert found[0].score == pytest.approx(sum(found[0].parts.values()))


def test_a_summary_that_only_repeats_what_stands_before_it_is_left_out() -> None:
    said = candidate("msg_1", kind=EntryKind.MESSAGE, text="I moved to Sofia and found a flat near the park")
    again = candidate("sum_1", kind=EntryKind.SUMMARY, text="User: moved to Sofia, found a flat near the park. Rain.")
    more = candidate("sum_2", kind=EntryKind.SUMMARY, text="Moved to Sofia. Piano lessons, sold the old car, met Vera")
    assert [one.candidate.id for one in distinct(ranked(said, again, more), 5)] == ["msg_1", "sum_2"]
    assert [one.candidate.id for one in distinct(ranked(again, said), 5)] == ["sum_1", "msg_1"]


def test_a_memory_in_the_very_words_of_its_message_gives_way_unless_it_is_pinned() -> None:
    said = candidate("msg_1", kind=EntryKind.MESSAGE, text="I have 5 apples.")
    known = candidate("mem_1", text="I have 5 apples", sources=("msg_1",))
    assert [one.candidate.id for one in distinct(ranked(known, said), 5)] == ["msg_1"]
    assert [one.candidate.id for one in distinct(ranked(structs.replace(known, pinned=True), said), 5)] == ["mem_1"]


def test_the_same_words_are_returned_once_and_the_limit_holds() -> None:
    given = [
        candidate("a", text="Thanks a lot for the help with the tent!"),
        candidate("b", text="thanks a lot, for the help with the tent"),
        candidate("c", text="The tent is green"),
        candidate("d", text="🎉"),
        candidate("e", text="🎉"),
    ]
    assert [one.candidate.id for one in distinct(ranked(*given), 9)] == ["a", "c", "d"]
    assert len(distinct(ranked(*given), 2)) == 2


@given(st.lists(st.tuples(st.integers(4, 24), st.sets(st.integers(0, 24), max_size=3)), max_size=12))
def test_what_says_the_same_is_found_whatever_words_it_shares(said: list[tuple[int, set[int]]]) -> None:
    given_ = [set(range(length)) ^ changed for length, changed in said]
    texts = [" ".join(f"w{number}" for number in words) for words in given_]
    kept: list[set[int]] = []
    for words in given_:
        if not any(len(words & other) >= ALIKE * len(words | other) for other in kept):
            kept.append(words)
    found = distinct(ranked(*(candidate(f"m{place:02}", text=text) for place, text in enumerate(texts))), 99)
    assert [one.candidate.text for one in found] == [texts[given_.index(words)] for words in kept]


# --- cards ---------------------------------------------


def entity(id: str, **changes: Any) -> Entity:
    made = Entity(id=id, type=id.partition(":")[0], label=id.partition(":")[2].title(), created_at=NOW, updated_at=NOW)
    return replace(made, **changes)


def test_a_card_is_grouped_filtered_sorted_and_cut_as_the_rule_says() -> None:
    john = ("person:john",)
    memories = [
        memory("m1", entities=john, importance=7, content="likes tea"),
        memory("m2", entities=john, importance=9, content="works at Acme"),
        memory("m3", entities=john, importance=2, pinned=True, content="allergic to penicillin."),
        memory("m4", entities=john, importance=9, content="lives in Lisbon", created_at=NOW),
        memory("m5", entities=john, importance=6.9, content="likes jazz"),
        memory("m7", entities=("place:rome",), importance=8, content="hot in August"),
    ]
    found = cards.card_facts(["person:john", "place:rome", "org:none"], memories, {}, POLICY)
    assert [str(cards.Card(entity, cards.fact_texts(facts))) for entity, facts in found] == [
        "[person:john]: allergic to penicillin; lives in Lisbon; works at Acme",
        "[place:rome]: hot in August",
    ]


def test_aliases_and_merged_entities_find_the_same_card() -> None:
    entities = {
        "person:john": entity("person:john", aliases=("Johnny", "J. D.")),
        "person:jd": entity("person:jd", merged_into="person:john"),
    }
    assert cards.named("what does Johnny like?", entities.values()) == ["person:john"]
    assert cards.named("and j. d. then", entities.values()) == ["person:john"]
    assert cards.named("johnnyboy", entities.values()) == []
    memories = [memory("m1", entities=("person:jd",), importance=8, content="likes tea")]
    assert cards.card_facts(["person:john"], memories, entities, POLICY) == [("person:john", memories)]
    circle = {"a:1": entity("a:1", merged_into="a:2"), "a:2": entity("a:2", merged_into="a:1")}
    assert cards.resolve("a:1", circle) in circle


def test_foundation_proactive_and_guidance_are_ordered_and_capped() -> None:
    many = [memory(f"m{number:02}", importance=7 + number % 3) for number in range(40)]
    pins = [memory("pin", importance=1, pinned=True)]
    found = cards.foundation([*many, *pins, memory("low", importance=6)], POLICY)
    assert len(found) == POLICY.foundation and found[0].id == "pin"
    assert "low" not in {one.id for one in found}
    brought = cards.proactive(
        [
            memory("a", proactive_use=Proactive.YES, confidence=0.9),
            memory("b", proactive_use=Proactive.YES, confidence=0.2, status=Status.REINFORCED),
            memory("c"),
        ],
        POLICY,
    )
    assert [one.id for one in brought] == ["b", "a"]
    told = [memory(f"g{number}", should_do="be brief", importance=number) for number in range(12)]
    assert [one.id for one in cards.guidance(told, POLICY)] == [f"g{number}" for number in range(11, 3, -1)]


@pytest.mark.parametrize(
    ("text", "says"), [("hi!", False), ("good morning", False), ("ok thanks", False), ("My dad is ill", True)]
)
def test_substance(text: str, says: bool) -> None:
    assert cards.substantive(text) is says


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sets(st.integers(0, 24), min_size=1, max_size=24), min_size=2, max_size=12))
def test_collapsing_by_a_few_marks_is_collapsing_by_all_pairs(texts: list[set[int]]) -> None:
    said = [candidate(f"m{n}", text=" ".join(f"w{word}" for word in sorted(text))) for n, text in enumerate(texts)]
    kept: list[set[int]] = []
    for text in texts:
        if not any(len(text & other) >= 0.9 * len(text | other) for other in kept):
            kept.append(text)
    assert [one.candidate.text for one in distinct(ranked(*said), 50)] == [
        " ".join(f"w{word}" for word in sorted(text)) for text in kept
    ]
