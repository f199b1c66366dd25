"""Stand-ins for tests of logic: an embedder without weights, a clock set by hand, a model that follows a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from tenuto.errors import EmbedderError, ModelError
from tenuto.policy import Calibration
from tenuto.ports import Answer, Vectors
from tenuto.text import words


class FakeEmbedder:
    """A vector per text from its words alone: texts that share words are close, the same text is always the same."""

    def __init__(self, dimension: int = 64, model: str = "fake-words") -> None:
        self._dimension = dimension
        self._model = model
        self.broken = False
        self.calls = 0

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        """Texts that share no word are hardly nearer than nothing."""
        return Calibration(floor=0.1)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.calls += 1
        if self.broken:
            raise EmbedderError("The embedder is switched off.")
        return np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, self._dimension), np.float32)

    def _vector(self, text: str) -> Vectors:
        total = np.zeros(self._dimension, dtype=np.float32)
        for token in words.tokens(text) or [text]:
            total += np.random.default_rng(words.token_hash(token)).standard_normal(self._dimension).astype(np.float32)
        norm = float(np.linalg.norm(total))
        return total / norm if norm else total


class FakeTokens:
    """A token is a word or a mark; deterministic and cheap."""

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4


class FakeClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> datetime:
        """``clock.advance(minutes=31)``."""
        self.now += timedelta(**duration)
        return self.now


class ScriptedModel:
    """Answers from a list (or a function of the request); an exception in the list is raised."""

    def __init__(self, script: Sequence[str | Exception] | Callable[[str, str], str], name: str = "scripted") -> None:
        self._script = script
        self._name = name
        self.requests: list[tuple[str, str]] = []

    @property
    def name(self) -> str:
        return self._name

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        self.requests.append((system, user))
        if callable(self._script):
            text: str | Exception = self._script(system, user)
        elif len(self.requests) > len(self._script):
            raise ModelError("The script is over.")
        else:
            text = self._script[len(self.requests) - 1]
        if isinstance(text, Exception):
            raise text
        return Answer(text=text, model=self._name, input_tokens=len(system + user) // 4, output_tokens=len(text) // 4)
