"""The contract that every store keeps. Subclass it, give it a store, and run it with pytest.

The fake in memory, SQLite and PostgreSQL are all held to it:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self): ...

A test that only one engine passes does not belong here.
"""
# Over 400 lines: one contract, read from top to bottom.

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tenuto.errors import Conflict, InputError, StoreClosed
from tenuto.ports import Moved, Store, Transaction, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Session, SessionStatus
from tenuto.records.identity import Challenge, Purpose
from tenuto.records.memory import Memory, Status, Todo, TodoKind
from tenuto.records.operations import REMOVALS_KEPT, Entry, EntryKind, EntryRows, Event, Job, JobStatus
from tenuto.records.scope import Revision, User
from tenuto.records.workflow import Outcome
from tenuto.testing.samples import LATER, NOW, memory, message, records

ANA, BEN = "ana", "ben"


def entry(id: str, kind: EntryKind = EntryKind.MEMORY, **changes: Any) -> Entry:
    values: dict[str, Any] = {"kind": kind, "id": id, "at": NOW, "tokens": b"\x01" * 16, "links": ("msg_1", "msg_2")}
    return Entry(**(values | changes))


def vector(*numbers: float) -> bytes:
    return np.array([*numbers, *([0.0] * (8 - len(numbers)))], dtype="<f2").tobytes()


def put(store: Store, user: str, *rows: Any) -> None:
    with store.writing(user) as tx:
        tx.put(*rows)


class StoreContract:
    """Inherit and define the fixture ``store``: an empty store."""

    # --- records ------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("record", records(), ids=lambda record: type(record).__name__)
    def test_every_record_comes_back_as_it_went_in(self, store: Store, record: Any) -> None:
        put(store, ANA, record)
        with store.reading(ANA) as reader:
            found: Any = reader.get(type(record), record.id)
        if isinstance(found, Job):
            found = evolve(found, user_id=record.user_id)
        if hasattr(record, "seq"):
            assert found.seq > 0
            found = evolve(found, seq=0)
        assert found == record

    @pytest.mark.parametrize("record", records(), ids=lambda record: type(record).__name__)
    def test_one_user_never_sees_anothers_rows(self, store: Store, record: Any) -> None:
        put(store, ANA, record)
        with store.reading(BEN) as reader:
            assert reader.get(type(record), record.id) is None
            assert reader.find(type(record)) == []
            assert reader.count(type(record)) == 0
            assert reader.ids(type(record)) == set()

    def test_two_users_may_have_the_same_ids(self, store: Store) -> None:
        put(store, ANA, memory(content="ana's"))
        put(store, BEN, memory(content="ben's"))
        with store.writing(BEN) as tx:
            tx.remove(Memory, "mem_1")
        with store.reading(ANA) as reader:
            kept = reader.get(Memory, "mem_1")
        assert kept is not None and kept.content == "ana's"

    def test_put_replaces_and_add_does_not(self, store: Store) -> None:
        put(store, ANA, memory(content="first"), memory(content="second"))
        with store.writing(ANA) as tx:
            assert tx.add(memory(content="third")) is False
            kept = tx.get(Memory, "mem_1")
        assert kept is not None and kept.content == "second"

    def test_an_exception_undoes_everything(self, store: Store) -> None:
        put(store, ANA, memory())
        with pytest.raises(ZeroDivisionError), store.writing(ANA) as tx:  # noqa: PT012
            tx.put(memory(content="changed"), message())
            tx.remove(Memory, "mem_1")
            tx.index(entry("mem_1"))
            raise ZeroDivisionError
        with store.reading(ANA) as reader:
            assert reader.get(Memory, "mem_1") == memory()
            assert reader.get(Message, "msg_1") is None
            assert reader.entries_since(0, 10) == []
        put(store, ANA, message())

    def test_reading_an_unknown_user_gives_nothing_and_writes_nothing(self, store: Store) -> None:
        with store.reading("nobody") as reader:
            assert reader.profile() is None and reader.find(Memory) == [] and reader.stats()["total_messages"] == 0
        assert store.users() == []

    def test_taken_keys_are_refused(self, store: Store) -> None:
        put(store, ANA, message("msg_1", external_id="same"), memory("mem_1", slot="same"))
        with store.writing(ANA) as tx:
            assert tx.add(message("msg_2", external_id="same")) is False
            assert tx.add(memory("mem_2", slot="same")) is False
            assert tx.add(memory("mem_3", slot=None)) is True
            assert tx.add(memory("mem_4", slot=None)) is True
        with pytest.raises(Conflict):
            put(store, ANA, memory("mem_2", slot="same"))
        put(store, BEN, message("msg_9", external_id="same"), memory("mem_9", slot="same"))

    def test_clearing_a_table_leaves_the_others_and_other_users(self, store: Store) -> None:
        put(store, ANA, memory("mem_1", slot="s"), message())
        put(store, BEN, memory("mem_1"))
        with store.writing(ANA) as tx:
            tx.clear(Memory)
            tx.put(memory("mem_2", slot="s"))
        with store.reading(ANA) as reader:
            assert reader.ids(Memory) == {"mem_2"} and reader.count(Message) == 1
        with store.reading(BEN) as reader:
            assert reader.ids(Memory) == {"mem_1"}

    def test_a_freed_slot_can_be_taken(self, store: Store) -> None:
        put(store, ANA, memory("mem_1", slot="s"))
        put(store, ANA, memory("mem_1", slot=None), memory("mem_2", slot="s"))
        with store.reading(ANA) as reader:
            assert reader.count(Memory) == 2

    # --- listings -----------------------------------------------------------------------------------------------------

    def test_conditions(self, store: Store) -> None:
        put(
            store,
            ANA,
            memory("mem_1", importance=3.0, persona=None, status=Status.ACTIVE, pinned=False),
            memory("mem_2", importance=7.0, persona="coach", valid_to=LATER, entities=("person:ana",)),
            memory("mem_3", importance=9.0, persona="tutor", status=Status.FORGOTTEN, created_at=LATER),
        )
        with store.reading(ANA) as reader:

            def ids(*where: Where) -> set[str]:
                found = {record.id for record in reader.find(Memory, *where)}
                assert found == reader.ids(Memory, *where) and len(found) == reader.count(Memory, *where)
                return found

            assert ids(Where("importance", ">=", 7)) == {"mem_2", "mem_3"}
            assert ids(Where("importance", "<", 7.0)) == {"mem_1"}
            assert ids(Where("persona", "is", None)) == {"mem_1"}
            assert ids(Where("persona", "is not", None)) == {"mem_2", "mem_3"}
            assert ids(Where("persona", "in", [None, "coach"])) == {"mem_1", "mem_2"}
            assert ids(Where("persona", "in", [])) == set()
            assert ids(Where("persona", "!=", "coach")) == {"mem_3"}
            assert ids(Where("status", "=", Status.FORGOTTEN)) == {"mem_3"}
            assert ids(Where("pinned", "=", False)) == {"mem_1"}
            assert ids(Where("created_at", ">", NOW)) == {"mem_3"}
            assert ids(Where("valid_to", "<=", LATER)) == {"mem_2"}
            assert ids(Where("entities", "has", "org:acme")) == {"mem_1", "mem_3"}
            assert ids(Where("id", "=", "mem_2"), Where("importance", ">", 8)) == set()

    def test_links_follow_the_record(self, store: Store) -> None:
        put(store, ANA, memory(entities=("person:a",)))
        put(store, ANA, memory(entities=("person:b",)))
        with store.reading(ANA) as reader:
            assert reader.find(Memory, Where("entities", "has", "person:a")) == []
            assert len(reader.find(Memory, Where("entities", "has", "person:b"))) == 1
        with store.writing(ANA) as tx:
            tx.remove(Memory, "mem_1")
            assert tx.find(Memory, Where("entities", "has", "person:b")) == []

    def test_order_and_pages(self, store: Store) -> None:
        put(store, ANA, *(memory(f"mem_{i}", importance=float(i % 3)) for i in range(9)))
        with store.reading(ANA) as reader:
            for order in ("importance", "-importance", "id", "-id", "created_at", "-created_at"):
                whole = [record.id for record in reader.find(Memory, order=order)]
                name = order.removeprefix("-")
                pages, after = [], None
                while page := reader.find(Memory, order=order, limit=4, after=after):
                    pages += [record.id for record in page]
                    after = (getattr(page[-1], name), page[-1].id)
                assert pages == whole and len(whole) == 9, order

    def test_nothing_comes_last_in_an_order(self, store: Store) -> None:
        due = [Todo(**{**_todo(), "id": f"tdo_{i}", "due": LATER if i == 1 else None}) for i in range(3)]
        put(store, ANA, *due)
        with store.reading(ANA) as reader:
            assert reader.find(Todo, order="due")[0].id == "tdo_1"
            assert reader.find(Todo, order="-due")[0].id == "tdo_1"

    @pytest.mark.parametrize("name", ["body", "user_id", "1=1; --", "content", "id) OR (1=1", ""])
    def test_names_from_outside_do_not_reach_the_engine(self, store: Store, name: str) -> None:
        put(store, ANA, memory())
        with store.reading(ANA) as reader:
            with pytest.raises(InputError):
                reader.find(Memory, Where(name, "=", "x"))
            with pytest.raises(InputError):
                reader.find(Memory, order=name)
            with pytest.raises(InputError):
                reader.find(Memory, Where("importance", "= 0 OR 1 =", 1))

    @pytest.mark.parametrize("value", ["' OR '1'='1", "%", "_", '"', "\\", "x' --", "ана", "💥"])
    def test_values_are_only_values(self, store: Store, value: str) -> None:
        put(store, ANA, memory("mem_1", persona="coach"))
        put(store, BEN, memory("mem_2", persona=value, entities=(value,)))
        with store.reading(ANA) as reader:
            assert reader.find(Memory, Where("persona", "=", value)) == []
            assert reader.find(Memory, Where("entities", "has", value)) == []
        with store.reading(BEN) as reader:
            assert len(reader.find(Memory, Where("persona", "=", value), Where("entities", "has", value))) == 1

    def test_many_ids_at_once(self, store: Store) -> None:
        put(store, ANA, *(message(f"msg_{i}") for i in range(1200)))
        with store.reading(ANA) as reader:
            assert len(reader.get_many(Message, [f"msg_{i}" for i in range(0, 2400, 2)])) == 600

    def test_stats(self, store: Store) -> None:
        put(store, ANA, message("msg_1", importance=4.0), message("msg_2", importance=8.0, at=LATER), memory())
        put(store, BEN, message())
        with store.reading(ANA) as reader:
            assert reader.stats() == {
                "total_messages": 2,
                "total_memories": 1,
                "total_summaries": 0,
                "total_pins": 1,
                "oldest_message": NOW,
                "newest_message": LATER,
                "average_importance": 6.0,
            }

    # --- numbers, index, vectors --------------------------------------------------------------------------------------

    def test_everything_of_a_user_is_numbered_in_order(self, store: Store) -> None:
        put(store, ANA, message("msg_1"), message("msg_2"), Outcome(id="o", track="t", skill="s", success=True, at=NOW))
        put(store, BEN, message("msg_1"))
        with store.writing(ANA) as tx:
            tx.put(Event(id="evt_1", kind="k", at=NOW, subject_kind="message", subject_id="msg_1"))
            tx.index(entry("mem_1"))
        with store.reading(ANA) as reader:
            numbers = [m.seq for m in reader.find(Message)] + [o.seq for o in reader.find(Outcome)]
            numbers += [e.seq for e in reader.find(Event)] + [e.seq for e in reader.entries_since(0, 10)]
            profile = reader.profile()
        assert numbers == [1, 2, 3, 4, 5]
        assert profile is not None and profile.seq == 5 and profile.epoch == 0

    def test_entries_are_read_by_what_is_new(self, store: Store) -> None:
        first = entry("mem_1", vector=vector(1), model="m", persona="coach", session_id="s", role="user", speaker="Ana")
        with store.writing(ANA) as tx:
            tx.index(first, entry("msg_1", EntryKind.MESSAGE))
        with store.reading(ANA) as reader:
            found = reader.entries_since(0, 10)
            assert [e.id for e in found] == ["mem_1", "msg_1"]
            assert evolve(found[0], seq=0) == first
            assert [e.id for e in reader.entries_since(0, 1)] == ["mem_1"]
            assert _listed(reader.entry_rows(0, 10)) == _listed(EntryRows.of(found))
            assert list(reader.entry_rows(0, 1).id) == ["mem_1"] and len(reader.entry_rows(found[-1].seq, 10)) == 0
            assert reader.entries_since(found[-1].seq, 10) == []
            assert [e.id for e in reader.unembedded("m", 10)] == ["msg_1"]
            assert [e.id for e in reader.unembedded("other", 10)] == ["msg_1", "mem_1"]
        with store.writing(ANA) as tx:
            keys = {(EntryKind.MESSAGE, "msg_1"): vector(0, 1), (EntryKind.MESSAGE, "gone"): vector(1)}
            assert tx.embed("m", keys) == 1
        with store.reading(ANA) as reader:
            (changed,) = reader.entries_since(found[-1].seq, 10)
            assert (changed.id, changed.model, changed.vector) == ("msg_1", "m", vector(0, 1))
            assert reader.unembedded("m", 10) == []
        with store.reading(BEN) as reader:
            assert reader.entries_since(0, 10) == [] and reader.unembedded("m", 10) == []

    def test_taking_away_changes_the_epoch(self, store: Store) -> None:
        with store.writing(ANA) as tx:
            tx.put(memory())
            tx.index(entry("mem_1"))
        with store.writing(ANA) as tx:
            tx.unindex(EntryKind.MEMORY, "mem_1", "gone")
        with store.reading(ANA) as reader:
            first = reader.profile()
            assert reader.entries_since(0, 10) == []
        with store.writing(ANA) as tx:
            assert tx.remove(Memory, "mem_1", "gone") == 1
        with store.reading(ANA) as reader:
            second = reader.profile()
        assert first is not None and second is not None and 0 < first.epoch < second.epoch

    def test_what_was_unindexed_is_known_by_its_number(self, store: Store) -> None:
        with store.writing(ANA) as tx:
            tx.index(entry("mem_1"), entry("mem_2"), entry("msg_1", EntryKind.MESSAGE))
        with store.reading(ANA) as reader:
            assert reader.removed_since(0) == []
        with store.writing(ANA) as tx:
            tx.unindex(EntryKind.MEMORY, "mem_1", "gone")
            assert tx.removed_since(3) == ["mem_1"], "seen by the writer at once"
        with suppress(InputError), store.writing(ANA) as tx:
            tx.unindex(EntryKind.MEMORY, "mem_2")
            raise InputError("taken back")
        with store.writing(ANA) as tx:
            tx.index(entry("mem_1"))
            tx.unindex(EntryKind.MESSAGE, "msg_1")
        with store.reading(ANA) as reader:
            assert reader.removed_since(3) == ["msg_1", "mem_1"]
            assert reader.removed_since(4) == ["msg_1"] and reader.removed_since(6) == []
            assert [(one.id, one.seq) for one in reader.entries_since(3, 10)] == [("mem_1", 5)]
        with store.reading(BEN) as reader:
            assert reader.removed_since(0) == []
        assert store.erase_user(ANA)["removed_entries"] == 2
        with store.reading(ANA) as reader:
            assert reader.removed_since(0) == []

    def test_only_the_newest_removals_are_kept_and_whoever_missed_one_is_told(self, store: Store) -> None:
        ids = [f"mem_{number:04d}" for number in range(REMOVALS_KEPT + 2)]
        with store.writing(ANA) as tx:
            tx.index(*(entry(id) for id in ids))
            before = len(ids)
            tx.unindex(EntryKind.MEMORY, *ids[:-3])
        with store.reading(ANA) as reader:
            assert reader.removed_since(before) == ids[:-3][::-1]
        with store.writing(ANA) as tx:
            tx.unindex(EntryKind.MEMORY, *ids[-3:])
        with store.reading(ANA) as reader:
            assert reader.removed_since(before) is None and reader.removed_since(before + 2) is None
            assert reader.removed_since(before + 3) == ids[3:][::-1]
        assert store.erase_user(ANA)["removed_entries"] == REMOVALS_KEPT

    def test_nearest_is_exact_and_of_one_user_kind_and_model(self, store: Store) -> None:
        with store.writing(ANA) as tx:
            tx.index(
                entry("mem_a", vector=vector(1, 0), model="m"),
                entry("mem_b", vector=vector(0.8, 0.6), model="m"),
                entry("mem_c", vector=vector(0, 1), model="m"),
                entry("mem_x", vector=vector(1, 0), model="old"),
                entry("mem_n"),
                entry("msg_1", EntryKind.MESSAGE, vector=vector(1, 0), model="m"),
            )
        with store.writing(BEN) as tx:
            tx.index(entry("mem_a", vector=vector(1, 0), model="m"))
        query = np.array([1, 0, 0, 0, 0, 0, 0, 0], dtype=np.float32)
        with store.reading(ANA) as reader:
            found = reader.nearest(EntryKind.MEMORY, query, "m", 2)
            assert [id for id, _ in found] == ["mem_a", "mem_b"]
            assert [round(score, 2) for _, score in found] == [1.0, 0.8]
            assert reader.nearest(EntryKind.MEMORY, query, "m", 0) == []

    def test_the_users_own_settings(self, store: Store) -> None:
        with store.writing(ANA) as tx:
            tx.set_user(User(user_id=ANA, created_at=NOW, timezone="Europe/Rome", settings={"quiet": True}))
        with store.reading(ANA) as reader:
            user = reader.profile()
        assert user is not None and (user.timezone, user.settings) == ("Europe/Rome", {"quiet": True})

    def test_where_a_users_data_stands_changes_with_everything_that_happens(self, store: Store) -> None:
        def stands(user: str = ANA) -> Revision | None:
            with store.reading(user) as reader:
                return reader.revision()

        assert stands() is None
        put(store, BEN, message("msg_1"))
        seen = [stands(BEN)]
        happenings: list[Callable[[Transaction], Any]] = [
            lambda tx: tx.put(message("msg_1")),
            lambda tx: tx.put(message("msg_1", content="said otherwise")),
            lambda tx: tx.put(memory("mem_1")),
            lambda tx: tx.put(memory("mem_1", content="known better")),
            lambda tx: tx.index(entry("mem_1")),
            lambda tx: tx.embed("m", {(EntryKind.MEMORY, "mem_1"): vector(1)}),
            lambda tx: tx.unindex(EntryKind.MEMORY, "mem_1"),
            lambda tx: tx.remove(Memory, "mem_1"),
            lambda tx: tx.set_user(User(user_id=ANA, created_at=NOW, timezone="Europe/Rome")),
        ]
        for happens in happenings:
            with store.writing(ANA) as tx:
                happens(tx)
            assert stands() == stands() and stands() not in seen
            seen.append(stands())
        with suppress(ZeroDivisionError), store.writing(ANA) as tx:
            tx.put(message("msg_2"))
            _ = 1 / 0
        assert stands() == seen[-1], "what was undone has not happened"
        store.erase_user(ANA)
        assert stands() is None
        put(store, ANA, message("msg_1"))
        assert stands() not in seen

    def test_a_moment_is_read_while_it_lasts(self, store: Store) -> None:
        put(store, ANA, message("msg_1"), memory("mem_1"))
        put(store, BEN, message("msg_1", content="of another"))
        with store.reading(ANA) as reader:
            at, kept = reader.revision(), reader.get(Message, "msg_1")
        assert at is not None
        with store.reading(ANA, at=at) as reader:
            assert reader.get(Message, "msg_1") == kept and reader.ids(Memory) == {"mem_1"}
            assert reader.revision() == at and reader.get_many(Memory, ["mem_2"]) == {}
        with pytest.raises(Moved), store.reading(BEN, at=at) as reader:
            reader.get(Message, "msg_1")
        put(store, BEN, message("msg_2"))
        with store.reading(ANA, at=at) as reader:
            assert reader.count(Message) == 1, "what happens to another does not matter"
        put(store, ANA, memory("mem_1", content="known better"))
        with pytest.raises(Moved), store.reading(ANA, at=at) as reader:
            reader.get(Message, "msg_1")
        with pytest.raises(Moved), store.reading(ANA, at=at):
            pass
        store.erase_user(ANA)
        with pytest.raises(Moved), store.reading(ANA, at=at) as reader:
            reader.get(Message, "msg_1")
        with store.reading(ANA) as reader:
            assert reader.count(Message) == 0, "the store can be read as before"

    def test_a_larger_number_of_a_restored_user_is_taken_over(self, store: Store) -> None:
        put(store, ANA, message("msg_1"))
        for seq, expected in ((40, 41), (7, 42)):
            with store.writing(ANA) as tx:
                tx.set_user(User(user_id=ANA, created_at=NOW, seq=seq))
                tx.put(message(f"msg_{expected}"))
            with store.reading(ANA) as reader:
                kept = reader.get(Message, f"msg_{expected}")
            assert kept is not None and kept.seq == expected

    # --- addresses ----------------------------------------------------------------------------------------------------

    def test_an_address_has_one_holder(self, store: Store) -> None:
        assert store.holder("email", "a@example.org") is None
        with store.address("email", "a@example.org") as place:
            assert place.holder() is None
            place.hold(ANA)
        assert store.holder("email", "a@example.org") == ANA
        assert store.holder("sms", "a@example.org") is None
        with suppress(ZeroDivisionError), store.address("email", "a@example.org") as place:
            place.hold(BEN)
            place.put(_challenge("chl_1"))
            raise ZeroDivisionError
        with store.address("email", "a@example.org") as place:
            assert place.holder() == ANA and place.challenges() == []
            place.hold(BEN)
        assert store.holder("email", "a@example.org") == BEN
        with store.address("email", "a@example.org") as place:
            place.release()
        assert store.holder("email", "a@example.org") is None

    def test_challenges_stay_with_their_address(self, store: Store) -> None:
        first, second = _challenge("chl_2"), _challenge("chl_1", created_at=LATER)
        with store.address("email", "a@example.org") as place:
            place.put(second)
            place.put(first)
        with store.address("email", "b@example.org") as place:
            assert place.challenges() == []
        with store.address("email", "a@example.org") as place:
            assert place.challenges() == [first, second]
            place.put(evolve(first, tries=3))
            place.drop("chl_1")
            assert place.challenges() == [evolve(first, tries=3)]
        assert store.erase_user(ANA)["challenges"] == 1
        with store.address("email", "a@example.org") as place:
            assert place.challenges() == []

    def test_only_one_of_many_claims_an_address(self, store: Store) -> None:
        won: list[str] = []

        def claim(user: str) -> None:
            with store.address("sms", "+390000001") as place:
                if place.holder() is None:
                    place.hold(user)
                    won.append(user)

        threads = [threading.Thread(target=claim, args=(f"user{i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1 and store.holder("sms", "+390000001") == won[0]

    def test_whoever_listens_hears_of_events_after_the_commit(self, store: Store) -> None:
        heard: list[tuple[str, int, int]] = []

        def listen(user: str, seq: int) -> None:
            with store.reading(user) as reader:
                heard.append((user, seq, reader.count(Event)))

        store.when_events(listen)
        put(store, ANA, message())
        put(store, ANA, Event(id="evt_1", kind="k", at=NOW, subject_kind="message", subject_id="msg_1"))
        with suppress(ZeroDivisionError), store.writing(ANA) as tx:
            tx.put(Event(id="evt_2", kind="k", at=NOW, subject_kind="message", subject_id="msg_1"))
            raise ZeroDivisionError
        assert heard == [(ANA, 2, 1)]

    # --- many at once -------------------------------------------------------------------------------------------------

    def test_what_was_read_in_a_transaction_still_holds_at_its_end(self, store: Store) -> None:
        def add() -> None:
            for _ in range(10):
                with store.writing(ANA) as tx:
                    kept = tx.get(Memory, "mem_1") or memory(reinforcements=0)
                    tx.put(evolve(kept, reinforcements=kept.reinforcements + 1))

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.reading(ANA) as reader:
            kept = reader.get(Memory, "mem_1")
        assert kept is not None and kept.reinforcements == 80

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def _job(self, id: str, **changes: Any) -> Job:
        values: dict[str, Any] = {"id": id, "kind": "work", "created_at": NOW, "run_at": NOW}
        return Job(**(values | changes))

    def test_a_lease_is_exclusive_and_fenced(self, store: Store) -> None:
        put(store, ANA, self._job("job_1"), self._job("job_2"), self._job("job_3", kind="other"))
        until = NOW + timedelta(seconds=30)
        jobs = store.lease(["work"], NOW, until, 10)
        assert [job.id for job in jobs] == ["job_1", "job_2"] and {job.user_id for job in jobs} == {ANA}
        assert all(job.status is JobStatus.RUNNING and job.attempts == 1 for job in jobs)
        assert store.lease(["work"], NOW, until, 10) == []
        assert store.unfinished(["work"], NOW) == 2 and store.unfinished(["work"], NOW, BEN) == 0
        assert store.renew(jobs[0], NOW + timedelta(hours=1)) is True
        (again,) = store.lease(["work"], NOW + timedelta(minutes=1), NOW + timedelta(minutes=2), 10)
        assert again.id == "job_2" and again.fence > jobs[1].fence
        assert store.finish(evolve(jobs[1], status=JobStatus.DONE)) is False
        assert store.renew(jobs[1], until) is False
        assert store.finish(evolve(again, status=JobStatus.FAILED, error="why")) is True
        assert store.finish(evolve(again, status=JobStatus.DONE)) is False
        (failed,) = store.jobs("failed")
        assert failed.error == "why" and failed.id == "job_2"

    def test_a_clock_that_was_set_back_leaves_no_job_out_of_reach(self, store: Store) -> None:
        lease, backoff, day = timedelta(minutes=1), timedelta(minutes=10), timedelta(days=1)
        ahead = NOW + day
        with store.writing(ANA) as tx:
            tx.put(Job(id="leased", kind="dead", created_at=ahead, run_at=ahead))
            tx.put(Job(id="retried", kind="work", created_at=NOW, run_at=ahead, attempts=1))
            tx.put(Job(id="new", kind="work", created_at=ahead, run_at=ahead - day))
            tx.put(Job(id="later", kind="work", created_at=ahead, run_at=ahead + day))
            tx.put(Job(id="planned", kind="work", created_at=NOW, run_at=ahead))
        assert [job.id for job in store.lease(["dead"], ahead, ahead + lease, 1)] == ["leased"]
        assert store.lease(["work", "dead"], NOW, NOW + lease, 9)[0].id == "new"
        assert store.mend_jobs(NOW, lease, backoff) == 3
        assert store.mend_jobs(NOW, lease, backoff) == 0
        found = [job.id for _ in range(3) for job in store.lease(["work", "dead"], NOW, NOW + lease, 9)]
        assert sorted(found) == ["leased", "retried"]
        waiting = {job.id: job.run_at for job in store.jobs("pending")}
        assert waiting == {"later": NOW + day, "planned": ahead}
        assert store.mend_jobs(NOW - timedelta(seconds=50), lease, backoff) == 0, "small differences are no jump"

    def test_a_lease_takes_jobs_of_one_user_and_kind_and_only_due_ones(self, store: Store) -> None:
        put(store, ANA, self._job("job_1"), self._job("job_2", kind="other"), self._job("job_9", run_at=LATER))
        put(store, BEN, self._job("job_3"))
        seen = []
        while jobs := store.lease(["work", "other"], NOW, LATER, 10):
            assert len({(job.user_id, job.kind) for job in jobs}) == 1
            seen += [(job.user_id, job.id) for job in jobs]
        assert sorted(seen) == [(ANA, "job_1"), (ANA, "job_2"), (BEN, "job_3")]

    def test_what_is_done_in_turn_waits_for_what_was_taken_before(self, store: Store) -> None:
        put(store, ANA, *[self._job(f"job_{number}") for number in range(4)], self._job("job_9", kind="other"))
        put(store, BEN, self._job("job_5"))

        def lease(now: datetime = NOW) -> list[tuple[str, str]]:
            found = store.lease(["work", "other"], now, now + timedelta(minutes=1), 2, ["work"])
            return [(job.user_id, job.id) for job in found]

        assert lease() == [(ANA, "job_0"), (ANA, "job_1")]
        assert sorted([*lease(), *lease()]) == [(ANA, "job_9"), (BEN, "job_5")]
        assert lease() == []
        for job in store.jobs("running"):
            store.finish(evolve(job, status=JobStatus.DONE))
        assert lease() == [(ANA, "job_2"), (ANA, "job_3")]
        assert lease(NOW + timedelta(minutes=2)) == [(ANA, "job_2"), (ANA, "job_3")], "a lease that is over"

    def test_two_who_lease_at_once_never_share_what_is_done_in_turn(self, store: Store) -> None:
        put(store, ANA, *[self._job(f"job_{number:02}") for number in range(40)])
        taken: list[list[Job]] = []
        start = threading.Barrier(4)

        def run() -> None:
            start.wait()
            taken.append(store.lease(["work"], NOW, LATER, 3, ["work"]))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(len(jobs) for jobs in taken)[:3] == [0, 0, 0]
        assert len(store.jobs("running")) == max(len(jobs) for jobs in taken) <= 3

    def test_a_job_that_stands_for_a_later_one_is_not_taken_before_what_it_is_for_is_there(self, store: Store) -> None:
        put(store, ANA, Job(id="job_1", kind="embed", created_at=NOW, run_at=NOW, dedupe="embed"))
        seen: list[tuple[str, set[str]]] = []

        def run() -> None:
            for job in store.lease(["embed"], LATER, LATER, 8):
                with store.reading(ANA) as reader:
                    seen.append((job.id, reader.ids(Message)))

        runner = threading.Thread(target=run)
        with store.writing(ANA) as tx:
            tx.put(message("msg_1"))
            assert not tx.add(Job(id="job_2", kind="embed", created_at=NOW, run_at=NOW, dedupe="embed"))
            runner.start()
            runner.join(0.5)  # where there is one writer at a time it waits, and takes the job after this
        runner.join(30)
        run()
        assert seen == [("job_1", {"msg_1"})]

    def test_a_job_that_was_taken_stands_for_nothing_new(self, store: Store) -> None:
        put(store, ANA, Job(id="job_1", kind="embed", created_at=NOW, run_at=NOW, dedupe="embed"))
        assert [job.id for job in store.lease(["embed"], LATER, LATER, 8)] == ["job_1"]
        with store.writing(ANA) as tx:
            assert tx.add(Job(id="job_2", kind="embed", created_at=NOW, run_at=NOW, dedupe="embed"))

    def test_one_pending_job_per_purpose(self, store: Store) -> None:
        with store.writing(ANA) as tx:
            assert tx.add(self._job("job_1", dedupe="d")) is True
            assert tx.add(self._job("job_2", dedupe="d")) is False
        (running,) = store.lease(["work"], NOW, LATER, 10)
        with store.writing(ANA) as tx:
            assert tx.add(self._job("job_3", dedupe="d")) is True
        assert store.finish(evolve(running, status=JobStatus.PENDING)) is True
        assert {job.id: job.status for job in store.jobs()} == {
            "job_1": JobStatus.CANCELLED,
            "job_3": JobStatus.PENDING,
        }
        assert store.drop_old_jobs(LATER) == 1

    # --- across users -------------------------------------------------------------------------------------------------

    def test_users_in_pages(self, store: Store) -> None:
        for name in ("b", "a", "ä", "B", "c"):
            put(store, name, message())
        first = store.users(limit=2)
        assert first + store.users(after=first[-1]) == sorted(["b", "a", "ä", "B", "c"])

    def test_idle_sessions(self, store: Store) -> None:
        session = Session(id="ses_1", persona=None, channel="web", started_at=NOW, last_activity_at=NOW)
        put(store, ANA, session, evolve(session, id="ses_2", last_activity_at=LATER))
        put(store, BEN, evolve(session, status=SessionStatus.CLOSED))
        assert store.idle_sessions(LATER, 10) == [(ANA, "ses_1")]

    def test_erasing_a_user_leaves_the_others(self, store: Store) -> None:
        for user in (ANA, BEN):
            with store.writing(user) as tx:
                tx.put(*records())
                tx.index(entry("mem_1"))
        gone = store.erase_user(ANA)
        assert gone["memories"] == 1 and gone["messages"] == 1 and gone["entries"] == 1 and gone["users"] == 1
        assert store.users() == [BEN]
        with store.reading(ANA) as reader:
            assert reader.profile() is None and reader.entries_since(0, 10) == []
            assert all(reader.find(type(record)) == [] for record in records())
        with store.reading(BEN) as reader:
            assert all(len(reader.find(type(record))) == 1 for record in records())
            assert len(reader.find(Memory, Where("entities", "has", "person:ana"))) == 1

    def test_a_healthy_store_says_so(self, store: Store) -> None:
        put(store, ANA, *records())
        assert store.check() == []

    def test_a_closed_store_says_so(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreClosed), store.reading(ANA):
            pass
        with pytest.raises(StoreClosed), store.writing(ANA):
            pass


def _listed(rows: EntryRows) -> dict[str, list[Any]]:
    return {part.name: list(getattr(rows, part.name)) for part in fields(rows)}


def _challenge(id: str, **changes: Any) -> Challenge:
    values: dict[str, Any] = {
        "id": id,
        "user_id": ANA,
        "channel": "email",
        "address": "a@example.org",
        "purpose": Purpose.LINK,
        "salt": "s",
        "code_hash": "c",
        "token_hash": "t",
        "created_at": NOW,
        "expires_at": LATER,
    }
    return Challenge(**(values | changes))


def _todo() -> dict[str, Any]:
    return {"id": "tdo", "kind": TodoKind.TASK, "content": "c", "created_at": NOW, "updated_at": NOW}
