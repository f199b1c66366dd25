"""From a query to a pool: words and meaning over the whole index, the best few hundred rows kept.

    words      0.8 · z(BM25, with the neighbours' words where messages are short)
    meaning    0.8 · z(cosine of the best passage, averaged with the neighbours' where messages are short)
    own        ½ … 1½ for all but the assistant's words and summaries, where one speaks and the query only asks
    speaker    2    for what was said by someone whom the query names
    recency    ½  · how much newer than the oldest, in ln(1 + messages since / 10); see below
    length     ln(1 + words, at most 40), where messages are short: one of three words is rarely the answer
    days       1½ · nearness to the days that the query names

The weights are round numbers on purpose: ones that are fitted to some kinds of talk are worse on the next kind.
``z`` is the distance from the mean in deviations: adding normalised scores keeps how much better one row is than the
next, which ranks alone would lose. The user's words, the assistant's and summaries have a mean and a deviation each:
long texts speak of everything and would stand before the one line in which the user told it. What a short message means
is told by those around it ("yes, last May"), a long one says it by itself: neighbours and length count by how short the
messages of this conversation are (:func:`shortness`); as they get longer, meaning gains on words, and the user's own
words on the assistant's. Recency counts for a question about now and for a message that tells something
(:mod:`tenuto.recall.asking`), which continues a running conversation; who only asks, asks about all that was ever said.
``docs/recall.md`` tells what this is worth on kinds of talk that nothing was fitted on.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import msgspec
import numpy as np

from tenuto.policy import RecallPolicy
from tenuto.recall.index import KIND_CODE, KINDS, Bools, Floats, Places, View, constant
from tenuto.recall.lexical import NEAR, lexical, living_postings
from tenuto.recall.segments import Hashes
from tenuto.recall.timewords import Span
from tenuto.records.base import micros
from tenuto.records.operations import EntryKind

MEMORY, TODO = KIND_CODE[EntryKind.MEMORY], KIND_CODE[EntryKind.TODO]
KEY_POINT, SUMMARY = KIND_CODE[EntryKind.KEY_POINT], KIND_CODE[EntryKind.SUMMARY]

NEAR_MEANING = (0.6, 0.3)
"""Weight of the cosine of a message one and two places away."""
RECENCY_UNIT = 10
"""Messages: what was said within the last few of them is equally recent."""
LONGEST = 40
"""Words beyond which a longer text is not worth more."""
OTHER_LENGTH = 20
"""Words that a memory or todo counts as: they are short because they were distilled."""
DAYS = 1.5
"""What the days that a query names count."""
USUAL_COSINE = (0.12, 0.12)
"""Mean and deviation of the cosine that are assumed before a user has said much."""
TWO_THREADS = 50_000
"""Rows from which meaning is weighed on a second thread while this one weighs words."""
USUAL_ROWS = 20
"""How many rows that assumption is worth; so many rows of its own a role needs for half a say in its mean."""
SHORT, LONG = 25, 60
"""Words (without stop words) of the middle message up to which neighbours count fully, and from which not at all."""
TILT = 0.3
"""What words lose and meaning gains where messages are long."""
LATEST = 2000
"""How many of the newest messages tell what the conversation is like."""


class Query(msgspec.Struct, frozen=True):
    """What is searched for: hashed words, hashed marks of names, and the vector where there is one."""

    tokens: Hashes
    names: Hashes
    vector: Floats | None
    span: Span | None = None
    recent: bool = False
    """Is what was said lately meant?"""
    running: bool = False
    """Does it go on with a running conversation, in which the assistant's words count like the user's?"""
    faint: float = -1.0
    """The cosine below which a text that shares no word with the query is no candidate."""


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
    short = shortness(view)
    nearby, tilt = policy.neighbours * short, TILT * (1 - short)
    words, cosine = _compared(view, query, _scaled(NEAR, nearby))
    embedded = view.has_vector()
    touched = words > 0 if query.vector is None else _holding(view, query.tokens)
    voices = _voices(view)
    parts = {"words": normalised_apart(words, allowed, voices, policy.words * (1 - tilt))}
    if query.vector is not None:
        touched |= embedded & (cosine >= query.faint)
        around = _around(view, cosine, _scaled(NEAR_MEANING, nearby))
        parts["meaning"] = normalised_apart(
            around, allowed & embedded, voices, policy.meaning * (1 + tilt), USUAL_COSINE
        )
    touched &= allowed
    if voices and not query.running:
        parts["own"] = np.where(voices[0], np.float32(policy.own * (1.5 - short)), np.float32(0))
    named = _named(view, query.names)
    if named is not None:
        parts["speaker"] = np.where(named, np.float32(policy.speaker), np.float32(0))
    elif query.recent:
        parts["recency"] = _newness(view, policy.recency)
    if short:
        parts["length"] = _length(view, policy.length * short)
    if query.span is not None:
        parts["days"] = np.float32(DAYS) * _nearness(view, query.span)
    order = parts["words"].copy()
    for name, part in parts.items():
        if name != "words":
            order += part
    return Signals(order, touched.nonzero()[0], cosine, embedded, parts)


def _compared(view: View, query: Query, near: tuple[float, ...]) -> tuple[Floats, Floats]:
    """The words' score and the cosine of every row, in two threads where there are many."""
    if query.vector is None:
        return lexical(view, query.tokens, near), np.zeros(view.size, np.float32)
    if view.size < TWO_THREADS:
        return lexical(view, query.tokens, near), view.cosine(query.vector)
    with ThreadPoolExecutor(1, "tenuto-recall") as beside:
        found = beside.submit(view.cosine, query.vector)
        return lexical(view, query.tokens, near), found.result()


def _holding(view: View, tokens: Hashes) -> Bools:
    """Rows that hold a word of the query themselves."""
    held = np.zeros(view.size, bool)
    for rows, _ in living_postings(view, tokens):
        held[rows] = True
    return held


def shortness(view: View) -> float:
    """1 where people exchange short lines, 0 where the user or the assistant writes at length; in tenths."""
    if "shortness" not in view.kept:
        spoken = np.flatnonzero(view.said() & view.living())[-LATEST:]
        lengths, answers = view.column("length")[spoken], _assistants(view)[spoken]
        sides = [lengths[side] for side in (answers, ~answers) if np.count_nonzero(side) * 10 >= max(len(spoken), 1)]
        middle = max((float(np.median(side)) for side in sides), default=0.0)
        view.kept["shortness"] = round(min(max((LONG - middle) / (LONG - SHORT), 0.0), 1.0), 1)
    found: float = view.kept["shortness"]
    return found


def _assistants(view: View) -> Bools:
    """Rows that are messages of the assistant."""
    return np.asarray(view.column("role") == view.code("role", "assistant"))


def _voices(view: View) -> tuple[Bools, ...]:
    """The rows of the user's words and what is known, of the assistant's words, of summaries; none if it never spoke.

    A key point has the voice of its message.
    """
    if "voices" not in view.kept:
        answers = _assistants(view)
        if answers.any():
            kinds = view.column("kind")
            spoken = {view.ids[row] for row in np.flatnonzero(answers).tolist()} if view.links else set()
            for row in np.flatnonzero(kinds == KEY_POINT).tolist():
                answers[row] = not spoken.isdisjoint(view.links.get(row, ()))
            summaries = kinds == SUMMARY
            view.kept["voices"] = tuple(constant(rows) for rows in (~(answers | summaries), answers, summaries))
        else:
            view.kept["voices"] = ()
    found: tuple[Bools, ...] = view.kept["voices"]
    return found


@lru_cache(maxsize=64)
def _scaled(weights: tuple[float, ...], by: float) -> tuple[float, ...]:
    return tuple(by * weight for weight in weights) if by else ()


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


def normalised_apart(
    signal: Floats, over: Bools, voices: tuple[Bools, ...], weight: float, usual: tuple[float, float] | None = None
) -> Floats:
    """:func:`normalised` for the rows of each voice by themselves.

    The mean and deviation of a few rows say little: they are drawn to those of all rows.
    """
    if not voices:
        return normalised(signal, over, weight, usual)
    whole = _moments(signal[over])
    if whole is None:
        return np.zeros_like(signal)
    if usual is not None:
        whole = _steadied(whole, usual)
    found = np.zeros_like(signal)
    for voice in voices:
        rows = over & voice
        inside = signal[rows]
        own = _moments(inside)
        if own is not None:
            mean, spread, _ = _steadied(own, whole[:2])
            if spread > 1e-9:
                found[rows] = (inside - np.float32(mean)) * np.float32(weight / spread)
    return found


def normalised(signal: Floats, over: Bools, weight: float, usual: tuple[float, float] | None = None) -> Floats:
    """Deviations from the mean over some rows, weighed; rows outside get 0. ``usual`` steadies the numbers of a few."""
    inside = signal if np.count_nonzero(over) == len(over) else signal[over]
    moments = _moments(inside)
    if moments is None:
        return np.zeros_like(signal)
    mean, spread, _ = moments if usual is None else _steadied(moments, usual)
    if spread < 1e-9:
        return np.zeros_like(signal)
    found = signal - np.float32(mean)
    found *= np.float32(weight / spread)
    if len(inside) < len(signal):
        found[~over] = 0.0
    return found


def _moments(values: Floats) -> tuple[float, float, int] | None:
    """Mean, deviation, number."""
    if not len(values):
        return None
    mean = float(values.sum(dtype=np.float64)) / len(values)
    from_mean = values - np.float32(mean)
    return mean, math.sqrt(float(np.dot(from_mean, from_mean)) / len(values)), len(values)


def _steadied(moments: tuple[float, float, int], usual: tuple[float, float]) -> tuple[float, float, int]:
    """Moments of a few rows drawn to what is usual."""
    mean, spread, count = moments
    share = count / (count + USUAL_ROWS)
    mean = share * mean + (1 - share) * usual[0]
    return mean, math.sqrt(share * spread**2 + (1 - share) * usual[1] ** 2), count


def _around(view: View, cosine: Floats, near: tuple[float, ...]) -> Floats:
    """Each cosine averaged with those of its neighbours that have a vector."""
    if not near:
        return cosine
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
        length = np.where(_distilled(view), OTHER_LENGTH, view.column("length"))
        view.kept[name] = np.float32(weight) * np.log1p(np.minimum(length, LONGEST)).astype(np.float32)
    found: Floats = view.kept[name]
    return found


def _distilled(view: View) -> Bools:
    """Rows that say much in few words: memories and todos."""
    kinds = view.column("kind")
    return np.asarray((kinds == MEMORY) | (kinds == TODO))


def _nearness(view: View, span: Span) -> Floats:
    """1 inside the days, falling with the distance from them."""
    at = view.column("at").astype(np.float64)
    gap = np.maximum(np.maximum(micros(span.start) - at, at - micros(span.end)), 0) / (86_400e6 * span.slack)
    return np.exp(-gap).astype(np.float32)
