"""The command line: every command explains itself, prints for machines, and ends with the right code."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import tenuto
from tenuto.errors import TenutoError
from tenuto.surfaces.cli.main import COMMANDS, cli, find_command

TENUTO = [sys.executable, "-m", "tenuto"]


def every_command() -> Iterator[list[str]]:
    """The path of each command and of each command of a group."""

    def walk(path: list[str], command: click.Command) -> Iterator[list[str]]:
        yield path
        if isinstance(command, click.Group):
            for name, part in command.commands.items():
                yield from walk([*path, name], part)

    for name in COMMANDS:
        command = find_command(name)
        assert command is not None
        yield from walk([name], command)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    """Runs a command in this process on a database of its own."""

    def call(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(cli, ["--db", str(tmp_path / "tenuto.db"), *arguments], **options)

    return call


@pytest.mark.parametrize("path", list(every_command()), ids=" ".join)
def test_every_command_explains_itself(path: list[str]):
    shown = CliRunner().invoke(cli, [*path, "--help"])
    assert shown.exit_code == 0, shown.output
    assert f"Usage: cli {' '.join(path)}" in shown.output
    words = shown.output.split("\n\n")[1].strip()
    assert len(words) > 15 and not words.startswith("Options"), "a command needs a sentence that says what it does"


def test_the_list_of_commands():
    shown = CliRunner().invoke(cli, ["--help"])
    assert shown.exit_code == 0 and all(f"\n  {name} " in shown.output for name in COMMANDS)
    version = CliRunner().invoke(cli, ["--version"])
    assert version.output == f"tenuto, version {tenuto.__version__}\n"


def test_observe_recall_context_stats(run: Callable[..., Result]):
    kept = run("--json", "observe", "My dad is allergic to penicillin.", "-u", "ana", "--id", "m-1")
    assert kept.exit_code == 0 and json.loads(kept.output)["act"] == "inserted"
    again = run("observe", "My dad is allergic to penicillin.", "-u", "ana", "--id", "m-1")
    assert again.exit_code == 0 and again.output.startswith("duplicate")
    run("observe", "-", "-u", "ana", "--at", "2026-01-05T10:00+01:00", input="From standard input.\n")
    (hit, *_) = json.loads(run("--json", "recall", "which antibiotics, penicillin?", "-u", "ana").output)
    assert (
        hit["text"].startswith("Dad is allergic to penicillin") and hit["message_id"] == "m-1" and hit["why"]["parts"]
    )
    assert "penicillin" in run("recall", "penicillin", "-u", "ana", "--why").output
    assert run("recall", "zebra", "-u", "ana", "--kinds", "todo").stdout == "Nothing found.\n"
    context = json.loads(run("--json", "context", "Is penicillin safe?", "-u", "ana", "--budget", "3000").output)
    assert context["messages"][-1]["content"] == "Is penicillin safe?" and context["tokens"] > 0
    assert "[user]\nIs penicillin safe?" in run("context", "Is penicillin safe?", "-u", "ana").output
    stats = json.loads(run("--json", "stats", "-u", "ana").output)
    assert stats["total_messages"] == 2 and stats["oldest_message"].startswith("2026-01-05T09:00:00")
    assert "total messages" in run("stats", "-u", "ana").output


def test_remember_list_forget_and_bring_back(run: Callable[..., Result]):
    kept = json.loads(run("--json", "remember", "Theo is allergic to cashews", "--pin", "-u", "ana").output)
    assert kept["act"] == "inserted" and kept["memory"]["pinned"] is True
    assert run("remember", "Likes tea", "-u", "ana").output.startswith("inserted: ")
    assert "cashews" in run("memories", "-u", "ana", "--pinned").output
    assert "tea" not in run("memories", "-u", "ana", "--pinned").output
    assert run("forget", kept["memory"]["id"], "-u", "ana").output == "forgotten: Theo is allergic to cashews\n"
    assert "cashews" not in run("memories", "-u", "ana").output
    assert "cashews" in run("memories", "-u", "ana", "--status", "forgotten").output
    assert "cashews" in run("forget", kept["memory"]["id"], "--undo", "-u", "ana").output
    assert "cashews" in run("memories", "-u", "ana").output
    assert run("memories", "-u", "ana", "--kind", "ritual").output == "Nothing is known.\n"
    assert (
        run("confirm", kept["memory"]["id"], "-u", "ana").output == "confirmed, pinned: Theo is allergic to cashews\n"
    )
    missing = run("forget", "mem_none", "-u", "ana").exception
    assert isinstance(missing, TenutoError) and missing.code == "not_found"


def test_looking_after_the_database(run: Callable[..., Result]):
    run("observe", "Hello there.")
    assert run("db", "upgrade").output == "The schema is up to date.\n"
    done = json.loads(run("--json", "db", "reembed").stdout)
    assert done["model"] and done["embedded"] >= 0
    assert run("db", "compact").exit_code == 0
    findings = json.loads(run("--json", "doctor").output)
    assert {finding["what"] for finding in findings} >= {"store", "embedder", "failed jobs"}
    assert all(finding["ok"] for finding in findings)


def test_a_new_model_is_brought_in_with_a_progress_bar(run: Callable[..., Result], tmp_path: Path):
    from tenuto.testing.fakes import FakeEmbedder, FakeTokens

    options: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
    with tenuto.open(tmp_path / "tenuto.db", **options) as store:
        for number in range(70):
            store.user("me").observe(f"Sentence number {number}.")
        store.settle()
    shown = run("db", "reembed")
    assert shown.exit_code == 0 and "now have a vector of" in shown.stdout
    assert run("--json", "db", "reembed").stdout.count('"embedded": 0')


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["observe", " "], 2, "text_empty"),
        (["observe", "a", "--role", "narrator"], 2, "role_unknown"),
        (["observe", "a", "--at", "whenever"], 2, "time_invalid"),
        (["observe", "a", "--metadata", "[1]"], 2, "metadata_invalid"),
        (["observe", "a", "-u", ""], 2, "name_empty"),
        (["recall", "a", "--limit", "0"], 2, "limit_invalid"),
        (["context", "a", "--budget", "1"], 2, None),
    ],
)
def test_what_cannot_be_taken_ends_with_2(
    run: Callable[..., Result], arguments: list[str], code: int, error: str | None
):
    assert run("observe", "Hello.", "--no-wait").exit_code == 0
    failed = run(*arguments).exception
    assert isinstance(failed, TenutoError) and (error is None or failed.code == error)


def shell(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*TENUTO, *arguments], capture_output=True, text=True, check=False, timeout=100, **options)


def test_exit_codes_of_the_real_program(tmp_path: Path):
    db = ["--db", str(tmp_path / "tenuto.db")]
    done = shell(*db, "observe", "Hello there.")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("inserted")
    wrong = shell(*db, "observe", " ")
    assert wrong.returncode == 2 and "at least one visible character" in wrong.stderr and "text_empty" in wrong.stderr
    machine = shell(*db, "--json", "observe", " ")
    assert machine.returncode == 2 and json.loads(machine.stderr)["error"]["code"] == "text_empty"
    unable = shell("--db", str(tmp_path / "no" / "tenuto.db"), "stats")
    assert unable.returncode == 1 and "does not exist" in unable.stderr and "Traceback" not in unable.stderr
    assert shell("no-such-command").returncode == 2
    assert shell("recall").returncode == 2
    setting = shell(*db, "stats", env={"TENUTO_SESION__IDLE_CLOSE": "5", "PATH": ""} | _python_path())
    assert setting.returncode == 0 and "Did you mean 'TENUTO_SESSION__IDLE_CLOSE'" in setting.stderr
    strict = shell("--strict", *db, "stats", env={"TENUTO_SESION__IDLE_CLOSE": "5", "PATH": ""} | _python_path())
    assert strict.returncode == 2 and "Did you mean 'TENUTO_SESSION__IDLE_CLOSE'" in strict.stderr


def _python_path() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(part for part in sys.path if part)}


def test_the_default_database_is_in_the_working_directory_or_named_by_the_environment(tmp_path: Path):
    assert shell("observe", "Hello.", cwd=tmp_path, env=_python_path()).returncode == 0
    assert (tmp_path / "tenuto.db").exists()
    elsewhere = str(tmp_path / "elsewhere.db")
    assert shell("observe", "Hello.", cwd=tmp_path, env=_python_path() | {"TENUTO_DB": elsewhere}).returncode == 0
    assert Path(elsewhere).exists()


def test_the_demo_shows_the_main_job(tmp_path: Path):
    shown = shell("--json", "demo", "--keep", str(tmp_path / "demo.db"), cwd=tmp_path, env=_python_path())
    assert shown.returncode == 0, shown.stderr
    told = json.loads(shown.stdout)
    assert 80 <= told["messages"] <= 120
    answers = {part["question"]: [hit["text"] for hit in part["hits"]] for part in told["recall"]}
    assert any("cashew" in text for text in answers["What is Theo allergic to?"])
    assert any("Porto" in text for text in answers["Which city does she live in now?"])
    assert any("knee scan" in text for text in answers["What did she promise to send, and when?"])
    assert any("cashew" in part["content"].lower() for part in told["context"]["messages"])
    assert {"open the store", "observe", "recall", "build a context"} <= set(told["seconds"])
    with tenuto.open(tmp_path / "demo.db", background=False) as store:
        assert store.users() == ["maya"] and len(store.user("maya").sessions()) >= 15


def test_the_demo_leaves_nothing_behind(tmp_path: Path):
    shown = shell("demo", cwd=tmp_path, env=_python_path() | {"TMPDIR": str(tmp_path)})
    assert shown.returncode == 0 and "Recall" in shown.stdout and "Time" in shown.stdout
    assert list(tmp_path.iterdir()) == []
