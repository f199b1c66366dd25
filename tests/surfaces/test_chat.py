"""The terminal chat: with a model over a real connection, without one, in a real terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tenuto
from tenuto.providers.model_openai import OpenAIModel
from tenuto.surfaces.chat import Chat
from tests.upstream import Served, Step, Upstream


@pytest.fixture(scope="module")
def served():
    upstream = Upstream()
    with Served(upstream.app()) as server:
        yield upstream, server


@pytest.fixture
def upstream(served):
    served[0].script()
    served[0].asked.clear()
    return served[0]


@pytest.fixture
def chat(served, upstream, tmp_path):
    model = OpenAIModel("scripted", base_url=f"{served[1].url}/v1", retries=0)
    with tenuto.open(tmp_path / "chat.db", model=model, background=False) as store:
        yield Chat(store=store, memory=store.user("me", channel="terminal"))


def said(chat: Chat) -> list[tuple[str, str]]:
    return [(m.role.value, m.content) for m in chat.memory.messages()]


def test_a_model_answers_piece_by_piece_and_both_turns_are_kept(chat, upstream):
    pieces = list(chat.answer("Hello there"))
    assert len(pieces) == 3
    assert said(chat) == [("user", "Hello there"), ("assistant", "Hello from upstream.")]
    list(chat.answer("And again"))
    sent = [m["content"] for m in upstream.asked[-1]["messages"]]
    assert "Hello there" in sent
    assert sent[-1].endswith("And again")


def test_a_model_that_breaks_off_loses_nothing(chat, upstream):
    upstream.script(Step(text="One two three four", cut_after=4))
    shown = "".join(chat.answer("Keep this"))
    assert "What you said is kept" in shown
    user, assistant = chat.memory.messages()
    assert user.content == "Keep this"
    assert assistant.content.startswith("One two")
    assert "kept" not in assistant.content
    assert assistant.metadata == {"incomplete": True}


def test_a_model_that_is_away_is_said_and_the_message_kept(chat, upstream):
    upstream.script(Step(status=500))
    assert "answered 500" in "".join(chat.answer("Keep this"))
    assert said(chat) == [("user", "Keep this")]


def test_stopping_an_answer_keeps_what_was_said(chat, upstream):
    upstream.script(Step(text="word " * 50))
    pieces = chat.answer("Go on")
    next(pieces)
    pieces.close()
    user, assistant = chat.memory.messages()
    assert (user.content, assistant.metadata) == ("Go on", {"incomplete": True})


def test_private_keeps_nothing_but_goes_on_talking(chat, upstream):
    assert chat.toggle_private() is True
    list(chat.answer("A secret"))
    list(chat.answer("More of it"))
    assert "A secret" in str(upstream.asked[-1]["messages"]), "the conversation itself goes on"
    assert said(chat) == []
    assert chat.memory.working.messages() == []
    assert chat.toggle_private() is False
    list(chat.answer("Not secret"))
    assert "A secret" not in str(upstream.asked[-1]["messages"])
    assert said(chat)[0] == ("user", "Not secret")


def test_a_long_private_talk_stays_within_the_budget(chat, upstream):
    chat.budget, chat.private = 600, True
    for number in range(30):
        list(chat.answer(f"Secret number {number}: the quick brown fox jumps over the lazy dog near the river bank."))
    sent = upstream.asked[-1]["messages"]
    count = chat.store.deps.tokens.count
    assert sum(count(one["content"]) for one in sent) + chat.context.answer <= 600
    assert "Secret number 28" in str(sent)
    assert "Secret number 2:" not in str(sent)


def test_without_a_model_ones_own_questions_are_no_knowledge(tmp_path):
    with tenuto.open(tmp_path / "chat.db", background=False) as store:
        chat = Chat(store=store, memory=store.user("me"))
        for text in ("Where does Marta live?", "My sister Marta lives in Porto."):
            list(chat.answer(text))
        store.settle()
        answer = "".join(chat.answer("Tell me where Marta lives?"))
        assert "Porto" in answer
        assert "Where does Marta live?" not in answer


def test_without_a_model_memory_answers_with_dates(tmp_path):
    with tenuto.open(tmp_path / "chat.db", background=False) as store:
        chat = Chat(store=store, memory=store.user("me"))
        assert "I know nothing about this yet" in "".join(chat.answer("zyzzyva quokka?"))
        list(chat.answer("I am allergic to penicillin."))
        store.settle()
        answer = "".join(chat.answer("Which allergies do I have? penicillin?"))
        assert "penicillin" in answer
        assert f"{chat.memory.messages()[0].at:%Y-%m-%d}" in answer
        assert chat.why()[0].strip()
        assert [name for name, *_ in chat.blocks()]
        assert [m.role.value for m in chat.memory.messages()] == ["user"] * 3, "its own words are not a message"


COMMANDS = """\
/help
/pin Allergic to penicillin
I live in Oslo and my brother Ben lives in Bergen.
/memories
/memories penicillin
/why
/context
/context full
/private
This is nowhere.
/private
/nonsense
/forget
/forget zyzzyva
/quit
"""


def run(tmp_path: Path, lines: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tenuto", "--db", str(tmp_path / "chat.db"), "chat", *options]
    return subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=False)


def test_every_command(tmp_path):
    done = run(tmp_path, COMMANDS)
    assert done.returncode == 0, done.stderr
    for words in (
        "/forget ID or WORDS",
        "Pinned: Allergic to penicillin",
        "★ Allergic to penicillin",
        "Always keep in mind",
        "tokens",
        "Nothing is kept from now on.",
        "There is no /nonsense.",
        "Write what to forget",
    ):
        assert words in done.stdout
    with tenuto.open(tmp_path / "chat.db") as store:
        texts = [m.content for m in store.user("me").messages()]
    assert texts == ["I live in Oslo and my brother Ben lives in Bergen."]


def test_forgetting_by_id(tmp_path):
    with tenuto.open(tmp_path / "chat.db") as store:
        id = store.user("me").remember("The old address is Main Street 1", pin=True).memory.id
    done = run(tmp_path, f"/forget {id}\n/forget mem_unknown\n")
    assert "Forgotten" in done.stdout
    assert done.returncode == 0
    with tenuto.open(tmp_path / "chat.db") as store:
        assert all("Main Street" not in m.content for m in store.user("me").memories())


def test_a_wrong_model_is_a_clear_error(tmp_path):
    done = run(tmp_path, "", "--model", "nonsense")
    assert done.returncode == 2
    assert "openai:<model>" in done.stderr


def test_control_c_stops_the_answer_and_then_the_chat(served, upstream, tmp_path):
    upstream.script(Step(text="word " * 2000))
    model = f"openai+{served[1].url}/v1:scripted"
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell may have started this run with Ctrl-C ignored
        command = [sys.executable, "-m", "tenuto", "--db", str(tmp_path / "chat.db"), "chat", "--model", model]
        os.execv(sys.executable, command)
    screen = Screen(terminal)
    screen.wait_for(b"> ")
    os.write(terminal, b"Tell me everything\n")
    screen.wait_for(b"word word word")
    os.kill(pid, signal.SIGINT)
    screen.wait_for(b"(stopped)")
    screen.wait_for(b"> ")
    assert leave(pid, screen) == 0
    assert b"Once more to leave." in screen.shown
    with tenuto.open(tmp_path / "chat.db") as store:
        user, assistant = store.user("me").messages()
    assert user.content == "Tell me everything"
    assert assistant.metadata == {"incomplete": True}


class Screen:
    """What a terminal has shown so far, and how far it was read."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._read = 0
        self.shown = b""

    def wait_for(self, words: bytes, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while (found := self.shown.find(words, self._read)) < 0:
            assert time.monotonic() < deadline, self.shown[-500:]
            self.read(0.1)
        self._read = found + len(words)

    def read(self, seconds: float) -> None:
        if select.select([self._terminal], [], [], seconds)[0]:
            with contextlib.suppress(OSError):  # the other side is gone
                self.shown += os.read(self._terminal, 65536)


def leave(pid: int, screen: Screen, seconds: float = 60) -> int:
    """Press Ctrl-C until the chat ends: one that comes just before the line is read gets lost."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        os.kill(pid, signal.SIGINT)
        pause = time.monotonic() + 3
        while time.monotonic() < pause:
            screen.read(0.1)
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"the chat did not end: {screen.shown[-500:]!r}")
