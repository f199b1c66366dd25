"""The vectors of all passages of long texts but the first, which lies with those of short texts. In memory.

Vectors are only appended. A view sees those that were there when it was made; a larger array takes the place of a full
one, and views keep the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Further:
    """What one view sees: ``count`` vectors, the rows that they belong to, and where those of a row begin."""

    vectors: Floats
    rows: Rows
    count: int
    places: Mapping[int, tuple[int, int]]

    def raise_to_best(self, cosine: Floats, query: Floats) -> None:
        """Put the cosine of a row's best passage in the place of its first one's."""
        if self.count:
            rows = self.rows[: self.count]
            inside = slice(None) if rows.max() < len(cosine) else rows < len(cosine)
            np.maximum.at(cosine, rows[inside], (self.vectors[: self.count] @ query)[inside])

    def of(self, row: int) -> Floats:
        """The vectors of one row, in the order of its passages."""
        start, end = self.places.get(row, (0, 0))
        return self.vectors[start:end] if end <= self.count else self.vectors[:0]


class FurtherStore:
    """The growing side."""

    def __init__(self, dimension: int) -> None:
        self._vectors: Floats = np.empty((0, dimension), np.float32)
        self._rows: Rows = np.empty(0, np.int32)
        self._count = 0
        self._places: dict[int, tuple[int, int]] = {}

    def add(self, row: int, vectors: Floats) -> None:
        """The further vectors of a row."""
        if not len(vectors):
            return
        end = self._count + len(vectors)
        if end > len(self._rows):
            capacity = max(64, end, 3 * len(self._rows) // 2)
            grown = np.empty((capacity, self._vectors.shape[1]), np.float32)
            rows = np.empty(capacity, np.int32)
            grown[: self._count], rows[: self._count] = self._vectors[: self._count], self._rows[: self._count]
            self._vectors, self._rows = grown, rows
        self._vectors[self._count : end] = vectors
        self._rows[self._count : end] = row
        self._places[row] = (self._count, end)
        self._count = end

    def view(self) -> Further:
        return Further(self._vectors, self._rows, self._count, self._places)

    @property
    def nbytes(self) -> int:
        return self._vectors.nbytes + self._rows.nbytes
