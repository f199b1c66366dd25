"""From a query to a pool: words and meaning over the whole index, the best few hundred rows kept.

Each signal is normalised over the rows that may be found (mean 0, deviation 1) and the normalised signals are added:
adding scores keeps how much better one row is than the next, which ranks alone would lose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tenuto.recall.index import Bools, Floats, View
from tenuto.recall.lexical import lexical
from tenuto.recall.segments import Hashes, Rows


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each normalised signal counts."""

    words: float = 1.0
    around: float = 0.7
    meaning: float = 0.9


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows worth ranking, best first, with their signals."""

    rows: npt.NDArray[np.int64]
    cosine: Floats
    has_vector: Bools
    parts: dict[str, Floats]
    idf: Floats
    found: tuple[Rows, ...]


def pool(view: View, tokens: Hashes, vector: Floats | None, allowed: Bools, size: int, weights: Weights) -> Pool:
    """The ``size`` best of the allowed rows that the query touches at all."""
    words = lexical(view, tokens)
    embedded = view.has_vector()
    cosine = view.cosine(vector) if vector is not None else np.zeros(view.size, np.float32)
    parts = {
        "words": weights.words * _normalised(words.own, allowed),
        "around": weights.around * _normalised(words.around, allowed),
    }
    if vector is not None:
        parts["meaning"] = weights.meaning * _normalised(cosine, allowed & embedded)
        touched = allowed & (embedded | (words.around > 0))
    else:
        touched = allowed & (words.around > 0)
    total = np.sum(list(parts.values()), axis=0)
    rows = np.flatnonzero(touched)
    if len(rows) > size:
        rows = rows[np.argpartition(-total[rows], size - 1)[:size]]
    rows = rows[np.argsort(-total[rows], kind="stable")]
    return Pool(
        rows, cosine[rows], embedded[rows], {name: part[rows] for name, part in parts.items()}, words.idf, words.found
    )


def _normalised(signal: Floats, over: Bools) -> Floats:
    """Mean 0 and deviation 1 over some rows; rows outside get 0."""
    inside = signal[over]
    if not len(inside):
        return np.zeros_like(signal)
    spread = float(inside.std())
    if spread < 1e-9:
        return np.zeros_like(signal)
    return np.where(over, (signal - inside.mean()) / spread, 0).astype(np.float32)
