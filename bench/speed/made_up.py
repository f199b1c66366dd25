"""Talk of any length, made up: words as rare as in English, sessions of a dozen messages, vectors in clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np

from tenuto.recall.entry import make_entry
from tenuto.recall.index import pack
from tenuto.records.conversation import Message, Role
from tenuto.records.operations import Entry

START = datetime(2020, 1, 1, tzinfo=UTC)
WORDS = 30_000
CLUSTERS = 400
BLOCK = 5000
"""Vectors made at once."""


class MadeUp:
    """The same seed gives the same talk."""

    def __init__(self, model: str, dimension: int, seed: int = 7) -> None:
        self._model = model
        self._random = np.random.default_rng(seed)
        self._centres = self._unit(self._random.standard_normal((CLUSTERS, dimension)))
        self._dimension = dimension
        ranks = np.arange(60, WORDS + 60)  # the most common sixty are stop words, which are never indexed
        self._shares = np.cumsum(1 / ranks) / np.sum(1 / ranks)

    @staticmethod
    def _unit(vectors: np.ndarray) -> np.ndarray:
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    def text(self, length: int) -> str:
        drawn = np.searchsorted(self._shares, self._random.random(length))
        return " ".join(f"w{number}" for number in drawn)

    def vectors(self, count: int) -> np.ndarray:
        near = self._centres[self._random.integers(0, CLUSTERS, count)]
        noise = self._random.standard_normal((count, self._dimension), np.float32) / np.sqrt(self._dimension)
        return self._unit(near + 0.9 * noise).astype(np.float32)

    def messages(self, count: int) -> Iterator[tuple[Message, Entry]]:
        """Messages with their index entries."""
        for number in range(count):
            if number % BLOCK == 0:
                vectors = self.vectors(min(BLOCK, count - number))
            message = Message(
                id=f"msg_{number:011d}",
                session_id=f"ses_{number // 12:09d}",
                role=Role.USER if number % 2 == 0 else Role.ASSISTANT,
                content=self.text(int(self._random.integers(6, 36))),
                at=START + timedelta(minutes=7 * number),
                channel="api",
            )
            yield message, make_entry(message, vector=pack(vectors[number % BLOCK]), model=self._model)


def fill(store, user: str, made_up: MadeUp, count: int, batch: int = 5000) -> None:
    """Write straight into the store: the same rows that observing and embedding leave behind."""
    pairs = made_up.messages(count)
    while some := list(islice(pairs, batch)):
        write(store, user, some)


def write(store, user: str, pairs: Sequence[tuple[Message, Entry]]) -> None:
    with store.writing(user) as tx:
        tx.put(*(message for message, _ in pairs))
        tx.index(*(entry for _, entry in pairs))
