"""Many writers of one fact: the database arbitrates, one memory stands, and every writer learns what happened."""

import threading
from collections import Counter

from tenuto.records.operations import Act

WRITERS, TIMES = 8, 5


def test_the_same_fact_from_many_threads_is_one_memory_and_every_telling_counts(ana):
    acts: Counter[Act] = Counter()
    lock = threading.Lock()

    def tell() -> None:
        for _ in range(TIMES):
            done = ana.remember("I'm allergic to penicillin")
            with lock:
                acts[done.act] += 1

    threads = [threading.Thread(target=tell) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (memory,) = ana.memories()
    assert acts == {Act.INSERTED: 1, Act.REINFORCED: WRITERS * TIMES - 1}
    assert memory.reinforcements == WRITERS * TIMES - 1


def test_rival_values_from_many_threads_leave_one_current_and_a_whole_chain(ana):
    cities = [f"{first}{last}" for first in ("Os", "Ber", "Li", "Ma") for last in ("lo", "gen")]
    threads = [threading.Thread(target=ana.remember, args=(f"I live in {city}",)) for city in cities]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (current,) = ana.memories()
    old = ana.memories(status="deprecated")
    assert len(old) == len(cities) - 1
    assert len({memory.superseded_by for memory in old}) == len(old)
    contents = {version.content for version in ana.history(current.id)}
    assert contents == {f"I live in {city}" for city in cities}


def test_without_the_slot_the_count_would_be_wrong(ana, store):
    """The control: the same race, with the slot taken away, leaves copies behind."""
    from tenuto.records.base import evolve
    from tenuto.records.memory import Memory

    first = ana.remember("I'm allergic to penicillin").memory
    with store.deps.store.writing("ana") as tx:
        assert not tx.add(evolve(first, id="mem_copy"))
        assert tx.add(evolve(first, id="mem_free", slot=None))
        assert len(tx.find(Memory)) == 2
