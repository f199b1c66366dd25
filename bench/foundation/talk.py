"""Made-up talk: sentences whose words are as unequal as in life, in sessions of twenty messages, two hours apart."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import tenuto
from tenuto.ingest.observe import check, observe_many
from tenuto.records.operations import EntryKind
from tenuto.records.scope import Scope
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

BEGUN = datetime(2020, 1, 1, 9, 0, tzinfo=UTC)
SYLLABLES = [first + second for first in "bdfglmnprstvz" for second in ("a", "e", "i", "o", "u", "ai", "or", "en")]
CHUNK = 500


def sentences(seed: int = 1) -> Iterator[str]:
    spelling, chance = random.Random(0), random.Random(seed)  # the same words whatever is said with them
    words = ["".join(spelling.choices(SYLLABLES, k=spelling.randint(2, 4))) for _ in range(8000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    while True:
        yield " ".join(chance.choices(words, weights, k=chance.randint(5, 25))).capitalize() + "."


def questions(seed: int = 1) -> Iterator[str]:
    """Questions of about a dozen words that name two or three words of the talk."""
    chance, texts = random.Random(seed), sentences(seed)
    asked = (
        "What did I say about the {} and the {} last time we talked?",
        "When did we want to go to {} with {}, and who else came along?",
        "Do you remember why {} did not like the {} that I bought for {}?",
    )
    while True:
        words = next(texts).rstrip(".").split()
        yield chance.choice(asked).format(*chance.choices(words, k=3))


def moments() -> Iterator[datetime]:
    at = BEGUN
    while True:
        for _ in range(20):
            yield at
            at += timedelta(minutes=1)
        at += timedelta(hours=2)


def fill(store: tenuto.Tenuto, messages: int, user: str = "ana") -> datetime:
    """Keep that many messages of one user, fast; the time of the last one."""
    texts, times, scope = sentences(), moments(), Scope(user=user)
    last, left = BEGUN, messages
    while left:
        size = min(CHUNK, left)
        batch = []
        for number in range(size):
            last = next(times)
            role = "assistant" if number % 2 else "user"
            batch.append(check(store.deps, next(texts), role=role, at=last))
        observe_many(store.deps, scope, batch)
        left -= size
    return last


def give_vectors(store: tenuto.Tenuto, user: str = "ana") -> None:
    """A vector of the store's model for every message, by chance: the time of a search does not depend on it."""
    chance, model = np.random.default_rng(1), store.deps.embedder.model
    with store.deps.store.reading(user) as reader:
        ids = [entry.id for entry in reader.unembedded(model, 10**7)]
    for start in range(0, len(ids), 5000):
        part = ids[start : start + 5000]
        rows = chance.standard_normal((len(part), store.deps.embedder.dimension)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        packed = {(EntryKind.MESSAGE, id): row.astype("<f2").tobytes() for id, row in zip(part, rows, strict=True)}
        with store.deps.store.writing(user) as tx:
            tx.embed(model, packed)


def opened(path: Path, **options: Any) -> tenuto.Tenuto:
    given: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
    return tenuto.open(path, **(given | options))
