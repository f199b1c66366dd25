"""Text from outside is read in a process of its own: what it cannot do to the one that asked."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tenuto.errors import InputError, ReadingStopped
from tenuto.policy import ReadingPolicy
from tenuto.providers import reading_child, reading_process
from tenuto.providers.reading_process import ReadingProcess
from tenuto.testing import hostile
from tenuto.text import html, mail

MAIL = (
    b"From: Ana <ana@example.org>\r\nDate: Mon, 5 Jan 2026 10:00:00 +0100\r\nSubject: Hi\r\n\r\nI moved to Porto.\r\n"
)
SHORT = ReadingPolicy(timeout=timedelta(seconds=1.5))


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    made = ReadingProcess(ReadingPolicy())
    yield made
    made.close()


def test_it_answers_as_the_function_itself_would(process: ReadingProcess):
    assert process.run(mail.read, MAIL, html_bytes=100) == mail.read(MAIL)
    assert process.run(html.to_text, "<p>one</p>" * 20_000) == html.to_text("<p>one</p>" * 20_000)


def test_one_process_serves_every_text_and_every_thread(process: ReadingProcess):
    process.run(html.to_text, "x")
    first, seen = process.pid, []

    def ask(number: int) -> None:
        for turn in range(20):
            seen.append(process.run(html.to_text, f"<b>{number}-{turn}</b>") == f"{number}-{turn}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 80 and process.pid == first


def test_nothing_is_started_before_it_is_needed(process: ReadingProcess):
    assert process.pid is None


def test_errors_come_back_as_what_they_are(process: ReadingProcess):
    with pytest.raises(InputError, match=r"^This cannot be read\.$") as refused:
        process.run(hostile.refuse, "mail_unreadable")
    assert refused.value.code == "mail_unreadable"
    with pytest.raises(ValueError, match=r"^eight bits$"):
        process.run(hostile.fail, "eight bits")


def test_a_text_that_holds_the_interpreter_costs_one_process():
    process = ReadingProcess(SHORT)
    try:
        process.run(html.to_text, "x")
        first, started = process.pid, time.monotonic()
        with pytest.raises(ReadingStopped, match=r"1\.5 seconds"):
            process.run(hostile.hold_interpreter, 60)
        assert time.monotonic() - started < 15
        assert process.run(html.to_text, "<p>next") == "next" and process.pid != first
    finally:
        process.close()


def test_a_text_that_takes_all_memory_costs_one_process():
    process = ReadingProcess(ReadingPolicy(memory_bytes=512 * 1024**2))
    try:
        assert process.run(hostile.take_memory, 1024**2) == 1024**2
        with pytest.raises(ReadingStopped, match="memory"):
            process.run(hostile.take_memory, 2 * 1024**3)
        assert process.run(html.to_text, "<p>next") == "next"
    finally:
        process.close()


def test_a_process_that_dies_is_replaced(process: ReadingProcess):
    with pytest.raises(ReadingStopped):
        process.run(hostile.end_process)
    assert process.run(html.to_text, "<p>next") == "next"
    os.kill(process.pid or 0, signal.SIGKILL)
    time.sleep(0.2)
    assert process.run(html.to_text, "<p>again") == "again"


def test_what_a_library_prints_does_not_get_into_the_answers(process: ReadingProcess):
    assert process.run(hostile.print_much, 10_000) == 10_000
    assert process.run(html.to_text, "fine") == "fine"


def test_only_pure_rooms_are_hosted(process: ReadingProcess):
    with pytest.raises(ValueError, match="not read in another process"):
        process.run(os.getcwd)
    asked = reading_child.Question("os", "getcwd", reading_child.msgspec.Raw(b"\x90"), 5)
    answer = reading_child.msgspec.msgpack.decode(reading_child.answer(asked), type=reading_child.Answer)
    assert answer.outcome == reading_child.RAISED and answer.error == "LookupError"


def test_time_zones_travel():
    zone = ZoneInfo("Europe/Lisbon")
    assert reading_child._decoded(ZoneInfo, reading_child._encoded(zone)) == zone


def test_where_no_process_can_start_texts_are_read_here(monkeypatch, caplog, process: ReadingProcess):
    monkeypatch.setattr(reading_process.sys, "executable", "")
    with caplog.at_level(logging.WARNING):
        assert process.run(html.to_text, "<p>here") == "here"
        assert process.run(html.to_text, "<p>again") == "again"
    assert [record.getMessage()[:28] for record in caplog.records] == ["Text is read in this process"]


def test_an_interpreter_that_does_not_start_is_noticed(monkeypatch, caplog, process: ReadingProcess):
    monkeypatch.setattr(reading_process, "BOOT", "raise SystemExit(3)")
    assert process.run(html.to_text, "<p>here") == "here"
    assert "it ended before it was ready" in caplog.text


SCRIPT = """
import sys, tenuto
from tenuto.policy import ReadingPolicy
from tenuto.providers.reading_process import reading_process
from tenuto.testing import hostile
from tenuto.text import html
from datetime import timedelta

process = reading_process(ReadingPolicy(timeout=timedelta(seconds=float(sys.argv[1]))))
assert process.run(html.to_text, "<p>hello") == "hello"
print(process.pid, flush=True)
if sys.argv[2] == "hang":
    process.run(hostile.hold_interpreter, 60)
"""


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text(encoding="ascii")


def wait_until_gone(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not gone(pid) and time.monotonic() < end:
        time.sleep(0.1)
    return gone(pid)


def test_a_script_without_a_main_guard_can_use_it_and_leaves_nothing(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run([sys.executable, script, "20", "end"], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1 and not done.stderr
    assert wait_until_gone(int(done.stdout), 10)


def test_a_process_whose_parent_was_killed_ends_by_itself(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, script, "1", "hang"], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.3)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert wait_until_gone(child, 15)


FORKS = """
import os
from tenuto.policy import ReadingPolicy
from tenuto.providers.reading_process import reading_process
from tenuto.text import html

process = reading_process(ReadingPolicy())
process.run(html.to_text, "x")
before = process.pid
pid = os.fork()
if pid == 0:
    for number in range(50):
        assert process.run(html.to_text, f"<p>child {number}") == f"child {number}"
    assert process.pid != before
    process.close()
    os._exit(0)
for number in range(50):
    assert process.run(html.to_text, f"<p>parent {number}") == f"parent {number}"
assert process.pid == before
assert os.waitpid(pid, 0)[1] == 0
"""


def test_after_a_fork_each_has_its_own():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
