"""Fading, the curator and retention on a store: planned, carried out once, reversible, without residue."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from tenuto.errors import InputError
from tenuto.lifecycle import curation
from tenuto.lifecycle.scrub import Said
from tenuto.ports import Where
from tenuto.records.conversation import KeyPoint, Message, Session, Summary, SummaryKind
from tenuto.records.memory import (
    Entity,
    EntityMerge,
    Evidence,
    Memory,
    MergeStatus,
    PinKind,
    Status,
    Todo,
    TodoKind,
    TodoStatus,
)
from tenuto.records.operations import EntryKind
from tests.flows.world import World

DAY = 86_400


def test_the_curator_folds_keeps_the_originals_and_has_nothing_to_do_twice():
    world = World()
    one = world.keep("Works as a nurse at the harbour clinic in Bergen", importance=4.0)
    other = world.keep("Works as a nurse at the harbour clinic", importance=6.0)
    pin = world.keep("Works as a nurse at the harbour clinic", pinned=True, pin_kind=PinKind.MANUAL, importance=10.0)
    world.store.reembed()
    before = world.all(Memory)
    (report,) = world.store.curate("ana", dry_run=True)
    assert report.counts()["folds"] == 1
    assert world.all(Memory) == before, "a dry run wrote something"
    (report,) = world.store.curate("ana")
    assert (report.applied, report.left_alone) == (1, 0)
    by_id = {memory.id: memory for memory in world.all(Memory)}
    (fold,) = [memory for memory in by_id.values() if memory.source == "curated_fold"]
    assert fold.content == one.content
    assert fold.importance == 6.0
    assert set(fold.derived_from) == {one.id, other.id}
    for original in (one, other):
        kept = by_id[original.id]
        assert (kept.status, kept.superseded_by, kept.content) == (Status.ARCHIVED, fold.id, original.content)
        assert kept.history[-1].status is original.status
    assert by_id[pin.id] == pin
    hits = world.user().recall("nurse harbour clinic", kinds=["memory"])
    assert {hit.id for hit in hits} == {fold.id, pin.id}
    (again,) = world.store.curate("ana")
    assert not again.plan
    assert world.user().session_state().curator_last_run_at == world.clock()


def test_what_changed_after_the_plan_is_left_alone(monkeypatch):
    world = World()
    weak = world.keep("Had toast for breakfast", importance=1.0)
    world.clock.forward(days=900)
    planned = curation.plan(world.store.deps, "ana", world.clock())
    assert [faded.memory_id for faded in planned.archives] == [weak.id]
    with world.store.deps.store.writing("ana") as tx:
        from tenuto.records.base import evolve

        pinned = evolve(weak, pinned=True, pin_kind=PinKind.MANUAL)
        tx.put(pinned)
    monkeypatch.setattr(curation, "plan", lambda *_: planned)
    report = curation.curate(world.store.deps, "ana")
    assert (report.applied, report.left_alone) == (0, 1)
    assert world.all(Memory) == [pinned]


def test_the_curator_looks_after_todos_and_proposes_merges():
    world = World()
    ana = world.user()
    now = world.clock()
    with world.store.deps.store.writing("ana") as tx:
        tx.put(
            Todo(id="t1", kind=TodoKind.TASK, content="Call Maya about the boat", created_at=now, updated_at=now),
            Todo(id="t2", kind=TodoKind.REMINDER, content="Pay rent", created_at=now, updated_at=now, due=now),
            Entity(id="person:mukesh", type="person", label="Mukesh", created_at=now, updated_at=now, mentions=5),
            Entity(id="person:mukessh", type="person", label="Mukessh", created_at=now, updated_at=now, mentions=1),
        )
    world.clock.forward(days=20)
    ana.observe("I finally called Maya about the boat.")
    (report,) = world.store.curate("ana")
    assert {todo.id: todo.status for todo in world.all(Todo)} == {"t1": TodoStatus.DONE, "t2": TodoStatus.EXPIRED}
    (merge,) = world.all(EntityMerge)
    assert (merge.duplicate, merge.status) == ("person:mukessh", MergeStatus.PROPOSED)
    assert report.counts()["merges_proposed"] == 1
    assert not world.store.curate("ana")[0].plan


def test_the_curator_runs_by_itself_once_enough_has_changed():
    world = World()
    ana = world.user()
    for number in range(25):
        world.keep(f"Knows the tune number {number} by heart")
    ana.observe("Hello.")
    ana.close_session()
    world.store.settle()
    assert ana.session_state().curator_last_run_at is not None
    assert ana.session_state().curator_memory_count == 25


def test_fading_archives_by_itself_and_never_deletes():
    world = World()
    ana = world.user()
    weak = world.keep("Had toast for breakfast", importance=1.0)
    ana.observe("Hello.")
    ana.close_session()
    world.store.settle()
    for _ in range(30):
        world.clock.forward(days=31)
        world.store.settle()
    (kept,) = [memory for memory in world.all(Memory) if memory.id == weak.id]
    assert kept.status is Status.ARCHIVED
    assert kept.content == weak.content
    assert kept.history[-1].changed["status"] == "active"


# --- retention --------------------------------------------------------------------------------------------------------


def talk_about_secrets(world: World, channel: str = "email") -> None:
    ana = world.user(channel=channel)
    first = ana.observe("My secret garden is in Zanzibarra and the gate code is qwertz.")
    for number in range(5):
        ana.observe(f"The roses of Zanzibarra number {number} bloom.", role="assistant")
    evidence = (Evidence(message_id=first.message_id, at=world.clock(), quote="My secret garden is in Zanzibarra"),)
    world.keep("Has a garden", evidence=evidence)
    ana.close_session()
    world.store.settle()


def bytes_of(place) -> bytes:
    return b"".join(path.read_bytes() for path in place.iterdir() if path.is_file())


def test_text_is_kept_by_default(tmp_path):
    world = World(tmp_path / "t.db")
    talk_about_secrets(world)
    world.clock.forward(days=1000)
    world.store.settle()
    assert world.user().purge().counts() == dict.fromkeys(world.user().purge().counts(), 0)
    assert len(world.all(Message)) == 6


def test_a_purge_of_all_leaves_no_residue(tmp_path):
    world = World(tmp_path / "t.db")
    talk_about_secrets(world)
    keeper = world.user(channel="web", persona="friend")
    keeper.observe("The dentist is on Monday.")
    world.user().set_retention({"channels": {"email": {"purge_text": 7 * DAY, "all": True}}})
    assert world.user().purge().messages == 0, "nothing has had its time yet"
    world.clock.forward(days=8)
    planned = world.user().purge(dry_run=True)
    assert planned.messages == 6
    assert len(world.all(Message)) == 7
    world.store.settle()
    report = world.user().purge()
    assert report.messages == 6
    assert report.memories >= 1
    assert report.key_points > 0
    assert report.summaries > 0
    assert [message.content for message in world.all(Message)] == ["The dentist is on Monday."]
    world.store.settle()
    world.store.deps.store.compact()
    world.store.close()
    left = bytes_of(tmp_path)
    for word in (b"Zanzibarra", b"qwertz", b"roses"):
        assert word not in left, word
    assert b"dentist" in left


def test_a_purge_of_text_waits_for_topics_and_takes_quotes(tmp_path):
    world = World(tmp_path / "t.db", policy={"retention": {"purge_text": 10 * DAY}})
    talk_about_secrets(world)
    world.clock.forward(days=11)
    assert world.user().purge().messages == 0, "no topic summary stands in its place yet"
    world.store.settle()
    assert world.all(Summary, Where("kind", "=", SummaryKind.TOPIC))
    report = world.user().purge()
    assert (report.messages, report.memories) == (6, 0)
    assert report.quotes >= 1
    for memory in world.all(Memory):
        assert all(evidence.quote is None for evidence in memory.evidence)
        assert memory.evidence[0].at
    assert world.all(Message) == []
    assert all(point.message_id is None for point in world.all(KeyPoint))
    with world.store.deps.store.reading("ana") as reader:
        assert not [entry for entry in reader.entries_since(0, 1000) if entry.kind is EntryKind.MESSAGE]
    hits = world.user().recall("Zanzibarra roses", limit=5)
    assert hits
    assert all(hit.kind != "message" for hit in hits)


MARKERS = (
    "seven copper lanterns behind the quiet mill",
    "a velvet ladder under the orange bridge",
    "the crooked weathervane above the salt barn",
    "twelve pewter spoons beside the frozen canal",
)


def talk_with_markers(world: World) -> None:
    """Sentences of every kind that a summary, a record, a key point or a portrait is made of."""
    ana = world.user()
    for day in range(3):
        ana.observe(f"I decided to hide {MARKERS[0]} with Maya on day {day}.")
        ana.observe(
            f"I will ask you about {MARKERS[1]} on Friday.",
            role="assistant",
            thinking=f"They seem worried and sad about {MARKERS[2]}, more than they say.",
        )
        ana.observe(f"I am so stressed about {MARKERS[2]}, it is terrible.")
        ana.observe("Yes, zanzibarra.")  # short, and the word may stay as what a topic is about
        for number in range(14):
            ana.observe(f"I still need to paint {MARKERS[3]}, and I do not know how. ({day} {number})")
        ana.close_session()
        world.store.settle()
        world.clock.forward(days=1)


@pytest.mark.parametrize("scrubs", [True, False])
def test_a_purge_of_text_leaves_none_of_its_words(tmp_path, monkeypatch, scrubs):
    """Memories stay by their own rules, so the write path is left out here. The control does not scrub summaries."""
    if not scrubs:
        monkeypatch.setattr("tenuto.lifecycle.scrub.without", lambda summary, said, messages: summary)
    policy = {"retention": {"purge_text": 10 * DAY}}
    world = World(tmp_path / "t.db", policy=policy, leave_out=("digest", "candidates"))
    world.store.settle = world.runner.drain
    talk_with_markers(world)
    told = {one.kind for one in world.all(Summary) if any(marker in one.content for marker in MARKERS)}
    assert told >= {"session", "range", "rolling", "spine"}, "the markers must stand there before"
    assert any(MARKERS[0] in (session.headline or "") + (session.diary_entry or "") for session in world.all(Session))
    world.clock.forward(days=12)
    world.runner.drain()
    report = world.user().purge()
    assert report.messages == 54
    world.runner.drain()
    kinds = Counter(one.kind for one in world.all(Summary))
    assert kinds["session"] and kinds["range"] and kinds["topic"], "summaries stand, with what is left of them"
    assert all(one.content for one in world.all(Summary))
    assert any("The text was purged." in one.content for one in world.all(Summary)) is scrubs
    world.store.deps.store.compact()
    world.store.close()
    left = bytes_of(tmp_path)
    found = [marker for marker in (*MARKERS, "Yes, zanzibarra") if marker.encode() in left]
    assert bool(found) is not scrubs, found


def test_a_sentence_repeats_a_message_or_says_it_in_other_words():
    world = World()
    world.user().observe("Maya and I found seven copper lanterns behind the quiet mill. Nice!")
    said = Said(world.all(Message))
    assert said.repeated("User: Maya and I found seven copper lanterns")
    assert said.repeated("Nice!")
    assert said.repeated("They told me: “I found seven copper lanterns behind…”")
    assert not said.repeated("They found lanterns near a mill with Maya")
    assert said.without("Late: User: I found seven copper lanterns behind the mill. It was a good talk.") == (
        "It was a good talk."
    )


def test_a_background_purge_lags_so_that_a_leaping_clock_takes_nothing_early():
    world = World(policy={"retention": {"purge_text": 10 * DAY}})
    talk_about_secrets(world)
    world.clock.forward(days=9)
    world.store.settle()
    for _ in range(3):
        world.clock.forward(days=1)  # the clock leaps ahead by a day …
        world.store.settle()
        world.clock.forward(days=-1)  # … and comes back
        world.store.settle()
        assert len(world.all(Message)) == 6
    for _ in range(4):
        world.clock.forward(days=1)
        world.store.settle()
    assert world.all(Message) == []


def test_a_domain_has_its_own_time():
    world = World()
    world.keep("Works on the dashboard", domain="project")
    stays = world.keep("Lives in Austin")
    world.user().set_retention({"domains": {"project": 30 * DAY}})
    assert world.user().retention().domains == {"project": timedelta(days=30)}
    world.clock.forward(days=31)
    assert world.user().purge().memories == 1
    assert world.all(Memory) == [stays]
    world.user().set_retention(None)
    assert not world.user().retention()


def test_bad_rules_are_refused_and_change_nothing():
    world = World()
    with pytest.raises(InputError, match="purge_text"):
        world.user().set_retention({"purge_text": "soon"})
    assert not world.user().retention()
