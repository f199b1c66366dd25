"""Rows 15 and 20: importers under fuzzing, and upgrades that are killed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import msgspec

import tenuto
from tenuto.errors import SchemaMismatch
from tenuto.storage import migrate
from tenuto.storage.sqlite import SqliteEngine
from tenuto.storage.tables import TABLES
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.reliability.disk import Faults, in_use
from tests.reliability.rows.elsewhere import run
from tests.reliability.scorecard import Measured, Work, row

ROOT = Path(__file__).parents[3]
RELEASES = sorted((Path(__file__).parents[2] / "migrations" / "data").glob("*.db"))
OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
POINTS = 20
"""Kills in each migration."""


# --- 20 ---------------------------------------------------------------------------------------------------------------


def content(path: Path) -> dict[str, Any]:
    """Everything of everybody, as values."""
    with tenuto.open(path, **OPTIONS) as store:
        found: dict[str, Any] = {"check": store.check()}
        for user in store.users():
            with store.deps.store.reading(user) as reader:
                found[user] = {
                    table.name: [msgspec.to_builtins(one) for one in reader.find(table.type)] for table in TABLES
                }
    return found


def upgrade(path: Path, until: int) -> None:
    """To one version and no further, as an older Tenuto would."""
    known = migrate.migrations
    migrate.migrations = lambda dialect: tuple(one for one in known(dialect) if one.version <= until)  # type: ignore[assignment]
    try:
        SqliteEngine(path).close()
    finally:
        migrate.migrations = known


class Deadly(Faults):
    """The chosen operation is the process's last."""

    def tell(self, what: str, name: str, number: int, data: bytes) -> None:
        self.count += 1
        if self.fail_at and self.count == self.fail_at:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at(path: Path, until: int, point: int) -> bool:
    """Upgrade in a child that ends at its ``point``-th operation on the disk; whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            with in_use(Deadly) as disk:
                disk.arm(point, for_ever=False, error=apsw.IOError)
                upgrade(path, until)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def steps(folder: Path) -> list[tuple[Path, int, int]]:
    """(a database before it, the version after it, operations that it takes) for each migration of each release."""
    found = []
    for release in RELEASES:
        current = shutil.copy(release, folder / f"{release.stem}-start.db")
        first = apsw.Connection(str(current)).execute("SELECT max(version) FROM schema_migrations").fetchall()[0][0]
        for version in range(first + 1, migrate.head("sqlite") + 1):
            before = folder / f"{release.stem}-before-{version}.db"
            shutil.copy(current, before)
            with in_use(Faults) as disk:
                disk.arm(0, for_ever=False, error=apsw.IOError)
                upgrade(Path(current), version)
                found.append((before, version, disk.count))
    return found


def kill_upgrades(work: Work, *, careless: bool = False) -> Measured:
    folder, wrong, kills = work.folder, 0, 0
    expected = {}
    for release in RELEASES:
        path = folder / f"{release.stem}-whole.db"
        shutil.copy(release, path)
        expected[release.stem] = content(path)
    plan = [
        (before, version, 1 + n * count // POINTS) for before, version, count in steps(folder) for n in range(POINTS)
    ]
    work.count = min(work.count, len(plan))
    every = max(1, len(plan) // work.count)
    for number in work:
        before, version, point = plan[number * every % len(plan)]
        path = folder / "killed.db"
        for old in folder.glob("killed.db*"):
            old.unlink()
        shutil.copy(before, path)
        kills += killed_at(path, version, point)
        if careless:
            spoil(path)
        wrong += content(path) != expected[before.stem.split("-before")[0]]
    wrong += not refused(folder)
    names = ", ".join(release.stem for release in RELEASES)
    return Measured(
        done=work.done,
        bad=wrong,
        words=f"{wrong} differ after {kills} kills (releases: {names}; head {migrate.head('sqlite')})",
    )


def spoil(path: Path) -> None:
    """What a migration without a transaction would leave: half of the rows."""
    raw = apsw.Connection(str(path))
    raw.execute("DELETE FROM messages WHERE id IN (SELECT id FROM messages LIMIT 1)")
    raw.close()


def refused(folder: Path) -> bool:
    """A schema of a newer Tenuto is refused, and nothing is changed."""
    path = folder / "newer.db"
    tenuto.open(path, **OPTIONS).close()
    raw = apsw.Connection(str(path))
    raw.execute("INSERT INTO schema_migrations (version, name) VALUES (999, 'from_the_future')")
    raw.close()
    before = path.read_bytes()
    try:
        tenuto.open(path, **OPTIONS).close()
    except SchemaMismatch:
        return path.read_bytes() == before
    return False


@row(
    20,
    "every released schema upgrades to head with equal content; `kill -9` at 20 points of each migration recovers; a newer schema "
    "is refused with a clear error",
    unit="kills",
    full=POINTS * (migrate.head("sqlite") - 1) * len(RELEASES),
    gate=12,
)
def upgrades(work: Work) -> Measured:
    return kill_upgrades(work)


@upgrades.control("a migration that leaves half of it")
def half_done(work: Work) -> Measured:
    return kill_upgrades(work.part(2, "half"), careless=True)


# --- 15 ---------------------------------------------------------------------------------------------------------------

FORMATS = 17
FUZZ = "tests/transfer/test_fuzz.py"
BAD_FILES = "bomb or climbing or symlink or link or long_line or enormous or huge or too_large or outside"


def atheris(format: str, seconds: int, folder: Path, *more: str) -> tuple[int, str]:
    """(inputs tried, what was found) by coverage-guided fuzzing of one importer."""
    command = [sys.executable, "-m", "tests.reliability.fuzz", format, str(seconds), str(folder), *more]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=seconds * 3 + 120)
    said = ended.stdout + ended.stderr
    tried = [int(number) for number in re.findall(r"^#(\d+)", said, re.M)] + [0]
    if ended.returncode == 0:
        return max(tried), ""
    lines = [line for line in said.splitlines() if "Error" in line or "ERROR" in line or "took" in line]
    print(said[-3000:], file=sys.stderr)
    return max(tried), (lines or [f"ended with {ended.returncode}"])[0][:200]


@row(
    15,
    "importers: 5 minutes of Atheris each without crash, hang over 1 s or 256 MB; zip bombs, `../`, symlinks, 100 MB lines",
    unit="seconds of fuzzing",
    full=300 * FORMATS,
    gate=FORMATS,
    share=3,
    tests=f"{FUZZ} tests/transfer/test_import.py",
)
def fuzzing(work: Work) -> Measured:
    from tests.transfer.test_fuzz import SAMPLES

    if importlib.util.find_spec("atheris") is None:
        return Measured(done=0, bad=1, words="Atheris is not installed: pip install --target build/fuzz/site atheris")
    each, problems, tried, done = max(1, work.count // len(SAMPLES)), [], 0, 0
    for format in sorted(SAMPLES):
        if work.over:
            break
        folder = work.folder / format
        folder.mkdir()
        count, problem = atheris(format, each, folder)
        tried += count
        problems += [f"{format}: {problem}"] if problem else []
        done += each
    files = run(work, "tests/transfer", "-k", BAD_FILES)
    return Measured(
        done=done,
        bad=len(problems) + files.failed,
        words=f"{len(problems)} crashes or hangs in {tried:,} inputs for {len(SAMPLES)} importers {'; '.join(problems)}, "
        f"{files.failed} of {files.tests} hostile files taken",
    )


@fuzzing.control("an importer that trips over one byte")
def tripping(work: Work) -> Measured:
    _, problem = atheris("jsonl", 20, work.folder, "broken")
    return Measured(done=1, bad=int(bool(problem)), words=problem)
