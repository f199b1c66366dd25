"""Write the database file of this release: ``python tests/migrations/make_fixture.py``. Run it once, when releasing.

A file that was released is never written again: it shows what users have on their disks. Before the first release of a
version the schema may still change, and then the file is made anew.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

import tenuto
from tenuto.providers.system import CountingIds
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def make(path: Path) -> None:
    path.unlink(missing_ok=True)
    clock = FakeClock(NOW)
    with tenuto.open(
        path, clock=clock, embedder=FakeEmbedder(dimension=8), tokens=FakeTokens(), ids=CountingIds(), background=False
    ) as store:
        ana = store.user("ana", persona="coach", channel="imessage")
        ana.observe("My dad is allergic to penicillin.", id="m-1", metadata={"device": "phone"})
        ana.observe("Noted, no penicillin for him.", role="assistant", model="some-model", thinking="Important.")
        clock.now = NOW + timedelta(days=20)
        ana.observe("I moved from Lisbon to Porto last week. 🏡")
        store.user("ben", channel="email").observe("Hello, this is Ben.", speaker="Ben")
        store.settle()
    small = apsw.Connection(str(path))
    small.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    small.execute("PRAGMA journal_mode = DELETE").fetchall()
    small.close()


if __name__ == "__main__":
    target = Path(__file__).parent / "data" / f"{tenuto.__version__}.db"
    if target.exists() and "--again" not in sys.argv:
        sys.exit(f"{target.name} is there already; --again writes it anew (never after the release).")
    target.parent.mkdir(exist_ok=True)
    make(target)
    print(target, target.stat().st_size)
