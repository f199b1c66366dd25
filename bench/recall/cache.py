"""Embeddings kept between runs, by model and text: the same bytes that the embedder returned."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np


class CachedEmbedder:
    """An embedder with a file in front of it. Counts what it really embedded."""

    def __init__(self, inner, path: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._rows = sqlite3.connect(path, check_same_thread=False)
        self._rows.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def calibration(self):
        return self._inner.calibration

    def embed(self, texts: Sequence[str], *, query: bool = False):
        keys = [hashlib.sha256(f"{self.model}\0{int(query)}\0{text}".encode()).digest() for text in texts]
        with self._lock:
            found = {key: self._get(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        if missing:
            fresh = self._inner.embed(list(missing.values()), query=query)
            found |= dict(zip(missing, fresh, strict=True))
            with self._lock, self._rows:
                self._rows.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    [(key, np.asarray(found[key], np.float32).tobytes()) for key in missing],
                )
        return np.stack([found[key] for key in keys])

    def _get(self, key: bytes):
        row = self._rows.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)
