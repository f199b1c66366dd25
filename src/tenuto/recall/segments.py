"""The words of one user as immutable pieces: new ones are cheap, many small ones become few large ones.

A document is a row number with its token hashes. The newest documents lie in a *tail*, a flat list that a query simply
scans; a full tail is sorted into a *segment* (an inverted list), and equal-sized neighbours are merged, so that one new
message costs microseconds and a year of talk is still found through a few sorted arrays. Nothing that a reader holds is
ever changed: the tail only grows behind what the reader sees, and segments are replaced, not edited. Postings of one
token are unique per row, which the scoring relies on when it adds with plain indexing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int32]
Counts = npt.NDArray[np.float32]

TAIL = 512
"""Documents that the tail holds before it becomes a segment."""
FANOUT = 8
"""Segments of one size that are merged into the next size."""
PLACE = 24
"""Bits of a hash that give way to its place while a segment is sorted."""
LARGEST = 1 << 18
"""Documents beyond which a segment is merged no further, so that no merge takes long."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Sorted distinct hashes; the rows and counts of the i-th lie at ``starts[i]:starts[i + 1]``."""

    hashes: Hashes
    starts: npt.NDArray[np.int64]
    rows: Rows
    counts: Counts
    documents: int

    @property
    def nbytes(self) -> int:
        return self.hashes.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes


def build(hashes: Hashes, rows: Rows, documents: int) -> Segment:
    """A segment of flat (hash, row) pairs in the order of rows, repetition counted."""
    order = _order(hashes)
    hashes, rows = hashes[order], rows[order]
    fresh = np.ones(len(hashes), bool)
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])
    at = np.flatnonzero(fresh)
    counts = np.diff(np.append(at, len(hashes))).astype(np.float32)
    return _grouped(hashes[at], rows[at], counts, documents)


def merge(parts: list[Segment]) -> Segment:
    """One segment of several that share no row."""
    hashes = np.concatenate([np.repeat(part.hashes, np.diff(part.starts)) for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    order = _order(hashes)
    return _grouped(hashes[order], rows[order], counts[order], sum(part.documents for part in parts))


def _order(hashes: Hashes) -> npt.NDArray[np.intp]:
    """The stable order of hashes, several times faster than ``argsort``: the place is sorted as a part of the number.

    The last 24 bits of each hash make room for it. Two hashes that differ only there are rare and are noticed.
    """
    if len(hashes) < 1 << PLACE:
        places = np.arange(len(hashes), dtype=np.uint64)
        mixed = np.sort((hashes >> np.uint64(PLACE) << np.uint64(PLACE)) | places)
        order = (mixed & np.uint64((1 << PLACE) - 1)).astype(np.intp)
        sorted_ = hashes[order]
        if not (sorted_[1:] < sorted_[:-1]).any():
            return order
    return np.argsort(hashes, kind="stable")


def _grouped(hashes: Hashes, rows: Rows, counts: Counts, documents: int) -> Segment:
    fresh = np.ones(len(hashes), bool)
    fresh[1:] = hashes[1:] != hashes[:-1]
    at = np.flatnonzero(fresh)
    starts = np.append(at, len(hashes)).astype(np.int64)
    return Segment(hashes[at], starts, rows, counts, documents)


@dataclass(frozen=True, slots=True)
class Words:
    """What one reader sees: the segments, and the tail up to ``length`` pairs."""

    segments: tuple[Segment, ...]
    tail_hashes: Hashes
    tail_rows: Rows
    length: int

    def postings(self, wanted: Hashes) -> list[tuple[Rows, Counts]]:
        """Rows and counts of each wanted hash, rows unique."""
        found: list[list[tuple[Rows, Counts]]] = [[] for _ in wanted]
        for segment in self.segments:
            if not len(segment.hashes):
                continue
            places = np.searchsorted(segment.hashes, wanted)
            for number, place in enumerate(places):
                if place < len(segment.hashes) and segment.hashes[place] == wanted[number]:
                    start, end = segment.starts[place], segment.starts[place + 1]
                    found[number].append((segment.rows[start:end], segment.counts[start:end]))
        if self.length:
            hashes, rows = self.tail_hashes[: self.length], self.tail_rows[: self.length]
            for number, token in enumerate(wanted):
                hit = rows[hashes == token]
                if len(hit):
                    unique, counts = np.unique(hit, return_counts=True)
                    found[number].append((unique, counts.astype(np.float32)))
        return [_joined(parts) for parts in found]

    def counts(self, wanted: Hashes, width: int) -> Counts:
        """How often each wanted hash occurs in each row: a table with ``width`` columns, for an index of few rows."""
        table = self._tail_counts(wanted, width)
        for segment in self.segments:
            places = np.searchsorted(segment.hashes, wanted)
            for number, place in enumerate(places.tolist()):
                if place < len(segment.hashes) and segment.hashes[place] == wanted[number]:
                    start, end = segment.starts[place], segment.starts[place + 1]
                    table[number, segment.rows[start:end]] = segment.counts[start:end]
        return table

    def _tail_counts(self, wanted: Hashes, width: int) -> Counts:
        if not self.length:
            return np.zeros((len(wanted), width), np.float32)
        found = (wanted[:, None] == self.tail_hashes[: self.length]).ravel().nonzero()[0]
        numbers = found // self.length
        cells = numbers * width + self.tail_rows[found - numbers * self.length]
        counts = np.bincount(cells, minlength=len(wanted) * width)
        return counts.astype(np.float32).reshape(len(wanted), width)


def _joined(parts: list[tuple[Rows, Counts]]) -> tuple[Rows, Counts]:
    if not parts:
        return np.empty(0, np.int32), np.empty(0, np.float32)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([counts for _, counts in parts])


class WordStore:
    """The growing side. One writer at a time; :meth:`words` hands out what readers keep."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._clear_tail(1024)

    def _clear_tail(self, capacity: int) -> None:
        self._hashes: Hashes = np.empty(capacity, np.uint64)
        self._rows: Rows = np.empty(capacity, np.int32)
        self._length = 0
        self._documents = 0

    def add(self, hashes: Hashes, rows: Rows, documents: int) -> None:
        """Append documents as flat pairs in row order."""
        if documents >= TAIL:
            self._flush()
            self._segments.append(build(hashes, rows, documents))
            self._compact()
            return
        needed = self._length + len(hashes)
        if needed > len(self._hashes):
            capacity = max(needed, 2 * len(self._hashes))
            grown_hashes, grown_rows = np.empty(capacity, np.uint64), np.empty(capacity, np.int32)
            grown_hashes[: self._length], grown_rows[: self._length] = (
                self._hashes[: self._length],
                self._rows[: self._length],
            )
            self._hashes, self._rows = grown_hashes, grown_rows
        self._hashes[self._length : needed] = hashes
        self._rows[self._length : needed] = rows
        self._length = needed
        self._documents += documents
        if self._documents >= TAIL:
            self._flush()
            self._compact()

    def _flush(self) -> None:
        if self._documents:
            self._segments.append(build(self._hashes[: self._length], self._rows[: self._length], self._documents))
            self._clear_tail(len(self._hashes))

    def _compact(self) -> None:
        """Merge the newest segments while FANOUT of one size class lie side by side."""
        while len(self._segments) >= FANOUT:
            last = self._segments[-FANOUT:]
            if sum(part.documents for part in last) > LARGEST:
                return
            if max(_tier(part) for part in last) > _tier(last[-1]):
                return
            self._segments[-FANOUT:] = [merge(last)]

    def words(self) -> Words:
        return Words(tuple(self._segments), self._hashes, self._rows, self._length)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._segments) + self._hashes.nbytes + self._rows.nbytes


def _tier(segment: Segment) -> int:
    size, tier = max(segment.documents // TAIL, 1), 0
    while size >= FANOUT:
        size //= FANOUT
        tier += 1
    return tier
