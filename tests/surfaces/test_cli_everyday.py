"""The command line as people use it: mistakes are named, lists fit the terminal, every option of a verb is there."""

import inspect
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import tenuto
from tenuto.errors import TenutoError
from tenuto.surfaces.cli import layout
from tenuto.surfaces.cli.layout import Entry
from tenuto.surfaces.cli.main import COMMANDS, SECTIONS, cli, find_command

LONG = "Frank (father) takes apixaban 2.5 mg twice a day, in the morning and in the evening, with food"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    def call(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(cli, ["--db", str(tmp_path / "tenuto.db"), *arguments], **options)

    return call


@pytest.fixture
def kept(run: Callable[..., Result]) -> str:
    """The id of a memory of ana's."""
    return str(json.loads(run("remember", "Likes tea", "-u", "ana", "--json").output)["memory"]["id"])


def code(result: Result) -> str | None:
    return result.exception.code if isinstance(result.exception, TenutoError) else None


# --- mistakes ---------------------------------------------------------------------------------------------------------

READS = [
    ["recall", "tea"], ["context", "tea"], ["memories"], ["messages"], ["todos"], ["entities"], ["stats"], ["sessions"],
    ["summaries"], ["state"], ["trajectory"], ["outreach"], ["retention"], ["purge"], ["forget", "mem_1"],
    ["confirm", "mem_1"], ["pin", "mem_1"], ["allow", "mem_1", "no"], ["edit", "mem_1", "--content", "x"],
    ["identities", "list"], ["export", "x.jsonl"], ["undo", "direct"],
]  # fmt: skip
STORE_READS = [
    ["users"],
    ["doctor"],
    ["jobs", "list"],
    ["audit", "show"],
    ["curate"],
    ["keys", "list"],
    ["db", "compact"],
]


@pytest.mark.parametrize("command", [*READS, *STORE_READS], ids=" ".join)
def test_a_read_of_a_store_that_is_not_there_names_those_that_are_and_makes_none(
    run: Callable[..., Result], tmp_path: Path, command: list[str]
):
    (tmp_path / "memory.db").touch()
    failed = run(*command)
    assert code(failed) == "no_store" and "memory.db" in str(failed.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_a_user_of_whom_nothing_is_kept_is_an_error_that_names_the_others(
    run: Callable[..., Result], kept: str, command: list[str]
):
    failed = run(*command, "-u", "anna")
    assert code(failed) == "user_unknown" and "Known: ana" in str(failed.exception)
    assert run("users").output == "ana\n"


def test_a_mistyped_command_is_answered_with_the_nearest(run: Callable[..., Result]):
    said = run("memoires")
    assert said.exit_code == 2 and "Did you mean 'memories'?" in said.output


@pytest.mark.parametrize("given", [b"caf\xe9", b"\xff\xfeh\x00i\x00"])
def test_input_that_is_not_utf8_says_so_and_keeps_nothing(run: Callable[..., Result], tmp_path: Path, given: bytes):
    failed = run("observe", "-", input=given)
    assert code(failed) == "text_not_utf8" and "iconv" in str(failed.exception)
    assert not (tmp_path / "tenuto.db").exists()


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_observe_shows_what_was_kept_and_memories_has_it(run: Callable[..., Result]):
    said = run("observe", "My dad is allergic to penicillin.", "-u", "ana").output
    assert "inserted: Dad is allergic to penicillin" in said
    assert "Dad is allergic to penicillin" in run("memories", "-u", "ana").output
    assert "nothing in it to keep" in run("observe", "Okay then.", "-u", "ana").output


def test_without_waiting_the_work_is_left_to_the_next(run: Callable[..., Result]):
    said = run("observe", "My mum is allergic to nuts.", "-u", "ana", "--no-wait").output
    assert "`tenuto worker`" in said and "nuts" not in said
    assert run("memories", "-u", "ana").output == "Nothing is known.\n"
    run("observe", "Okay then.", "-u", "ana")
    assert "nuts" in run("memories", "-u", "ana").output


def test_json_stands_before_or_behind_the_command(run: Callable[..., Result], kept: str):
    before, behind = run("--json", "memories", "-u", "ana"), run("memories", "-u", "ana", "--json")
    assert json.loads(before.output) == json.loads(behind.output) != []
    assert json.loads(run("jobs", "list", "--json").output) is not None


def test_piped_lists_have_one_line_for_each_entry(run: Callable[..., Result]):
    run("remember", f"{LONG}.\nAnd more", "-u", "ana")
    (line,) = run("memories", "-u", "ana").output.splitlines()
    assert line.split("\t")[-1] == f"{LONG}. And more"
    (hit,) = run("recall", "apixaban", "-u", "ana", "--kinds", "memory").stdout.splitlines()
    assert hit.split("\t")[2] == "memory" and hit.endswith("And more")


@pytest.mark.parametrize("width", [40, 80])
def test_lists_fit_the_terminal(width: int, capsys: pytest.CaptureFixture[str]):
    entries = [Entry(LONG, ("mem_1k0g6as3g8ke7szsyk21r8", "2026-03-01", "9 pinned", "active"), "why " * 30)]
    layout.print_entries(entries, "nothing", width=width)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    joined = " ".join(line.strip() for line in lines)
    assert LONG in joined and "mem_1k0g6as3g8ke7szsyk21r8 · 2026-03-01" in joined
    assert len(lines) <= 2 + (len(LONG) + 60 + 120) // (width - 12), "a column of single letters is not readable"


def test_on_a_terminal_the_list_is_as_wide_as_it(run: Callable[..., Result], tmp_path: Path):
    run("remember", LONG, "-u", "ana")
    command = [sys.executable, "-m", "tenuto", "--db", str(tmp_path / "tenuto.db"), "memories", "-u", "ana"]
    ours, theirs = pty.openpty()
    env = os.environ | {"COLUMNS": "40", "TERM": "dumb", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, env=env, check=False, timeout=100)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert done.returncode == 0, done.stderr
    assert "Frank (father) takes apixaban 2.5 mg" in shown.splitlines()[0]
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= 40


def test_help_shows_the_commands_in_sections_with_examples():
    shown = CliRunner().invoke(cli, ["--help"]).output
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places) and "Examples:" in shown
    assert sorted(COMMANDS) == sorted(name for section in SECTIONS.values() for name in section)


# --- commands ---------------------------------------------------------------------------------------------------------


def test_pin_edit_allow(run: Callable[..., Result], kept: str):
    who = ["-u", "ana"]
    assert run("pin", kept, *who).output == "active, pinned: Likes tea\n"
    assert run("pin", kept, "--undo", *who).output == "active: Likes tea\n"
    assert run("allow", kept, "no", *who).exit_code == 0
    assert run("edit", kept, "--content", "Likes green tea", "--importance", "7", *who).exit_code == 0
    (memory,) = json.loads(run("memories", "--json", *who).output)
    assert (memory["content"], memory["importance"], memory["proactive_use"]) == ("Likes green tea", 7, "no")
    assert run("edit", kept, "--valid-to", "yesterday", "--should-do", "offer tea", *who).exit_code == 0
    assert run("edit", kept, "--valid-to", "", "--should-do", "", *who).exit_code == 0
    (memory,) = json.loads(run("memories", "--status", "*", "--json", *who).output)
    assert memory["valid_to"] is None and memory["should_do"] is None
    assert code(run("edit", kept, *who)) == "edit_empty"


def test_todos_entities_messages(run: Callable[..., Result]):
    who = ["-u", "ana"]
    run("observe", "Remind me to call Theo tomorrow. My brother Theo is allergic to cashews.", *who, "--at", "2h")
    (todo, *_) = json.loads(run("todos", "--json", *who).output)
    assert "Theo" in run("todos", *who).output
    assert todo["id"] not in run("todos", "--done", todo["id"], *who).output
    assert todo["id"] in run("todos", "--status", "done", *who).output
    (entity, *_) = [one["id"] for one in json.loads(run("entities", "--json", *who).output) if "theo" in one["id"]]
    assert "Theo" in run("entities", *who).output and "cashews" in run("entities", entity, *who).output
    assert "Remind me to call Theo" in run("messages", *who).output
    assert code(run("entities", "person:nobody", *who)) == "not_found"


def test_recall_is_narrowed_by_options(run: Callable[..., Result]):
    who = ["-u", "ana"]
    run("observe", "I drink tea in the morning.", *who, "--at", "60d", "--speaker", "Ana")
    run("observe", "I drink tea at night.", *who, "--at", "1d", "--speaker", "Ben")

    def said(*options: str) -> set[str]:
        hits = json.loads(run("recall", "drink tea", "--kinds", "message", "--json", *who, *options).stdout)
        return {hit["text"].split()[-1] for hit in hits}

    assert said() == {"morning.", "night."}
    assert said("--since", "30d") == {"night."} and said("--until", "30d") == {"morning."}
    assert said("--speaker", "Ben") == {"night."} and said("--role", "assistant") == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Callable[..., Result], shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert "_TENUTO_COMPLETE" in run("completion", shell).output
    monkeypatch.setenv("HOME", str(tmp_path))
    written = Path(json.loads(run("completion", shell, "--install", "--json").output)["path"])
    assert written.is_relative_to(tmp_path) and "_TENUTO_COMPLETE" in written.read_text()


def test_the_shell_is_told_the_commands(tmp_path: Path):
    env = {"_TENUTO_COMPLETE": "bash_complete", "COMP_WORDS": "tenuto mem", "COMP_CWORD": "1"}
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    program = "import sys; sys.argv = ['tenuto']; from tenuto.surfaces.cli.main import main; main()"
    said = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert said.stdout.split() == ["plain,memories"], said.stderr


# --- the library's options --------------------------------------------------------------------------------------------

LEFT_OUT = {"remember": {"trust"}, "forget": {"trust"}}
"""Whose word it is is written by code: what is typed at the command line is the user's."""
NAMES = {"from_": "since", "type_": "type", "closing": "session_id"}
OWN = {"user", "channel", "persona", "why", "wait", "json", "undo", "done", "cancel", "close", "named"}
"""Options of the command line itself."""


@pytest.mark.parametrize(
    "verb",
    [
        "observe", "recall", "context", "remember", "memories", "messages", "sessions", "summaries", "todos",
        "entities", "pin", "edit", "forget", "trajectory", "outreach", "purge",
    ],
)  # fmt: skip
def test_an_option_of_the_library_is_an_option_of_the_command(verb: str):
    method = inspect.signature(getattr(tenuto.UserMemory, verb))
    wanted = {name for name, one in method.parameters.items() if one.kind is one.KEYWORD_ONLY}
    command = find_command(verb)
    assert command is not None
    options = {part.name or "" for part in command.params if isinstance(part, click.Option)}
    given = {NAMES.get(name, name) for name in options}
    assert wanted - given == LEFT_OUT.get(verb, set())
    assert given - wanted - OWN - {"closing", "session_id"} == set(), "an option that the library does not have"
