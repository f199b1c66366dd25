"""Neighbours out of the index in memory are those that the store itself finds, also for what was written meanwhile."""

import numpy as np

from tenuto.ingest.neighbours import nearby
from tenuto.ingest.write import Writing
from tenuto.records.memory import Memory
from tenuto.records.operations import EntryKind

THINGS = ("boats", "trains", "gardens", "violins", "maps", "stamps", "kites", "clocks", "shells", "masks")


def compare(writing: Writing, texts: list[str]) -> None:
    embedder = writing.deps.embedder
    for vector in np.asarray(embedder.embed(texts), np.float32):
        mine = writing.nearby.find(writing.tx, EntryKind.MEMORY, vector, 5)
        theirs = writing.tx.nearest(EntryKind.MEMORY, vector, embedder.model, 5)
        assert [round(cosine, 2) for _, cosine in mine] == [round(cosine, 2) for _, cosine in theirs]
        clear = [id for id, cosine in theirs if sum(abs(cosine - other) < 0.01 for _, other in theirs) == 1]
        assert set(clear) <= {id for id, _ in mine}


def test_the_view_and_what_came_after_it_are_what_the_store_finds(store, ana, say):
    for thing in THINGS[:5]:
        say(f"I collect old {thing} from the market in town.")
    deps = store.deps
    with deps.store.reading("ana") as reader:
        near = nearby(deps, reader)
    for thing in THINGS[5:8]:
        say(f"I collect old {thing} from the market in town.")
    texts = [f"I collect old {thing} from the market in town" for thing in THINGS]
    with deps.store.writing("ana") as tx:
        writing = Writing(deps, tx, deps.clock(), nearby=near)
        compare(writing, texts)
        known = tx.find(Memory, limit=2)
        for memory, vector in zip(known, np.asarray(deps.embedder.embed(texts[8:]), np.float32), strict=True):
            writing.index(memory, vector)
        compare(writing, texts)


def test_without_what_came_after_it_a_view_is_not_enough(store, ana, say):
    say("I play chess on Sundays.")
    deps = store.deps
    with deps.store.reading("ana") as reader:
        near = nearby(deps, reader)
    say("I'm allergic to penicillin.")
    near.newer = {}
    vector = np.asarray(deps.embedder.embed(["Is allergic to penicillin"]), np.float32)[0]
    with deps.store.writing("ana") as tx:
        (store_finds, _), *_ = tx.nearest(EntryKind.MEMORY, vector, deps.embedder.model, 1)
        assert store_finds not in {id for id, _ in near.find(tx, EntryKind.MEMORY, vector, 5)}
