"""Where a long text is cut into passages, each of which gets a vector of its own. Pure.

An encoder reads a few hundred tokens, and the vector of a long text is the average of all that it speaks of: a question
about one sentence of an answer of two pages does not find it. So a long text is cut into overlapping passages that an
encoder reads whole, and the best of them counts. The cuts are told by the text alone: whoever shows where something
was found cuts again and gets the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Key = TypeVar("Key")

WHOLE = 1000
"""Characters up to which a text is one passage: about 256 tokens."""
PASSAGE = 800
"""Characters of a passage at most."""
OVERLAP = 100
"""Characters that a passage shares with the one before, so that a sentence that is cut is whole in one of them."""
MOST = 10
"""Passages that get a vector: what lies behind them is found by its words."""
NUMBERS = 15_360
"""Numbers that all vectors of one text may have together: pgvector keeps 16,000 in one value."""
_ENDS = ("\n\n", "\n", ". ", "? ", "! ", " ")
"""Where a text may be cut, the best place first."""


def cuts(text: str, dimension: int) -> list[tuple[int, int]]:
    """The (start, end) of each passage that gets a vector of so many numbers."""
    if len(text) <= WHOLE:
        return [(0, len(text))]
    most = max(1, min(MOST, NUMBERS // dimension))
    found: list[tuple[int, int]] = []
    start = 0
    while len(found) < most:
        if len(text) - start <= PASSAGE:
            return [*found, (start, len(text))]
        end = _end(text, start)
        found.append((start, end))
        start = _word(text, end - OVERLAP, end)
    return found


def _end(text: str, start: int) -> int:
    """The best place to cut in the last quarter of a passage."""
    low, high = start + PASSAGE * 3 // 4, start + PASSAGE
    for mark in _ENDS:
        place = text.rfind(mark, low, high)
        if place > 0:
            return place + len(mark)
    return high


def _word(text: str, low: int, high: int) -> int:
    """The first beginning of a word in a stretch of text."""
    place = text.find(" ", low, high)
    return low if place < 0 else place + 1


def grouped(texts: Mapping[Key, Sequence[str]], vectors: npt.NDArray[np.float32]) -> dict[Key, npt.NDArray[np.float32]]:
    """The vectors of each text's passages, from those of all passages one after the other."""
    ends = np.cumsum([len(passages) for passages in texts.values()])[:-1]
    return dict(zip(texts, np.split(vectors, ends), strict=True))
