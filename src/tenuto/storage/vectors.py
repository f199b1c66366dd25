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


def nearest(rows: list[tuple[str, bytes]], vector: Vectors, limit: int) -> list[tuple[str, float]]:
    """Exact cosine search over packed vectors of the query's own dimension; ties go to the smaller id."""
    size = vector.shape[-1] * 2
    rows = [(id, data) for id, data in rows if len(data) == size]
    if not rows or limit <= 0:
        return []
    matrix = np.frombuffer(b"".join(data for _, data in rows), dtype="<f2").reshape(len(rows), -1).astype(np.float32)
    norms = np.linalg.norm(matrix, axis=1) * float(np.linalg.norm(vector))
    scores = (matrix @ vector.reshape(-1).astype(np.float32)) / np.where(norms > 0, norms, 1.0)
    likely = range(len(rows)) if len(rows) <= limit else np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
    order = sorted((int(i) for i in likely), key=lambda i: (-float(scores[i]), rows[i][0]))[:limit]
    return [(rows[i][0], float(scores[i])) for i in order]
