"""How long would so many texts take to embed here? Measured on some of them, for a few seconds at most."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tenuto.errors import EmbedderError
from tenuto.ports import Embedder

STEP = 8
LONGEST = 3.0
"""Seconds after which no more of the sample is embedded."""


def seconds_to_embed(embedder: Embedder, sample: Sequence[str], count: int) -> float | None:
    """For ``count`` texts like those of ``sample``. ``None`` if it cannot be known: remote, failing, or no text."""
    if getattr(embedder, "remote", False):
        return None
    if not sample or not count:
        return 0.0
    done, spent = 0, 0.0
    try:
        embedder.embed(["warm up"])
        for start in range(0, len(sample), STEP):
            part = sample[start : start + STEP]
            before = time.perf_counter()
            embedder.embed(part)
            done, spent = done + len(part), spent + time.perf_counter() - before
            if spent > LONGEST:
                break
    except EmbedderError:
        return None
    return round(spent / done * count, 6)
