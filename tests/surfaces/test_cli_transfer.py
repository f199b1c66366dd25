"""``tenuto import | export | identities``, as a person uses them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tenuto
from tenuto.surfaces.cli.main import cli
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.transfer import files


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = tenuto.open

    def opened(url: str | None = None, **options: object):
        return real(url, embedder=FakeEmbedder(), tokens=FakeTokens(), **options)

    monkeypatch.setattr(tenuto, "open", opened)

    def call(*arguments: str, fails: bool = False, answer: str | None = None):
        result = CliRunner().invoke(cli, ["--db", str(tmp_path / "t.db"), *arguments], input=answer)
        if not fails and result.exception is not None:
            raise result.exception
        return result

    return call


def test_import_and_export(run, tmp_path: Path) -> None:
    chat = str(files.write(tmp_path, "_chat.txt", files.WHATSAPP))
    dry = run("import", chat, "-u", "ana", "--dry-run", "--price", "3")
    assert "3 messages (0 yours)" in dry.output and "Ana (2), Ben (1)" in dry.output
    assert "embedding takes about 1 s here" in dry.output and "costs nothing" in dry.output
    assert "Who of these are you" in str(run("import", chat, "-u", "ana", fails=True).exception)
    done = run("import", chat, "-u", "ana", "--me", "Ana", "--wait")
    assert "whatsapp: 3 messages" in done.output and "media without text" in done.output
    (listed,) = json.loads(run("--json", "import", "-u", "ana", "--list").output)
    assert listed["messages"] == 3 and listed["vouched_at"] is None
    believed = json.loads(run("--json", "import", "-u", "ana", "--vouch-for", listed["id"]).output)
    assert believed["vouched_at"] is not None
    assert "3 messages" in run("export", str(tmp_path / "ana.jsonl"), "-u", "ana").output
    restored = run("import", str(tmp_path / "ana.jsonl"), "-u", "ana2", "--vouch")
    assert "tenuto: 3 messages" in restored.output
    assert "Dinner at eight" in run("recall", "dinner", "-u", "ana2").output


def test_the_prompt_for_another_assistant(run) -> None:
    assert '"tenuto_account": 1' in run("import", "--prompt").output
    assert "Say what to import" in str(run("import", fails=True).exception)


def test_identities(run) -> None:
    user = run("identities", "who", "sms", "+390669812345").output.strip()
    other = run("identities", "who", "email", "ana@example.org").output.strip()
    run("observe", "hello", "-u", user)
    run("observe", "I am Ana", "-u", other)
    sent = run("identities", "link", "email", "ana@example.org", "-u", user, "--merge")
    code = sent.stderr.split("Your code is ")[1][:6]
    joined = run("identities", "merge", "email", "ana@example.org", code, "-u", user, answer="y\n")
    assert "To take it back" in joined.output
    assert "ana@example.org" in run("identities", "list", "-u", user).output
    merge_id = joined.stdout.strip().split()[-1]
    assert "are two again" in run("identities", "unmerge", merge_id, "-u", user).output
    sent = run("identities", "link", "web", "ana", "-u", user)
    code = sent.stderr.split("Your code is ")[1][:6]
    assert "leads to" in run("identities", "confirm", "web", "ana", code, "-u", user).output
