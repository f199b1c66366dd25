"""Erasing a part leaves nothing of it; undoing a source leaves what would be there without it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tenuto
from tenuto.errors import InputError, NotFound
from tenuto.privacy import removal
from tenuto.privacy.erase import Proof, digest, fingerprint
from tenuto.records.base import evolve
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tests.servers import Postgres

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
MARK = "Zanzibarquux"
"""A word that stands in the part that is erased and nowhere else."""
TALK = [
    "My dad Ferdinand is allergic to penicillin.",
    "I live in Porto.",
    "I prefer tea over coffee.",
    "Remind me to call Mia on Friday.",
    "My sister Mia works at the bakery.",
    "I moved to Braga last week.",
    "I go running every morning.",
    "My employer is Nordwind.",
]
MARKED = f"My neighbour {MARK} lives in {MARK}town and I promised to call {MARK} on Monday."


class World:
    def __init__(self, url: str, keys: Path | None = None) -> None:
        self.clock = FakeClock(START)
        self.store = tenuto.open(
            url, keys=None if keys is None else f"file:{keys}", embedder=FakeEmbedder(), tokens=FakeTokens(),
            clock=self.clock, background=False,
            policy={"summary": {"range_every_messages": 6, "spine_every_messages": 5, "profile_every_sessions": 1}},
        )  # fmt: skip
        self.ana = self.store.user("ana", persona="coach")

    def say(self, *texts: str, **options: Any) -> list[str]:
        ids = []
        for text in texts:
            self.clock.advance(minutes=1)
            ids.append(self.ana.observe(text, **options).message_id)
            self.store.settle()
        return ids

    def rest(self) -> None:
        """The session ends and everything that follows from it is done."""
        self.clock.advance(minutes=45)
        self.store.settle()
        self.ana.context("What should I know?")
        self.clock.advance(minutes=2)
        self.store.settle()


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    (tmp_path / "safe").mkdir()
    return tmp_path / "safe" / "key"


def traces(folder: Path) -> list[str]:
    needle = MARK.lower().encode()
    return [str(path) for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes().lower()]


def whole(store: tenuto.Tenuto) -> str:
    """Everything that can be read of the user, as one text."""
    from tenuto.records.base import to_plain
    from tenuto.storage.tables import TABLES

    with store.deps.store.reading("ana") as reader:
        rows = [str(to_plain(one)) for table in TABLES for one in reader.find(table.type)]
    return "\n".join(rows).lower()


PARTS: dict[str, Callable[[World, list[str]], Proof]] = {
    "message": lambda world, ids: world.ana.erase(message=ids[0]),
    "session": lambda world, ids: world.ana.erase(session=world.ana.get("messages", ids[0]).session_id),
    "source": lambda world, ids: world.ana.erase(source="letters"),
}


def told(world: World, part: str) -> list[str]:
    """Talk around the words that will be erased; in a session of their own where a session is."""
    world.say(*TALK[:4])
    if part == "session":
        world.rest()
    ids = [observe_from(world, MARKED)] if part == "source" else world.say(MARKED)
    world.rest()
    world.say(*TALK[4:])
    world.rest()
    return ids


def observe_from(world: World, text: str, source: str = "letters", **options: Any) -> str:
    """A message that a source of its own brought in."""
    from tenuto.ingest.observe import check, observe

    world.clock.advance(minutes=1)
    deps = world.store.deps
    id = observe(deps, world.ana.scope, check(deps, text, source=source, **options)).message_id
    world.store.settle()
    return id


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_nothing_of_a_part_is_left(part: str, sealed: bool, tmp_path: Path, keys: Path) -> None:
    world = World(str(tmp_path / "a.db"), keys if sealed else None)
    ids = told(world, part)
    assert MARK.lower() in whole(world.store)
    proof = PARTS[part](world, ids)
    assert proof.complete and proof.part == part and ids[0] in proof.ids["messages"]
    assert MARK.lower() not in whole(world.store)
    world.store.settle()
    world.rest()
    assert MARK.lower() not in whole(world.store), "what is made anew holds nothing of it"
    assert world.ana.verify_erasure(proof) == []
    kept = {one.content for one in world.ana.memories()}
    assert any("penicillin" in one for one in kept) and any("Braga" in one for one in kept)
    assert not any(MARK in hit.text for hit in world.ana.recall(MARK))
    assert world.store.verify_audit().ok
    world.store.close()
    assert traces(tmp_path) == []


def test_the_same_test_finds_a_removal_that_forgets_a_step(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: what rests on the message is left alone."""
    monkeypatch.setattr(removal, "_take_memories", lambda *rest: set())
    world = World(str(tmp_path / "a.db"))
    ids = told(world, "message")
    proof = world.ana.erase(message=ids[0])
    assert MARK.lower() in whole(world.store) and not proof.complete
    world.store.close()


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_parts_on_a_server(fresh_database: Callable[[], str], sealed: bool, keys: Path) -> None:
    """PostgreSQL keeps old rows until its own clean-up: only a store with keys can promise, and says so."""
    world = World(fresh_database(), keys if sealed else None)
    ids = told(world, "message")
    proof = world.ana.erase(message=ids[0])
    assert MARK.lower() not in whole(world.store) and not any(proof.left.values())
    assert proof.key_destroyed is (True if sealed else None) and proof.files_clean is False
    assert proof.complete is sealed and any("write-ahead log" in one for one in proof.elsewhere) is not sealed
    assert world.ana.verify_erasure(proof) == []
    world.store.close()


def test_what_the_files_of_a_server_hold_of_a_part() -> None:
    """In plain mode the proof names what keeps deleted rows; each is empty once that has happened, and not before."""
    with Postgres(options={"wal_recycle": "off", "min_wal_size": "32MB", "autovacuum": "off"}) as server:
        world = World(server.fresh_database())
        ids = told(world, "message")
        with psycopg.connect(world.store.deps.store.url, user="postgres", autocommit=True) as raw:
            raw.execute("ANALYZE")
            proof = world.ana.erase(message=ids[0])
            raw.execute("CHECKPOINT")
            files, log, *_ = proof.elsewhere
            assert "db compact" in files and "write-ahead log" in log
            before = traces(server.data)
            assert any("/base/" in path for path in before) and any("/pg_wal/" in path for path in before)
            assert world.store.deps.store.compact(thorough=True)
            assert not [path for path in traces(server.data) if "/pg_wal/" not in path]
            for _ in range(2):
                raw.execute("SELECT pg_switch_wal()")
                raw.execute("CHECKPOINT")
        assert traces(server.data) == []
        assert any("Braga" in one.content for one in world.ana.memories())
        world.store.close()


def test_one_memory(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    world.say(*TALK[:2])
    kept = world.ana.remember(f"I once lived in {MARK}").memory
    world.ana.edit(kept.id, content=f"I lived in {MARK} as a child")
    proof = world.ana.erase(memory=kept.id)
    assert proof.complete and proof.ids["memories"] == [kept.id]
    assert MARK.lower() not in whole(world.store)
    with pytest.raises(NotFound):
        world.ana.restore(kept.id)
    world.store.close()
    assert traces(tmp_path) == []


def test_forgetting_is_not_erasing(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    kept = world.ana.remember("I like oolong").memory
    world.ana.forget(kept.id)
    assert world.ana.restore(kept.id).content == kept.content
    world.store.close()


def test_a_proof_is_checked_again(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    ids = told(world, "message")
    proof = world.ana.erase(message=ids[0])
    altered = tenuto.records.base.evolve(proof, ids={**proof.ids, "messages": []})
    assert world.ana.verify_erasure(altered) == ["The proof was altered."]
    assert "The proof is of another user." in world.store.user("ben").verify_erasure(proof)
    world.store.close()


def test_a_proof_for_somebody_who_never_was_cannot_be_made_up(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    told(world, "message")
    real = world.ana.erase()
    assert world.ana.verify_erasure(real) == []
    made_up = evolve(real, user=fingerprint("nobody", real.subject))
    for forged in (made_up, evolve(made_up, digest=digest(made_up))):
        assert world.store.user("nobody").verify_erasure(forged), "neither changed nor with a new digest"
    with pytest.raises(NotFound):
        world.store.user("nobody").erase()
    bare = evolve(real, user=fingerprint("nobody", ""), subject="")
    assert any("No audit log" in words for words in world.store.user("nobody").verify_erasure(bare))
    guessed = {fingerprint("ana", ""), sha256(b"tenuto user\x1fana").hexdigest()}
    assert real.user not in guessed, "the salt is random"
    world.store.close()


def test_a_sealed_store_signs_with_its_own_key(tmp_path: Path) -> None:
    options: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
    proofs = []
    for name in ("a", "b"):
        with tenuto.open(tmp_path / f"{name}.db", keys=f"file:{tmp_path / name}.key", **options) as store:
            store.user("ana").observe("I live in Oslo.")
            proofs.append(store.user("ana").erase())
            assert store.user("ana").verify_erasure(proofs[-1]) == []
            if name == "b":
                other = store.user("ana").verify_erasure(proofs[0])
                assert "The proof is not signed by this store." in other
    assert proofs[0].signature != proofs[1].signature


@pytest.mark.parametrize("wrong", [{"message": "msg_no"}, {"memory": "mem_no"}, {"session": "no"}, {"source": "no"}])
def test_what_is_not_there_is_an_error(tmp_path: Path, wrong: dict[str, str]) -> None:
    world = World(str(tmp_path / "a.db"))
    world.say(*TALK[:2])
    with pytest.raises(NotFound):
        world.ana.erase(**wrong)
    with pytest.raises(InputError):
        world.ana.erase(message="a", session="b")
    assert len(world.ana.messages()) == 2
    world.store.close()


def test_what_the_person_vouched_for_stays_without_the_evidence(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    first, second = world.say("I prefer tea over coffee.", "I prefer tea over coffee.")
    memory = next(one for one in world.ana.memories() if "tea" in one.content)
    world.ana.confirm(memory.id)
    world.ana.erase(message=first)
    left = world.ana.memory(memory.id)
    assert [one.message_id for one in left.evidence] == [second]
    world.store.close()
