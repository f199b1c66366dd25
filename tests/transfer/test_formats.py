"""Every format is recognised by itself, read whole, and means what it says."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.policy import ImportPolicy
from tenuto.records.conversation import Role
from tenuto.records.memory import Domain, Kind, Proactive
from tenuto.records.transfer import Noted, Said, Skipped
from tenuto.transfer.formats.account import prompt
from tenuto.transfer.formats.registry import choose
from tenuto.transfer.parsing import Options, me, moment, tidy
from tenuto.transfer.source import opened
from tenuto.transfer.streams import _Shallow
from tests.transfer import files

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read(path: Path, expected: str, *names: str) -> tuple[list[Said], list[Noted], list[Skipped]]:
    policy = ImportPolicy()
    with opened(path, policy) as source:
        chosen = choose(source)
        assert chosen.name == expected
        found = list(chosen.parse(source, Options(now=NOW, policy=policy, me=me(*names))))
    kinds: Any = ([], [], [])
    for item in found:
        kinds[0 if isinstance(item, Said) else 1 if isinstance(item, Noted) else 2].append(item)
    return kinds


@pytest.mark.parametrize("shape", ["file", "zip", "folder"])
def test_chatgpt(tmp_path: Path, shape: str) -> None:
    if shape == "zip":
        path = files.zipped(tmp_path / "export.zip", {"x/conversations.json": files.CHATGPT, "x/chat.html": "<html>"})
    else:
        path = files.write(tmp_path / "e", "conversations.json", files.CHATGPT)
        path = path.parent if shape == "folder" else path
    said, _, _ = read(path, "chatgpt")
    assert [(one.id, one.role, one.content) for one in said] == [
        ("m1", Role.USER, "My dad is allergic to penicillin."),
        ("m4", Role.ASSISTANT, "Then amoxicillin is out too."),
        ("m5", Role.USER, "And azithromycin?"),
    ]
    assert said[1].thinking == "Be careful here." and said[1].model == "gpt-4o"
    assert said[1].at == datetime(2023, 11, 14, 22, 13, 23, tzinfo=UTC), "an answer without a time takes the one before"
    assert said[0].metadata == {"attachments": [{"name": "rx.pdf", "type": "application/pdf"}]}
    assert {one.thread for one in said} == {"conv-1"} and said[0].title == "Penicillin"
    assert [one.mine for one in said] == [True, False, True]


def test_claude(tmp_path: Path) -> None:
    memories = [{"conversations_memory": "Lives in Rome.\n\nGrows tomatoes."}]
    path = files.zipped(
        tmp_path / "c.zip", {"conversations.json": files.CLAUDE, "memories.json": memories, "users.json": []}
    )
    said, noted, _ = read(path, "claude")
    assert [(one.content, one.thinking) for one in said] == [
        ("When do I plant tomatoes?", None),
        ("After the last frost.", "They live in Rome."),
    ]
    assert [one.content for one in noted] == ["Lives in Rome.", "Grows tomatoes."]


def test_gemini(tmp_path: Path) -> None:
    path = files.zipped(tmp_path / "t.zip", {"Takeout/My Activity/Gemini Apps/MyActivity.json": files.GEMINI})
    said, _, _ = read(path, "gemini")
    assert [one.content for one in said] == ["What is a fugue?", "A fugue is a piece.\n\n- subject"]


def test_whatsapp(tmp_path: Path) -> None:
    path = files.write(tmp_path, "_chat.txt", files.WHATSAPP)
    said, _, skipped = read(path, "whatsapp", "ana")
    assert [(one.speaker, one.content, one.mine) for one in said] == [
        ("Ana", "Buongiorno!", True),
        ("Ben", "Morning. Two lines:\nhere is the second", False),
        ("Ana", "Dinner at eight: my place", True),
    ]
    assert said[0].at == datetime(2024, 3, 12, 9, 15, 2, tzinfo=UTC)
    assert [one.why for one in skipped] == ["media without text"]


@pytest.mark.parametrize(
    ("text", "month", "hour"),
    [
        ("3/14/24, 9:05 PM - Ana: a\n3/15/24, 9:06 PM - Ana: b\n", 3, 21),
        ("3/4/24, 9:05\u202fAM - Ana: a\n3/5/24, 9:06\u202fAM - Ana: b\n4/2/24, 9:06\u202fAM - Ana: c\n", 3, 9),
        ("14.03.24, 21:05 - Ana: a\n15.03.24, 21:06 - Ana: b\n", 3, 21),
        ("[2024-03-14, 21:05:00] Ana: a\n[2024-03-14, 21:06:00] Ana: b\n", 3, 21),
    ],
)
def test_whatsapp_dates_of_many_phones(tmp_path: Path, text: str, month: int, hour: int) -> None:
    said, _, _ = read(files.write(tmp_path, "WhatsApp Chat with Ben.txt", text), "whatsapp", "ana")
    assert said[0].at.month == month and said[0].at.hour == hour and said[0].thread == "Ben"


@pytest.mark.parametrize(
    ("text", "encoding", "hour"),
    [
        ("2024/3/14 下午9:05 - 安娜: 你好\n2024/3/14 下午9:06 - Ben: 晚上好\n", "utf-8", 21),
        ("[2024/3/14 上午9:05:00] 安娜: 你好\n[2024/3/14 上午9:06:00] Ben: 早\n", "utf-8", 9),
        ("2024年3月14日 凌晨12:05 - 安娜: 你好\n2024年3月14日 早上9:06 - Ben: 早\n", "utf-8", 0),
        ("١٤\u200f/٣\u200f/٢٠٢٤، ٩:٠٥ م - آنا: مرحبا\n١٤\u200f/٣\u200f/٢٠٢٤، ٩:٠٦ م - Ben: أهلا\n", "utf-8", 21),
        ("14.03.24, 21:05 - Ana: grüß dich\n14.03.24, 21:06 - Ben: hallo\n", "utf-16", 21),
    ],
)
def test_whatsapp_in_other_scripts_and_encodings(tmp_path: Path, text: str, encoding: str, hour: int) -> None:
    path = files.write(tmp_path, "WhatsApp Chat with Ben.txt", text.encode(encoding))
    said, _, skipped = read(path, "whatsapp", "ana")
    assert (said[0].at.date().isoformat(), said[0].at.hour) == ("2024-03-14", hour)
    assert [one.content for one in said] == [line.rpartition(": ")[2] for line in text.splitlines()] and not skipped


def test_whatsapp_notices_are_nobodys_words(tmp_path: Path) -> None:
    text = (
        "14.03.24, 21:05 - Ana: This message was deleted\n"
        "14.03.24, 21:06 - Ben: Du hast diese Nachricht gelöscht.\n"
        '14.03.24, 21:07 - Ana changed the subject from "Trip" to "Trip: Rome"\n'
        "14.03.24, 21:08 - Ben: See you at nine <This message was edited>\n"
        "14.03.24, 21:09 - Ana: I said <maybe> and meant it\n"
    )
    said, _, skipped = read(files.write(tmp_path, "WhatsApp Chat with Ben.txt", text), "whatsapp", "ana")
    assert [(one.speaker, one.content) for one in said] == [
        ("Ben", "See you at nine"), ("Ana", "I said <maybe> and meant it")
    ]  # fmt: skip
    assert [one.why for one in skipped] == ["a message that was deleted"] * 2


def test_telegram(tmp_path: Path) -> None:
    said, _, skipped = read(files.write(tmp_path, "result.json", files.TELEGRAM), "telegram")
    assert [(one.content, one.mine, one.thread, one.title) for one in said] == [
        ("see https://example.org", True, "7", "Ben"),
        ("ok", False, "7", "Ben"),
    ]
    assert said[1].metadata == {"reply_to": "2"} and len(skipped) == 1
    single = files.TELEGRAM["chats"]["list"][0]  # type: ignore[index]
    said, _, _ = read(files.write(tmp_path / "s", "result.json", single), "telegram", "user42")
    assert [one.mine for one in said] == [True, False]


def test_slack(tmp_path: Path) -> None:
    said, _, _ = read(files.zipped(tmp_path / "slack.zip", files.SLACK), "slack", "ana@example.org")
    assert [(one.speaker, one.content, one.mine, one.thread) for one in said] == [
        ("Ana B", "hi @Ben & all, see this", True, "general"),
        ("Ben", "yo", False, "general/1704189600.000100"),
    ]


def test_mail(tmp_path: Path) -> None:
    said, _, _ = read(files.write(tmp_path, "inbox.mbox", files.MAIL), "mail", "ana@example.org")
    assert [(one.id, one.content, one.mine) for one in said] == [
        ("one@example.org", "Lunch on Friday?", False),
        ("two@example.org", "Yes, at one. I do not eat fish.", True),
    ]
    assert said[0].thread == said[1].thread == "one@example.org"
    alone = files.MAIL.split(b"\n", 1)[1].split(b"\nFrom ana@")[0]
    said, _, _ = read(files.write(tmp_path / "m", "one.eml", alone), "mail")
    assert said[0].content == "Lunch on Friday?"


def test_imessage(tmp_path: Path) -> None:
    said, _, _ = read(files.chat_db(tmp_path / "chat.db"), "imessage")
    assert [(one.content, one.mine, one.speaker) for one in said] == [
        ("Are you home?", False, "+390612345678"),
        ("Só é", True, None),
    ]
    assert said[0].at == datetime(2023, 3, 8, 20, 26, 40, tzinfo=UTC)


def test_sms(tmp_path: Path) -> None:
    said, _, _ = read(files.write(tmp_path, "sms.xml", files.SMS), "sms")
    assert [(one.content, one.mine, one.speaker) for one in said] == [
        ("Happy new year 😊", False, "Ben"),
        ("You too & yours", True, None),
        ("a picture", False, "Ben"),
    ]


def test_generic(tmp_path: Path) -> None:
    said, _, skipped = read(files.write(tmp_path, "a.jsonl", files.JSONL), "jsonl")
    assert [(one.id, one.content) for one in said][:2] == [("x1", "hello there"), ("x2", "hi")]
    assert said[1].thinking == "greet" and said[2].content == "nested" and said[2].thread == "t9"
    assert [one.where for one in skipped] == ["a.jsonl:3", "a.jsonl:4"]
    said, _, _ = read(files.write(tmp_path, "a.csv", files.CSV), "csv", "Ana")
    assert [(one.content, one.mine) for one in said] == [("ciao", True), ("two\nlines", False)]
    said, _, _ = read(
        files.write(tmp_path, "b.json", [{"text": "hi", "timestamp": 1700000000, "author": "Ana"}]), "json"
    )
    assert said[0].at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_memories_of_other_systems(tmp_path: Path) -> None:
    _, noted, _ = read(files.write(tmp_path, "mem0.json", files.MEM0), "mem0")
    assert (noted[0].content, noted[0].kind, noted[0].at) == (
        "Likes hiking",
        Kind.PREFERENCE,
        datetime(2024, 5, 1, 7, tzinfo=UTC),
    )
    _, noted, _ = read(files.write(tmp_path, "store.json", files.LANGMEM), "langmem")
    assert [one.content for one in noted] == ["Prefers dark mode", "name: Ana; age: 40"]
    said, noted, _ = read(files.write(tmp_path, "sam.af", files.LETTA), "letta")
    assert [one.content for one in noted] == ["Name: Ana", "Has a dog"] and said[0].content == "hi sam"
    _, noted, _ = read(files.write(tmp_path, "zep.json", files.ZEP), "zep")
    assert [(one.content, one.deprecated) for one in noted] == [
        ("Ana lives in Rome", False),
        ("Ana lives in Oslo", True),
    ]


def test_sostenuto(tmp_path: Path) -> None:
    said, noted, _ = read(files.write(tmp_path, "dump.json", files.SOSTENUTO), "sostenuto")
    assert (said[0].thread, said[0].thinking, said[0].title) == ("s-1", "She is tired.", "First day")
    memory = noted[0]
    assert (memory.domain, memory.kind, memory.importance, memory.proactive_use) == (
        Domain.PROFILE,
        Kind.PREFERENCE,
        9.0,
        Proactive.NO,
    )
    assert memory.metadata["sostenuto"]["should_do"] == "mention rain", "an instruction is only kept for reading"
    folder = tmp_path / "tables"
    for name in ("messages", "memory_objects", "sessions"):
        files.write(folder, f"{name}.json", files.SOSTENUTO[name])
    said, noted, _ = read(folder, "sostenuto")
    assert len(said) == 1 and len(noted) == 1


def test_the_account_of_another_assistant(tmp_path: Path) -> None:
    _, noted, _ = read(files.write(tmp_path, "answer.txt", files.ACCOUNT), "account")
    assert [one.content for one in noted] == ["short answers", "Mara (sister): lives in Bergen", "Allergic to peanuts"]
    assert noted[2].importance == 10 and noted[2].kind is Kind.CONSTRAINT
    assert '"tenuto_account": 1' in prompt(), "the prompt asks for what the importer reads"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1700000000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1700000000000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-11-14T22:13:20Z", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("Tue, 14 Nov 2023 22:13:20 +0000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("yesterday-ish", None),
        (0, None),
        (float("nan"), None),
        (True, None),
        ("9" * 400, None),
    ],
)
def test_times(value: object, expected: datetime | None) -> None:
    assert moment(value) == expected


def test_texts_are_made_storable() -> None:
    assert tidy("a\x00b \ud83d\ude42 \ud83d") == "ab 🙂 \ufffd"


class Dripping:
    """Hands a document over in pieces of any size."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes = data, sizes

    def read(self, size: int = -1) -> bytes:
        size = self._sizes.pop(0) if self._sizes else len(self._data)
        piece, self._data = self._data[:size], self._data[size:]
        return piece


@given(
    st.recursive(
        st.text('[]{}"\\ab', max_size=6) | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}"\\', max_size=3), inner, max_size=3),
        max_leaves=20,
    ),
    st.lists(st.integers(1, 9), max_size=200),
)
def test_the_depth_of_a_document_is_counted_outside_of_its_strings(value: Any, sizes: list[int]) -> None:
    guard = _Shallow(Dripping(json.dumps(value).encode(), sizes), "x")  # type: ignore[arg-type]
    while guard.read():
        pass
    assert guard._depth == 0 and not guard._inside
