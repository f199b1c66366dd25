"""What cannot be taken is refused with one clear error, and nothing is half-written."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

import tenuto
from tenuto import errors
from tenuto.storage import sqlite
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}


@pytest.fixture
def store(store_url: str) -> Iterator[tenuto.Tenuto]:
    with tenuto.open(store_url, **OPTIONS) as opened:
        yield opened


BAD_CALLS: dict[str, tuple[Callable[[tenuto.Tenuto], Any], str]] = {
    "empty text": (lambda s: s.user("ana").observe(""), "text_empty"),
    "only white": (lambda s: s.user("ana").observe(" \n\t "), "text_empty"),
    "over 64 KiB": (lambda s: s.user("ana").observe("é" * 32 * 1024 + "!"), "text_too_long"),
    "NUL": (lambda s: s.user("ana").observe("a\x00b"), "text_nul"),
    "lone surrogate": (lambda s: s.user("ana").observe("a\ud83d"), "text_surrogate"),
    "not a string": (lambda s: s.user("ana").observe(b"bytes"), "not_text"),  # type: ignore[arg-type]
    "unknown role": (lambda s: s.user("ana").observe("a", role="narrator"), "role_unknown"),
    "naive datetime": (lambda s: s.user("ana").observe("a", at=datetime(2026, 1, 1)), "time_naive"),
    "the year 1": (lambda s: s.user("ana").observe("a", at=datetime(1, 1, 1, tzinfo=UTC)), "time_out_of_range"),
    "the year 9999": (
        lambda s: s.user("ana").remember("a", at=datetime(9999, 1, 1, tzinfo=UTC)),
        "time_out_of_range",
    ),
    "a time that is none": (lambda s: s.user("ana").observe("a", at="today"), "time_invalid"),  # type: ignore[arg-type]
    "empty message id": (lambda s: s.user("ana").observe("a", id=""), "name_empty"),
    "long speaker": (lambda s: s.user("ana").observe("a", speaker="x" * 257), "name_too_long"),
    "NUL in thinking": (lambda s: s.user("ana").observe("a", thinking="\x00"), "text_nul"),
    "metadata that is none": (lambda s: s.user("ana").observe("a", metadata=["x"]), "metadata_invalid"),  # type: ignore[arg-type]
    "metadata beyond JSON": (lambda s: s.user("ana").observe("a", metadata={"x": object()}), "metadata_invalid"),
    "metadata too large": (lambda s: s.user("ana").observe("a", metadata={"x": "y" * 20_000}), "metadata_too_large"),
    "empty user": (lambda s: s.user(""), "name_empty"),
    "white user": (lambda s: s.user("  "), "name_empty"),
    "user with a line break": (lambda s: s.user("a\nb"), "name_invalid"),
    "user with white space around": (lambda s: s.user(" ana"), "name_invalid"),
    "user with NUL": (lambda s: s.user("a\x00"), "text_nul"),
    "user that is a number": (lambda s: s.user(7), "not_text"),  # type: ignore[arg-type]
    "empty persona": (lambda s: s.user("ana", persona=""), "name_empty"),
    "empty channel": (lambda s: s.user("ana", channel=""), "name_empty"),
    "empty query": (lambda s: s.user("ana").recall(" "), "text_empty"),
    "limit 0": (lambda s: s.user("ana").recall("a", limit=0), "limit_invalid"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_call_is_one_clear_error_and_leaves_nothing(store: tenuto.Tenuto, case: str):
    call, code = BAD_CALLS[case]
    with pytest.raises(errors.InputError) as caught:
        call(store)
    assert caught.value.code == code
    assert len(caught.value.message) > 15 and caught.value.retry is False
    assert store.users() == [] and store.jobs() == []
    store.user("ana").observe("The store works on.")
    assert store.user("ana").stats()["total_messages"] == 1


def test_the_limit_itself_is_allowed(store: tenuto.Tenuto):
    store.user("ana").observe("é" * 32 * 1024)
    assert len(store.user("ana").messages()[0].content) == 32 * 1024


def test_a_naive_clock_is_refused(store_url: str):
    with tenuto.open(store_url, clock=lambda: datetime(2026, 1, 1), **OPTIONS) as store:
        with pytest.raises(errors.InputError, match="clock") as caught:
            store.user("ana").observe("Hello.")
        assert caught.value.code == "time_naive" and store.users() == []
    with pytest.raises(errors.InputError, match="function"):
        tenuto.open(store_url, clock=datetime(2026, 1, 1), **OPTIONS)  # type: ignore[arg-type]


# --- places that are no store -----------------------------------------------------------------------------------------


def refused(path: object, kind: type[errors.TenutoError], **options: Any) -> errors.TenutoError:
    with pytest.raises(errors.TenutoError) as caught:
        tenuto.open(path, **(OPTIONS | options))  # type: ignore[arg-type]
    assert type(caught.value) is kind, caught.value
    return caught.value


def test_a_path_without_a_directory(tmp_path: Path):
    refused(tmp_path / "no" / "tenuto.db", errors.NotWritable)
    assert list(tmp_path.iterdir()) == []


def test_a_directory(tmp_path: Path):
    assert "tenuto.db" in refused(tmp_path, errors.NotWritable).message


def test_a_path_that_no_system_takes(tmp_path: Path):
    refused(tmp_path / ("x" * 300), errors.NotWritable)
    refused("a\x00b", errors.InputError)
    refused("mysql://host/db", errors.InputError)


OPENER = """
import os, sys, tenuto
tenuto.open("memory:").close()  # everything is imported before the rights are dropped
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # no mode of a directory stops root
try:
    tenuto.open(sys.argv[1], background=False)
except tenuto.TenutoError as error:
    print(error.code)
"""


def test_a_directory_without_the_right_to_write(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    command = [sys.executable, "-c", OPENER, str(closed / "tenuto.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "not_writable\n"
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("content", [b"just some text", b"PK\x03\x04" + b"\x00" * 4096, b"\x00" * 100])
def test_a_file_that_is_no_database_is_not_touched(tmp_path: Path, content: bytes):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    refused(path, errors.NotADatabase)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_a_database_of_another_program_is_not_changed(tmp_path: Path):
    path = tmp_path / "other.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE songs (name TEXT); INSERT INTO songs VALUES ('tenuto')")
    other.close()
    assert "another program" in refused(path, errors.NotADatabase).message
    again = apsw.Connection(str(path))
    assert again.execute("SELECT name FROM sqlite_schema").fetchall() == [("songs",)]
    again.close()


def test_a_damaged_database_says_so(tmp_path: Path):
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, **OPTIONS) as store:
        for number in range(400):
            store.user("ana").observe(f"Sentence {number} " + "with words " * 20)
    data = bytearray(path.read_bytes())
    for page in range(4, len(data) // sqlite.PAGE_BYTES):
        data[page * sqlite.PAGE_BYTES : page * sqlite.PAGE_BYTES + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(errors.StoreCorrupt) as caught, tenuto.open(path, **OPTIONS) as store:
        store.user("ana").messages()
    assert "doctor" in caught.value.message and "backup" in caught.value.message


def test_doctor_finds_damage_without_failing(tmp_path: Path):
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, **OPTIONS) as store:
        for number in range(200):
            store.user("ana").observe(f"Sentence {number} " + "with words " * 20)
    data = bytearray(path.read_bytes())
    data[-sqlite.PAGE_BYTES * 3 : -sqlite.PAGE_BYTES * 2] = b"\xff" * sqlite.PAGE_BYTES
    path.write_bytes(data)
    with tenuto.open(path, **OPTIONS) as store:
        finding = next(one for one in store.examine() if one["what"] == "store")
    assert finding["ok"] is False and finding["detail"]


LOCKER = """
import apsw, sys
held = apsw.Connection(sys.argv[1])
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_locked_database_can_be_read_and_says_when_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, **OPTIONS) as store:
        store.user("ana").observe("Hello.")
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 50)
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as locker:
        assert locker.stdout is not None and locker.stdout.readline() == "held\n"
        with tenuto.open(path, **OPTIONS) as store:
            ana = store.user("ana")
            with pytest.raises(errors.StoreBusy) as caught:
                ana.observe("Nobody hears this.")
            assert caught.value.retry is True and "another process" in caught.value.message
            assert [message.content for message in ana.messages()] == ["Hello."]
            locker.communicate("", timeout=30)
            ana.observe("Now it can be written.")
            assert ana.stats()["total_messages"] == 2


def test_a_server_that_is_not_there():
    error = refused("postgresql://nobody:secret@127.0.0.1:1/none", errors.StoreBusy)
    assert error.retry is True and "secret" not in error.message


@pytest.mark.parametrize(
    "policy",
    [
        {"sesion": {"idle_close": 5}},
        {"session": {"idle_clos": 5}},
        {"session": {"idle_close": "soon"}},
        {"session": {"idle_close": -1}},
        {"session": 5},
    ],
)
def test_an_unknown_or_wrong_setting_opens_nothing(tmp_path: Path, policy: dict[str, Any]):
    error = refused(tmp_path / "tenuto.db", errors.SettingError, policy=policy)
    assert "idle_clos" in error.message or "sesion" in error.message or "session" in error.message
    assert list(tmp_path.iterdir()) == []
