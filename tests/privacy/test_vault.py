"""Encryption at rest: the same answers as without, nothing readable on the disk, nothing movable."""

import stat
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import tenuto
from tenuto.errors import NotFound, VaultError
from tenuto.ports import Where
from tenuto.privacy.keys import FileKeys
from tenuto.records.conversation import Message
from tenuto.records.memory import Entity, Memory
from tenuto.records.operations import Entry, EntryKind
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tenuto.testing.samples import memory, records

LINES = [
    "My dad Ferdinand is allergic to penicillin",
    "We planted seventeen tomato seedlings behind the shed",
    "The quarterly report is due on Friday",
    "I prefer tea over coffee in the morning",
    "Ferdinand lives in Ljubljana with two cats",
]


def opened(url: str | Path, keys: Path | None = None, **options: object) -> tenuto.Tenuto:
    spec = None if keys is None else f"file:{keys}"
    return tenuto.open(
        url, keys=spec, embedder=FakeEmbedder(), tokens=FakeTokens(), clock=FakeClock(), background=False, **options
    )


def fill(store: tenuto.Tenuto, user: str = "ana") -> None:
    for number, line in enumerate(LINES):
        store.user(user).observe(line, id=f"line-{number}", speaker="Ferdinand")
    store.settle()


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    (tmp_path / "safe").mkdir()
    return tmp_path / "safe" / "key"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "sealed.db")
    fresh: Callable[[], str] = request.getfixturevalue("fresh_database")
    return fresh()


def test_recall_is_the_same_with_and_without(url: str, keys: Path, tmp_path: Path) -> None:
    questions = ["penicillin allergy", "who lives in Ljubljana", "tea", "report Friday", "nothing of the kind"]
    with opened(tmp_path / "plain.db") as plain, opened(url, keys) as sealed:
        for store in (plain, sealed):
            fill(store)
        for question in questions:
            first, second = (
                [(hit.message_id, round(hit.score, 3)) for hit in store.user("ana").recall(question)]
                for store in (plain, sealed)
            )
            assert first == second
        assert [hit.message_id for hit in sealed.user("ana").recall("tea", speaker="Ferdinand")] != []


def test_every_record_and_listing_works_sealed(url: str, keys: Path) -> None:
    with opened(url, keys) as store:
        with store.deps.store.writing("ana") as tx:
            tx.put(*records())
        with store.deps.store.reading("ana") as reader:
            assert reader.find(Memory, Where("key", "=", memory().key))[0].key == memory().key
            assert reader.find(Memory, Where("entities", "has", "person:ana"))[0].entities == memory().entities
            assert reader.get(Entity, "person:ana") is not None
            assert reader.ids(Entity) == {"person:ana"}


def test_nothing_readable_is_on_the_disk(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "sealed.db"
    with opened(path, keys) as store:
        fill(store)
        with store.deps.store.writing("ana") as tx:
            tx.put(memory(content="a secret about walnuts", key="profile|person|ferdinand|fact|walnuts"))
    found = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for word in (b"Ferdinand", b"ferdinand", b"penicillin", b"Ljubljana", b"walnuts", b"tomato"):
        assert word not in found, word
    with opened(tmp_path / "plain.db") as store:
        fill(store)
    assert b"penicillin" in (tmp_path / "plain.db").read_bytes(), "the control: a plain store does hold the words"


def test_what_is_moved_or_changed_does_not_open(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "sealed.db"
    with opened(path, keys) as store:
        fill(store)
        fill(store, "ben")
        with store.deps.store.writing("ana") as tx:
            tx.put(memory(content="first"))
            first = store.deps.store
        with first.writing("ana") as tx:
            tx.put(memory(content="second"))
    db = apsw.Connection(str(path))
    rows = db.execute("SELECT user_id, id, body FROM messages ORDER BY user_id, id").fetchall()
    (old,) = db.execute("SELECT body FROM memories WHERE id = 'mem_1'").fetchall()
    swaps = [(rows[0], rows[1][2]), (rows[0], rows[7][2]), (rows[0], old[0]), (rows[0], rows[0][2][:-1] + b"\x00")]
    swaps.append((rows[0], b'{"content": "planted"}'))
    with opened(path, keys) as store:
        assert all(finding["ok"] for finding in store.examine(thorough=True) if finding["what"] == "rows")
    for (user, id, body), other in swaps:
        db.execute("UPDATE messages SET body = ? WHERE user_id = ? AND id = ?", (other, user, id))
        with opened(path, keys) as store:
            (rows_found,) = [finding for finding in store.examine(thorough=True) if finding["what"] == "rows"]
        assert not rows_found["ok"] and "messages" in rows_found["detail"] and "changed" in rows_found["detail"]
        with opened(path, keys) as store, store.deps.store.reading(user) as reader, pytest.raises(VaultError) as caught:
            reader.get(Message, id)
        assert caught.value.code == "tampered"
        db.execute("UPDATE messages SET body = ? WHERE user_id = ? AND id = ?", (body, user, id))
    db.execute("UPDATE memories SET revision = revision + 1")
    with opened(path, keys) as store, store.deps.store.reading("ana") as reader, pytest.raises(VaultError):
        reader.get(Memory, "mem_1")
    db.close()


def test_wrong_missing_and_foreign_keys_are_clear_errors(tmp_path: Path, keys: Path) -> None:
    path, other = tmp_path / "sealed.db", tmp_path / "safe" / "other"
    with opened(path, keys) as store:
        fill(store)
    with pytest.raises(VaultError, match="is encrypted"):
        opened(path)
    with pytest.raises(VaultError, match="is not there"):
        opened(path, other)
    assert not list(other.parent.glob("other*")), "nothing is made in the place of what was lost"
    opened(tmp_path / "fresh.db", other).close()
    with pytest.raises(VaultError, match="another keyring"):
        opened(path, other)
    ring = keys.with_name(f"{keys.name}.ring")
    kept = ring.read_bytes()
    for damage in (kept[:5000], b"hello" * 1000):
        ring.write_bytes(damage)
        with pytest.raises(VaultError, match="put it back from its copy"):
            opened(path, keys)
    ring.write_bytes(kept)
    keys.chmod(0o644)
    with opened(path, keys) as store, pytest.raises(VaultError, match="chmod 600"):
        store.user("ana").messages()
    keys.chmod(0o600)
    keys.rename(tmp_path / "safe" / "lost")
    with opened(path, keys) as store, pytest.raises(VaultError, match="recovery copy"):
        store.user("ana").messages()
    (tmp_path / "safe" / "lost").rename(keys)
    with opened(path, keys) as store:
        assert len(store.user("ana").messages()) == len(LINES)
    with opened(tmp_path / "plain.db") as store:
        fill(store)
    with pytest.raises(VaultError, match="vault encrypt"):
        opened(tmp_path / "plain.db", keys)


def test_turning_it_on_for_a_store_with_data(url: str, keys: Path) -> None:
    with opened(url) as store:
        fill(store)
        fill(store, "ben")
        with store.deps.store.writing("ana") as tx:
            tx.put(*[record for record in records() if not isinstance(record, Message)])
        before = [(hit.message_id, round(hit.score, 3)) for hit in store.user("ana").recall("Ljubljana cats")]
        with store.deps.store.reading("ana") as reader:
            entities = reader.ids(Entity)
    with opened(url, keys, convert=True) as store:
        assert [hit.text for hit in store.user("ben").recall("penicillin")], "search works before it is sealed"
        assert store.seal() == 2
    with opened(url, keys) as store:
        found = [(hit.message_id, round(hit.score, 3)) for hit in store.user("ana").recall("Ljubljana cats")]
        assert found == before
        with store.deps.store.reading("ana") as reader:
            assert reader.get(Entity, "person:ana") is not None and reader.ids(Entity) == entities
            assert len(reader.find(Memory, Where("entities", "has", "person:ana"))) == 1


def test_rotation_of_data_keys_and_of_the_key_that_wraps_them(url: str, keys: Path) -> None:
    with opened(url, keys) as store:
        fill(store)
        assert store.rotate("ana") == 2
        ring = store.deps.vault.ring  # type: ignore[attr-defined]
        assert sorted(ring.get("ana")) == [0, 2]
        assert ring.rewrap() == 4, "the user's two keys and the operator's"
        assert sorted(FileKeys(keys).keys()) == [2]
    with opened(url, keys) as store:
        assert store.user("ana").recall("penicillin")[0].message_id == "line-0"


def test_rotating_for_somebody_who_is_not_there_makes_no_keys(tmp_path: Path, keys: Path) -> None:
    with opened(tmp_path / "a.db", keys) as store:
        with pytest.raises(NotFound):
            store.rotate("ana")
        fill(store)
        assert len(store.user("ana").messages()) == len(LINES)


def test_processes_that_rotate_at_once_get_a_key_each(tmp_path: Path, keys: Path) -> None:
    with opened(tmp_path / "a.db", keys) as store, opened(tmp_path / "a.db", keys) as other:
        fill(store)
        rings = [one.deps.vault.ring for one in (store, other)]  # type: ignore[attr-defined]
        threads = [
            threading.Thread(target=lambda ring=ring: [ring.add_version("ana") for _ in range(5)]) for ring in rings
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(rings[0].get("ana")) == list(range(12))
        assert store.rotate("ana") == 12
        other.user("ana").observe("With the key that the other one made.")
        assert len(store.user("ana").messages()) == len(LINES) + 1


def test_the_key_file_is_private_and_a_copy_opens_the_store(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "sealed.db"
    with opened(path, keys) as store:
        fill(store)
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    FileKeys(keys).copy_to(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == keys.read_bytes()
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600


def test_erasing_destroys_the_key_and_leaves_nothing(url: str, keys: Path) -> None:
    with opened(url, keys) as store:
        fill(store)
        fill(store, "ben")
        proof = store.user("ana").erase()
        assert proof.complete and proof.key_destroyed and proof.erased["messages"] == len(LINES)
        assert store.user("ana").recall("penicillin") == [] and store.user("ana").stats()["total_messages"] == 0
        assert store.user("ben").recall("penicillin")[0].message_id == "line-0"


def test_erasing_leaves_no_bytes_in_a_plain_file(tmp_path: Path) -> None:
    """Long and short rows of two users, rewritten often: what pages kept of moved rows must go as well."""
    path = tmp_path / "plain.db"
    with opened(path) as store:
        for turn in range(120):
            for user, word in (("ana", "MARMALADE"), ("ben", "CUSTARD")):
                store.user(user).observe(f"{word} {turn} " + "and so on " * (turn * 7 % 200))
        store.settle()
        proof = store.user("ana").erase()
        assert proof.complete and proof.files_clean
    for file in tmp_path.iterdir():
        assert b"MARMALADE" not in file.read_bytes(), file
    assert b"CUSTARD" in path.read_bytes()


def test_vectors_and_speakers_are_sealed_too(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "sealed.db"
    with opened(path, keys) as store:
        fill(store)
        with store.deps.store.reading("ana") as reader:
            entry: Entry = reader.entries_since(0, 1)[0]
            assert reader.entry_rows(0, 1).vector[0] == entry.vector
            vector = store.deps.embedder.embed([f"Ferdinand: {LINES[0]}"])[0]
            found = reader.nearest(EntryKind.MESSAGE, vector, store.deps.embedder.model, 1)
        assert entry.speaker != "Ferdinand" and entry.vector is not None and len(found) == 1
    db = apsw.Connection(str(path))
    assert db.execute("SELECT count(*) FROM entries WHERE vector IS NOT NULL").fetchall() == [(0,)]
    (everything,) = db.execute("SELECT count(*) FROM entries").fetchall()
    assert everything[0] >= len(LINES)
    assert db.execute("SELECT count(*) FROM entries WHERE sealed_vector IS NOT NULL").fetchall() == [everything]
    db.close()
