"""The shape of the tree: files stay small, and imports go one way."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = 400
REASON = re.compile(r"^# Over 400 lines: .{20,}", re.MULTILINE)
"""What a longer file says below its docstring."""


def sources() -> list[Path]:
    found = [path for room in ("src", "tests", "bench", "packages", "docs") for path in (ROOT / room).rglob("*.py")]
    return [path for path in found if not {"build", "data", ".venv"} & set(path.parts)]


def test_no_file_is_too_long_without_a_reason():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sources()}
    long = {name: text.count("\n") for name, text in texts.items() if text.count("\n") > LIMIT}
    assert {name: lines for name, lines in long.items() if not REASON.search(texts[name])} == {}


@pytest.mark.parametrize("path", [p for p in sources() if "src/tenuto" in p.as_posix()], ids=lambda path: path.stem)
def test_every_module_opens_with_its_idea(path: Path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""'), "a module begins with a docstring"


LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint(folder: Path) -> "subprocess.CompletedProcess[str]":
    env = {"PYTHONPATH": os.pathsep.join([str(folder / "src"), *(part for part in sys.path if part)]), "PATH": ""}
    command = [sys.executable, "-c", LINT, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)


def test_imports_go_one_way():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_same_test_finds_imports_that_go_the_other_way(tmp_path: Path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, wrong in (
        ("records/base.py", "import tenuto.facade.store"),
        ("recall/search.py", "import tenuto.ingest.observe"),
        ("context/build.py", "import tenuto.storage.sqlite"),
        ("surfaces/cli/messages.py", "import tenuto.storage.sqlite"),
        ("stray.py", "pass"),
    ):
        with (tmp_path / "src" / "tenuto" / module).open("a") as file:
            file.write(f"\n{wrong}\n")
    done = lint(tmp_path)
    assert done.returncode == 1 and "stray" in done.stdout
    for contract in ("one way down", "flows do not call", "flows know ports", "surfaces call verbs"):
        assert re.search(rf"^{contract}.* BROKEN", done.stdout, re.MULTILINE), contract


ROOMS = ("ingest", "recall", "context", "lifecycle", "workflow", "identity", "privacy", "access")


def room(module: str) -> str:
    return module.split(".")[1]


def test_flows_of_different_rooms_do_not_call_each_other():
    """A flow is a module of a flows' room that takes ``Deps``; what follows what is decided above them."""
    imported = {}
    for path in (ROOT / "src" / "tenuto").rglob("*.py"):
        name = ".".join(("tenuto", *path.relative_to(ROOT / "src" / "tenuto").with_suffix("").parts))
        found = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
        ]
        imported[name] = {
            part for node in found for part in (node.module, *(f"{node.module}.{a.name}" for a in node.names))
        }
    flows = {name for name, parts in imported.items() if "tenuto.deps" in parts and room(name) in ROOMS}
    assert {"tenuto.ingest.observe", "tenuto.recall.search", "tenuto.context.build"} <= flows
    calls = {
        (flow, other) for flow in flows for other in imported[flow] & flows if flow.split(".")[1] != other.split(".")[1]
    }
    assert calls == set()


def test_import_does_not_load_what_is_heavy():
    program = "import sys, tenuto; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"numpy", "onnxruntime", "tokenizers", "apsw", "asyncio", "httpx", "psycopg", "rich", "click", "dateparser"}
    assert heavy & set(done.stdout.split()) == set()


def test_opening_a_store_does_not_load_the_model():
    program = "import sys, tenuto; tenuto.open('memory:', background=False); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"onnxruntime", "tokenizers", "httpx", "psycopg", "redis", "rich", "click", "dateparser", "fastapi", "mcp"}
    assert heavy & set(done.stdout.split()) == set()
