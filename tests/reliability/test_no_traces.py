"""Nothing is reported to anyone, and nothing is written outside of the database."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import socket, sys

def refuse(*arguments, **options):
    raise AssertionError("something wants to use the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
import tenuto
{before}
with tenuto.open(sys.argv[1]) as store:
    ana = store.user("ana")
    ana.observe("My dad is allergic to penicillin.")
    store.settle()
    assert ana.recall("antibiotics")[0].text and ana.context("antibiotics").messages
    assert store.unembedded() == 0
"""


def files_written(folder: Path, before: str = "") -> list[str]:
    """Run the whole way of a message with a home and a temporary directory of its own."""
    home, temporary = folder / "home", folder / "tmp"
    home.mkdir()
    temporary.mkdir()
    env = {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": ":".join(part for part in sys.path if part)}
    command = [sys.executable, "-c", PROGRAM.format(before=before), str(folder / "tenuto.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("tenuto.db")]
    return [str(path.relative_to(folder)) for path in found]


def test_the_whole_way_of_a_message_leaves_no_trace_elsewhere(tmp_path: Path):
    assert files_written(tmp_path) == []


def test_the_same_test_finds_a_runtime_that_reports(tmp_path: Path):
    """The control: loaded before Tenuto could silence it, the runtime leaves an id and a queue of events."""
    assert files_written(tmp_path, before="import onnxruntime") != []
