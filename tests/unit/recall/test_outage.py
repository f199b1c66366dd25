"""An embedder that is down costs a few queries, not every one."""

from __future__ import annotations

import pytest
from tests.surfaces.kit import make_store

from tenuto.errors import EmbedderError
from tenuto.recall import outage
from tenuto.recall.outage import IN_A_ROW, PAUSE, Outage


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [100.0]
    monkeypatch.setattr(outage.time, "monotonic", lambda: moment[0])
    return moment


def test_a_few_failures_in_a_row_are_an_outage_and_one_at_a_time_sees_whether_it_is_over(now: list[float]) -> None:
    known = Outage()
    for _ in range(IN_A_ROW - 1):
        known.failed("no answer")
    assert known.skip() is None and known.message is None
    known.worked()
    known.failed("no answer")
    assert known.skip() is None, "not in a row"
    for _ in range(IN_A_ROW):
        known.failed("no answer")
    assert known.skip() == known.message == "no answer"
    now[0] += PAUSE
    assert known.message is None and known.skip() is None, "somebody goes and sees"
    assert known.skip() == "no answer", "and nobody else meanwhile"
    known.failed("still no answer")
    assert known.skip() == "still no answer"
    known.worked()
    assert known.skip() is None and known.message is None


def test_recall_does_not_ask_an_embedder_that_is_down(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    with make_store() as store:
        person, asked = store.user("ana"), []
        person.observe("green tea")
        store.settle()
        embed = store.deps.embedder.embed

        def down(texts: list[str], *, query: bool = False) -> None:
            asked.append(query)
            raise EmbedderError("no answer")

        monkeypatch.setattr(store.deps.embedder, "embed", down)
        for _ in range(20):
            found = person.recall("tea")
            assert found[0].text == "green tea" and found[0].why.notes == ("searched by words only: no answer",)
        assert len(asked) == IN_A_ROW
        now[0] += PAUSE
        person.recall("tea")
        assert len(asked) == IN_A_ROW + 1
        monkeypatch.setattr(store.deps.embedder, "embed", embed)
        assert person.recall("tea")[0].why.notes != ()
        now[0] += PAUSE
        assert person.recall("tea")[0].why.notes == () == person.recall("tea")[0].why.notes
