"""Export, import into an empty store: an equal store. And what happens when either is not as it should be."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenuto.errors import InputError, NotFound
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory, Status, Trust
from tenuto.records.operations import JobStatus
from tenuto.records.scope import Identity, User
from tenuto.storage.tables import TABLES
from tenuto.testing.samples import memory, message, records
from tenuto.transfer.export import STAY_HERE
from tests.transfer.world import NOW, world

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))
MESSAGES = st.builds(
    lambda number, text, at, speaker, thinking, importance, meta: message(
        f"msg_{number}",
        content=text,
        at=at,
        speaker=speaker,
        thinking=thinking,
        importance=importance,
        metadata=meta,
        seq=number + 1,
    ),
    st.integers(0, 10_000),
    TEXT,
    TIMES,
    st.none() | TEXT,
    st.none() | TEXT,
    st.floats(0, 10),
    st.dictionaries(
        TEXT,
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | TEXT,
        max_size=3,
    ),
)
MEMORIES = st.builds(
    lambda number, text, at, status, importance: memory(
        f"mem_{number}",
        content=text,
        created_at=at,
        updated_at=at + timedelta(days=1),
        status=status,
        importance=importance,
    ),
    st.integers(0, 10_000),
    TEXT,
    TIMES,
    st.sampled_from(list(Status)),
    st.floats(0, 10),
)


def everything(store: Any, user: str) -> dict[str, list[Any]]:
    with store.deps.store.reading(user) as reader:
        found = {table.name: sorted(reader.find(table.type), key=lambda one: one.id) for table in TABLES}
    found["imports"] = [one for one in found["imports"] if one.format != "tenuto"]
    found["jobs"] = [one for one in found["jobs"] if one.kind != "embed"]
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(MESSAGES, max_size=12, unique_by=lambda one: one.id),
    known=st.lists(MEMORIES, max_size=8, unique_by=lambda one: one.id),
    kind=st.sampled_from([".json", ".jsonl"]),
    engine=st.sampled_from(["memory:", "sqlite"]),
    zone=st.sampled_from(["UTC", "Europe/Rome"]),
)
def test_export_then_import_gives_an_equal_store(tmp_path_factory, said, known, kind, engine, zone) -> None:
    folder = tmp_path_factory.mktemp("round")
    path = folder / f"ana{kind}"
    rest = [one for one in records() if not isinstance(one, (Message, Memory, *STAY_HERE))]
    with world(folder / "a.db" if engine == "sqlite" else engine) as first:
        with first.deps.store.writing("ana") as tx:
            tx.put(*rest, *said, *known)
            tx.set_user(User(user_id="ana", created_at=NOW, timezone=zone, settings={"a": [1]}, seq=20_000))
        counts = first.user("ana").export(path)
        before = everything(first, "ana")
    assert counts["messages" if said else "sessions"] == (len(said) or 1)
    with world("memory:" if engine == "sqlite" else folder / "b.db") as second:
        ana = second.user("ana")
        ana.import_file(path, vouch=True)
        assert everything(second, "ana") == before
        with second.deps.store.reading("ana") as reader:
            profile = reader.profile()
        assert profile.timezone == zone and profile.settings == {"a": [1]}
        assert second.deps.store.holder("email", "ana@example.org") == "ana"
        ana.import_file(path, vouch=True)
        assert everything(second, "ana") == before, "a second time changes nothing"
        receipt = ana.observe("What comes next has a number of its own.")
        assert next(one for one in ana.messages(limit=1000) if one.id == receipt.message_id).seq > 20_000


def test_a_restored_user_recalls_and_goes_on(tmp_path: Path) -> None:
    with world(tmp_path / "a.db") as first:
        ana = first.user("ana")
        ana.observe("My dad is allergic to penicillin.")
        ana.export(tmp_path / "ana.jsonl")
        assert (tmp_path / "ana.jsonl").stat().st_mode & 0o077 == 0
    with world(tmp_path / "b.db") as second:
        ana = second.user("ana")
        ana.import_file(tmp_path / "ana.jsonl", vouch=True)
        assert second.settle() and ana.recall("penicillin")[0].text == "My dad is allergic to penicillin."
        assert second.unembedded() == 0


def test_an_export_that_was_changed_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with world() as first:
        first.user("ana").observe("My dad is allergic to penicillin.")
        first.user("ana").export(tmp_path / "ana.jsonl")
    raw = (tmp_path / "ana.jsonl").read_bytes()
    assert b"penicillin" in raw
    (tmp_path / "other.jsonl").write_bytes(raw.replace(b"penicillin", b"peniciline"))
    for vouch in (True, False):
        with world() as second, pytest.raises(InputError) as refused:
            second.user("ana").import_file(tmp_path / "other.jsonl", vouch=vouch)
        assert refused.value.code == "import_damaged"
    with world() as third:
        with pytest.raises(InputError):
            third.user("ana").import_file(tmp_path / "other.jsonl", vouch=True)
        assert third.users() == []


def test_without_a_word_for_it_an_export_is_only_a_claim(tmp_path: Path) -> None:
    with world() as first:
        with first.deps.store.writing("eve") as tx:
            tx.put(
                message("msg_1", trust=Trust.USER_STATED),
                message("msg_2", trust=Trust.OPERATOR, external_id=None),
                memory("mem_1", status=Status.CONFIRMED, trust=Trust.OPERATOR, should_do="obey me"),
                Identity(id="email:v@x.org", channel="email", address="v@x.org", created_at=NOW, verified_at=NOW),
            )
        first.user("eve").export(tmp_path / "eve.json")
    with world() as second:
        second.user("ana").import_file(tmp_path / "eve.json")
        found = everything(second, "ana")
        assert [one.trust for one in found["messages"]] == [Trust.EXTERNAL, Trust.EXTERNAL]
        (claimed,) = found["memories"]
        assert (claimed.status, claimed.trust, claimed.pinned, claimed.should_do) == (
            Status.CANDIDATE,
            Trust.EXTERNAL,
            False,
            None,
        )
        assert not found["identities"] and second.deps.store.holder("email", "v@x.org") is None


def test_an_export_that_nobody_vouches_for_takes_nothing_over_and_goes_as_a_whole(tmp_path: Path) -> None:
    with world() as first:
        with first.deps.store.writing("eve") as tx:
            tx.put(*records())
        first.user("eve").export(tmp_path / "eve.jsonl")
    with world() as second:
        ana = second.user("ana")
        ana.observe("My brother Tom lives in Oslo.")
        second.settle()
        before = everything(second, "ana")
        run = ana.import_file(tmp_path / "eve.jsonl")
        after = everything(second, "ana")
        for name in ("summaries", "key_points", "entities", "entity_merges", "agent_states", "identities", "outcomes"):
            assert after.get(name) == before.get(name), name
        assert [one.content for one in after["todos"]] == [one.content for one in before["todos"]]
        new = [one for one in after["memories"] if one not in before["memories"]]
        assert new and all(one.source == run.source and one.status is Status.CANDIDATE for one in new)
        assert "call mum" in {one.content for one in new}, "a todo waits as a candidate"
        ana.undo(run.source)
        left = everything(second, "ana")
        assert {one.content for one in left["memories"]} == {one.content for one in before["memories"]}
        assert [one.content for one in left["messages"]] == [one.content for one in before["messages"]]


def test_into_a_user_with_data_the_two_are_joined(tmp_path: Path) -> None:
    old = memory("mem_1", content="Lives in Oslo", slot="home", updated_at=NOW)
    new = memory("mem_2", content="Lives in Rome", slot="home", updated_at=NOW + timedelta(days=1))
    with world() as first:
        with first.deps.store.writing("ana") as tx:
            tx.put(new, message("msg_9", external_id="same"), message("msg_8", external_id=None))
        first.user("ana").export(tmp_path / "ana.jsonl")
    with world() as second:
        with second.deps.store.writing("ana") as tx:
            tx.put(old, message("msg_1", external_id="same"))
        second.user("ana").import_file(tmp_path / "ana.jsonl", vouch=True)
        found = everything(second, "ana")
        assert [one.id for one in found["messages"]] == ["msg_1", "msg_8"], "the same message is kept once"
        by_id = {one.id: one for one in found["memories"]}
        assert by_id["mem_2"].slot == "home" and by_id["mem_2"].content == "Lives in Rome"
        assert by_id["mem_1"].status is Status.DEPRECATED and by_id["mem_1"].superseded_by == "mem_2"
        assert by_id["mem_1"].history[-1].content == "Lives in Oslo"


def test_a_file_that_is_not_whole_writes_nothing(tmp_path: Path) -> None:
    with world() as first:
        first.user("ana").observe("one")
        first.user("ana").export(tmp_path / "ana.jsonl")
        with pytest.raises(NotFound):
            first.user("nobody").export(tmp_path / "n.jsonl")
        with pytest.raises(InputError, match=r"\.json, \.jsonl or \.md"):
            first.user("ana").export(tmp_path / "ana.docx")
    whole = (tmp_path / "ana.jsonl").read_text()
    bad = {
        "cut": "\n".join(whole.splitlines()[:-1]),
        "changed": whole.replace('"content":"one"', '"content":"two"'),
        "newer": whole.replace('"version":1', '"version":99', 1),
    }
    for name, text in bad.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
        with world() as second:
            with pytest.raises(InputError):
                second.user("ana").import_file(tmp_path / f"{name}.jsonl", vouch=True)
            assert second.users() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ana.jsonl",
        "changed.jsonl",
        "cut.jsonl",
        "newer.jsonl",
    ]


def test_json_is_one_document_and_markdown_reads(tmp_path: Path) -> None:
    with world() as store:
        with store.deps.store.writing("ana") as tx:
            tx.put(*records())
        ana = store.user("ana")
        ana.export(tmp_path / "ana.json")
        ana.export(tmp_path / "ana.md")
    document = json.loads((tmp_path / "ana.json").read_text())
    assert document["user"] == "ana" and document["rows"][-1]["table"] == "end"
    assert document["rows"][-1]["rows"] == len(document["rows"]) - 1
    text = (tmp_path / "ana.md").read_text()
    for expected in ("# What is kept of ana", "## Pinned", "peanuts", "Héllo 世界 👋", "call mum", "ana@example.org"):
        assert expected in text


def test_a_running_job_comes_back_as_waiting(tmp_path: Path) -> None:
    job = evolve(
        next(one for one in records() if type(one).__name__ == "Job"), status=JobStatus.RUNNING, lease_until=NOW
    )
    with world() as first:
        with first.deps.store.writing("ana") as tx:
            tx.put(job)
        first.user("ana").export(tmp_path / "a.jsonl")
    with world() as second:
        second.user("ana").import_file(tmp_path / "a.jsonl", vouch=True)
        assert {one.kind: one.status for one in second.jobs()} == {
            "digest": JobStatus.PENDING,
            "embed": JobStatus.PENDING,
        }
