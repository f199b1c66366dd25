"""BM25 over one user's own words, where a message also counts what was said around it.

    n(t, m) = count of t in m / (1 − b + b · length of m / mean length)
    f(t, m) = n(t, m) + Σ w(d) · (n(t, d messages before) + n(t, d messages after))       within the session
    score(m) = Σ idf(t) · f · (k1 + 1) / (f + k1)

People answer "yes, last May" without naming what they talk about, so the words of the neighbours count too, the less
the farther away they are. ``idf`` uses the user's own document frequencies: a word that is rare in the world but common
in this person's talk tells little. All of it comes from the same postings at query time: it costs no space and can
never disagree with what is stored. With ``w = 0`` this is plain BM25, which is what entries other than messages get.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tenuto.recall.index import Floats, Places, View
from tenuto.recall.segments import Counts, Hashes, Rows

K1 = 1.2
B = 0.5
NEAR = (0.7, 0.5, 0.3)
"""Weight of a message one, two and three places away."""
TABLE = 1 << 17
"""Rows (or words of the newest ones) times tokens up to which everything is counted in one table: a dozen steps over
small arrays in all, where following each token's rows takes a dozen per token."""
COMMON = 50_000
"""Rows of one token beyond which its neighbours are left out: so common a word says nothing about them."""


def lexical(view: View, wanted: Hashes, near: tuple[float, ...] = NEAR) -> Floats:
    """Score all rows against distinct query tokens."""
    if len(wanted) * max(view.size, view.words.length) <= TABLE:
        return _in_a_table(view, wanted, near)
    score = np.zeros(view.size, np.float32)
    postings = living_postings(view, wanted)
    if view.alive:
        lengths = view.columns["length"]
        mean = max(view.total_length / view.alive, 1.0)
        scratch = np.zeros(view.size + 1, np.float32)
        for rows, counts in postings:
            if not len(rows):
                continue
            idf = np.float32(np.log1p((view.alive - len(rows) + 0.5) / (len(rows) + 0.5)))
            share = np.asarray(lengths[rows], np.float32) / np.float32(mean)
            weighed = (counts / (1 - B + B * share)).astype(np.float32, copy=False)
            reached = _spread(view, scratch, rows, weighed, near if len(rows) <= COMMON else ())
            found = scratch[reached]
            # A row that is reached twice gets the same number twice; plain indexing adds it once, which is meant.
            score[reached] += idf * (K1 + 1) * found / (found + np.float32(K1))
            scratch[reached] = 0.0
    return score


def _in_a_table(view: View, wanted: Hashes, near: tuple[float, ...]) -> Floats:
    """The same numbers for a small index: a row per token, a column per entry and one for the neighbour that is not."""
    counts = view.words.counts(wanted, view.size + 1)
    if view.any_dead:
        counts[:, :-1] *= view.living()
    often = np.count_nonzero(counts, axis=1).tolist()
    weight = [(K1 + 1) * math.log1p((view.alive - rows + 0.5) / (rows + 0.5)) for rows in often]
    found = counts[:, :-1]
    found /= _normal(view)
    if near:
        spread = np.matmul(_weights(near), counts.take(_around(view, len(near)), 1, mode="clip"))
        found = np.add(spread, found, spread)
    found /= found + np.float32(K1)
    score: Floats = np.array(weight, np.float32) @ found
    return score


@lru_cache(maxsize=64)
def _weights(near: tuple[float, ...]) -> Floats:
    """A weight for each neighbour: the one before, the one after, the one two places before, …"""
    return np.repeat(np.array(near, np.float32), 2)


def _normal(view: View) -> Floats:
    """What a count in each row is divided by."""
    if "normal" not in view.kept:
        share = view.column("length") / np.float32(max(view.total_length / max(view.alive, 1), 1.0))
        view.kept["normal"] = (1 - B + B * share).astype(np.float32)
    found: Floats = view.kept["normal"]
    return found


def _around(view: View, far: int) -> Places:
    """The neighbours of every row, before and after it, one place away, two places, …"""
    name = ("around", far)
    if name not in view.kept:
        view.kept[name] = np.stack([side for distance in range(1, far + 1) for side in view.neighbours(distance)])
    found: Places = view.kept[name]
    return found


def living_postings(view: View, wanted: Hashes) -> list[tuple[Rows, Counts]]:
    """Rows and counts of each token, without rows that were replaced."""
    postings = view.words.postings(wanted)
    if not view.any_dead:
        return postings
    living = view.living()
    return [(rows[living[rows]], counts[living[rows]]) for rows, counts in postings]


def _spread(
    view: View, scratch: Floats, rows: Rows, weighed: Counts, near: tuple[float, ...]
) -> npt.NDArray[np.integer]:
    """Add counts to rows and their neighbours; all rows reached. Rows of one side are distinct: chains do not cross."""
    scratch[rows] += weighed
    reached: list[npt.NDArray[np.integer]] = [rows]
    for distance, weight in enumerate(near, 1):
        if not weight:
            continue
        for side in view.neighbours(distance):
            there = side[rows]
            scratch[there] += np.float32(weight) * weighed
            reached.append(there)
    scratch[view.size] = 0.0
    joined = np.concatenate(reached)
    return joined[joined < view.size] if near else rows
