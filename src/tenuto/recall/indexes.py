"""The indexes in memory of the users who were asked about last, each brought up to date before it is used.

An index is a cache of the store and nothing else: what is new is read by its number (``seq``), and so is what was taken
away (``epoch`` tells that something was). The index is made anew when more went than the store's log of removals keeps,
when the user was erased and came again (``created_at``) and when the embedding model is another one. The sum of all
indexes stays below a limit; the least recently used one goes first. A view that a search already holds stays whole even
if its index is dropped meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

from tenuto.ports import Reader
from tenuto.recall.index import UserIndex
from tenuto.records.operations import EntryRows
from tenuto.records.scope import Revision

PAGE = 20_000
"""Entries read at once."""
WASTE = 0.5
"""Share of replaced rows from which an index is made anew."""


@dataclass(frozen=True, slots=True)
class Current:
    """An index, and where the user's data stood when it held all of it."""

    index: UserIndex
    at: Revision


@dataclass(slots=True)
class _Slot:
    """One user's place: the lock serialises refreshes, not searches."""

    lock: Lock = field(default_factory=Lock)
    index: UserIndex | None = None
    created_at: int | None = None
    epoch: int = -1
    seen: int = -1
    """The user's number when the index was refreshed: nothing to do while it stays the same."""
    current: Current | None = None
    nbytes: int = 0


class Indexes:
    """A bounded set of :class:`UserIndex`, safe to use from many threads."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._lock = Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._total = 0

    def last(self, user: str, model: str, dimension: int) -> Current | None:
        """The index as it was left. Whoever uses it must see that the user's data still stands where it stood."""
        current = self._slot(user).current
        if current is None or current.index.model != model or current.index.dimension != dimension:
            return None
        return current

    def fresh(self, reader: Reader, model: str, dimension: int) -> UserIndex:
        """The index of the reader's user, holding at least all that the reader sees."""
        slot = self._slot(reader.user)
        with slot.lock:
            user = reader.revision()
            if user is None:
                slot.index, slot.epoch, slot.seen, slot.created_at = UserIndex(model, dimension), -1, -1, None
                slot.current = None
                return slot.index
            index, gone = slot.index, self._gone(reader, slot, user)
            if index is None or gone is None or self._outdated(slot, index, user, model, dimension):
                index, gone = UserIndex(model, dimension), []
                slot.created_at, slot.epoch, slot.seen = user.created_at, -1, -1
            elif (user.seq, user.epoch) == (slot.seen, slot.epoch):
                slot.current = Current(index, user)
                return index
            if user.seq > slot.seen:
                self._read(reader, index, gone)
                slot.seen = user.seq
            slot.epoch = max(slot.epoch, user.epoch)
            slot.index, slot.current = index, Current(index, user)
            self._account(reader.user, slot, index.nbytes)
        return index

    @staticmethod
    def _outdated(slot: _Slot, index: UserIndex, user: Revision, model: str, dimension: int) -> bool:
        if slot.created_at != user.created_at:
            return True
        return index.model != model or index.dimension != dimension or (index.waste > WASTE and index.nbytes > 1 << 20)

    @staticmethod
    def _gone(reader: Reader, slot: _Slot, user: Revision) -> list[str] | None:
        """What was taken away since the last refresh; ``None`` where nobody knows any more."""
        return reader.removed_since(slot.seen) if 0 <= slot.epoch < user.epoch else []

    @staticmethod
    def _read(reader: Reader, index: UserIndex, gone: Sequence[str]) -> None:
        """Take what is new in place of what went; while one page is sorted in, the next is read."""
        rows = reader.entry_rows(index.seq, PAGE)
        if len(rows) < PAGE:
            index.take(rows, gone)
            return
        index.take(EntryRows.of([]), gone)
        with ThreadPoolExecutor(1, "tenuto-index") as sorting:
            while len(rows):
                taken = sorting.submit(index.take, rows)
                rows = reader.entry_rows(rows.seq[-1], PAGE)
                taken.result()

    def _slot(self, user: str) -> _Slot:
        with self._lock:
            slot = self._slots.get(user)
            if slot is None:
                slot = self._slots[user] = _Slot()
            self._slots.move_to_end(user)
            return slot

    def _account(self, user: str, slot: _Slot, nbytes: int) -> None:
        """Note a slot's size and let others go while the sum is over the limit."""
        with self._lock:
            if self._slots.get(user) is not slot:
                return
            self._total += nbytes - slot.nbytes
            slot.nbytes = nbytes
            while self._total > self.limit_bytes and len(self._slots) > 1:
                oldest = next(iter(self._slots))
                if oldest == user:
                    self._slots.move_to_end(user)
                    continue
                self._total -= self._slots.pop(oldest).nbytes

    def drop(self, user: str) -> None:
        """Forget a user's index at once."""
        with self._lock:
            slot = self._slots.pop(user, None)
            self._total -= slot.nbytes if slot else 0

    @property
    def nbytes(self) -> int:
        return self._total

    def __len__(self) -> int:
        return len(self._slots)
