"""From a query to a pool: words and meaning over the whole index, the best few hundred rows kept.

    words      0.77 · z(BM25 with neighbours)
    meaning    0.85 · z(cosine, averaged with the neighbours': 1, 0.6, 0.3)
    speaker    2.0    for what was said by someone whom the query names
    recency    0.73 · how much newer than the oldest, in ln(1 + messages since / 10), unless the query names a speaker
    length     1.23 · ln(1 + words, at most 40): a message of three words is rarely the answer
    days       1.5 · nearness to the days that the query names

``z`` is the distance from the mean in deviations over the rows that may be found: adding normalised scores keeps how
much better one row is than the next, which ranks alone would lose. Someone who asks about a named person asks about all
that was ever said; anyone else speaks inside a running conversation, where what was said lately is meant. The five
numbers were fitted on conversations of both kinds, each tested on conversations that it was not fitted on
(``bench/recall``); the speaker's was then lowered as far as that costs nothing: a question may name the wrong person.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import msgspec
import numpy as np

from tenuto.policy import RecallPolicy
from tenuto.recall.index import KINDS, Bools, Floats, Places, View
from tenuto.recall.lexical import NEAR, lexical, living_postings
from tenuto.recall.segments import Hashes
from tenuto.recall.timewords import Span
from tenuto.records.base import micros

NEAR_MEANING = (0.6, 0.3)
"""Weight of the cosine of a message one and two places away."""
RECENCY_UNIT = 10
"""Messages: what was said within the last few of them is equally recent."""
LONGEST = 40
"""Words beyond which a longer text is not worth more."""
OTHER_LENGTH = 20
"""Words that a memory, summary, key point or todo counts as: they are short because they were distilled."""
DAYS = 1.5
"""What the days that a query names count."""
USUAL_COSINE = (0.12, 0.12)
"""Mean and deviation of the cosine that are assumed before a user has said much."""
TWO_THREADS = 50_000
"""Rows from which meaning is weighed on a second thread while this one weighs words."""
USUAL_ROWS = 20
"""How many rows that assumption is worth."""


class Query(msgspec.Struct, frozen=True):
    """What is searched for: hashed words, hashed marks of names, and the vector where there is one."""

    tokens: Hashes
    names: Hashes
    vector: Floats | None
    span: Span | None = None


class Signals(msgspec.Struct, frozen=True):
    """What the query says of every row. ``order`` decides which rows come into the pool."""

    order: Floats
    touched: Places
    cosine: Floats
    has_vector: Bools
    parts: dict[str, Floats]

    def pool(self, size: int) -> Places:
        """The ``size`` best of the rows that the query touches at all, best first."""
        return _best(self.order, self.touched, size)

    def promise(self, row: int) -> float:
        """What a row is worth by its signals alone."""
        return sum([part.item(row) for part in self.parts.values()])

    def near(self, rows: Places) -> list[float | None]:
        """The cosine of some rows; ``None`` without a vector."""
        pairs = zip(self.cosine[rows].tolist(), self.has_vector[rows].tolist(), strict=True)
        return [cosine if embedded else None for cosine, embedded in pairs]

    def weighed(self, rows: Places) -> list[dict[str, float]]:
        """The parts of some rows, by name."""
        if not self.parts:
            return [{} for _ in rows]
        columns = [part[rows].tolist() for part in self.parts.values()]
        return [dict(zip(self.parts, values, strict=True)) for values in zip(*columns, strict=True)]


def weigh(view: View, query: Query, allowed: Bools, policy: RecallPolicy) -> Signals:
    """All signals of the profile ``default``, weighed."""
    near = _scaled(NEAR, policy.neighbours)
    embedded = view.has_vector()
    if query.vector is None:
        words = lexical(view, query.tokens, near)
        cosine = np.zeros(view.size, np.float32)
    elif view.size < TWO_THREADS:
        words = lexical(view, query.tokens, near)
        cosine = view.cosine(query.vector)
    else:
        with ThreadPoolExecutor(1, "tenuto-recall") as beside:
            found = beside.submit(view.cosine, query.vector)
            words = lexical(view, query.tokens, near)
            cosine = found.result()
    touched = words > 0
    parts = {"words": normalised(words, allowed, policy.words)}
    if query.vector is not None:
        touched |= embedded
        around = _around(view, cosine, _scaled(NEAR_MEANING, policy.neighbours))
        parts["meaning"] = normalised(around, allowed & embedded, policy.meaning, USUAL_COSINE)
    touched &= allowed
    named = _named(view, query.names)
    if named is not None:
        parts["speaker"] = np.where(named, np.float32(policy.speaker), np.float32(0))
    else:
        parts["recency"] = _newness(view, policy.recency)
    parts["length"] = _length(view, policy.length)
    if query.span is not None:
        parts["days"] = np.float32(DAYS) * _nearness(view, query.span)
    order = parts["words"].copy()
    for name, part in parts.items():
        if name != "words":
            order += part
    return Signals(order, touched.nonzero()[0], cosine, embedded, parts)


@lru_cache(maxsize=64)
def _scaled(weights: tuple[float, ...], by: float) -> tuple[float, ...]:
    return tuple(by * weight for weight in weights)


def nearest(view: View, query: Query, allowed: Bools, each: int) -> Signals:
    """The rows of each kind that are closest in meaning: the candidates of the profiles that rank by similarity."""
    cosine = view.cosine(query.vector) if query.vector is not None else np.zeros(view.size, np.float32)
    embedded = view.has_vector()
    kinds = view.column("kind")
    found = [_best(cosine, np.flatnonzero(allowed & embedded & (kinds == kind)), each) for kind in range(len(KINDS))]
    return Signals(cosine, np.concatenate(found), cosine, embedded, {})


def _best(score: Floats, rows: Places, size: int) -> Places:
    if len(rows) > size:
        rows = rows[(-score[rows]).argpartition(size - 1)[:size]]
    return rows[(-score[rows]).argsort(kind="stable")]


def normalised(signal: Floats, over: Bools, weight: float, usual: tuple[float, float] | None = None) -> Floats:
    """Deviations from the mean over some rows, weighed; rows outside get 0. ``usual`` steadies the numbers of a few."""
    whole = np.count_nonzero(over) == len(over)
    inside = signal if whole else signal[over]
    if not len(inside):
        return np.zeros_like(signal)
    mean = float(inside.sum(dtype=np.float64)) / len(inside)
    apart = inside - np.float32(mean)
    spread = math.sqrt(float(np.dot(apart, apart)) / len(inside))
    if usual is not None:
        share = len(inside) / (len(inside) + USUAL_ROWS)
        mean = share * mean + (1 - share) * usual[0]
        spread = math.sqrt(share * spread**2 + (1 - share) * usual[1] ** 2)
    if spread < 1e-9:
        return np.zeros_like(signal)
    found = apart if whole and usual is None else signal - np.float32(mean)
    found *= np.float32(weight / spread)
    if not whole:
        found[~over] = 0.0
    return found


def _around(view: View, cosine: Floats, near: tuple[float, ...]) -> Floats:
    """Each cosine averaged with those of its neighbours that have a vector."""
    padded = np.zeros(view.size + 1, np.float32)
    padded[:-1] = cosine
    total = cosine.copy()
    for distance, share in enumerate(near, 1):
        for side in view.neighbours(distance):
            beside = padded[side]
            beside *= np.float32(share)
            total += beside
    total *= _share(view, near)
    return total


def _share(view: View, near: tuple[float, ...]) -> Floats:
    """One part of the sum of weights that each row has with its neighbours."""
    name = ("share", near)
    if name not in view.kept:
        present = np.append(view.has_vector(), False).astype(np.float32)
        weight = np.ones(view.size, np.float32)
        for distance, share in enumerate(near, 1):
            for side in view.neighbours(distance):
                weight += np.float32(share) * present[side]
        view.kept[name] = 1 / weight
    found: Floats = view.kept[name]
    return found


def _named(view: View, names: Hashes) -> Bools | None:
    """Rows said by someone whom the query names; ``None`` if it names nobody who ever spoke."""
    if not len(names):
        return None
    rows = [rows for rows, _ in living_postings(view, names) if len(rows)]
    if not rows:
        return None
    named = np.zeros(view.size, bool)
    for some in rows:
        named[some] = True
    return named


def _newness(view: View, weight: float) -> Floats:
    """How much newer than the oldest each row is, in logarithms of the messages that came after, weighed."""
    name = ("newness", weight)
    if name not in view.kept:
        since = np.log1p(view.ago() / np.float32(RECENCY_UNIT))
        view.kept[name] = np.float32(weight) * (since.max(initial=0.0) - since)
    found: Floats = view.kept[name]
    return found


def _length(view: View, weight: float) -> Floats:
    """How much a row can say: the logarithm of its words, weighed."""
    name = ("length", weight)
    if name not in view.kept:
        length = np.where(view.said(), view.column("length"), OTHER_LENGTH)
        view.kept[name] = np.float32(weight) * np.log1p(np.minimum(length, LONGEST)).astype(np.float32)
    found: Floats = view.kept[name]
    return found


def _nearness(view: View, span: Span) -> Floats:
    """1 inside the days, falling with the distance from them."""
    at = view.column("at").astype(np.float64)
    gap = np.maximum(np.maximum(micros(span.start) - at, at - micros(span.end)), 0) / (86_400e6 * span.slack)
    return np.exp(-gap).astype(np.float32)
