"""Importing: what is kept, whose word it is, that it goes on after a stop, and that bad input is named."""

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import tenuto
from tenuto.errors import InputError
from tenuto.ports import Vectors
from tenuto.records.conversation import Role, SessionStatus
from tenuto.records.memory import Memory, Status, Trust
from tenuto.records.operations import Event
from tenuto.records.transfer import ImportStatus, Said
from tenuto.testing.fakes import FakeEmbedder
from tenuto.transfer.report import SAMPLE, estimate
from tests.transfer import files
from tests.transfer.world import NOW, world


def messages(count: int, start: datetime = datetime(2024, 1, 1, tzinfo=UTC)) -> str:
    rows = [
        {
            "id": f"m{i}",
            "role": "assistant" if i % 2 else "user",
            "content": f"message number {i} about tomatoes",
            "at": (start + timedelta(minutes=10 * i)).isoformat(),
            "thread": f"t{i // 10}",
        }
        for i in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_dates_roles_threads_and_thinking_are_kept(tmp_path: Path) -> None:
    with world(tmp_path / "t.db") as store:
        ana = store.user("ana", persona="coach", channel="import")
        done = ana.import_file(files.write(tmp_path, "conversations.json", files.CHATGPT))
        assert (done.status, done.format, done.messages, done.threads) == (ImportStatus.DONE, "chatgpt", 3, 1)
        kept = ana.messages()
        assert [(one.external_id, one.role, one.persona) for one in kept] == [
            ("chatgpt:m1", "user", "coach"),
            ("chatgpt:m4", "assistant", "coach"),
            ("chatgpt:m5", "user", "coach"),
        ]
        assert kept[1].thinking == "Be careful here." and kept[0].at.year == 2023
        assert kept[0].metadata["title"] == "Penicillin" and kept[0].metadata["thread"] == "conv-1"
        sessions = ana.sessions()
        assert [one.turn_count for one in sessions] == [1, 2], "a day later is another session of the same thread"
        assert all(one.status is SessionStatus.CLOSED and one.ended_at == one.last_activity_at for one in sessions)
        assert sessions[1].id == kept[0].session_id == kept[1].session_id
        assert [hit.text for hit in ana.recall("allergic penicillin", limit=1)] == ["My dad is allergic to penicillin."]


def test_trust_is_external_until_vouched_for(tmp_path: Path) -> None:
    with world(tmp_path / "t.db") as store:
        ana = store.user("ana", channel="import")
        path = files.write(tmp_path, "_chat.txt", files.WHATSAPP)
        done = ana.import_file(path, me="Ana")
        assert [one.trust for one in ana.messages()] == [Trust.USER_STATED, Trust.EXTERNAL, Trust.USER_STATED]
        assert (
            ana.recall("second lines", limit=3, kinds=["message"])[0].text != "Morning. Two lines:\nhere is the second"
        )
        noted = ana.import_file(files.write(tmp_path, "a.txt", files.ACCOUNT))
        with store.deps.store.reading("ana") as reader:
            assert {one.status for one in reader.find(Memory)} == {Status.CANDIDATE}
            assert {one.trust for one in reader.find(Memory)} == {Trust.EXTERNAL}
        assert ana.recall("peanuts allergy", kinds=["memory"]) == []
        believed = ana.vouch(done.id)
        assert believed.vouched_at == NOW and ana.vouch(done.id).vouched_at == NOW
        assert [one.trust for one in ana.messages()] == [Trust.USER_STATED, Trust.INFERRED, Trust.USER_STATED]
        ana.vouch(noted.id)
        assert ana.recall("peanuts allergy", kinds=["memory"])[0].text == "Allergic to peanuts"
        with store.deps.store.reading("ana") as reader:
            assert {one.trust for one in reader.find(Memory)} == {Trust.INFERRED}, "never more than inferred"
            assert reader.count(Event) >= 3


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    with world(tmp_path / "t.db") as store:
        ana = store.user("ana")
        path = files.write(tmp_path, "a.jsonl", messages(50))
        first = ana.import_file(path)
        again = ana.import_file(path)
        assert first.id == again.id and again.messages == 50 and again.duplicates == 50
        assert ana.stats()["total_messages"] == 50 and sum(one.turn_count for one in ana.sessions()) == 50
        grown = files.write(tmp_path, "b.jsonl", messages(55))
        assert ana.import_file(grown).messages == 5
        assert sum(one.turn_count for one in ana.sessions()) == 55 and len(ana.sessions()) == 6


def test_a_stopped_import_keeps_what_it_had_and_goes_on(tmp_path: Path) -> None:
    with world(tmp_path / "t.db", policy={"importing": {"batch": 10}}) as store:
        ana = store.user("ana")
        path = files.write(tmp_path, "a.jsonl", messages(100))

        def stop(read: int, total: int, run: object) -> None:
            assert 0 < read <= total
            if ana.stats()["total_messages"] == 30:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ana.import_file(path, progress=stop)
        assert ana.imports()[0].status is ImportStatus.STOPPED and ana.stats()["total_messages"] == 30
        done = ana.import_file(path)
        assert done.messages == 100 and done.duplicates == 30 and done.status is ImportStatus.DONE
        assert ana.stats()["total_messages"] == 100 and len(ana.sessions()) == 10


def test_who_the_user_is_must_be_known(tmp_path: Path) -> None:
    with world() as store:
        ana = store.user("ana")
        path = files.write(tmp_path, "_chat.txt", files.WHATSAPP)
        with pytest.raises(InputError, match="Who of these are you: Ana, Ben") as error:
            ana.import_file(path)
        assert error.value.code == "import_who_are_you" and ana.stats()["total_messages"] == 0
        assert ana.import_file(path, me="none").messages == 3
        assert {one.trust for one in ana.messages()} == {Trust.EXTERNAL}


def test_an_estimate_writes_nothing(tmp_path: Path) -> None:
    with world() as store:
        ana = store.user("ana")
        found = ana.estimate_import(files.write(tmp_path, "_chat.txt", files.WHATSAPP))
        assert (found.messages, found.skipped, found.threads) == (3, 1, 1) and found.speakers == {"Ana": 2, "Ben": 1}
        assert found.oldest == datetime(2024, 3, 12, 9, 15, 2, tzinfo=UTC) and found.tokens > 0
        assert store.users() == []
        assert found.embedding_seconds is not None and found.embedding_seconds > 0
        assert (found.model_tokens, found.price) == (0, 0.0), "no model, no cost"


def test_an_estimate_is_priced_and_asks_no_remote_embedder(tmp_path: Path) -> None:
    class Remote(FakeEmbedder):
        remote = True

        def embed(self, *_: object, **__: object) -> Vectors:
            raise AssertionError("asked")

    path = files.write(tmp_path, "_chat.txt", files.WHATSAPP * 400)
    policy = {"model": {"price": 2.5}}
    with tenuto.open(
        "memory:", embedder=Remote(), model=lambda system, user: "x", policy=policy, background=False
    ) as store:
        found = store.user("ana").estimate_import(path)
    assert found.model_tokens > 1000 and found.price == round(found.model_tokens / 1e6 * 2.5, 2)
    assert found.embedding_seconds is None
    with tenuto.open("memory:", embedder=FakeEmbedder(), model=lambda system, user: "x", background=False) as store:
        assert store.user("ana").estimate_import(path).price is None, "nobody said what a million tokens cost"


def test_the_sample_that_is_timed_is_small_and_from_all_over() -> None:
    at, sample = datetime(2024, 1, 1, tzinfo=UTC), list[str]()
    said = (Said(id=str(n), content=str(n), role=Role.USER, at=at, thread="t", mine=True) for n in range(10_000))
    assert estimate(said, "jsonl", "x", sample=sample).messages == 10_000
    assert SAMPLE <= len(sample) <= 2 * SAMPLE
    assert int(sample[0]) == 0 and int(sample[-1]) > 9_000


def test_long_texts_come_in_parts_and_nothing_is_lost(tmp_path: Path) -> None:
    long = "\n".join(f"Paragraph {i}: " + "words " * 200 for i in range(200))
    row = {"id": "long", "role": "user", "content": long, "at": "2024-01-01T00:00:00Z"}
    with world() as store:
        ana = store.user("ana")
        done = ana.import_file(files.write(tmp_path, "a.jsonl", json.dumps(row) + "\n"))
        parts = ana.messages()
        assert done.messages == len(parts) > 1 and parts[0].external_id == "long"
        assert " ".join(" ".join(part.content for part in parts).split()) == " ".join(long.split())
        assert ana.import_file(tmp_path / "a.jsonl").duplicates == len(parts)


# --- bad input --------------------------------------------------------------------------------------------------------


def refused(path: Path, match: str, tmp_path: Path, **options: object) -> str:
    with world(tmp_path / "bad.db") as store, pytest.raises(InputError, match=match) as error:
        store.user("ana").import_file(path, **options)
    return error.value.code


def test_a_truncated_archive(tmp_path: Path) -> None:
    whole = files.zipped(tmp_path / "whole.zip", {"conversations.json": files.CHATGPT})
    cut = files.write(tmp_path, "cut.zip", whole.read_bytes()[:-40])
    assert refused(cut, "damaged or cut off", tmp_path) == "import_damaged"


def test_a_damaged_member_keeps_what_came_before(tmp_path: Path) -> None:
    import random

    noise = random.Random(1)
    rows = [
        {"uuid": f"c{i}", "name": "n", "chat_messages": [
            {"uuid": f"u{i}", "sender": "human", "text": str(noise.random()), "created_at": "2024-01-01T00:00:00Z"}
        ]}
        for i in range(8000)
    ]  # fmt: skip
    whole = files.zipped(tmp_path / "w.zip", {"conversations.json": rows}).read_bytes()
    middle = len(whole) * 3 // 4
    bad = files.write(tmp_path, "bad.zip", whole[:middle] + b"\x00" * 64 + whole[middle + 64 :])
    with world(tmp_path / "t.db", policy={"importing": {"batch": 500}}) as store:
        ana = store.user("ana")
        with pytest.raises(InputError, match="What was imported before stays"):
            ana.import_file(bad)
        kept = ana.stats()["total_messages"]
        assert kept > 1000 and ana.imports()[0].status is ImportStatus.STOPPED
        done = ana.import_file(files.write(tmp_path, "good.zip", whole))
        assert done.messages == 8000 == ana.stats()["total_messages"]


def test_a_zip_bomb_and_paths_that_climb_out(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("conversations.json", "w", force_zip64=True) as member:
            for _ in range(100):
                member.write(b" " * 1024**2)
        archive.writestr("../../etc/conversations.json", json.dumps(files.CHATGPT))
        link = zipfile.ZipInfo("users.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("inner.zip", b"PK\x03\x04")
    with world() as store, pytest.raises(InputError, match="nothing that can be read"):
        store.user("ana").import_file(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.jsonl", messages(3))
    with world() as store:
        done = store.user("ana").import_file(path)
    assert done.messages == 3
    assert done.skips[0].why.startswith("it unpacks to 1,0")
    assert [(one.where, one.why) for one in done.skips] == [
        ("conversations.json", done.skips[0].why),
        ("../../etc/conversations.json", "its name climbs out of the archive"),
        ("users.json", "a symbolic link is not followed"),
        ("inner.zip", "an archive inside an archive is not opened"),
    ]


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = files.write(tmp_path / "outside", "secret.jsonl", messages(5))
    folder = tmp_path / "folder"
    files.write(folder, "a.jsonl", messages(2))
    (folder / "b.jsonl").symlink_to(secret)
    (folder / "deep").symlink_to(tmp_path / "outside", target_is_directory=True)
    with world() as store:
        done = store.user("ana").import_file(folder)
    assert done.messages == 2 and done.skipped == 2


def test_a_line_of_a_hundred_megabytes_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(messages(1).encode())
        file.write(b'{"content": "')
        for _ in range(100):
            file.write(b"x" * 1024**2)
        file.write(b'"}\n')
        file.write(messages(2).encode().splitlines(keepends=True)[1])
    with world() as store:
        done = store.user("ana").import_file(path)
    assert done.messages == 2 and [one.where for one in done.skips] == ["a.jsonl:2"]


def test_mixed_encodings(tmp_path: Path) -> None:
    lines = [
        b'{"id": "1", "content": "caf\xc3\xa9", "at": "2024-01-01T00:00:00Z"}',
        b'{"id": "2", "content": "caf\xe9", "at": "2024-01-01T00:00:01Z"}',
        b'{"id": "3", "content": "\\ud83d\\ude42 \\ud83d", "at": "2024-01-01T00:00:02Z"}',
    ]
    with world() as store:
        ana = store.user("ana")
        done = ana.import_file(files.write(tmp_path, "a.jsonl", b"\xef\xbb\xbf" + b"\n".join(lines)))
        assert [one.content for one in ana.messages()][:2] == ["café", "café"]
        assert done.messages + done.skipped == 3
        text = files.WHATSAPP.encode("utf-16")
        assert ana.import_file(files.write(tmp_path, "_chat.txt", text), format="whatsapp", me="Ana").messages == 3


def test_the_same_id_with_another_text_is_listed(tmp_path: Path) -> None:
    rows = '{"id": "1", "content": "one", "at": "2024-01-01T00:00:00Z"}\n'
    rows += rows.replace("one", "two")
    with world() as store:
        ana = store.user("ana")
        first = ana.import_file(files.write(tmp_path, "a.jsonl", rows))
        assert (first.messages, [one.why for one in first.skips]) == (1, ["another text was kept under the same id"])
        second = ana.import_file(files.write(tmp_path, "b.jsonl", rows.splitlines()[1] + "\n"))
        assert (second.messages, second.skipped) == (0, 1) and [one.content for one in ana.messages()] == ["one"]


def test_dates_in_the_future_and_none_at_all(tmp_path: Path) -> None:
    rows = '{"id": "1", "content": "later", "at": "2031-01-01T00:00:00Z"}\n{"id": "2", "content": "when?"}\n'
    with world() as store:
        done = store.user("ana").import_file(files.write(tmp_path, "a.jsonl", rows))
    assert done.messages == 0 and {one.why for one in done.skips} == {"dated in the future: 2031-01-01", "no date"}


def test_a_locked_messages_database(tmp_path: Path) -> None:
    path = files.chat_db(tmp_path / "chat.db")
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert refused(path, "locked by another program", tmp_path) == "import_locked"
    finally:
        holder.close()


def test_an_xml_bomb_is_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaa">]><smses><sms body="&a;" /></smses>'
    assert refused(files.write(tmp_path, "s.xml", bomb), "document type", tmp_path) == "import_refused"
    cut = files.write(tmp_path, "cut.xml", files.SMS[:-40])
    assert refused(cut, "cut off", tmp_path) == "import_damaged"


def test_an_html_bomb_costs_little(tmp_path: Path) -> None:
    html = "<div>" * 400_000 + "hello" + "<blockquote>" * 10_000
    mail = b"From: Ana <ana@example.org>\nDate: Mon, 4 Mar 2024 10:00:00 +0000\nMessage-ID: <h@x>\n"
    mail += b"Content-Type: text/html\n\n" + html.encode()
    with world() as store:
        done = store.user("ana").import_file(files.write(tmp_path, "a.eml", mail), me="ana@example.org")
    assert done.messages + done.skipped == 1


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.pdf", b"%PDF-1.7 ...", "a PDF document"),
        ("chat.html", b"<!DOCTYPE html><html>", "choose JSON instead of HTML"),
        ("a.gz", b"\x1f\x8b\x08\x00", "unpack it first"),
        ("a.bin", b"\x00\x01\x02", "not known here"),
        ("empty.json", b"", "not known here"),
        ("other.db", b"SQLite format 3\x00" + b"\x00" * 100, "SQLite database"),
    ],
)
def test_what_is_not_known_is_named(tmp_path: Path, name: str, content: bytes, match: str) -> None:
    assert refused(files.write(tmp_path, name, content), match, tmp_path) == "format_unknown"


def test_missing_files_and_unknown_formats(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere", "cannot be read", tmp_path) == "import_unreadable"
    path = files.write(tmp_path, "a.jsonl", messages(1))
    assert refused(path, "Unknown format 'xyz'", tmp_path, format="xyz") == "format_unknown"
    assert refused(path, "Unknown time zone", tmp_path, timezone="Mars/Base") == "timezone_unknown"


def test_nesting_without_end(tmp_path: Path) -> None:
    deep = '[{"mapping": ' * 1 + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}]"
    with world() as store, pytest.raises(InputError, match="nested too deeply"):
        store.user("ana").import_file(files.write(tmp_path, "conversations.json", deep))
    lines = '{"content": ' + "[" * 100_000 + "]" * 100_000 + ', "at": "2024-01-01T00:00:00Z"}\n'
    with world() as store:
        done = store.user("ana").import_file(files.write(tmp_path, "a.jsonl", messages(1) + lines))
    assert (done.messages, done.skipped) == (1, 1)
