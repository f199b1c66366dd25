"""Names in memory are what the store holds, and reading them again costs only what changed."""

from contextlib import contextmanager

import tenuto
from tenuto.ingest.known_names import Names
from tenuto.records.memory import Entity
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

PEOPLE = ("Anna", "Ben", "Carla", "David", "Emma", "Frank", "Grace", "Henry", "Irene", "Jack", "Karen", "Leo", "Maria")


@contextmanager
def counted(store, user="ana"):
    """A reader that counts the entities that it hands out."""
    with store.deps.store.reading(user) as reader:
        rows = []

        class Counting:
            def __init__(self):
                self.user = reader.user

            def __getattr__(self, name):
                return getattr(reader, name)

            def find(self, type_, *where, **options):
                found = reader.find(type_, *where, **options)
                rows.extend(found)
                return found

        yield Counting(), rows


def test_what_is_held_is_what_is_stored(store, ana, say):
    for name in PEOPLE:
        say(f"I went to the zoo with my friend {name} yesterday.")
    say("Anna and Ben visited us last week.")
    with store.deps.store.reading("ana") as reader:
        stored = {one.id: one for one in reader.find(Entity)}
        assert store.deps.names.fresh(reader).entities == stored
        assert len(stored) >= len(PEOPLE)
        registry = store.deps.names.fresh(reader).registry
        assert registry.names["anna"] == "person:anna"


def test_only_what_changed_is_read_again(store, ana, say, clock):
    from datetime import timedelta

    for name in PEOPLE:
        say(f"I went to the zoo with my friend {name} yesterday.", after=timedelta(hours=1))
    say("I went to the zoo with my friend Anna yesterday.", after=timedelta(hours=1))
    with counted(store) as (reader, rows):
        store.deps.names.fresh(reader)
        assert len(rows) <= 2
    with counted(store) as (reader, rows):
        Names().fresh(reader)
        assert len(rows) >= len(PEOPLE)


def test_what_is_taken_away_is_not_held(store, ana, say):
    for name in PEOPLE:
        say(f"I went to the zoo with my friend {name} yesterday.")
    with store.deps.store.writing("ana") as tx:
        tx.remove(Entity, "person:anna")
    with store.deps.store.reading("ana") as reader:
        assert "person:anna" not in store.deps.names.fresh(reader).entities


def test_erasing_leaves_no_names_in_memory(store, ana, say):
    say("I went to the zoo with my friend Anna yesterday.")
    assert store.deps.names.held("ana") is not None
    ana.erase()
    assert store.deps.names.held("ana") is None


def test_the_user_is_nobody_among_the_people(store_url: str) -> None:
    with tenuto.open(store_url, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False) as store:
        ana = store.user("m")
        for text in ("Hi, I'm Maya and I live in Porto.", "My brother Nils plays the drums in Maya's band."):
            ana.observe(text)
        store.settle()
        assert sorted(one.id for one in ana.entities()) == ["person:nils", "place:porto"]
        ana.observe("Maya and Nils went to Porto.")
        store.settle()
        assert sorted(one.id for one in ana.entities()) == ["person:nils", "place:porto"]
