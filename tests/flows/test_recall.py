"""Recall through the public surface, on every engine: what is found, why, for whom, and what bad input does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenuto
from tenuto.errors import InputError
from tenuto.recall.entry import make_entry
from tenuto.records.memory import Domain, Evidence, Kind, Memory, Proactive, Status, Trust
from tenuto.records.operations import EntryKind
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TALK = [
    ("user", "My sister Mara moved to Lisbon in spring."),
    ("assistant", "Lisbon is lovely. What does Mara do there?"),
    ("user", "She opened a bakery near the river."),
    ("user", "I still need to book the dentist for Tuesday."),
    ("assistant", "I can remind you about the dentist."),
    ("user", "My dad is allergic to penicillin, please never forget that."),
    ("user", "The tent we bought has a broken zip."),
    ("user", "Thanks!"),
]


def opened(url: str, clock: FakeClock, **options: Any) -> tenuto.Tenuto:
    options.setdefault("embedder", FakeEmbedder())
    return tenuto.open(url, clock=clock, tokens=FakeTokens(), background=False, **options)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def store(store_url: str, clock: FakeClock) -> Iterator[tenuto.Tenuto]:
    with opened(store_url, clock) as made:
        yield made


def tell(memory: tenuto.UserMemory, clock: FakeClock, start: int = 0, end: int = len(TALK)) -> None:
    for number, (role, text) in list(enumerate(TALK))[start:end]:
        memory.observe(text, role=role, at=clock.now, id=f"turn-{number}")
        clock.advance(minutes=3 if number % 3 else 90)


def known(store: tenuto.Tenuto, user: str, content: str, **changes: Any) -> Memory:
    """A memory written as the write path does: the record and its entry together."""
    now = store.deps.clock()
    made = Memory(
        id=store.deps.ids("mem", now),
        content=content,
        domain=Domain.PROFILE,
        kind=Kind.FACT,
        created_at=now,
        updated_at=now,
        trust=Trust.USER_STATED,
    )
    made = replace(made, **changes)
    with store.deps.store.writing(user) as tx:
        tx.put(made)
        tx.index(make_entry(made, store.deps.vault.index_key(user)))
    return made


def test_a_hit_says_what_it_is_and_why(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    tell(ana, clock)
    hit = ana.recall("penicillin allergy", kinds="message", limit=3)[0]
    assert (hit.kind, hit.message_id, hit.text) == (EntryKind.MESSAGE, "turn-5", TALK[5][1])
    assert hit.score == pytest.approx(sum(hit.why.parts.values()))
    assert {"words", "meaning", "own", "length"} == set(hit.why.parts)
    lately = ana.recall("What about the penicillin now?", kinds="message", limit=3)[0]
    assert "recency" in lately.why.parts, "a question about now prefers what was said lately"
    assert hit.why.rule == "said by the user"
    assert set(hit.why.matched) == {"penicillin", "allergi"} or "penicillin" in hit.why.matched
    assert [evidence.at for evidence in hit.why.evidence] == [hit.at]
    assert "words" in str(hit.why)


def test_what_was_just_written_is_found_by_meaning_before_any_job_ran(store: tenuto.Tenuto) -> None:
    ana = store.user("ana")
    ana.observe("The boiler makes a strange noise.")
    ana.observe("We planted tomatoes.")
    hit = ana.recall("boiler noise")[0]
    assert hit.text.startswith("The boiler")
    assert hit.why.parts["meaning"] > 0


def test_without_the_embedder_words_answer_and_say_so(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    tell(ana, clock)
    embedder = store.deps.embedder
    assert isinstance(embedder, FakeEmbedder)
    embedder.broken = True
    found = ana.recall("broken zip of the tent", kinds=["message"])
    assert found[0].message_id == "turn-6"
    assert "words only" in found[0].why.notes[0]
    nothing = ana.recall("xylophone", kinds=["message"])
    assert nothing == [] and any("no word" in note for note in nothing.notes)  # type: ignore[attr-defined]
    assert ana.recall("dentist", profile="blended") == []


class WrongSize(FakeEmbedder):
    """Returns vectors of another length than it says."""

    def embed(self, texts: Any, *, query: bool = False) -> Any:
        return np.ones((len(texts), 3), np.float32)


def test_a_vector_of_the_wrong_size_is_not_searched_with(clock: FakeClock) -> None:
    with opened("memory:", clock, embedder=WrongSize()) as store:
        ana = store.user("ana")
        ana.observe("The boiler makes a strange noise.")
        found = ana.recall("boiler")
        assert found[0].text.startswith("The boiler") and "3 numbers" in found[0].why.notes[0]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"query": ""}, "text_empty"),
        ({"query": "  \n"}, "text_empty"),
        ({"query": None}, "not_text"),
        ({"query": "a\x00b"}, "text_nul"),
        ({"query": "x" * (64 * 1024 + 1)}, "query_too_long"),
        ({"limit": 0}, "limit_invalid"),
        ({"limit": -1}, "limit_invalid"),
        ({"limit": 1_000_000}, "limit_invalid"),
        ({"limit": 2.5}, "limit_invalid"),
        ({"limit": True}, "limit_invalid"),
        ({"profile": "best'; DROP TABLE messages; --"}, "unknown_profile"),
        ({"kinds": ["message", "users"]}, "unknown_kind"),
        ({"domain": "' OR 1=1 --"}, "unknown_domain"),
        ({"kind": "nothing"}, "unknown_kind"),
        ({"status": "alive"}, "unknown_status"),
        ({"since": "yesterday"}, "time_invalid"),
        ({"since": datetime(2026, 1, 1)}, "time_naive"),
        ({"channel": 5}, "not_text"),
        ({"session": "a\nb"}, "name_invalid"),
        ({"valence": 7}, "feeling_invalid"),
    ],
)
def test_bad_input_is_a_clear_error(options: dict[str, Any], code: str, clock: FakeClock) -> None:
    with opened("memory:", clock) as store:
        store.user("ben").observe("Ben's secret")
        ana = store.user("ana")
        ana.observe("Ana's own words")
        query = options.pop("query", "words")
        with pytest.raises(InputError) as error:
            ana.recall(query, **options)
        assert error.value.code == code


@pytest.mark.parametrize("name", ["user", "user_id = 'ben' OR 1"])
def test_an_option_that_does_not_exist_is_refused(name: str, clock: FakeClock) -> None:
    with opened("memory:", clock) as store, pytest.raises(TypeError, match="unexpected keyword"):
        store.user("ana").recall("words", **{name: "ben"})


def test_odd_queries_and_injected_values_find_nothing_of_others(store: tenuto.Tenuto, clock: FakeClock) -> None:
    store.user("ben").observe("Ben's secret is 4711", at=clock.now)
    ana = store.user("ana")
    tell(ana, clock)
    mine = {text for _, text in TALK}
    for query in ("x" * 64 * 1024, "what is it?", "🎉🎉", "the of and", "secret 4711", "4711 " * 5000):
        assert {hit.text for hit in ana.recall(query, limit=50, kinds=["message"])} <= mine
    values = ("' OR '1'='1", "%", "*", "ben", "\\", "'; --", '"', "person:ben'")
    for name in ("entity", "channel", "session", "source", "speaker", "role", "persona"):
        for value in values:
            found = ana.recall("secret", limit=50, kinds=["message"], **{name: value})
            assert {hit.text for hit in found} <= mine
            assert found == [] or name == "persona"
    empty = store.user("nobody").recall("anything")
    assert empty == [] and empty.notes  # type: ignore[attr-defined]


def test_filters(store: tenuto.Tenuto, clock: FakeClock) -> None:
    coach, tutor = store.user("ana", persona="coach"), store.user("ana", persona="tutor", channel="web")
    shared = store.user("ana", channel="email")
    coach.observe("My running plan has three days.", at=clock.now, id="a")
    clock.advance(days=40)
    tutor.observe("My reading plan has five books.", at=clock.now, id="b", speaker="Ana")
    shared.observe("My savings plan is on hold.", at=clock.now, id="c")

    def ids(memory: tenuto.UserMemory, **options: Any) -> set[str | None]:
        return {hit.message_id for hit in memory.recall("my plan", kinds=["message"], **options)}

    assert ids(coach) == {"a", "c"}
    assert ids(tutor) == {"b", "c"}
    assert ids(shared) == {"c"}
    assert ids(shared, persona="*") == {"a", "b", "c"}
    assert ids(shared, persona="coach") == {"a"}
    with pytest.raises(InputError, match="cannot see"):
        coach.recall("plan", persona="tutor")
    assert ids(shared, persona="*", channel="web") == {"b"}
    assert ids(shared, persona="*", speaker="Ana") == {"b"}
    assert ids(shared, persona="*", since=START + timedelta(days=1)) == {"b", "c"}
    assert ids(shared, persona="*", until=START + timedelta(days=1)) == {"a"}
    session = coach.messages()[0].session_id
    assert ids(shared, persona="*", session=session) == {"a"}
    assert ids(shared, persona="*", source="conversation") == {"a", "b", "c"}


def test_memories_pass_the_gate_or_stay(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    known(store, "ana", "Lives in Porto", valid_to=clock.now - timedelta(days=1), status=Status.DEPRECATED)
    clock.advance(days=1)
    known(store, "ana", "Lives in Lisbon", entities=("place:lisbon",))
    known(store, "ana", "Lives in constant fear of large hairy spiders", proactive_use=Proactive.NO)
    known(store, "ana", "Lives in Madrid", trust=Trust.EXTERNAL, status=Status.CANDIDATE)
    known(store, "ana", "Lives in Berlin", status=Status.FORGOTTEN)

    def texts(query: str, **options: Any) -> list[str]:
        return [hit.text for hit in ana.recall(query, kinds=["memory"], **options)]

    assert texts("where do I live?") == ["Lives in Lisbon"]
    assert set(texts("where did I live before?")) == {"Lives in Lisbon", "Lives in Porto"}
    assert "Lives in constant fear of large hairy spiders" in texts("lives in constant fear of large hairy spiders")
    assert "Lives in Madrid" in texts("where do I live?", outside=True)
    assert texts("where do I live?", status="forgotten") == ["Lives in Berlin"]
    assert texts("live", entity="place:lisbon") == ["Lives in Lisbon"]
    assert texts("live", entity="place:paris") == []


def test_the_newest_of_several_statements_comes_first_when_now_is_asked_for(
    store: tenuto.Tenuto, clock: FakeClock
) -> None:
    ana = store.user("ana")
    for number, text in enumerate(
        ("I live in Sydney by the sea", "I live in Melbourne for work", "I live in Sofia these days")
    ):
        ana.observe(text, at=clock.now, id=str(number))
        clock.advance(days=100)
    assert ana.recall("where in the world do I live now", kinds=["message"])[0].message_id == "2"
    hits = ana.recall("where in Sydney did I live before", kinds=["message"])
    assert hits[0].message_id == "0"


def test_a_memory_and_its_message_are_one_hit(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    receipt = ana.observe("I moved to Sofia last month.", at=clock.now, id="mine")
    proof = Evidence(message_id=receipt.message_id, at=clock.now)
    known(store, "ana", "Moved to Sofia", evidence=(proof,))
    hits = ana.recall("Sofia")
    assert len(hits) == 1 and hits[0].message_id == "mine"


def test_neighbours_come_as_one_dated_passage(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    tell(ana, clock)
    hit = ana.recall("opened a bakery near the river", kinds=["message"], passages=True)[0]
    assert hit.passage is not None
    lines = hit.passage.splitlines()
    assert any(TALK[2][1] in line for line in lines) and len(lines) >= 2
    assert lines[0].startswith("[2026-01-05 ")


def test_a_speaker_whom_the_query_names_comes_first(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    for speaker in ("Caroline", "Melanie", "Will"):
        for subject in ("pottery", "camping"):
            ana.observe(f"Last week {subject} was such a good time for me.", speaker=speaker, at=clock.now)
            clock.advance(minutes=1)
    for name in ("Caroline", "Melanie"):
        assert ana.recall(f"When did {name} enjoy pottery?", kinds=["message"])[0].speaker == name
    assert "speaker" not in ana.recall("what will happen with pottery", kinds=["message"])[0].why.parts


def test_the_same_data_and_query_give_the_same_ranking_everywhere(
    tmp_path: Path, fresh_database: Callable[[], str]
) -> None:
    """Memory, SQLite and PostgreSQL; warm, and cold after reopening."""
    queries = [
        "where did Mara move",
        "dentist on Tuesday",
        "what is broken now?",
        "who is allergic",
        "in January",
        "thanks",
    ]
    rankings = []
    for url in ("memory:", str(tmp_path / "same.db"), fresh_database()):
        clock = FakeClock(START)
        store = opened(url, clock)
        ana = store.user("ana")
        for part in range(0, len(TALK), 3):
            tell(ana, clock, part, part + 3)
            known(store, "ana", f"fact number {part} about the dentist", importance=part)
            ana.recall("warm up")
            store.settle()
        now = clock.now
        views = [ana]
        if url != "memory:":
            store.close()
            store = opened(url, FakeClock(now))
            views.append(store.user("ana"))
        for memory in views if url == "memory:" else views[1:]:
            rankings.append(
                [
                    [
                        (hit.kind, hit.text, round(hit.score, 4))
                        for hit in memory.recall(query, profile=profile, limit=20)
                    ]
                    for query in queries
                    for profile in ("default", "blended", "decayed")
                ]
            )
        store.close()
    assert rankings[0] == rankings[1] == rankings[2]
    assert any(rankings[0])


def test_erasing_or_removing_leaves_nothing_to_find(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    gone = known(store, "ana", "The safe is behind the picture")
    kept = known(store, "ana", "The picture shows a lake")
    assert {hit.id for hit in ana.recall("picture", kinds=["memory"])} == {gone.id, kept.id}
    with store.deps.store.writing("ana") as tx:
        tx.remove(Memory, gone.id)
        tx.unindex(EntryKind.MEMORY, gone.id)
    assert {hit.id for hit in ana.recall("picture", kinds=["memory"])} == {kept.id}
    ana.erase()
    assert ana.recall("picture") == []


def test_searches_and_writes_at_the_same_time_see_whole_things(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    ana.observe("number 0 of the series", id="0")
    faults: list[BaseException] = []

    def write() -> None:
        try:
            for number in range(1, 30):
                ana.observe(f"number {number} of the series", id=str(number))
        except BaseException as error:
            faults.append(error)

    def search() -> None:
        try:
            seen = 0
            for _ in range(30):
                hits = ana.recall("series", kinds=["message"], limit=50)
                assert len(hits) >= seen, "what was found once is found again"
                seen = len(hits)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=write), *(threading.Thread(target=search) for _ in range(2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(ana.recall("series", kinds=["message"], limit=50)) == 30


def test_what_a_session_is_about_is_found_once(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    known(store, "ana", "Dad is allergic to penicillin", importance=9)
    ana.observe("hello", at=clock.now)
    ana.context("hello")
    assert ana.sessions()[0].semantic_context is None, "a greeting says nothing"
    ana.context("Is penicillin safe for dad?")
    first = ana.sessions()[0].semantic_context
    assert first is not None and first["items"]
    known(store, "ana", "Penicillin was discovered by Fleming", importance=9)
    ana.context("Who discovered penicillin, was it Fleming?")
    assert ana.sessions()[0].semantic_context == first
    ana.context("Who discovered penicillin, was it Fleming?", refresh=True)
    assert ana.sessions()[0].semantic_context != first


def test_cards_stand_in_the_context(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    known(store, "ana", "Mara runs a bakery in Lisbon", entities=("person:mara",), importance=8)
    known(store, "ana", "Mara is allergic to nuts", entities=("person:mara",), importance=9)
    context = ana.context("What should I bring to the bakery of Mara?")
    shown = "\n".join(str(part["content"]) for part in context.messages)
    assert "[person:mara]: Mara is allergic to nuts; Mara runs a bakery in Lisbon" in shown
