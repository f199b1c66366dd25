"""A failing embedder never fails a write, and changing the model is a normal operation."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenuto
from tenuto.errors import EmbedderError
from tenuto.ingest.embedding import BATCH
from tenuto.ports import Vectors
from tenuto.records.operations import EntryKind, JobStatus
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens


def opened(url: str, embedder: Any, clock: FakeClock) -> tenuto.Tenuto:
    return tenuto.open(url, clock=clock, embedder=embedder, tokens=FakeTokens(), background=False)


def models(store: tenuto.Tenuto) -> list[str | None]:
    """Of every message; other things that are indexed (summaries, memories) come and go with the flows."""
    with store.deps.store.reading("ana") as reader:
        return [entry.model for entry in reader.entries_since(0, 10_000) if entry.kind is EntryKind.MESSAGE]


def test_without_an_embedder_everything_is_kept_found_by_words_and_filled_in_later(store_url: str):
    clock, embedder = FakeClock(), FakeEmbedder()
    embedder.broken = True
    with opened(store_url, embedder, clock) as store:
        ana = store.user("ana")
        for number in range(100):
            ana.observe(f"Sentence number {number} about apples.")
        store.settle()
        assert models(store) == [None] * 100
        (job,) = [job for job in store.jobs("pending", limit=1000) if job.kind == "embed"]
        assert "switched off" in str(job.error)
        found = ana.recall("number 42")
        assert found[0].text == "Sentence number 42 about apples." and "words only" in found[0].why.notes[0]
        assert ana.context("apples").messages
        embedder.broken = False
        clock.now = job.run_at
        store.settle()
        assert models(store) == [embedder.model] * 100 and store.unembedded() == 0
        assert ana.stats()["total_messages"] == 100
        assert ana.recall("number 42")[0].why.notes == ()


def test_an_embedder_that_gives_up_for_good_is_visible_and_can_be_made_up_for(store_url: str):
    clock, embedder = FakeClock(), FakeEmbedder()
    embedder.broken = True
    with opened(store_url, embedder, clock) as store:
        store.user("ana").observe("Hello there.")
        for _ in range(store.deps.policy.jobs.attempts):
            clock.advance(hours=1)
            store.settle()
        assert [job.status for job in store.jobs() if job.kind == "embed"] == [JobStatus.FAILED]
        embedder.broken = False
        assert store.reembed() > 0 and store.unembedded() == 0 and models(store) == [embedder.model]


class Watched(FakeEmbedder):
    """Notes what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[list[str]] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.given.append(list(texts))
        return super().embed(texts, query=query)


def test_a_long_backlog_takes_few_jobs_and_the_newest_come_first(store_url: str, tmp_path: Path):
    said = [f"Sentence number {number}." for number in range(600)]
    rows = [
        {
            "id": str(number),
            "role": "user",
            "content": text,
            "at": f"2025-01-01T10:{number // 60:02d}:{number % 60:02d}Z",
        }
        for number, text in enumerate(said)
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    embedder = Watched()
    with opened(store_url, embedder, FakeClock()) as store:
        store.user("ana").import_file(path, extract=False)
        store.settle()
        assert store.unembedded() == 0
        jobs = [job for job in store.jobs("done", limit=1000) if job.kind == "embed"]
    assert len(jobs) == 3, "256 and 256 and 88"
    assert max(map(len, embedder.given)) == BATCH
    assert [text for batch in embedder.given for text in batch] == said[::-1]


class Wrong(FakeEmbedder):
    """Promises one size and gives another, or gives what is no number."""

    def __init__(self, answer: Vectors) -> None:
        super().__init__()
        self.answer = answer

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        return np.repeat(self.answer, len(texts), axis=0)


@pytest.mark.parametrize("answer", [np.ones((1, 3), np.float32), np.full((1, 64), np.nan, np.float32)])
def test_a_wrong_vector_is_not_stored(store_url: str, answer: Vectors):
    with opened(store_url, Wrong(answer), FakeClock()) as store:
        store.user("ana").observe("Hello there.")
        store.settle()
        assert models(store) == [None]
        (job,) = [job for job in store.jobs("pending", limit=1000) if job.kind == "embed"]
        assert "EmbedderError" in str(job.error)


class Stopping(FakeEmbedder):
    """Works for a while, then fails: somebody pulled the plug."""

    def __init__(self, calls: int, model: str) -> None:
        super().__init__(dimension=32, model=model)
        self.left = calls

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        if not query:
            self.left -= 1
            if self.left < 0:
                raise EmbedderError("The plug was pulled.")
        return super().embed(texts, query=query)


def test_changing_the_model_can_stop_anywhere_and_search_works_meanwhile(tmp_path: Path, store_url: str):
    if store_url == "memory:":
        store_url = str(tmp_path / "twice.db")  # the fake does not outlive its process
    clock = FakeClock()
    with opened(store_url, FakeEmbedder(model="old"), clock) as store:
        for number in range(150):
            store.user("ana").observe(f"Sentence number {number} about apples.")
        store.settle()
        assert set(models(store)) == {"old"}
    with opened(store_url, Stopping(1, "new"), clock) as store:
        total = store.unembedded()
        with pytest.raises(EmbedderError):
            store.reembed()
        assert set(models(store)) == {"old", "new"} and store.unembedded() == total - BATCH
    steps: list[int] = []
    with opened(store_url, FakeEmbedder(dimension=32, model="new"), clock) as store:
        assert store.user("ana").recall("number 7 apples")[0].text == "Sentence number 7 about apples."
        assert store.reembed(steps.append) == sum(steps) == total - BATCH
        assert set(models(store)) == {"new"} and store.reembed() == 0
        with store.deps.store.reading("ana") as reader:
            query = store.deps.embedder.embed(["Sentence number 7 about apples."])[0]
            nearest = reader.nearest(EntryKind.MESSAGE, query, "new", 1)
        assert nearest[0][1] > 0.99
        assert store.user("ana").recall("number 7 apples")[0].text == "Sentence number 7 about apples."


def test_a_long_message_is_found_by_its_best_passage_and_the_hit_says_where(store_url: str):
    clock, embedder = FakeClock(), FakeEmbedder()
    with opened(store_url, embedder, clock) as store:
        ana = store.user("ana")
        filler = "Stir the soup slowly and taste it before adding salt. " * 12
        long = filler + "The spare keys lie under the blue flower pot. " + filler
        ana.observe(long, role="assistant")
        ana.observe("Short and sweet.")
        for settled in (False, True):
            if settled:
                store.settle()
            hit = next(hit for hit in ana.recall("where are the spare keys", kinds=["message"]) if hit.text == long)
            assert hit.place is not None and "spare keys" in long[slice(*hit.place)]
            assert len(long[slice(*hit.place)]) < len(long)
        with store.deps.store.reading("ana") as reader:
            (entry,) = [one for one in reader.entries_since(0, 100) if one.vector and one.role == "assistant"]
        assert len(entry.vector or b"") == 2 * 2 * embedder.dimension
        assert ana.recall("short and sweet", kinds=["message"])[0].place is None
