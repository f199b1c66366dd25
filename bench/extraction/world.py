"""A store of its own for each case, with a clock that the case turns and embeddings kept between runs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import tenuto
from tenuto.ingest.digest import DIGEST, keep
from tenuto.records.base import evolve
from tenuto.records.operations import JobStatus, Receipt

START = datetime(2024, 5, 15, 14, 0, tzinfo=UTC)
"""A Wednesday."""


class World:
    """One user who talks; only the digest runs, because nothing else is measured here."""

    def __init__(self, embedder, *, at: datetime = START, persona: str | None = "coach", policy=None) -> None:
        self.now = at
        self.store = tenuto.open("memory:", clock=lambda: self.now, embedder=embedder, background=False, policy=policy)
        self.user = self.store.user("someone", persona=persona)

    def say(
        self, text: str, *, at: datetime | None = None, after: timedelta = timedelta(minutes=1), **options
    ) -> Receipt:
        self.now = at or self.now + after
        receipt = self.user.observe(text, at=self.now, **options)
        self.digest()
        return self.user.receipt(receipt.id)

    def digest(self) -> None:
        deps = self.store.deps
        while jobs := deps.store.lease([DIGEST], self.now, self.now + timedelta(hours=1), 32):
            keep(deps, jobs[0].user_id, jobs)
            for job in jobs:
                deps.store.finish(evolve(job, status=JobStatus.DONE, finished_at=self.now))

    def close(self) -> None:
        self.store.close()


def contents(memories: Iterable) -> list[str]:
    return [memory.content for memory in memories]
