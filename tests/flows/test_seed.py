"""What is known before the first word: loaded once, from every kind of file, on every store and surface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tenuto
from tenuto.errors import InputError
from tenuto.records.memory import Domain, Kind
from tenuto.surfaces.cli.main import cli
from tests.surfaces.kit import make_store, served

PROFILE = {
    "name": "Ana Souza",
    "facts": ["Lives in a red house by the sea"],
    "people": [{"name": "John", "relation": "brother", "facts": ["is allergic to nuts"]}],
    "preferences": ["Prefers dark mode"],
    "projects": ["Redesign of the dashboard"],
    "rules": ["Answer in Portuguese"],
    "pins": ["Has a pacemaker"],
}
YAML = """
name: Ana Souza
facts: [Lives in a red house by the sea]
people:
  - {name: John, relation: brother, facts: [is allergic to nuts]}
preferences: [Prefers dark mode]
projects: [Redesign of the dashboard]
rules: [Answer in Portuguese]
pins: [Has a pacemaker]
"""


def test_a_profile_is_kept_once(store_url: str) -> None:
    with tenuto.open(store_url, background=False) as store:
        ana = store.user("ana")
        first = ana.seed(PROFILE)
        assert (len(first.kept), first.known) == (8, 0)
        kept = {one.content: one for one in ana.memories()}
        assert {one.source for one in kept.values()} == {"seeded_profile"}
        assert kept["My name is Ana Souza"].attribute == "name"
        assert kept["Has a pacemaker"].pinned and kept["Prefers dark mode"].kind is Kind.PREFERENCE
        assert kept["Redesign of the dashboard"].domain is Domain.PROJECT
        assert "John" in {one.label for one in ana.entities()}
        context = ana.context("What shall we cook for my brother?")
        assert "Answer in Portuguese" in context.stable and "Has a pacemaker" in context.stable
        ana.forget(kept["Prefers dark mode"].id)
        before = ana.memories(status="*")
        again = ana.seed(PROFILE)
        assert (again.kept, again.known) == ((), 8)
        assert ana.memories(status="*") == before, "nothing changed, and what was forgotten stays so"
        ana.seed({**PROFILE, "name": "Ana Lima"})
        names = [one.content for one in ana.memories(attribute="name")]
        assert names == ["My name is Ana Lima"]


@pytest.mark.parametrize("name", ["ana.yaml", "ana.json"])
def test_the_command_reads_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(YAML if name.endswith("yaml") else json.dumps(PROFILE))
    database = str(tmp_path / "t.db")
    for expected in ("8 kept, 0 known already", "0 kept, 8 known already"):
        done = CliRunner().invoke(cli, ["--db", database, "seed", str(tmp_path / name), "-u", "ana"])
        assert done.exit_code == 0 and expected in done.output, done.output


def test_over_http() -> None:
    with served(make_store()) as server:
        made = server.post("/api/users/ana/seed", {"profile": PROFILE})
        assert made.status_code == 201 and len(made.json()["kept"]) == 8, made.text
        assert server.post("/api/users/ana/seed", {"profile": {"nmae": "Ana"}}).status_code == 422


@pytest.mark.parametrize(
    "wrong", [{"nmae": "Ana"}, {"facts": [1]}, {"people": [{"relation": "brother"}]}, {"people": "John"}]
)
def test_what_is_no_profile_is_refused(wrong: dict[str, object]) -> None:
    with tenuto.open("memory:", background=False) as store, pytest.raises(InputError):
        store.user("ana").seed(wrong)
