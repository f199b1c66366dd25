"""Imported talk is read like talk: in order, at its own times, with whose word it is."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tenuto
from tenuto.records.memory import Status

NOW = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)


@pytest.fixture
def store():
    with tenuto.open("memory:", background=False, clock=lambda: NOW) as made:
        yield made


def lines(path: Path, *said: tuple[str, str, datetime]) -> str:
    rows = [
        {"id": str(n), "role": role, "content": text, "at": at.isoformat()} for n, (role, text, at) in enumerate(said)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def contents(person, **filters) -> set[str]:
    return {one.content for one in person.memories(limit=100, **filters)}


def test_what_the_user_wrote_becomes_memories_of_its_own_time(store, tmp_path: Path):
    ana = store.user("ana")
    first = NOW - timedelta(days=40)
    ana.import_file(
        lines(
            tmp_path / "talk.jsonl",
            ("user", "My dad Frank takes warfarin 3 mg.", first),
            ("assistant", "I see. Does your father have any allergies?", first + timedelta(minutes=1)),
            ("user", "Penicillin.", first + timedelta(minutes=2)),
            ("user", "They switched dad from warfarin to Eliquis 5 mg.", NOW - timedelta(days=3)),
            ("user", "I need to send the tax form by Friday.", NOW - timedelta(days=1)),
            ("user", "Tax form is sent!", NOW - timedelta(hours=2)),
        )
    )
    store.settle()
    kept = {one.content: one for one in ana.memories(limit=100)}
    assert "Frank (father) is allergic to Penicillin" in {name.replace("(dad)", "(father)") for name in kept}
    assert any("Eliquis 5 mg" in name and one.pinned for name, one in kept.items())
    assert not any(one.pinned and "takes warfarin" in name for name, one in kept.items())
    assert {one.evidence[0].at for one in kept.values()} <= {
        first,
        first + timedelta(minutes=2),
        NOW - timedelta(days=3),
    }
    assert [one.status.value for one in ana.todos(status="*")] == ["done"]


def test_reading_an_import_twice_changes_nothing(store, tmp_path: Path):
    ana = store.user("ana")
    path = lines(tmp_path / "talk.jsonl", ("user", "I'm allergic to walnuts.", NOW - timedelta(days=1)))
    ana.import_file(path)
    store.settle()
    before = [(one.id, one.reinforcements) for one in ana.memories()]
    ana.import_file(path)
    store.settle()
    assert [(one.id, one.reinforcements) for one in ana.memories()] == before != []


def test_what_others_say_waits_until_it_is_vouched_for(store, tmp_path: Path):
    chat = tmp_path / "_chat.txt"
    chat.write_text(
        "[12/10/2026, 09:15:10] Tom K: I'm allergic to shellfish.\n[12/10/2026, 09:16:10] Ana B: I live in Rome.\n",
        encoding="utf-8",
    )
    ana = store.user("ana")
    done = ana.import_file(str(chat), me="Ana B")
    store.settle()
    assert contents(ana) == {"Lives in Rome"}
    assert contents(ana, status=Status.CANDIDATE) == {"Tom K is allergic to shellfish"}
    ana.vouch(done.id)
    store.settle()
    (believed,) = [one for one in ana.memories() if one.content == "Tom K is allergic to shellfish"]
    assert believed.pinned and believed.trust.value == "inferred"
    assert contents(ana, status=Status.CANDIDATE) == set()


def test_todos_of_long_ago_are_not_opened(store, tmp_path: Path):
    ana = store.user("ana")
    ana.import_file(lines(tmp_path / "t.jsonl", ("user", "I have to renew my passport.", NOW - timedelta(days=400))))
    store.settle()
    assert ana.todos(status="*") == []
