"""Who an address belongs to: isolated until proven, proven only by whoever reads what arrives there."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenuto.errors import Conflict, Denied, NotFound, ProviderError
from tenuto.facade.store import Tenuto
from tenuto.records.identity import Delivery, Purpose
from tenuto.testing.fakes import FakeClock
from tests.transfer.world import NOW, world

EMAIL = "ana@example.org"


class Postbox:
    """Keeps what was delivered."""

    def __init__(self) -> None:
        self.letters: list[Delivery] = []

    def __call__(self, delivery: Delivery) -> None:
        self.letters.append(delivery)

    @property
    def code(self) -> str:
        return self.letters[-1].code


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


def test_an_address_never_seen_gets_a_user_of_its_own(store: Tenuto) -> None:
    first = store.identify("sms", "+39 06 698 12345", device="phone")
    assert store.identify("sms", "+390669812345", device="watch").id == first.id
    assert store.identify("email", EMAIL).id != first.id
    assert [(one.id, one.devices, one.verified_at) for one in first.identities()] == [
        ("sms:+390669812345", ("phone", "watch"), None)
    ]
    first.observe("hello")
    assert store.identify("email", EMAIL).stats()["total_messages"] == 0


def test_many_at_once_make_one_user(store: Tenuto) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(store.identify("web", "ana").id)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and len(found) == 8


def test_linking_needs_a_live_session_and_the_code(store: Tenuto, clock: FakeClock) -> None:
    ana, post = store.identify("sms", "+390669812345"), Postbox()
    with pytest.raises(Denied, match="live session"):
        ana.link("email", EMAIL, post)
    ana.observe("hi")
    challenge = ana.link("email", "Ana@Example.org", post)
    letter = post.letters[0]
    assert (letter.address, letter.purpose) == (EMAIL, Purpose.LINK) and letter.code in letter.text
    assert letter.code not in repr(challenge) and letter.token not in repr(challenge), "only hashes are kept"
    with pytest.raises(Denied, match="4 tries left"):
        ana.confirm_link("email", EMAIL, "000000" if letter.code != "000000" else "111111")
    clock.advance(minutes=31)
    with pytest.raises(Denied, match="live session"):
        ana.confirm_link("email", EMAIL, letter.code)


def test_a_right_code_links_once(store: Tenuto) -> None:
    ana, post = store.identify("sms", "+390669812345"), Postbox()
    ana.observe("hi")
    ana.link("email", EMAIL, post)
    identity = ana.confirm_link("email", EMAIL, f" {post.code} ")
    assert identity.verified_at == NOW and store.identify("email", EMAIL).id == ana.id
    with pytest.raises(Denied, match="ask for a new one"):
        ana.confirm_link("email", EMAIL, post.code)
    with pytest.raises(Conflict, match="one of your addresses already"):
        ana.link("email", EMAIL, post)


def test_the_link_of_a_mail_works_like_its_code(store: Tenuto) -> None:
    ana, post = store.identify("web", "ana"), Postbox()
    ana.observe("hi")
    ana.link("email", EMAIL, post)
    assert ana.confirm_link("email", EMAIL, post.letters[0].token).address == EMAIL


def test_five_tries_ten_minutes_three_sends(store: Tenuto, clock: FakeClock) -> None:
    ana, post = store.identify("web", "ana"), Postbox()
    ana.observe("hi")
    ana.link("email", EMAIL, post)
    for _ in range(5):
        with pytest.raises(Denied):
            ana.confirm_link("email", EMAIL, "wrong")
    with pytest.raises(Denied, match=r"Too many wrong codes|ask for a new one"):
        ana.confirm_link("email", EMAIL, post.code)
    ana.link("email", EMAIL, post)
    clock.advance(minutes=10)
    with pytest.raises(Denied, match="ask for a new one"):
        ana.confirm_link("email", EMAIL, post.code)
    ana.link("email", EMAIL, post)
    other = store.identify("web", "ben")
    other.observe("hi")
    with pytest.raises(Denied, match="within the hour") as error:
        other.link("email", EMAIL, post)
    assert error.value.code == "challenge_limit", "the limit is the address's, whoever asks"
    clock.advance(minutes=51)
    ana.observe("still here")
    ana.link("email", EMAIL, post)


def test_a_code_serves_one_user_one_address_and_one_purpose(store: Tenuto) -> None:
    ana, ben, post = store.identify("web", "ana"), store.identify("web", "ben"), Postbox()
    for user in (ana, ben):
        user.observe("hi")
    ana.link("email", EMAIL, post)
    with pytest.raises(Denied):
        ben.confirm_link("email", EMAIL, post.code)
    with pytest.raises(Denied):
        ana.confirm_link("email", "other@example.org", post.code)
    with pytest.raises(Denied):
        ana.merge_plan("email", EMAIL, post.code)
    assert ana.confirm_link("email", EMAIL, post.code).address == EMAIL


def test_an_address_with_data_of_its_own_needs_a_merge(store: Tenuto) -> None:
    ana, other, post = store.identify("web", "ana"), store.identify("email", EMAIL), Postbox()
    ana.observe("hi")
    other.observe("I am somebody")
    ana.link("email", EMAIL, post)
    with pytest.raises(Conflict) as error:
        ana.confirm_link("email", EMAIL, post.code)
    assert error.value.code == "merge_needed" and store.identify("email", EMAIL).id == other.id


def test_a_courier_that_fails_says_so_and_counts(store: Tenuto) -> None:
    ana = store.identify("web", "ana")
    ana.observe("hi")

    def broken(delivery: Delivery) -> None:
        raise ProviderError("No mail today.")

    for _ in range(3):
        with pytest.raises(ProviderError):
            ana.link("email", EMAIL, broken)
    with pytest.raises(Denied, match="within the hour"):
        ana.link("email", EMAIL, broken)


def test_unlinking(store: Tenuto) -> None:
    ana, post = store.identify("web", "ana"), Postbox()
    with pytest.raises(Conflict, match="only address"):
        ana.unlink("web", "ana")
    ana.observe("hi")
    ana.link("email", EMAIL, post)
    ana.confirm_link("email", EMAIL, post.code)
    with pytest.raises(NotFound):
        ana.unlink("email", "x@example.org")
    ana.unlink("email", EMAIL)
    assert store.identify("email", EMAIL).id != ana.id and [one.id for one in ana.identities()] == ["web:ana"]


def test_erasing_a_user_frees_their_addresses(store: Tenuto) -> None:
    ana = store.identify("web", "ana")
    ana.observe("hi")
    ana.erase()
    assert store.deps.store.holder("web", "ana") is None
    assert store.identify("web", "ana").id != ana.id
