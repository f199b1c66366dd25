"""Everything of one user that search sees, in memory: the same arrays whatever engine keeps the rows.

A row per entry: plain numbers (kind, time, persona, session, role, speaker, length, neighbours), its words in
:mod:`tenuto.recall.segments`, its vector in float32 pieces. :meth:`UserIndex.apply` takes what is new; :meth:`view`
hands out a :class:`View` that never changes, so that a search in one thread is not disturbed by a write in another:

- rows are only appended; a replaced entry gets a new row and its old row, like one that went, a time of death;
- ``born`` (of the vector) and ``died`` hold the number of the change, and a view believes only changes up to its own;
- what cannot be told by a number (a message that arrives out of order, or goes) is copied before it is changed.

Order never decides a score: an index that grew message by message answers as one that was loaded at once. What came
after what is told by the ids, which sort by the time of writing.
"""
# Over 400 lines: the arrays of one user and the rules that keep views of them unchanged, which must be read together.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from tenuto.recall.further import Further, FurtherStore
from tenuto.recall.segments import Words, WordStore
from tenuto.records.operations import Entry, EntryKind, EntryRows

KINDS = (EntryKind.MEMORY, EntryKind.MESSAGE, EntryKind.KEY_POINT, EntryKind.SUMMARY, EntryKind.TODO)
KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}
_CODE_OF_NAME = {kind.value: code for kind, code in KIND_CODE.items()}
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
Places = npt.NDArray[np.intp]
"""Rows in the type that NumPy looks them up with: another one would be converted at every use."""
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
    further: Further
    ids: Sequence[str]
    links: Mapping[int, tuple[str, ...]]
    names: Mapping[str, Mapping[str | None, int]]
    dimension: int
    any_dead: bool
    last_arrival: int
    kept: dict[Any, Any] = field(default_factory=dict)
    """What was computed of this view once and serves every query."""

    def column(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name][: self.size]

    def living(self) -> Bools:
        """Rows that were not replaced."""
        if "living" not in self.kept:
            self.kept["living"] = constant(self.column("died") > self.change)
        found: Bools = self.kept["living"]
        return found

    def has_vector(self) -> Bools:
        if "vectors" not in self.kept:
            self.kept["vectors"] = constant(self.column("born") <= self.change)
        found: Bools = self.kept["vectors"]
        return found

    def said(self) -> Bools:
        """Rows that are messages."""
        if "said" not in self.kept:
            self.kept["said"] = constant(self.column("kind") == MESSAGE)
        found: Bools = self.kept["said"]
        return found

    @property
    def speakers(self) -> bool:
        """Whether anybody here has a name."""
        return any(tuple(self.names["speaker"]))

    def code(self, table: str, name: str | None) -> int:
        """The number of a persona, session, role or speaker; ``-2`` for one that no row has."""
        return self.names[table].get(name, -2)

    def neighbours(self, distance: int) -> tuple[Places, Places]:
        """The message so many places before and after each one in its session; ``size`` where there is none."""
        name = ("neighbours", distance)
        if name not in self.kept:
            if distance == 1:
                chains = [np.array(self.column(side), np.intp) for side in ("previous", "next")]
                for chain in chains:
                    chain[(chain < 0) | (chain >= self.size)] = self.size
            else:
                ends = np.full(1, self.size, np.intp)
                one, far = self.neighbours(1), self.neighbours(distance - 1)
                chains = [np.concatenate((step, ends))[reached] for step, reached in zip(one, far, strict=True)]
            self.kept[name] = (chains[0], chains[1])
        found: tuple[Places, Places] = self.kept[name]
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
        """The cosine of every row's best passage with ``query``, both of length 1; rows without a vector get 0."""
        found = np.zeros(self.size, np.float32)
        for start, piece in self.pieces:
            end = min(start + len(piece), self.size)
            if end > start:
                products(piece[: end - start], query, out=found[start:end])
        self.further.raise_to_best(found, query)
        if len(waiting := self.unembedded(dead=True)):
            found[waiting] = 0.0
        return found

    def best_passage(self, row: int, query: Floats) -> int | None:
        """Which passage of a row is nearest to ``query``; ``None`` where it has only one."""
        others = self.further.of(row)
        if not len(others):
            return None
        own = self.vectors(np.array([row]))
        return int(np.argmax(np.concatenate((own, others)) @ query))

    def vectors(self, rows: npt.NDArray[np.integer]) -> Floats:
        """The vectors of the first passages of some rows, in their order."""
        found = np.zeros((len(rows), self.dimension), np.float32)
        for start, piece in self.pieces:
            inside = (rows >= start) & (rows < start + len(piece))
            found[inside] = piece[rows[inside] - start]
        found[~self.has_vector()[rows]] = 0.0
        return found

    def unembedded(self, *, dead: bool = False) -> Places:
        """Rows that wait for a vector, newest first; the replaced ones only if wanted."""
        if "waiting" not in self.kept:
            self.kept["waiting"] = np.flatnonzero(~self.has_vector())[::-1]
        rows: Places = self.kept["waiting"]
        return rows if dead else rows[self.living()[rows]]


def constant(array: Bools) -> Bools:
    """The same array, which nobody may change from now on."""
    array.flags.writeable = False
    return array


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
        self._further = FurtherStore(dimension)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._links: dict[int, tuple[str, ...]] = {}
        self._names: dict[str, dict[str | None, int]] = {
            table: {None: NONE} for table in ("persona", "session", "role", "speaker")
        }
        self._last: dict[int, int] = {}
        self._awaited: dict[str, list[int]] = {}
        self._written: dict[int, int] = {}
        self._newest = ""
        self._arrived = 0
        self._disordered = False
        self._thinned = False
        self._view: View | None = None

    # --- reading ------------------------------------------------------------------------------------------------------

    def view(self) -> View:
        with self._lock:
            if self._view is None:
                if self._disordered or self._thinned:
                    self._order()
                self._view = View(
                    size=self._size,
                    change=self._change,
                    alive=self._alive,
                    total_length=self._total_length,
                    columns=dict(self._columns),
                    words=self._words.words(),
                    pieces=tuple(self._pieces),
                    further=self._further.view(),
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
        vectors = sum(piece.nbytes for _, piece in self._pieces) + self._further.nbytes
        return arrays + self._words.nbytes + vectors + 200 * self._size

    @property
    def waste(self) -> float:
        """Share of rows that were replaced or went."""
        return 1 - self._alive / self._size if self._size else 0.0

    # --- writing ------------------------------------------------------------------------------------------------------

    def apply(self, entries: Iterable[Entry]) -> None:
        """:meth:`take`, of entries one by one."""
        self.take(EntryRows.of(list(entries)))

    def take(self, rows: EntryRows, gone: Iterable[str] = ()) -> None:
        """Take entries in the order of their ``seq``: new ones, changed ones, and vectors that came later.

        First of all those that ``gone`` names are taken away; one that came again since is among the entries.
        """
        lost = {id: row for id in gone if (row := self._rows.get(id)) is not None}
        if not len(rows) and not lost:
            return
        with self._lock:
            self._change += 1
            self.seq = max(self.seq, max(rows.seq, default=0))
            unlinked = self._lose(lost)
            fresh, disturbed = self._fresh(rows)
            unlinked |= disturbed
            if len(fresh):
                unlinked |= self._append(fresh)
            if unlinked - {NONE}:
                self._relink(unlinked - {NONE})
            self._view = None

    def _lose(self, lost: Mapping[str, int]) -> set[int]:
        """End the rows of entries that went; the sessions that lost a message."""
        unlinked = set()
        for id, row in lost.items():
            del self._rows[id]
            unlinked.add(self._bury(row))
            self._thinned |= bool(self._columns["kind"][row] == MESSAGE)
        self._date(lost)
        return unlinked

    def _fresh(self, rows: EntryRows) -> tuple[EntryRows, set[int]]:
        """The rows that must be appended, in the order of their ids, and the sessions that lost a message."""
        unlinked: set[int] = set()
        fresh: dict[str, int] = {}
        if self._rows.keys().isdisjoint(rows.id):
            fresh = dict(zip(rows.id, range(len(rows)), strict=True))
        else:
            for place, id in enumerate(rows.id):
                row = self._rows.get(id)
                if row is not None and id not in fresh:
                    if self._unchanged(row, rows, place):
                        if self._usable(rows, place):
                            self._write_vector(row, unpack(rows.vector[place]).reshape(-1, self.dimension))
                        continue
                    unlinked.add(self._bury(row))
                fresh[id] = place
        ids = sorted(fresh)
        if len(ids) == len(rows) and all(map(eq, ids, rows.id)):
            return rows, unlinked
        return rows.chosen([fresh[id] for id in ids]), unlinked

    def set_vectors(self, vectors: Mapping[str, Floats]) -> None:
        """Vectors (a row per passage) for what has none, in memory only: what was embedded to answer a query.

        They are made as exact as the store keeps them, so that scores do not change when they come from there.
        """
        with self._lock:
            self._change += 1
            for id, vector in vectors.items():
                row = self._rows.get(id)
                if row is not None and self._columns["born"][row] == NEVER:
                    self._write_vector(row, unpack(pack(vector)).reshape(-1, self.dimension))
            self._view = None

    def _usable(self, rows: EntryRows, place: int) -> bool:
        """Whether a row has the vectors of one or several passages by the model of this index."""
        size = len(rows.vector[place] or b"")
        return size > 0 and rows.model[place] == self.model and size % (2 * self.dimension) == 0

    def _unchanged(self, row: int, rows: EntryRows, place: int) -> bool:
        """Whether at most the vector is new. The same words have the same vector, so one that is there stays right."""
        columns, links = self._columns, rows.links[place]
        return bool(
            columns["digest"][row] == hash(rows.tokens[place])
            and (columns["at"][row] == rows.at[place] or (rows.kind[place] in DISTILLED and links))
            and columns["persona"][row] == self._code("persona", rows.persona[place])
            and columns["session"][row] == self._code("session", rows.session_id[place])
            and columns["speaker"][row] == self._code("speaker", rows.speaker[place])
            and " ".join(self._links.get(row, ())) == links
        )

    def _code(self, table: str, name: str | None) -> int:
        return self._names[table].setdefault(name, len(self._names[table]))

    def _codes(self, table: str, column: Sequence[str | None]) -> Ints:
        for name in dict.fromkeys(column):
            self._code(table, name)
        return np.fromiter(map(self._names[table].__getitem__, column), np.int32, len(column))

    def _bury(self, row: int) -> int:
        """End a row; the session whose chain it leaves, or NONE."""
        self._columns["died"][row] = self._change
        self._alive -= 1
        self._total_length -= float(self._columns["length"][row])
        return int(self._columns["session"][row]) if self._columns["kind"][row] == MESSAGE else NONE

    def _append(self, rows: EntryRows) -> set[int]:
        """New rows at the end, given in the order of their ids; the sessions whose messages did not come in order."""
        count = len(rows)
        start, end = self._size, self._size + count
        self._grow(end)
        columns = self._columns
        lengths = np.fromiter(map(len, rows.tokens), np.int64, count) // 8
        columns["length"][start:end] = lengths
        columns["at"][start:end] = rows.at
        columns["kind"][start:end] = np.fromiter(map(_CODE_OF_NAME.__getitem__, rows.kind), np.int8, count)
        columns["digest"][start:end] = np.fromiter(map(hash, rows.tokens), np.int64, count)
        columns["persona"][start:end] = self._codes("persona", rows.persona)
        columns["session"][start:end] = self._codes("session", rows.session_id)
        columns["role"][start:end] = self._codes("role", rows.role)
        columns["speaker"][start:end] = self._codes("speaker", rows.speaker)
        self._ids.extend(rows.id)
        self._rows.update(zip(rows.id, range(start, end), strict=True))
        for row, links in enumerate(rows.links, start):
            if links:
                self._links[row] = tuple(links.split())
                if rows.kind[row - start] in DISTILLED:
                    self._said(row, self._links[row])
        said = np.flatnonzero(columns["kind"][start:end] == MESSAGE) + start
        self._number(said)
        disordered = self._chain(said)
        if self._awaited:
            self._date([self._ids[row] for row in said.tolist()])
        hashes = np.frombuffer(b"".join(rows.tokens), "<u8").astype(np.uint64, copy=False)
        self._words.add(hashes, np.repeat(np.arange(start, end, dtype=np.int32), lengths), count)
        self._write_vectors(start, rows)
        self._size = end
        self._alive += count
        self._total_length += float(lengths.sum())
        return disordered

    def _said(self, row: int, links: tuple[str, ...]) -> None:
        """Date a row by the last message that it stands for, as far as that is known."""
        for id in links:
            self._awaited.setdefault(id, []).append(row)
        self._written[row] = int(self._columns["at"][row])
        self._columns["at"][row] = self._moment(row)

    def _moment(self, row: int) -> int:
        at = self._columns["at"]
        known = (int(at[self._rows[id]]) for id in self._links[row] if id in self._rows)
        return max(known, default=self._written[row])

    def _date(self, ids: Iterable[str]) -> None:
        """Date the rows that stand for messages which came or went now, on a copy: readers keep the old dates."""
        stale = {row for id in ids for row in self._awaited.get(id, ())}
        if stale:
            self._columns["at"] = self._columns["at"].copy()
            for row in stale:
                self._columns["at"][row] = self._moment(row)

    def _number(self, said: npt.NDArray[np.intp]) -> None:
        """Number messages in the order of arrival; after one that came late or went, all anew when next read."""
        if not len(said):
            return
        if self._ids[said[0]] > self._newest:
            self._columns["arrival"][said] = np.arange(self._arrived, self._arrived + len(said))
            self._arrived += len(said)
        else:
            self._disordered = True
        self._newest = max(self._newest, self._ids[said[-1]])

    def _order(self) -> None:
        columns = self._columns
        rows = np.flatnonzero((columns["kind"][: self._size] == MESSAGE) & (columns["died"][: self._size] == NEVER))
        if len(rows):
            ids = [self._ids[row] for row in rows.tolist()] if self._disordered else columns["arrival"][rows]
            rows = rows[np.argsort(np.array(ids))]
        columns["arrival"] = np.full_like(columns["arrival"], NONE)
        columns["arrival"][rows] = np.arange(len(rows))
        self._arrived = len(rows)
        self._disordered = self._thinned = False

    def _chain(self, said: npt.NDArray[np.intp]) -> set[int]:
        """Hang messages, in the order of their ids, behind the last ones of their sessions.

        The sessions where one belongs before another that is there already: they are to be chained anew.
        """
        if not len(said):
            return set()
        columns = self._columns
        rows = said[np.argsort(columns["session"][said], kind="stable")]
        sessions, at = columns["session"][rows], columns["at"][rows]
        same = sessions[1:] == sessions[:-1]
        disordered = set(sessions[1:][same & (at[1:] < at[:-1])].tolist())
        columns["previous"][rows[1:][same]] = rows[:-1][same]
        columns["next"][rows[:-1][same]] = rows[1:][same]
        begins = np.flatnonzero(np.append(True, ~same))
        ends = np.append(begins[1:], len(rows)) - 1
        for session, first, last in zip(
            sessions[begins].tolist(), rows[begins].tolist(), rows[ends].tolist(), strict=True
        ):
            before = self._last.get(session)
            self._last[session] = last
            if before is None:
                continue
            if (columns["at"][first], self._ids[first]) < (columns["at"][before], self._ids[before]):
                disordered.add(session)
            columns["previous"][first] = before
            columns["next"][before] = first
        return disordered

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

    def _write_vectors(self, start: int, rows: EntryRows) -> None:
        end = start + len(rows)
        room = self._pieces[-1][0] + len(self._pieces[-1][1]) if self._pieces else 0
        while room < end:
            wanted = max(64, end - room if not self._pieces else min(max(end - room, room // 2), PIECE))
            self._pieces.append((room, np.zeros((wanted, self.dimension), np.float32)))
            room += wanted
        usable: Sequence[int] = range(len(rows))
        if set(rows.model) != {self.model} or {len(vector or b"") for vector in rows.vector} != {2 * self.dimension}:
            usable = [place for place in usable if self._usable(rows, place)]
        if not usable:
            return
        width = 2 * self.dimension
        packed = b"".join((rows.vector[place] or b"")[:width] for place in usable)
        vectors = np.frombuffer(packed, "<f2").reshape(len(usable), self.dimension)
        places = np.array(usable) + start
        for first, piece in self._pieces:
            low, high = np.searchsorted(places, (first, first + len(piece)))
            if low == high:
                continue
            begin, end = places[low] - first, places[high - 1] - first + 1
            side_by_side = end - begin == high - low
            piece[slice(begin, end) if side_by_side else places[low:high] - first] = vectors[low:high]
        self._columns["born"][places] = self._change
        for place in usable:
            vector = rows.vector[place] or b""
            if len(vector) > width:
                self._further.add(start + place, unpack(vector[width:]).reshape(-1, self.dimension))

    def _write_vector(self, row: int, vectors: Floats) -> None:
        """The vectors of a row's passages; the same words have the same ones, so those that are there stay."""
        if self._columns["born"][row] != NEVER:
            return
        for first, piece in reversed(self._pieces):
            if row >= first:
                piece[row - first] = vectors[0]
                break
        self._further.add(row, vectors[1:])
        self._columns["born"][row] = self._change


def pack(vector: npt.NDArray[np.floating]) -> bytes:
    """A vector as an entry keeps it."""
    return np.asarray(vector, "<f2").tobytes()


def unpack(packed: bytes | None) -> Floats:
    """The inverse of :func:`pack`."""
    return np.frombuffer(packed or b"", "<f2").astype(np.float32)
