"""BM25 over one user's own words, in two fields: what was said, and what was said around it.

    score(row) = Σ idf(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))

``idf`` uses the user's own document frequencies: a word that is rare in the world but common in this person's talk
(their partner's name) tells little. The second field takes a message together with the one before and the one after it
in the session, because people answer "yes, last May" without naming what they talk about. It is computed from the same
postings at query time, so it costs no space and can never disagree with the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenuto.recall.index import Floats, View
from tenuto.recall.segments import Counts, Hashes, Rows

K1 = 1.2
B = 0.5
K1_AROUND = 1.2
B_AROUND = 0.5


@dataclass(frozen=True, slots=True)
class Lexical:
    """Both fields for every row, and what the query brought: the idf of each token (0: nobody said it)."""

    own: Floats
    around: Floats
    idf: Floats
    found: tuple[Rows, ...]
    """The rows of each token."""


def lexical(view: View, wanted: Hashes) -> Lexical:
    """Score all rows against distinct query tokens."""
    own, around = np.zeros(view.size, np.float32), np.zeros(view.size, np.float32)
    idf = np.zeros(len(wanted), np.float32)
    postings = view.words.postings(wanted) if view.size else [(np.empty(0, np.int32), np.empty(0, np.float32))] * len(wanted)
    if view.any_dead:
        living = view.living()
        postings = [(rows[living[rows]], counts[living[rows]]) for rows, counts in postings]
    if view.alive:
        lengths = view.columns["length"]
        mean = max(view.total_length / view.alive, 1.0)
        scratch = np.zeros(view.size + 1, np.float32)
        for number, (rows, counts) in enumerate(postings):
            if not len(rows):
                continue
            idf[number] = np.log1p((view.alive - len(rows) + 0.5) / (len(rows) + 0.5))
            norm = K1 * (1 - B + B * np.asarray(lengths[rows], np.float32) / mean)
            own[rows] += idf[number] * counts * (K1 + 1) / (counts + norm)
            _add_around(view, around, scratch, rows, counts, float(idf[number]), mean)
    return Lexical(own, around, idf, tuple(rows for rows, _ in postings))


def _add_around(
    view: View, around: Floats, scratch: Floats, rows: Rows, counts: Counts, idf: float, mean: float
) -> None:
    """Add one token to the second field. The last place of ``scratch`` takes neighbours that do not exist."""
    before, after = _neighbour(view, "previous", rows), _neighbour(view, "next", rows)
    scratch[rows] += counts
    scratch[before] += counts
    scratch[after] += counts
    reached = np.concatenate((rows, before, after))
    reached = reached[reached < view.size]
    near = scratch[reached]
    norm = K1_AROUND * (1 - B_AROUND + B_AROUND * _length_around(view, reached) / mean)
    # Rows that are reached twice get the same number twice; plain indexing adds it once, which is what is meant.
    around[reached] += idf * near * (K1_AROUND + 1) / (near + norm)
    scratch[reached] = 0.0


def _neighbour(view: View, side: str, rows: Rows) -> Rows:
    found = np.asarray(view.columns[side][rows], np.int32)
    return np.where((found < 0) | (found >= view.size), view.size, found).astype(np.int32)


def _length_around(view: View, rows: Rows) -> Floats:
    """A third of the words of a message and its neighbours: comparable with the mean of single messages."""
    lengths = np.append(np.asarray(view.column("length"), np.float32), np.float32(0))
    total = lengths[rows] + lengths[_neighbour(view, "previous", rows)] + lengths[_neighbour(view, "next", rows)]
    return np.asarray(total / 3, np.float32)
