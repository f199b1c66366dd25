"""``tenuto workflow`` as somebody types it: a form from hello to a change that is refused and one that is confirmed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tenuto.errors import TenutoError
from tenuto.surfaces.cli.main import cli

INTAKE = str(Path(__file__).parents[2] / "examples" / "patient_intake.json")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    def call(*arguments: str) -> Result:
        file = () if {"list", "show"} & set(arguments) else ("--file", INTAKE)
        return CliRunner().invoke(cli, ["--db", str(tmp_path / "tenuto.db"), *arguments, *file])

    return call


def said(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_form_is_filled_in_from_the_terminal(run: Callable[..., Result]) -> None:
    first = run("workflow", "send", "hello", "--given", "clinic=north", "-u", "ana", "--session", "visit-1")
    assert first.exit_code == 0, first.output
    assert "What is your full name?" in first.stdout
    for text in ("Ana Ruiz", "29.02.1984", "penicillin", "none", "no"):
        reply = said(run("--json", "workflow", "send", text, "-u", "ana"))
    assert (reply["state"], reply["spec"]["allergies"]) == ("COMPLETE", ["penicillin"])
    id = reply["workflow_id"]
    staged = said(run("--json", "workflow", "send", "also allergic to latex", "-u", "ana"))
    assert staged["staged"][0]["value"] == ["penicillin", "latex"]
    listed = run("workflow", "list", "-u", "ana")
    assert id in listed.stdout
    assert "COMPLETE" in listed.stdout
    assert "waiting for an answer, not done" in run("workflow", "show", id, "-u", "ana").stdout
    assert "Kept as it was." in run("workflow", "refuse", "-u", "ana").stdout
    again = said(run("--json", "workflow", "send", "also allergic to latex", "-u", "ana"))
    done = said(run("--json", "workflow", "confirm", "--digest", again["digest"], "--id", id, "-u", "ana"))
    assert done["spec"]["allergies"] == ["penicillin", "latex"]
    assert said(run("--json", "workflow", "show", id, "-u", "ana"))["spec"]["allergies"] == ["penicillin", "latex"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("confirm",), "workflow_unknown"),
        (("show", "nothing"), "not_found"),
        (("send", "hello", "--given", "clinic"), "invalid_input"),
        (("send", "hello", "--given", "shoe=44"), "patch_refused"),
    ],
)
def test_what_cannot_be_done_is_an_error(run: Callable[..., Result], arguments: tuple[str, ...], code: str) -> None:
    failed = run("workflow", *arguments, "-u", "ana")
    assert failed.exit_code != 0
    assert isinstance(failed.exception, TenutoError)
    assert failed.exception.code == code


def test_a_yes_is_about_what_waits_and_about_nothing_else(run: Callable[..., Result]) -> None:
    run("workflow", "send", "hello", "--given", "clinic=north", "-u", "ana")
    assert "Nothing waits for a yes or no" in run("workflow", "send", "yes", "-u", "ana").stdout
    nothing = run("workflow", "confirm", "-u", "ana")
    assert isinstance(nothing.exception, TenutoError)
    assert nothing.exception.code == "nothing_pending"
