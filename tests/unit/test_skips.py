"""A skipped test fails the run, whatever the reason."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(folder: Path, body: str, *options: str) -> "subprocess.CompletedProcess[str]":
    (folder / "test_it.py").write_text(f"import pytest\n\ndef test_runs(): pass\n\ndef test_it(): {body}\n")
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "pyproject.toml"),
        f"--rootdir={folder}",
        *options,
        str(folder),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_a_run_with_a_skipped_test_fails_and_says_so(tmp_path: Path, options: tuple[str, ...]):
    done = run(tmp_path, "pytest.skip('no browser')", *options)
    assert done.returncode == 1, done.stdout
    assert "skipped tests count as failed" in done.stdout and "no browser" in done.stdout


def test_the_same_run_without_a_skip_passes(tmp_path: Path):
    assert run(tmp_path, "pass").returncode == 0
