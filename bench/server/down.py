"""An embedder that is always down, so that recall answers by words alone and the model is not what is measured."""

from __future__ import annotations

from typing import Any

from tenuto.errors import EmbedderError
from tenuto.testing.fakes import FakeEmbedder


class NoEmbedder(FakeEmbedder):
    """Always down: recall answers by words."""

    def embed(self, texts: Any, *, query: bool = False) -> Any:
        raise EmbedderError("switched off for the measurement")
