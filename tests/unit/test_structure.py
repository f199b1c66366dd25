"""The shape of the tree: files stay small, and imports go one way."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = 400
LONGER: dict[str, str] = {
    "src/tenuto/testing/contract.py": "one contract, read from top to bottom; cutting it would hide what belongs to it",
    "src/tenuto/storage/inmemory.py": "the whole fake in one place, so that it can be compared with the contract",
}
"""Files that may pass the limit, with the reason."""


def sources() -> list[Path]:
    found = [path for room in ("src", "tests", "bench", "packages", "docs") for path in (ROOT / room).rglob("*.py")]
    return [path for path in found if not {"build", "data", ".venv"} & set(path.parts)]


def test_no_file_is_too_long_without_a_reason():
    long = {}
    for path in sources():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LIMIT:
            long[path.relative_to(ROOT).as_posix()] = lines
    assert {name: lines for name, lines in long.items() if name not in LONGER} == {}
    assert set(LONGER) <= set(long), "these are short again: take them out of the list"


@pytest.mark.parametrize("path", [p for p in sources() if "src/tenuto" in p.as_posix()], ids=lambda path: path.stem)
def test_every_module_opens_with_its_idea(path: Path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""'), "a module begins with a docstring"


def test_imports_go_one_way():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


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
