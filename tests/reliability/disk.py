"""A disk that can be cut off or run full: virtual file systems for SQLite that pass everything on to the real one.

:class:`Recorder` notes every write, truncation, sync and removal, so that what a power cut would have left can be put
together afterwards for any moment: what was synced is there, and of the rest any part may be. :class:`Faults` makes the
n-th operation fail, once or from then on, as a full or a broken disk would.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512


class _File(apsw.VFSFile):
    """A file that tells its file system what is done to it."""

    def __init__(self, base: str, name: Any, flags: list[int], tell: Callable[..., None]) -> None:
        super().__init__(base, name, flags)
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._tell = tell

    def xWrite(self, data: bytes, offset: int) -> None:
        self._tell("write", self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._tell("truncate", self._name, size, b"")
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._tell("sync", self._name, 0, b"")
        super().xSync(flags)


class _Disk(apsw.VFS):
    """Stands in for the default file system while it is in use."""

    def __init__(self, name: str) -> None:
        self._base = apsw.vfs_names()[0]
        self._label = name
        super().__init__(name, self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        if name is not None:
            self.tell("open", name.filename() if isinstance(name, apsw.URIFilename) else str(name), 0, b"")
        return _File(self._base, name, flags, self.tell)

    def xDelete(self, name: str, sync: bool) -> None:
        self.tell("delete", name, 0, b"")
        super().xDelete(name, sync)

    def tell(self, what: str, name: str, number: int, data: bytes) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Step:
    """Something that was done to a disk, or a note of the one who used it."""

    what: str
    name: str = ""
    number: int = 0
    data: bytes = b""


class Recorder(_Disk):
    def __init__(self) -> None:
        self.steps: list[Step] = []
        super().__init__("recorder")

    def tell(self, what: str, name: str, number: int, data: bytes) -> None:
        self.steps.append(Step(what, Path(name).name, number, data))

    def note(self, words: str) -> None:
        """Such as: this was acknowledged."""
        self.steps.append(Step("note", words))


class Fault(Exception):
    """Something that was injected."""


class Faults(_Disk):
    """Counts the operations that can fail; ``arm`` makes one of them fail."""

    KINDS = ("write", "sync", "truncate", "open", "delete")

    def __init__(self) -> None:
        self.count = 0
        self.fail_at = 0
        self.for_ever = False
        self.error: type[Exception] = apsw.FullError
        self.hits = 0
        super().__init__("faults")

    def arm(self, at: int, *, for_ever: bool, error: type[Exception]) -> None:
        self.count, self.hits = 0, 0
        self.fail_at, self.for_ever, self.error = at, for_ever, error

    def disarm(self) -> None:
        self.fail_at = 0

    def tell(self, what: str, name: str, number: int, data: bytes) -> None:
        self.count += 1
        if self.fail_at and (self.count == self.fail_at or (self.for_ever and self.count > self.fail_at)):
            self.hits += 1
            error = apsw.IOError if what in ("sync", "truncate") and self.error is apsw.FullError else self.error
            raise apsw.CantOpenError("no more files") if what == "open" else error("injected")


@contextmanager
def in_use(make: Callable[[], Any]) -> Iterator[Any]:
    """A disk as SQLite's default, until the block ends."""
    disk = make()
    try:
        yield disk
    finally:
        disk.unregister()


class Cuts:
    """Power cuts at rising moments of a recording: what the disk would hold then."""

    def __init__(self, steps: list[Step], dice: random.Random) -> None:
        self._steps = steps
        self._dice = dice
        self._at = 0
        self._kept: dict[str, bytearray] = {}
        self._loose: dict[str, list[Step]] = {}
        self.notes: list[str] = []

    def until(self, moment: int) -> None:
        """Go on to just before the step with this number."""
        for step in self._steps[self._at : moment]:
            self._do(step)
        self._at = max(self._at, moment)

    def write(self, folder: Path) -> None:
        """The files as they are after the cut: what was synced, and any part of what was not."""
        for name in {*self._kept, *self._loose}:
            data = bytearray(self._kept.get(name, b""))
            for step in self._loose.get(name, []):
                if self._dice.random() < 0.5:
                    self._apply(data, step, torn=self._dice.random() < 0.2)
            if name in self._kept or data:
                (folder / name).write_bytes(data)

    def _do(self, step: Step) -> None:
        if step.what == "note":
            self.notes.append(step.name)
        elif step.what in ("write", "truncate"):
            self._loose.setdefault(step.name, []).append(step)
        elif step.what == "sync":
            data = self._kept.setdefault(step.name, bytearray())
            for loose in self._loose.pop(step.name, []):
                self._apply(data, loose)
        elif step.what == "delete":
            self._kept.pop(step.name, None)
            self._loose.pop(step.name, None)

    def _apply(self, data: bytearray, step: Step, *, torn: bool = False) -> None:
        if step.what == "truncate":
            del data[step.number :]
            return
        whole = step.data
        if torn and len(whole) > SECTOR:
            whole = whole[: SECTOR * self._dice.randrange(1, (len(whole) + SECTOR - 1) // SECTOR)]
        end = step.number + len(whole)
        if len(data) < end:
            data.extend(bytes(end - len(data)))
        data[step.number : end] = whole
