"""Everything of one user that search sees, in memory: the same arrays whatever engine keeps the rows.

A row per entry: plain numbers (kind, time, persona, session, role, speaker, length, neighbours), its words in
:mod:`tenuto.recall.segments`, its vector in float32 pieces. :meth:`UserIndex.apply` takes what is new; :meth:`view`
hands out a :class:`View` that never changes, so that a search in one thread is not disturbed by a write in another:

- rows are only appended; a replaced entry gets a new row and its old row a time of death;
- ``born`` (of the vector) and ``died`` hold the number of the change, and a view believes only changes up to its own;
- what cannot be told by a number (a message that arrives out of order) is copied before it is changed.

Order never decides a score: an index that grew message by message answers as one that was loaded at once. What came
after what is told by the ids, which sort by the time of writing.
"""
# Over 400 lines: the arrays of one user and the rules that keep views of them unchanged, which must be read together.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from tenuto.recall.segments import Words, WordStore
from tenuto.records.base import micros
from tenuto.records.operations import Entry, EntryKind

KINDS = (EntryKind.MEMORY, EntryKind.MESSAGE, EntryKind.KEY_POINT, EntryKind.SUMMARY, EntryKind.TODO)
KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}
MESSAGE = KIND_CODE[EntryKind.MESSAGE]
DISTILLED = (EntryKind.KEY_POINT, EntryKind.SUMMARY, EntryKind.TODO)
"""Kinds that are written after the fact: their time is that of the last message they stand for."""
NEVER = np.iinfo(np.int32).max
NONE = -1
"""The code of an absent persona, session or neighbour."""
products = getattr(np, "vecdot", np.dot)
"""One product per row on the calling thread: reads each vector once, twice as fast as a threaded matrix product over
this shape, and many searches at a time do not wait for each other's threads. NumPy before 2 has only the latter."""
PIECE = 1 << 16
"""Largest number of vectors in one piece."""

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

_COLUMNS: dict[str, tuple[type, int]] = {
    "kind": (np.int8, 0),
    "at": (np.int64, 0),
    "persona": (np.int32, NONE),
    "session": (np.int32, NONE),
    "role": (np.int32, NONE),
    "speaker": (np.int32, NONE),
    "length": (np.float32, 0),
    "previous": (np.int32, NONE),
    "next": (np.int32, NONE),
    "born": (np.int32, NEVER),
    "died": (np.int32, NEVER),
    "digest": (np.int64, 0),
    "arrival": (np.int32, NONE),
}


@dataclass(frozen=True, slots=True)
class View:
    """One moment of the index. Arrays may be longer than ``size``: only the first ``size`` rows are meant."""

    size: int
    change: int
    alive: int
    total_length: float
    columns: Mapping[str, npt.NDArray[Any]]
    words: Words
    pieces: tuple[tuple[int, Floats], ...]
    ids: Sequence[str]
    links: Mapping[int, tuple[str, ...]]
    names: Mapping[str, Mapping[str, int]]
    dimension: int
    any_dead: bool
    last_arrival: int
    kept: dict[str, Any] = field(default_factory=dict)
    """What was computed of this view once and serves every query."""

    def column(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name][: self.size]

    def living(self) -> Bools:
        """Rows that were not replaced."""
        return np.asarray(self.column("died") > self.change)

    def has_vector(self) -> Bools:
        return np.asarray(self.column("born") <= self.change)

    def code(self, table: str, name: str | None) -> int:
        """The number of a persona, session, role or speaker; ``-2`` for one that no row has."""
        return NONE if name is None else self.names[table].get(name, -2)

    def neighbours(self, distance: int) -> tuple[Ints, Ints]:
        """The message so many places before and after each one in its session; ``size`` where there is none."""
        name = f"neighbours {distance}"
        if name not in self.kept:
            if distance == 1:
                chains = [np.array(self.column(side), np.int32) for side in ("previous", "next")]
                for chain in chains:
                    chain[(chain < 0) | (chain >= self.size)] = self.size
            else:
                ends = np.full(1, self.size, np.int32)
                one, far = self.neighbours(1), self.neighbours(distance - 1)
                chains = [np.concatenate((step, ends))[reached] for step, reached in zip(one, far, strict=True)]
            self.kept[name] = (chains[0], chains[1])
        found: tuple[Ints, Ints] = self.kept[name]
        return found

    def ago(self) -> Floats:
        """How many messages came after each row; for other kinds, how many were said later than it."""
        if "ago" not in self.kept:
            found = (self.last_arrival - self.column("arrival")).astype(np.float32)
            others = np.flatnonzero(self.column("arrival") == NONE)
            if len(others):
                said = np.sort(self.column("at")[self.column("arrival") != NONE])
                found[others] = len(said) - np.searchsorted(said, self.column("at")[others], side="right")
            self.kept["ago"] = found
        ago: Floats = self.kept["ago"]
        return ago

    def cosine(self, query: Floats) -> Floats:
        """The cosine of every row's vector with ``query``, both of length 1; rows without a vector get 0."""
        found = np.zeros(self.size, np.float32)
        for start, piece in self.pieces:
            end = min(start + len(piece), self.size)
            if end > start:
                products(piece[: end - start], query, out=found[start:end])
        has = self.has_vector()
        if not has.all():
            found[~has] = 0.0
        return found

    def vectors(self, rows: npt.NDArray[np.integer]) -> Floats:
        """The vectors of some rows, in their order."""
        found = np.zeros((len(rows), self.dimension), np.float32)
        for start, piece in self.pieces:
            inside = (rows >= start) & (rows < start + len(piece))
            found[inside] = piece[rows[inside] - start]
        found[~self.has_vector()[rows]] = 0.0
        return found

    def unembedded(self) -> npt.NDArray[np.int64]:
        """Rows that wait for a vector, newest first."""
        rows = np.flatnonzero(self.living() & ~self.has_vector())
        return rows[::-1]


class UserIndex:
    """The growing side of one user's index. Any number of readers; writers wait for each other."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension
        self.seq = 0
        self._lock = Lock()
        self._size = 0
        self._change = 0
        self._alive = 0
        self._total_length = 0.0
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.full(64, value, dtype) for name, (dtype, value) in _COLUMNS.items()
        }
        self._words = WordStore()
        self._pieces: list[tuple[int, Floats]] = []
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._links: dict[int, tuple[str, ...]] = {}
        self._names: dict[str, dict[str, int]] = {"persona": {}, "session": {}, "role": {}, "speaker": {}}
        self._last: dict[int, int] = {}
        self._awaited: dict[str, list[int]] = {}
        self._newest = ""
        self._arrived = 0
        self._disordered = False
        self._view: View | None = None

    # --- reading ------------------------------------------------------------------------------------------------------

    def view(self) -> View:
        with self._lock:
            if self._view is None:
                if self._disordered:
                    self._order()
                self._view = View(
                    size=self._size,
                    change=self._change,
                    alive=self._alive,
                    total_length=self._total_length,
                    columns=dict(self._columns),
                    words=self._words.words(),
                    pieces=tuple(self._pieces),
                    ids=self._ids,
                    links=self._links,
                    names=self._names,
                    dimension=self.dimension,
                    any_dead=self._alive < self._size,
                    last_arrival=self._arrived - 1,
                )
            return self._view

    def row(self, id: str) -> int | None:
        return self._rows.get(id)

    @property
    def nbytes(self) -> int:
        """About how much memory this takes; 200 bytes per row stand for ids and the table of rows."""
        arrays = sum(column.nbytes for column in self._columns.values())
        return arrays + self._words.nbytes + sum(piece.nbytes for _, piece in self._pieces) + 200 * self._size

    @property
    def waste(self) -> float:
        """Share of rows that were replaced."""
        return 1 - self._alive / self._size if self._size else 0.0

    # --- writing ------------------------------------------------------------------------------------------------------

    def apply(self, entries: Iterable[Entry]) -> None:
        """Take entries in the order of their ``seq``: new ones, changed ones, and vectors that came later."""
        with self._lock:
            fresh: dict[str, Entry] = {}
            unlinked: set[int] = set()
            self._change += 1
            for entry in entries:
                self.seq = max(self.seq, entry.seq)
                row = self._rows.get(entry.id)
                if row is not None and entry.id not in fresh:
                    if self._unchanged(row, entry):
                        if self._usable(entry):
                            self._write_vector(row, unpack(entry.vector))
                        continue
                    unlinked.add(self._bury(row))
                fresh[entry.id] = entry
            if fresh:
                unlinked |= self._append(sorted(fresh.values(), key=lambda entry: entry.id))
            if unlinked - {NONE}:
                self._relink(unlinked - {NONE})
            self._view = None

    def set_vectors(self, vectors: Mapping[str, Floats]) -> None:
        """Vectors for rows that have none, in memory only: what was embedded to answer a query."""
        with self._lock:
            self._change += 1
            for id, vector in vectors.items():
                row = self._rows.get(id)
                if row is not None and self._columns["born"][row] == NEVER:
                    self._write_vector(row, vector)
            self._view = None

    def _usable(self, entry: Entry) -> bool:
        return entry.vector is not None and entry.model == self.model and len(entry.vector) == 2 * self.dimension

    def _unchanged(self, row: int, entry: Entry) -> bool:
        """Whether at most the vector is new. The same words have the same vector, so one that is there stays right."""
        columns = self._columns
        return bool(
            columns["digest"][row] == hash(entry.tokens)
            and (columns["at"][row] == micros(entry.at) or (entry.kind in DISTILLED and entry.links))
            and columns["persona"][row] == self._code("persona", entry.persona)
            and columns["session"][row] == self._code("session", entry.session_id)
            and columns["speaker"][row] == self._code("speaker", entry.speaker)
            and self._links.get(row, ()) == entry.links
        )

    def _code(self, table: str, name: str | None) -> int:
        return NONE if name is None else self._names[table].setdefault(name, len(self._names[table]))

    def _bury(self, row: int) -> int:
        """End a row; the session whose chain it leaves, or NONE."""
        self._columns["died"][row] = self._change
        self._alive -= 1
        self._total_length -= float(self._columns["length"][row])
        return int(self._columns["session"][row]) if self._columns["kind"][row] == MESSAGE else NONE

    def _append(self, entries: list[Entry]) -> set[int]:
        """New rows at the end; the sessions whose messages did not come in order."""
        start, end = self._size, self._size + len(entries)
        self._grow(end)
        lengths = np.fromiter((len(entry.tokens) // 8 for entry in entries), np.int64, len(entries))
        columns = self._columns
        columns["length"][start:end] = lengths
        columns["at"][start:end] = [micros(entry.at) for entry in entries]
        columns["kind"][start:end] = [KIND_CODE[entry.kind] for entry in entries]
        columns["digest"][start:end] = [hash(entry.tokens) for entry in entries]
        columns["persona"][start:end] = [self._code("persona", entry.persona) for entry in entries]
        columns["session"][start:end] = [self._code("session", entry.session_id) for entry in entries]
        columns["role"][start:end] = [self._code("role", entry.role) for entry in entries]
        columns["speaker"][start:end] = [self._code("speaker", entry.speaker) for entry in entries]
        disordered = set()
        for row, entry in enumerate(entries, start):
            self._ids.append(entry.id)
            self._rows[entry.id] = row
            if entry.links:
                self._links[row] = entry.links
                if entry.kind in DISTILLED:
                    self._said(row, entry.links)
            if entry.kind is EntryKind.MESSAGE:
                self._number(row)
                if not self._chain(row):
                    disordered.add(int(columns["session"][row]))
        self._hear(entries)
        hashes = np.frombuffer(b"".join(entry.tokens for entry in entries), "<u8").astype(np.uint64, copy=False)
        self._words.add(hashes, np.repeat(np.arange(start, end, dtype=np.int32), lengths), len(entries))
        self._write_vectors(start, entries)
        self._size = end
        self._alive += len(entries)
        self._total_length += float(lengths.sum())
        return disordered

    def _said(self, row: int, links: tuple[str, ...]) -> None:
        """Date a row by the last message that it stands for, as far as that is known."""
        for id in links:
            self._awaited.setdefault(id, []).append(row)
        known = [self._columns["at"][self._rows[id]] for id in links if id in self._rows]
        if known:
            self._columns["at"][row] = max(known)

    def _hear(self, entries: list[Entry]) -> None:
        """Date the rows that waited for messages which came now, on a copy: readers keep the old dates."""
        late = {row for entry in entries for row in self._awaited.get(entry.id, ()) if entry.kind is EntryKind.MESSAGE}
        if late:
            self._columns["at"] = self._columns["at"].copy()
            for row in late:
                known = [self._columns["at"][self._rows[id]] for id in self._links[row] if id in self._rows]
                self._columns["at"][row] = max(known)

    def _number(self, row: int) -> None:
        """Number a message in the order of arrival; after one that came late all are numbered anew, when next read."""
        if self._ids[row] > self._newest:
            self._newest = self._ids[row]
            self._columns["arrival"][row] = self._arrived
            self._arrived += 1
        else:
            self._disordered = True

    def _order(self) -> None:
        columns = self._columns
        rows = np.flatnonzero((columns["kind"][: self._size] == MESSAGE) & (columns["died"][: self._size] == NEVER))
        rows = rows[np.argsort(np.array([self._ids[row] for row in rows.tolist()]))] if len(rows) else rows
        columns["arrival"] = columns["arrival"].copy()
        columns["arrival"][rows] = np.arange(len(rows))
        self._arrived = len(rows)
        self._disordered = False

    def _chain(self, row: int) -> bool:
        """Hang a message behind the last one of its session; ``False`` if it belongs before it."""
        columns = self._columns
        session = int(columns["session"][row])
        last = self._last.get(session)
        if last is not None and (columns["at"][row], self._ids[row]) < (columns["at"][last], self._ids[last]):
            return False
        self._last[session] = row
        if last is not None:
            columns["previous"][row] = last
            columns["next"][last] = row
        return True

    def _relink(self, sessions: set[int]) -> None:
        """Chain the messages of some sessions anew, by time and id, on copies: readers keep the old chains."""
        columns = self._columns
        columns["previous"], columns["next"] = columns["previous"].copy(), columns["next"].copy()
        part = {name: columns[name][: self._size] for name in ("session", "kind", "died", "at")}
        mine = (part["kind"] == MESSAGE) & (part["died"] == NEVER) & np.isin(part["session"], list(sessions))
        rows = sorted(
            np.flatnonzero(mine).tolist(), key=lambda row: (part["session"][row], part["at"][row], self._ids[row])
        )
        for session in sessions:
            self._last.pop(session, None)
        last = NONE
        for row in rows:
            same = last != NONE and part["session"][last] == part["session"][row]
            columns["previous"][row] = last if same else NONE
            columns["next"][row] = NONE
            if same:
                columns["next"][last] = row
            last = row
            self._last[int(part["session"][row])] = row

    def _grow(self, size: int) -> None:
        capacity = len(self._columns["at"])
        if size <= capacity:
            return
        capacity = max(size, capacity + capacity // 2)
        for name, (dtype, value) in _COLUMNS.items():
            grown: npt.NDArray[Any] = np.full(capacity, value, dtype)
            grown[: self._size] = self._columns[name][: self._size]
            self._columns[name] = grown

    # --- vectors ------------------------------------------------------------------------------------------------------

    def _write_vectors(self, start: int, entries: list[Entry]) -> None:
        end = start + len(entries)
        room = self._pieces[-1][0] + len(self._pieces[-1][1]) if self._pieces else 0
        while room < end:
            wanted = max(64, end - room if not self._pieces else min(max(end - room, room // 2), PIECE))
            self._pieces.append((room, np.zeros((wanted, self.dimension), np.float32)))
            room += wanted
        usable = [number for number, entry in enumerate(entries) if self._usable(entry)]
        if not usable:
            return
        packed = b"".join(entries[number].vector or b"" for number in usable)
        vectors = np.frombuffer(packed, "<f2").reshape(len(usable), self.dimension)
        rows = np.array(usable) + start
        for first, piece in self._pieces:
            inside = (rows >= first) & (rows < first + len(piece))
            if inside.any():
                piece[rows[inside] - first] = vectors[inside]
        self._columns["born"][rows] = self._change

    def _write_vector(self, row: int, vector: Floats) -> None:
        for first, piece in reversed(self._pieces):
            if row >= first:
                piece[row - first] = vector
                break
        if self._columns["born"][row] == NEVER:
            self._columns["born"][row] = self._change


def pack(vector: npt.NDArray[np.floating]) -> bytes:
    """A vector as an entry keeps it."""
    return np.asarray(vector, "<f2").tobytes()


def unpack(packed: bytes | None) -> Floats:
    """The inverse of :func:`pack`."""
    return np.frombuffer(packed or b"", "<f2").astype(np.float32)
