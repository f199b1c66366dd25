"""Two users become one after proof of both, and two again, each as they were plus what came since."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tenuto.errors import Conflict, Denied, NotFound
from tenuto.facade.store import Tenuto
from tenuto.identity.parting import Shares, part
from tenuto.recall.entry import make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.identity import MergePlan, UserMergeStatus
from tenuto.records.memory import Evidence, Memory, Proactive, Status
from tenuto.storage.tables import TABLES
from tenuto.testing.fakes import FakeClock
from tenuto.testing.samples import memory
from tests.flows.world import World
from tests.identity.test_link import Postbox
from tests.transfer.world import NOW, world

EMAIL = "ana@example.org"
FREE: Any = {"persona": None, "proactive_use": Proactive.ONLY_WHEN_RELEVANT}
ENGINES_OWN = ("events", "jobs", "user_merges", "merge_parts")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture(params=["memory:", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Tenuto]:
    url = request.param
    if url == "postgres":
        fresh: Callable[[], str] = request.getfixturevalue("fresh_database")
        url = fresh()
    with world(tmp_path / "t.db" if url == "sqlite" else url, clock=clock) as store:
        yield store


def everything(store: Tenuto, user: str) -> dict[str, dict[str, Any]]:
    """All rows of a user but the engine's own, without the order of arrival."""
    with store.deps.store.reading(user) as reader:
        return {
            table.name: {one.id: evolve(one, seq=0) if hasattr(one, "seq") else one for one in reader.find(table.type)}
            for table in TABLES
            if table.name not in ENGINES_OWN
        }


def remember(store: Tenuto, user: str, *memories: Memory) -> None:
    with store.deps.store.writing(user) as tx:
        tx.put(*memories)
        tx.index(*[make_entry(one) for one in memories])


def two(store: Tenuto) -> tuple[Any, Any, Postbox]:
    ana, other, post = store.identify("sms", "+390669812345"), store.identify("email", EMAIL), Postbox()
    first = ana.observe("I live in Oslo", id="a1")
    second = other.observe("I live in Rome now", id="b1")
    said = [Evidence(message_id=one.message_id, at=NOW) for one in (first, second)]
    remember(
        store,
        ana.id,
        memory(
            "mem_a", content="Lives in Oslo", slot="home", evidence=tuple(said[:1]), updated_at=NOW, history=(), **FREE
        ),
        memory("mem_x", content="Has a cat", slot=None, evidence=tuple(said[:1]), history=(), **FREE),
    )
    remember(
        store,
        other.id,
        memory(
            "mem_b",
            content="Lives in Rome",
            slot="home",
            evidence=tuple(said[1:]),
            updated_at=NOW + timedelta(days=1),
            history=(),
            **FREE,
        ),
        memory("mem_y", content="Plays the cello", slot=None, evidence=tuple(said[1:]), history=(), **FREE),
    )
    return ana, other, post


def planned(ana: Any, post: Postbox) -> MergePlan:
    ana.link("email", EMAIL, post, merge=True)
    return ana.merge_plan("email", EMAIL, post.code)


def test_a_merge_shows_what_it_would_do_first(store: Tenuto) -> None:
    ana, other, post = two(store)
    plan = planned(ana, post)
    assert (plan.user, plan.other) == (ana.id, other.id)
    assert plan.counts["messages"] == 1 and plan.counts["memories"] == 2 and plan.addresses == (f"email:{EMAIL}",)
    assert plan.conflicts == ("allergy: “Lives in Rome” would hold, “Lives in Oslo” would be history",)
    assert ana.stats()["total_messages"] == 1, "nothing was done yet"


def test_merged_users_are_one_and_unmerged_ones_as_they_were(store: Tenuto) -> None:
    ana, other, post = two(store)
    before = everything(store, ana.id), everything(store, other.id)
    merged = ana.merge_user(planned(ana, post))
    assert merged.status is UserMergeStatus.DONE and store.identify("email", EMAIL).id == ana.id
    assert [one.content for one in ana.messages()] == ["I live in Oslo", "I live in Rome now"]
    with store.deps.store.reading(ana.id) as reader:
        found = {one.id: one for one in reader.find(Memory)}
    assert set(found) == {"mem_a", "mem_b", "mem_x", "mem_y"}
    assert found["mem_b"].slot == "home" and found["mem_a"].status is Status.DEPRECATED
    assert "Plays the cello" in [hit.text for hit in ana.recall("cello", kinds=["memory"])]
    assert len(ana.identities()) == 2
    undone = ana.unmerge_user(merged.id)
    assert undone.status is UserMergeStatus.UNDONE and store.identify("email", EMAIL).id == other.id
    assert everything(store, ana.id) == before[0]
    assert everything(store, other.id) == before[1]
    assert "Plays the cello" not in [hit.text for hit in ana.recall("cello", kinds=["memory"])]


def test_what_came_since_goes_to_whom_it_belongs(store: Tenuto) -> None:
    ana, other, post = two(store)
    merged = ana.merge_user(planned(ana, post))
    by_mail = store.identify("email", EMAIL)
    assert by_mail.id == ana.id
    since_mail = by_mail.observe("My sister is Mara", id="b2", metadata={"identity": f"email:{EMAIL}"})
    since_sms = ana.observe("I sold the cat", id="a2", metadata={"identity": "sms:+390669812345"})
    mail, sms = (Evidence(message_id=one.message_id, at=NOW) for one in (since_mail, since_sms))
    remember(
        store,
        ana.id,
        memory("mem_s", content="Mara is a sister", slot=None, evidence=(mail,), history=(), **FREE),
        memory("mem_t", content="Sold the cat", slot=None, evidence=(sms,), history=(), **FREE),
        memory("mem_u", content="Talks a lot", slot=None, evidence=(mail, sms), history=(), **FREE),
    )
    ana.unmerge_user(merged.id)
    here, there = everything(store, ana.id), everything(store, other.id)
    assert {one.content for one in here["messages"].values()} == {"I live in Oslo", "I sold the cat"}
    assert {one.content for one in there["messages"].values()} == {"I live in Rome now", "My sister is Mara"}
    assert set(here["memories"]) == {"mem_a", "mem_x", "mem_t", "mem_u"}
    assert set(there["memories"]) == {"mem_b", "mem_y", "mem_s", "mem_u"}
    assert here["memories"]["mem_u"].evidence == (sms,) and there["memories"]["mem_u"].evidence == (mail,)
    assert here["memories"]["mem_a"].slot == "home" and there["memories"]["mem_b"].slot == "home"
    assert there["sessions"] and since_mail.session_id in there["sessions"]


def test_what_was_summarised_of_both_is_summarised_again_of_each(store: Tenuto, clock: FakeClock) -> None:
    ana, other, post = two(store)
    ana.observe("I am a baker.", metadata={"identity": "sms:+390669812345"})
    store.settle()
    merged = ana.merge_user(planned(ana, post))
    by_mail = store.identify("email", EMAIL)
    for number in range(120):
        clock.advance(minutes=1 if number % 40 else 90)
        if number % 3:
            ana.observe(f"The bakery sold {number} loaves.", metadata={"identity": "sms:+390669812345"})
        else:
            by_mail.observe(f"I played {number} suites on the cello.", metadata={"identity": f"email:{EMAIL}"})
    clock.advance(days=9)
    store.settle()
    assert any("loaves" in one.content and "cello" in one.content for one in ana.summaries(kind="range"))
    ana.unmerge_user(merged.id)
    store.settle()
    clock.advance(hours=1)
    store.settle()
    checked = World.__new__(World)
    checked.store, checked.marks = store, {}
    for person, own, foreign, ranges in ((ana, "loaves", "suites", 1), (store.user(other.id), "suites", "loaves", 0)):
        for kind in ("session", "rolling", "topic", "range", "spine"):
            told = person.summaries(kind=kind)
            assert told or (kind == "range" and not ranges), (person.id, kind)
            assert not any(foreign in one.content for one in told), (person.id, kind)
        assert any(own in one.content for one in person.summaries(kind="session"))
        assert len(person.summaries(kind="range")) == ranges
        messages = checked.all(Message, user=person.id, order="seq")
        checked.check_ranges(person.id, messages)
        checked.check_topics(person.id, messages)
        checked.check_versions(person.id)


def test_a_merge_needs_its_own_proof_once_and_what_was_shown(store: Tenuto) -> None:
    ana, _, post = two(store)
    plan = planned(ana, post)
    eve = store.identify("web", "eve")
    eve.observe("hi")
    with pytest.raises(Denied):
        eve.merge_user(evolve(plan, user=eve.id))
    with pytest.raises(Conflict, match="look at it again"):
        ana.merge_user(evolve(plan, digest="0" * 64))
    merged = ana.merge_user(plan)
    with pytest.raises(Denied):
        ana.merge_user(plan)
    with pytest.raises(NotFound):
        ana.unmerge_user("ume_none")
    ana.unmerge_user(merged.id)
    with pytest.raises(Conflict, match="undone"):
        ana.unmerge_user(merged.id)
    assert [one.status for one in ana.user_merges()] == [UserMergeStatus.UNDONE]


def test_a_proof_grows_old(store: Tenuto) -> None:
    ana, _, post = two(store)
    plan = planned(ana, post)
    with store.deps.store.address("email", EMAIL) as place:
        (known,) = place.challenges()
        place.put(evolve(known, used_at=NOW - timedelta(minutes=11)))
    with pytest.raises(Denied, match="too old"):
        ana.merge_user(plan)


def test_a_row_that_rests_on_nobodys_words_stays() -> None:
    bare = memory("mem_1", evidence=())
    stays = part(
        bare, before=None, was_added=False, touched=False, others=lambda id: True, session_others=lambda id: False
    )
    assert stays == Shares()


def test_erasing_a_person_reaches_every_account_that_was_joined(store: Tenuto) -> None:
    ana, other, post = two(store)
    ana.merge_user(planned(ana, post))
    proof = ana.erase()
    assert not any(proof.left.values()) and len(proof.accounts) == 2
    assert ana.verify_erasure(proof) == []
    for user in (ana.id, other.id):
        with store.deps.store.reading(user) as reader:
            assert reader.find(Message) == [] and reader.find(Memory) == []
    store.user(other.id).observe("I am back.")
    assert any("joined account" in problem for problem in ana.verify_erasure(proof)), "the control"


def test_erasing_a_message_reaches_its_copies_and_unmerging_brings_nothing_back(store: Tenuto) -> None:
    ana, other, post = two(store)
    merged = ana.merge_user(planned(ana, post))
    ana.erase(message="b1")
    undone = ana.unmerge_user(merged.id)
    assert undone.other == other.id
    for user in (ana.id, other.id):
        with store.deps.store.reading(user) as reader:
            assert not [one for one in reader.find(Message) if "Rome" in one.content], user
            assert not [one for one in reader.find(Memory) if "Rome" in one.content or "cello" in one.content], user


def test_what_was_said_through_an_address_goes_back_with_it(store: Tenuto) -> None:
    ana, other, post = two(store)
    merged = ana.merge_user(planned(ana, post))
    store.identify("email", EMAIL).observe("From the mailbox", id="b2")
    store.identify("sms", "+390669812345").observe("From the telephone", id="a2")
    ana.unmerge_user(merged.id)
    assert [one.content for one in store.user(other.id).messages()] == ["I live in Rome now", "From the mailbox"]
    assert [one.content for one in ana.messages()] == ["I live in Oslo", "From the telephone"]


def test_what_was_said_last_holds_whenever_it_arrived(store: Tenuto, clock: FakeClock) -> None:
    ana, other, post = store.identify("sms", "+390669812345"), store.identify("email", EMAIL), Postbox()
    ana.remember("Lives in Oakland", at=NOW)
    clock.advance(days=3)
    other.remember("Lives in Paris", at=NOW - timedelta(days=7 * 365))
    ana.observe("It's me.")
    for user in (ana.id, other.id):
        with store.deps.store.writing(user) as tx:
            tx.put(*(evolve(one, slot="home", attribute="home") for one in tx.find(Memory)))
    (conflict,) = planned(ana, post).conflicts
    assert "“Lives in Oakland” would hold" in conflict
    ana.merge_user(planned(ana, post))
    (home,) = ana.memories(attribute="home")
    assert home.content == "Lives in Oakland"
    assert ana.history(home.id)[0].content == "Lives in Paris", "what was replaced is in the history"
    (old,) = ana.memories(attribute="home", status="deprecated")
    assert old.valid_from <= old.valid_to == home.valid_from


def test_what_was_remembered_through_an_address_goes_back_with_it(store: Tenuto) -> None:
    ana, other, post = two(store)
    merged = ana.merge_user(planned(ana, post))
    store.identify("email", EMAIL).remember("Collects stamps of Malta")
    store.identify("sms", "+390669812345").remember("Rides a motorcycle")
    ana.unmerge_user(merged.id)
    there = {one.content for one in store.user(other.id).memories()}
    here = {one.content for one in ana.memories()}
    assert "Collects stamps of Malta" in there - here and "Rides a motorcycle" in here - there


def test_nobody_is_erased_by_a_mistyped_id(store: Tenuto) -> None:
    with pytest.raises(NotFound):
        store.user("nobody-of-that-name").erase()
