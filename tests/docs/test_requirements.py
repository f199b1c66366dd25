"""Every name in the table of requirements exists: verbs, commands, settings, routes and tests."""

from __future__ import annotations

import ast
import re
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
from tests.surfaces.kit import make_store

import tenuto
from tenuto import policy
from tenuto.surfaces.cli.main import COMMANDS
from tenuto.surfaces.http.app import create_app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| what ")
]
NOT_YET = "**not yet**: "


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return frozenset(one.name for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))


@cache
def routes() -> frozenset[str]:
    with make_store() as store:
        paths = create_app(store).openapi()["paths"]
    return frozenset(f"{method.upper()} {path}" for path, methods in paths.items() for method in methods)


@cache
def settings() -> frozenset[str]:
    groups = {group.name: getattr(policy.DEFAULT, group.name) for group in fields(policy.Policy)}
    return frozenset(
        f"{g}.{part.name}" for g, values in groups.items() if is_dataclass(values) for part in fields(values)
    )


def exists(name: str) -> bool:
    if " /" in name:
        return name in routes()
    if name.startswith("tenuto "):
        return name.split()[1] in COMMANDS
    place, _, member = name.partition(".")
    owner = {"ana": tenuto.UserMemory, "store": tenuto.Tenuto, "tenuto": tenuto}.get(place)
    return hasattr(owner, member) if owner is not None else name in settings()


def test_there_is_a_row_for_what_people_want() -> None:
    assert len(ROWS) >= 150 and all(len(row) == 3 for row in ROWS)
    assert len({row[0] for row in ROWS}) == len(ROWS), "no row twice"
    missing = sum(row[2].startswith(NOT_YET) for row in ROWS)
    assert f"{len(ROWS)} requirements, {missing} of them not yet." in PAGE


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_row_names_what_exists(row: list[str]) -> None:
    what, given, shown = row
    names = re.findall(r"`([^`]+)`", given)
    assert names, what
    assert [name for name in names if not exists(name)] == []
    if not shown.startswith(NOT_YET):
        path, _, test = shown.strip("`").partition("::")
        assert test in functions_of(path), shown


def test_a_name_that_does_not_exist_is_noticed() -> None:
    unknown = ("ana.recal", "store.usr", "tenuto remembr", "context.bugdet", "GET /api/nowhere", "tenuto.opne")
    assert not any(exists(name) for name in unknown)
