"""What time makes of the talk, on the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import tenuto
from tenuto.errors import InputError
from tenuto.surfaces.cli.main import cli
from tests.flows.world import WordEmbedder, World


@pytest.fixture
def run(tmp_path):
    """Run a command on a store that holds one closed session and one open one."""
    path = tmp_path / "t.db"
    with tenuto.open(str(path), embedder=WordEmbedder(), background=False) as store:
        ana = store.user("ana")
        ana.observe("I moved to Austin. I am so happy (really) about it.")
        ana.observe("I will ask you about Austin on Friday.", role="assistant")
        ana.close_session()
        ana.observe("I still need to call Maya.")
        store.settle()

    def command(*parts: str, ok: bool = True) -> str:
        result = CliRunner().invoke(cli, ["--db", str(path), *parts, "--user", "ana"], env={"COLUMNS": "200"})
        assert (result.exit_code == 0) is ok, result.output
        return result.output if ok else str(result.exception or result.output)

    return command


def test_sessions_are_listed_and_ended(run):
    before = json.loads(run("--json", "sessions"))
    assert [one["status"] for one in before] == ["open", "closed"]
    assert "explicit" in run("sessions", "--close", "open").splitlines()[1]
    assert [one["status"] for one in json.loads(run("--json", "sessions"))] == ["closed", "closed"]


def test_summaries_are_listed_as_they_were_written(run):
    assert "User: I moved to Austin. User: I am so happy (really) about it." in run("summaries", "--kind", "session")
    assert "session, topic" in run("summaries", "--kind", "nonsense", ok=False)


def test_state_and_its_history_are_shown(run):
    assert "connection" in run("state")
    assert "session" in run("state", "--history")


def test_the_trajectory_can_be_switched_off(run):
    assert "v[i] - v[i-1]" in run("trajectory")
    assert run("trajectory", "--off").strip() == "Switched off."
    assert run("trajectory").strip() == "Switched off.", "it stays off"
    assert "volatility" in run("trajectory", "--on")


def test_outreach_says_why(run):
    assert run("outreach").startswith("no: Outreach is off.")
    assert run("outreach", "--on").startswith("no: The user's time zone is not known")
    assert "time zone" not in run("outreach", "--timezone", "Europe/Rome")
    assert "time zone" not in run("outreach"), "it is kept"
    assert "Europe/Rome" in run("outreach", "--timezone", "Mars/Base", ok=False)


def test_retention_is_set_shown_and_refused(run):
    assert "for ever" in run("retention")
    rules = {
        "purge_text": 864000,
        "channels": {"email": {"purge_text": 86400, "all": True}},
        "domains": {"project": 86400},
    }
    told = run("retention", "--set", json.dumps(rules))
    assert "10 days" in told and "1 days, with all" in told and "domain project" in told
    for wrong in ("nope", "[1]", '{"purge_text": -1}'):
        assert "retention" in run("retention", "--set", wrong, ok=False) or "--set" in run(
            "retention", "--set", wrong, ok=False
        )
    assert "10 days" in run("retention"), "what is refused changes nothing"
    assert "for ever" in run("retention", "--set", "null")


def test_a_purge_is_shown_before_it_is_done(run):
    assert run("purge", "--dry-run").startswith("Would take 0 messages")
    run("retention", "--set", '{"channels": {"api": {"purge_text": 0.001, "all": true}}}')
    assert run("purge", "--dry-run").startswith("Would take 3 messages")
    assert run("purge").startswith("Took 3 messages")
    assert run("purge").startswith("Took 0 messages")


def test_an_unknown_kind_of_summary_is_one_clear_error():
    with pytest.raises(InputError, match="rolling"):
        World().user().summaries(kind="nonsense")
