"""The docs say what the code does: every public name is in them, and the code in them runs."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

import tenuto
from tenuto import policy
from tenuto.records import conversation, memory, operations, scope, workflow
from tenuto.surfaces.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs", DOCS / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "errors.md", "cli.md", "api.md", "architecture.md"])
def test_a_page_made_from_the_code_is_up_to_date(page: str):
    made = maker()
    assert (DOCS / page).read_text(encoding="utf-8") == made.plain(made.PAGES[page]()), "run 'make docs'"


def test_every_public_name_is_documented():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert all(f"## tenuto.{name}" in page for name in tenuto.__all__)
    for type_ in (tenuto.Tenuto, tenuto.UserMemory):
        for verb in vars(type_):
            assert verb.startswith("_") or f"| `{verb}" in page, f"{type_.__name__}.{verb}"


def test_the_public_names_are_the_list():
    assert sorted(tenuto.__all__) == tenuto.__all__ and set(tenuto.__all__) <= set(dir(tenuto))
    assert set(tenuto.__all__) == set(tenuto._HOMES)
    with pytest.raises(AttributeError, match="no_such_name"):
        tenuto.no_such_name  # noqa: B018


def test_every_setting_has_a_meaning():
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    for group in fields(policy.Policy):
        for part in fields(getattr(policy.DEFAULT, group.name)):
            row = re.search(rf"^\| `{group.name}\.{part.name}` \| .+ \| (.+) \|$", page, re.MULTILINE)
            assert row is not None, f"{group.name}.{part.name} needs a string below it in policy.py"


def test_every_command_is_documented():
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert all(f"\n## tenuto {name}\n" in page for name in COMMANDS)


def test_every_noun_is_in_the_glossary():
    words = set(re.findall(r"^\| \*\*([^*]+)\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE))
    nouns = {
        "user", "identity", "persona", "channel", "message", "session", "memory", "entity", "pin", "todo", "summary",
        "key point", "agent state", "workflow", "lock", "learner profile", "job", "event", "candidate", "hit", "entry",
        "slot", "epoch", "seq", "receipt",
    }  # fmt: skip
    assert nouns <= words
    helpers = {
        "Version", "Scope", "WriteResult", "PendingPatch", "WorkflowTurn", "Artifact", "EntityMerge", "StateChange",
        "EntryRows",
    }  # fmt: skip
    for module in (conversation, memory, operations, scope, workflow):
        for name, value in vars(module).items():
            if (
                isinstance(value, type)
                and value.__module__ == module.__name__
                and hasattr(value, "__dataclass_fields__")
            ):
                spoken = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
                assert spoken in words or name in helpers, f"{name} is a noun that the glossary does not know"


# --- code in the docs -------------------------------------------------------------------------------------------------


def blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


RUNNABLE = [ROOT / "README.md"]
OFFLINE = """
import socket

def refuse(*arguments, **options):
    raise AssertionError("the code of the docs wants to use the network")

socket.socket.connect = socket.getaddrinfo = refuse
"""


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.name)
def test_the_python_of_a_page_runs_offline(path: Path, tmp_path: Path):
    found = blocks(path)
    assert found, "no code to run"
    program = tmp_path / "page.py"
    program.write_text("\n".join([OFFLINE, *found]), encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("TENUTO_")}
    env["PYTHONPATH"] = os.pathsep.join(part for part in sys.path if part)
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Porto" in done.stdout and (tmp_path / "tenuto.db").exists()


@pytest.mark.parametrize("path", sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")]), ids=lambda path: path.name)
def test_the_python_of_every_page_is_python(path: Path):
    for block in blocks(path):
        ast.parse(block.replace("…", "..."))


@pytest.mark.parametrize("path", sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")]), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_the_commands_of_a_page_exist(path: Path):
    text = path.read_text(encoding="utf-8")
    shell = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for target in re.findall(r"^make ([a-z-]+)", shell, re.MULTILINE):
        assert target in targets, f"make {target}"
    for name in re.findall(r"^tenuto (?:--\S+ )*([a-z]+)", shell, re.MULTILINE):
        assert name in COMMANDS, f"tenuto {name}"
