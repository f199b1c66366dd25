"""What lies near something in one view of the index, among the entries of one kind: in meaning, and in words.

For work that compares what is new with all that is kept. Asking the store means reading every vector of a kind again;
here they are at hand, so that only what is found has to be read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tenuto.ports import Vectors
from tenuto.recall.index import KIND_CODE, Floats, Places, View, products
from tenuto.recall.lexical import living_postings
from tenuto.recall.segments import Hashes, Rows
from tenuto.records.operations import EntryKind


@dataclass(frozen=True, slots=True)
class Near:
    """The living entries of one kind that have a vector."""

    view: View
    kind: int
    rows: Places
    vectors: Floats

    @staticmethod
    def of(view: View, kind: EntryKind) -> Near:
        code = KIND_CODE[kind]
        rows = np.flatnonzero((view.column("kind") == code) & view.living() & view.has_vector())
        return Near(view, code, rows, view.vectors(rows))

    def held(self, ids: Collection[str]) -> dict[str, Floats]:
        """The vectors of those that are among them."""
        wanted = set(ids)
        found = ((self.view.ids[row], place) for place, row in enumerate(self.rows.tolist()))
        return {id: self.vectors[place] for id, place in found if id in wanted}

    def by_meaning(self, query: Vectors, limit: int) -> list[tuple[str, float]]:
        """At least the ``limit`` closest with their cosine, in no order; ``query`` has the length 1."""
        if not len(self.rows) or self.view.dimension != len(query):
            return []
        scores = products(self.vectors, query)
        best = np.arange(len(scores)) if len(scores) <= limit else np.argpartition(scores, -limit)[-limit:]
        return [(self.view.ids[int(self.rows[i])], float(scores[i])) for i in best]

    def by_words(self, texts: Sequence[Hashes], limit: int) -> list[list[str]]:
        """For each text those that share most of the smaller one's words, and at least two; with or without vectors."""
        distinct = np.unique(np.concatenate([np.empty(0, np.uint64), *texts]))
        kinds = self.view.column("kind")
        said = [rows[kinds[rows] == self.kind] for rows, _ in living_postings(self.view, distinct)]
        return [self._sharing([said[place] for place in np.searchsorted(distinct, text)], limit) for text in texts]

    def _sharing(self, said: Sequence[Rows], limit: int) -> list[str]:
        """Of rows by each of a text's distinct words."""
        rows, shared = np.unique(np.concatenate([np.empty(0, np.int32), *said]), return_counts=True)
        rows, shared = rows[shared > 1], shared[shared > 1]
        share = shared / np.minimum(self.view.column("length")[rows], len(said))
        best = np.lexsort((rows, -shared, -share))[:limit]
        return [self.view.ids[row] for row in rows[best].tolist()]
