"""What is near in meaning, out of the index that search keeps in memory, made exact inside a transaction.

Asking the store means reading every vector of a kind again for every statement, and that grows with what is kept. So a
digest takes a view of the user's index before its transaction; inside it only what was written since the view is read
and laid over it. What would break this: a view from a later moment than the transaction; views are taken before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tenuto.deps import Deps
from tenuto.ports import Reader, Transaction, Vectors
from tenuto.recall.index import View
from tenuto.recall.nearest import Near
from tenuto.records.operations import EntryKind

PAGE = 2000
"""Entries newer than the view that are read at once."""


@dataclass(slots=True)
class Nearby:
    """The neighbours of a vector among one user's memories or todos."""

    view: View
    seq: int
    model: str
    newer: dict[tuple[EntryKind, str], Vectors | None] | None = None
    """What was written after the view was taken, as the transaction sees it; ``None`` until it was read."""
    own: dict[tuple[EntryKind, str], Vectors | None] = field(default_factory=dict)
    """What this transaction wrote itself."""
    held: dict[EntryKind, Near] = field(default_factory=dict)
    """The view's entries of each kind that was asked for."""

    def find(self, tx: Transaction, kind: EntryKind, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """The closest entries of a kind with their cosine, the closest first."""
        if self.newer is None:
            self.newer = self._since(tx)
        query = np.asarray(vector, np.float32).reshape(-1)
        query = query / (float(np.linalg.norm(query)) or 1.0)
        laid = {id: other for (of, id), other in {**self.newer, **self.own}.items() if of is kind}
        found = {id: cosine for id, cosine in self._held(kind, query, limit + len(laid)) if id not in laid}
        for id, other in laid.items():
            if other is not None and other.shape == query.shape:
                found[id] = float(other @ query) / (float(np.linalg.norm(other)) or 1.0)
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _held(self, kind: EntryKind, query: Vectors, limit: int) -> list[tuple[str, float]]:
        if kind not in self.held:
            self.held[kind] = Near.of(self.view, kind)
        return self.held[kind].by_meaning(query, limit)

    def _since(self, tx: Transaction) -> dict[tuple[EntryKind, str], Vectors | None]:
        found: dict[tuple[EntryKind, str], Vectors | None] = {}
        seq = self.seq
        while entries := tx.entries_since(seq, PAGE):
            for entry in entries:
                usable = entry.vector is not None and entry.model == self.model
                found[entry.kind, entry.id] = (
                    np.frombuffer(entry.vector, dtype="<f2").astype(np.float32)
                    if usable and entry.vector is not None
                    else None
                )
            seq = entries[-1].seq
            if len(entries) < PAGE:
                break
        return found


def nearby(deps: Deps, reader: Reader) -> Nearby | None:
    """A view of the reader's user; ``None`` for one who is not known yet."""
    if reader.profile() is None:
        return None
    index = deps.indexes.fresh(reader, deps.embedder.model, deps.embedder.dimension)
    seq = index.seq  # before the view: what comes between the two is read again, not missed
    return Nearby(index.view(), seq, deps.embedder.model)
