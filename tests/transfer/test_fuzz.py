"""Whatever bytes come in: something parsed, something skipped, or one clear error. Never anything else."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenuto.errors import InputError
from tenuto.policy import ImportPolicy
from tenuto.records.transfer import Noted, Said, Skipped
from tenuto.text.mail import read
from tenuto.transfer.formats.registry import FORMATS, choose, load
from tenuto.transfer.parsing import Options, me, moment
from tenuto.transfer.source import opened
from tests.transfer import files

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def plain(value: Any) -> bytes:
    return value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()


SAMPLES: dict[str, tuple[str, bytes]] = {
    "chatgpt": ("conversations.json", plain(files.CHATGPT)),
    "claude": ("conversations.json", plain(files.CLAUDE)),
    "gemini": ("MyActivity.json", plain(files.GEMINI)),
    "whatsapp": ("_chat.txt", plain(files.WHATSAPP)),
    "telegram": ("result.json", plain(files.TELEGRAM)),
    "slack": ("general/2024-01-02.json", plain(files.SLACK["general/2024-01-02.json"])),
    "mail": ("inbox.mbox", files.MAIL),
    "sms": ("sms.xml", plain(files.SMS)),
    "jsonl": ("a.jsonl", plain(files.JSONL)),
    "csv": ("a.csv", plain(files.CSV)),
    "json": ("a.json", plain([{"text": "hi", "timestamp": 1700000000}])),
    "mem0": ("a.json", plain(files.MEM0)),
    "langmem": ("a.json", plain(files.LANGMEM)),
    "letta": ("a.af", plain(files.LETTA)),
    "zep": ("a.json", plain(files.ZEP)),
    "sostenuto": ("a.json", plain(files.SOSTENUTO)),
    "account": ("a.txt", plain(files.ACCOUNT)),
}
CHANGES = st.lists(
    st.tuples(st.sampled_from(["cut", "insert", "replace", "repeat"]), st.floats(0, 1), st.binary(max_size=8)),
    max_size=6,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def changed(data: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, where, piece in changes:
        place = int(where * len(data))
        if kind == "cut":
            data = data[:place] + data[place + len(piece) :]
        elif kind == "insert":
            data = data[:place] + piece + data[place:]
        elif kind == "replace":
            data = data[:place] + piece + data[place + len(piece) :]
        else:
            data = data + data[place : place + 200]
    return data


def swap(value: Any, path: list[int], other: Any) -> Any:
    """``value`` with something inside of it replaced: the right shape with one wrong part."""
    if not path or not isinstance(value, (dict, list)) or not value:
        return other
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = swap(value[key], path[1:], other)
    return copy


def survives(folder: Path, name: str, data: bytes, format: str) -> None:
    path = files.write(folder, name, data)
    source_path = folder if "/" in name else path
    policy = ImportPolicy(line_bytes=4096)
    try:
        with opened(source_path, policy) as source:
            chosen = choose(source, format)
            for count, item in enumerate(chosen.parse(source, Options(now=NOW, policy=policy, me=me("ana")))):
                assert isinstance(item, (Said, Noted, Skipped)) and count < 100_000
                if isinstance(item, Said):
                    assert item.content.strip() and item.id and item.at.tzinfo is not None
                    item.content.encode()
    except InputError:
        return


@pytest.mark.parametrize("format", sorted(SAMPLES))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES)
def test_damaged_samples(tmp_path_factory, format: str, changes) -> None:
    name, data = SAMPLES[format]
    survives(tmp_path_factory.mktemp("fuzz"), name, changed(data, changes), format)


@pytest.mark.parametrize(
    "format", sorted(name for name, (file, _) in SAMPLES.items() if file.endswith((".json", ".af", ".jsonl")))
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.lists(st.integers(0, 20), max_size=8), other=JSON)
def test_right_shapes_with_wrong_parts(tmp_path_factory, format: str, path, other) -> None:
    name, data = SAMPLES[format]
    wrong = json.dumps(swap(json.loads(data), path, other)) if format != "jsonl" else json.dumps(other)
    survives(tmp_path_factory.mktemp("fuzz"), name, wrong.encode("utf-8", "surrogatepass"), format)


@pytest.mark.parametrize("format", sorted(FORMATS))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=400))
def test_any_bytes(tmp_path_factory, format: str, data: bytes) -> None:
    name = SAMPLES.get(format, ("chat.db", b""))[0]
    survives(tmp_path_factory.mktemp("fuzz"), name, data, format)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES)
def test_damaged_archives(tmp_path_factory, changes) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    whole = files.zipped(folder / "w.zip", {"conversations.json": files.CHATGPT}).read_bytes()
    survives(folder, "bad.zip", changed(whole, changes), "chatgpt")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES)
def test_damaged_databases(tmp_path_factory, changes) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    whole = files.chat_db(folder / "w.db").read_bytes()
    (folder / "w.db").unlink()
    survives(folder, "chat.db", changed(whole, changes), "imessage")


def test_the_samples_are_read(tmp_path: Path) -> None:
    """The control: undamaged, each of them brings something."""
    for format, (name, data) in SAMPLES.items():
        folder = tmp_path / format
        path = files.write(folder, name, data)
        policy = ImportPolicy()
        with opened(folder if "/" in name else path, policy) as source:
            found = list(load(format).parse(source, Options(now=NOW, policy=policy, me=me("ana"))))
        assert any(isinstance(item, (Said, Noted)) for item in found), format


@pytest.mark.parametrize(
    "text", ["1 10:00" + "8" * 44, "10:" + "9" * 60, "1" * 64, "Mon, 1 Jan " + "9" * 30 + " 10:00:00"]
)
def test_a_long_row_of_digits_is_no_date(tmp_path: Path, text: str) -> None:
    """Found by fuzzing: whoever reads dates raises another error for each."""
    assert moment(text) is None
    data = f"From: ana@example.org\nTo: ben@example.org\nDate: {text}\nSubject: hello\n\nGood morning.\n".encode()
    mail = read(data)
    assert mail.at is None and mail.text == "Good morning."
    survives(tmp_path, "mail.eml", data, "mail")
