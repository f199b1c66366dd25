"""Packed vectors: float16 on disk, float32 in arithmetic."""

from __future__ import annotations

import numpy as np

from tenuto.ports import Vectors


def pack(vector: Vectors) -> bytes:
    """float16, little-endian."""
    return vector.astype("<f2").tobytes()


def unpack(data: bytes) -> Vectors:
    """The inverse of :func:`pack`, up to float16's precision."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


class Matrix:
    """Packed vectors that are searched exactly, again and again."""

    def __init__(self, rows: list[tuple[str, bytes]]) -> None:
        self._rows = rows
        self._made: dict[int, tuple[list[str], Vectors, Vectors]] = {}

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """By cosine, among vectors of the query's own dimension; ties go to the smaller id."""
        ids, matrix, norms = self._of(vector.shape[-1])
        if not ids or limit <= 0:
            return []
        lengths = norms * float(np.linalg.norm(vector))
        scores = (matrix @ vector.reshape(-1).astype(np.float32)) / np.where(lengths > 0, lengths, 1.0)
        if limit < len(ids):
            least = np.partition(scores, len(ids) - limit)[len(ids) - limit]
            best = np.flatnonzero(scores >= least).tolist()
        else:
            best = list(range(len(ids)))
        order = sorted(best, key=lambda i: (-float(scores[i]), ids[i]))[:limit]
        return [(ids[i], float(scores[i])) for i in order]

    def _of(self, dimension: int) -> tuple[list[str], Vectors, Vectors]:
        if dimension not in self._made:
            rows = [(id, data) for id, data in self._rows if len(data) == dimension * 2]
            packed = np.frombuffer(b"".join(data for _, data in rows), dtype="<f2")
            matrix = packed.reshape(len(rows), dimension).astype(np.float32)
            self._made[dimension] = ([id for id, _ in rows], matrix, np.linalg.norm(matrix, axis=1))
        return self._made[dimension]


def nearest(rows: list[tuple[str, bytes]], vector: Vectors, limit: int) -> list[tuple[str, float]]:
    """One search over rows that are not kept."""
    return Matrix(rows).nearest(vector, limit)
