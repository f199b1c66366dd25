"""The public surface, on every engine: what goes in comes back, and only to whom it belongs."""

import asyncio
import inspect
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tenuto
from tenuto.errors import Conflict, StoreClosed
from tenuto.facade.asynchronous import PLAIN
from tenuto.records.conversation import SessionStatus
from tenuto.records.operations import Act
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(store_url: str, clock: FakeClock) -> Iterator[tenuto.Tenuto]:
    opened = tenuto.open(store_url, clock=clock, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False)
    with opened:
        yield opened


def test_what_was_said_is_kept_recalled_and_put_into_a_context(store: tenuto.Tenuto, clock: FakeClock):
    ana = store.user("ana", persona="coach", channel="imessage")
    receipt = ana.observe("My dad is allergic to penicillin.", metadata={"device": "phone"}, thinking="hm")
    ana.observe("Noted, I will remember that.", role="assistant", model="some-model")
    clock.advance(hours=5)
    assert (receipt.act, receipt.settled) == (Act.INSERTED, False)
    (message, answer) = ana.messages()
    assert (message.id, message.content, message.channel) == (
        receipt.message_id, "My dad is allergic to penicillin.", "imessage",
    )  # fmt: skip
    assert (message.metadata, message.thinking, message.persona) == ({"device": "phone"}, "hm", "coach")
    assert (answer.role, answer.model, answer.session_id) == ("assistant", "some-model", message.session_id)
    hit = ana.recall("penicillin allergy")[0]
    assert hit.text == message.content and hit.message_id == message.id and hit.score > 0 and hit.why.parts
    context = ana.context("Which antibiotics are safe, is penicillin?", budget=2000)
    assert context.messages[-1] == {"role": "user", "content": "Which antibiotics are safe, is penicillin?"}
    assert any("allergic to penicillin" in part["content"] for part in context.messages[:-1])
    assert 0 < context.tokens <= 2000
    stats = ana.stats()
    assert (stats["total_messages"], stats["oldest_message"]) == (2, message.at)


def test_nobody_sees_another_users_words(store: tenuto.Tenuto):
    store.user("ana").observe("The door code is 4711.")
    ben = store.user("ben")
    ben.observe("I like doors.")
    assert [hit.text for hit in ben.recall("door code 4711")] == ["I like doors."]
    assert [message.content for message in ben.messages()] == ["I like doors."]
    assert "4711" not in str(ben.context("What is the door code?"))
    assert store.users() == ["ana", "ben"]


def test_the_same_external_id_is_the_same_message(store: tenuto.Tenuto, clock: FakeClock):
    ana = store.user("ana")
    first = ana.observe("Hello there.", id="m-1")
    clock.advance(days=1)
    again = ana.observe("Hello there.", id="m-1")
    assert again.message_id == first.message_id and again.act is Act.DUPLICATE
    assert ana.stats()["total_messages"] == 1 and len(ana.sessions()) == 1
    with pytest.raises(Conflict) as caught:
        ana.observe("Something else.", id="m-1")
    assert caught.value.code == "message_id_taken"
    assert ana.stats()["total_messages"] == 1
    assert store.user("ben").observe("Hello there.", id="m-1").act is Act.INSERTED
    assert ana.recall("hello")[0].message_id == "m-1"


def test_many_threads_with_the_same_id_keep_one_message(store: tenuto.Tenuto):
    acts: list[Act] = []

    def send() -> None:
        acts.append(store.user("ana").observe("Hello there.", id="m-1").act)

    threads = [threading.Thread(target=send) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(acts) == sorted([Act.INSERTED] + [Act.DUPLICATE] * 11)
    assert store.user("ana").stats()["total_messages"] == 1


def test_threads_write_and_read_at_once(store: tenuto.Tenuto):
    failures: list[BaseException] = []

    def talk(user: str) -> None:
        try:
            memory = store.user(user)
            for number in range(10):
                memory.observe(f"{user} counts apples: {number}")
                assert memory.recall(f"apples {number}", limit=3)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=talk, args=(f"user{n % 3}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    store.settle()
    assert [store.user(f"user{n}").stats()["total_messages"] for n in range(3)] == [20, 20, 20]
    numbers = [message.seq for message in store.user("user0").messages()]
    assert len(set(numbers)) == 20


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_closes_after_thirty_idle_minutes(store: tenuto.Tenuto, clock: FakeClock):
    ana = store.user("ana", persona="coach")
    first = ana.observe("One.")
    clock.advance(minutes=29, seconds=59)
    same = ana.observe("Two.")
    clock.advance(minutes=30)
    other = ana.observe("Three.")
    assert first.session_id == same.session_id != other.session_id
    newest, oldest = ana.sessions()
    assert (oldest.status, newest.status) == (SessionStatus.CLOSED, SessionStatus.OPEN)
    assert oldest.ended_at == oldest.last_activity_at == clock.now - timedelta(minutes=30)
    assert (oldest.turn_count, newest.turn_count) == (2, 1)


def test_each_persona_has_sessions_of_its_own_and_channels_share_them(store: tenuto.Tenuto):
    by_phone = store.user("ana", persona="coach", channel="imessage").observe("One.")
    by_mail = store.user("ana", persona="coach", channel="email").observe("Two.")
    to_chef = store.user("ana", persona="chef", channel="imessage").observe("Three.")
    assert by_phone.session_id == by_mail.session_id != to_chef.session_id
    (session,) = store.user("ana", persona="coach").sessions()
    assert session.channels == ("imessage", "email")
    assert len(store.user("ana").sessions()) == 2


def test_the_idle_time_is_a_setting(store_url: str, clock: FakeClock):
    policy = {"session": {"idle_close": 60}}
    options = {"clock": clock, "embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
    with tenuto.open(store_url, policy=policy, **options) as store:
        first = store.user("ana").observe("One.")
        clock.advance(seconds=61)
        assert store.user("ana").observe("Two.").session_id != first.session_id


def test_an_import_of_old_talk_is_cut_by_its_own_times(store: tenuto.Tenuto):
    ana, begun = store.user("ana"), datetime(2020, 5, 1, 10, tzinfo=UTC)
    late = ana.observe("Later the same talk.", at=begun + timedelta(minutes=10))
    early = ana.observe("The beginning, imported second.", at=begun)
    other = ana.observe("A day after.", at=begun + timedelta(days=1))
    assert late.session_id == early.session_id != other.session_id
    assert [message.content for message in ana.messages()] == [
        "The beginning, imported second.", "Later the same talk.", "A day after.",
    ]  # fmt: skip


# --- closing ----------------------------------------------------------------------------------------------------------


def test_a_closed_store_says_so(store: tenuto.Tenuto):
    ana = store.user("ana")
    ana.observe("Hello.")
    store.close()
    store.close()
    assert "closed" in repr(store)
    for call in (lambda: ana.observe("Again."), lambda: ana.recall("hello"), ana.stats, ana.messages, store.settle):
        with pytest.raises(StoreClosed) as caught:
            call()
        assert "tenuto.open()" in caught.value.message


def test_settle_waits_for_the_background(store_url: str):
    embedder = FakeEmbedder()
    with tenuto.open(store_url, embedder=embedder, tokens=FakeTokens()) as store:
        for number in range(20):
            store.user("ana").observe(f"Sentence number {number}.")
        assert store.settle(timeout=60) is True
        assert store.unembedded() == 0 and embedder.calls > 0


def test_a_timeout_of_settle_is_reported(store: tenuto.Tenuto):
    store.user("ana").observe("Hello.")
    assert store.settle(timeout=0) is False
    assert store.settle(timeout=60) is True


# --- the asynchronous face --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sync", "face"), [(tenuto.Tenuto, tenuto.AsyncTenuto), (tenuto.UserMemory, tenuto.AsyncUserMemory)]
)
def test_both_faces_have_the_same_names_and_signatures(sync: type, face: type):
    def public(type_: type) -> set[str]:
        return {name for name in dir(type_) if not name.startswith("_")}

    assert public(face) - {"open"} == public(sync)
    for name in public(sync) - set(PLAIN):
        member = inspect.getattr_static(sync, name)
        if inspect.isfunction(member):
            assert inspect.iscoroutinefunction(getattr(face, name)), name
            assert inspect.signature(getattr(face, name)) == inspect.signature(member), name


def test_the_asynchronous_face_does_the_same(store_url: str):
    async def talk() -> list[str]:
        async with tenuto.AsyncTenuto.open(store_url, embedder=FakeEmbedder(), tokens=FakeTokens()) as store:
            ana = store.user("ana", persona="coach")
            await asyncio.gather(*(ana.observe(f"I have {n} apples.") for n in range(8)))
            await store.settle()
            assert (await ana.stats())["total_messages"] == 8 and ana.id == "ana"
            with pytest.raises(tenuto.TenutoError):
                await ana.observe("  ")
            with pytest.raises(AttributeError, match="no_such_verb"):
                ana.no_such_verb  # noqa: B018
            return [hit.text for hit in await ana.recall("apples 5")]

    assert any(text.startswith("I have 5 apples") for text in asyncio.run(talk()))


def test_an_asynchronous_store_is_awaited_or_entered(tmp_path: Path):
    async def both() -> None:
        opened = await tenuto.AsyncTenuto.open(tmp_path / "a.db", embedder=FakeEmbedder(), tokens=FakeTokens())
        await opened.close()
        async with await tenuto.AsyncTenuto.open("memory:", embedder=FakeEmbedder(), tokens=FakeTokens()) as again:
            assert await again.users() == []
        async with tenuto.AsyncTenuto.open(tmp_path / "a.db", embedder=FakeEmbedder(), tokens=FakeTokens()) as store:
            await store.user("ana").observe("Hello there.")
        with pytest.raises(tenuto.StoreClosed):
            await store.users()
        with pytest.raises(tenuto.TenutoError):
            async with tenuto.AsyncTenuto.open(tmp_path / "no" / "a.db"):
                pass

    asyncio.run(both())
