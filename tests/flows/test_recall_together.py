"""Several processes over one store: each has its own index in memory, and none searches what another took away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tenuto.recall.index import UserIndex
from tenuto.records.operations import EntryRows
from tenuto.testing.fakes import FakeClock
from tests.flows.test_recall import START, known, opened, tell


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_what_one_process_takes_away_another_drops_without_reading_all_again(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(tmp_path / "shared.db") if engine == "sqlite" else request.getfixturevalue("fresh_database")()
    clock, taken = FakeClock(START), list[int]()
    take = UserIndex.take

    def counted(index: UserIndex, rows: EntryRows, gone: Iterable[str] = ()) -> None:
        taken.append(len(rows))
        take(index, rows, gone)

    with opened(url, clock) as one, opened(url, clock) as other:
        here, there = one.user("ana"), other.user("ana")
        tell(here, clock)
        memories = [known(one, "ana", f"fact number {number} about the dentist") for number in range(20)]
        one.settle()
        assert [hit.id for hit in here.recall("dentist")] == [hit.id for hit in there.recall("dentist")]
        monkeypatch.setattr(UserIndex, "take", counted)
        there.forget(memories[3].id)
        assert memories[3].id not in {hit.id for hit in here.recall("dentist", limit=50)}
        there.restore(memories[3].id)
        assert memories[3].id in {hit.id for hit in here.recall("dentist", limit=50)}
        assert sum(taken) <= 2
        one.settle()
        here_found = [(hit.id, round(hit.score, 4)) for hit in here.recall("dentist", limit=50)]
    with opened(url, clock) as anew:
        found = anew.user("ana").recall("dentist", limit=50)
        assert [(hit.id, round(hit.score, 4)) for hit in found] == here_found
