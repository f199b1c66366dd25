"""A file, a folder or a zip archive as a list of members that can be read, and nothing else.

What comes from outside names its own paths, sizes and kinds, so none of them is believed: members are only ever read,
never unpacked to the disk; names that climb out, links, encrypted members and bombs are left out and listed. An archive
inside an archive is not opened.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from tenuto.errors import InputError
from tenuto.policy import ImportPolicy
from tenuto.records.transfer import Skipped

HEAD = 64 * 1024
BOMB = 64 * 1024**2
ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Member:
    """One file. ``name`` is its path inside the source; ``path`` its place on the disk where it has one."""

    name: str
    size: int
    opener: Callable[[], IO[bytes]]
    path: Path | None = None

    @property
    def base(self) -> str:
        return self.name.rpartition("/")[2]

    def open(self) -> IO[bytes]:
        return self.opener()

    def head(self, size: int = HEAD) -> bytes:
        """The first bytes, to recognise a format by."""
        try:
            with self.open() as file:
                return file.read(size)
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
            return b""


@dataclass(slots=True)
class Source:
    """What there is to read. ``skips`` lists what was left out; ``read`` counts bytes, for a progress bar."""

    name: str
    members: list[Member]
    skips: list[Skipped] = field(default_factory=list)
    read: int = 0
    closing: Callable[[], None] = lambda: None

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members)

    def named(self, *names: str) -> list[Member]:
        """Members whose file name is one of these, whatever folder they are in."""
        return [member for member in self.members if member.base.lower() in names]

    def ending(self, *endings: str) -> list[Member]:
        return [member for member in self.members if member.name.lower().endswith(endings)]

    def stream(self, member: Member) -> IO[bytes]:
        """Open a member for reading from start to end, counting."""
        return io.BufferedReader(_Counting(self, member), 1 << 18)

    def fingerprint(self) -> str:
        """Says whether two sources are the same: names, sizes, and both ends of the first few members."""
        digest = blake2b(digest_size=10)
        for member in sorted(self.members, key=lambda member: member.name)[:1000]:
            digest.update(f"{member.name if len(self.members) > 1 else ''}\x00{member.size}\x00".encode())
        for member in self.members[:16]:
            digest.update(member.head(4096))
        return digest.hexdigest()


class _Counting(io.RawIOBase):
    """Reads a member; every byte counts, and a damaged archive is one clear error."""

    def __init__(self, source: Source, member: Member) -> None:
        self._source = source
        self._member = member
        self._file = member.open()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise damaged(self._member.name, error) from error
        buffer[: len(data)] = data
        self._source.read += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def damaged(name: str, error: Exception) -> InputError:
    return InputError(
        f"{name} is damaged or cut off ({error}): download or copy it again. What was imported before stays, and "
        "importing the whole file later goes on from there.",
        code="import_damaged",
    )


@contextmanager
def opened(path: str | os.PathLike[str], policy: ImportPolicy) -> Iterator[Source]:
    """The source behind a path."""
    place = Path(path)
    try:
        kind = place.stat().st_mode
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror}.", code="import_unreadable") from error
    if stat.S_ISDIR(kind):
        yield _folder(place)
    elif not stat.S_ISREG(kind):
        raise InputError(f"{place} is neither a file nor a folder.", code="import_unreadable")
    else:
        try:
            with place.open("rb") as file:
                magic = file.read(4)
        except OSError as error:
            raise InputError(f"{place} cannot be read: {error.strerror}.", code="import_unreadable") from error
        if magic == ZIP_MAGIC or place.suffix.lower() == ".zip":
            source = _archive(place, policy)
            try:
                yield source
            finally:
                source.closing()
        else:
            yield Source(place.name, [_on_disk(place, place.name)])


def _on_disk(path: Path, name: str) -> Member:
    return Member(name, path.stat().st_size, lambda: path.open("rb"), path)


def _folder(place: Path) -> Source:
    source = Source(place.name, [])
    for folder, folders, names in os.walk(place, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(folder) / name
            inside = path.relative_to(place).as_posix()
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                source.skips.append(Skipped(where=inside, why="a symbolic link is not followed"))
            elif stat.S_ISREG(mode):
                source.members.append(_on_disk(path, inside))
        for name in list(folders):
            if (Path(folder) / name).is_symlink():
                source.skips.append(Skipped(where=name, why="a symbolic link is not followed"))
    return source


def _archive(place: Path, policy: ImportPolicy) -> Source:
    try:
        archive = zipfile.ZipFile(place)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise damaged(place.name, error) from error
    source = Source(place.name, [], closing=archive.close)
    infos = archive.infolist()
    if len(infos) > policy.zip_members or sum(info.file_size for info in infos) > policy.zip_bytes:
        archive.close()
        raise InputError(
            f"{place.name} claims to hold {len(infos):,} files of {sum(info.file_size for info in infos):,} bytes: "
            "that is more than an export holds. Unpack it yourself and import the folder if it is real.",
            code="import_bomb",
        )
    for info in infos:
        if info.is_dir():
            continue
        if why := _refused(info, policy):
            source.skips.append(Skipped(where=info.filename[:200], why=why))
        else:
            source.members.append(Member(info.filename, info.file_size, _reader(archive, info)))
    return source


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def open_member() -> IO[bytes]:
        try:
            return archive.open(info)
        except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise damaged(info.filename, error) from error

    return open_member


def _refused(info: zipfile.ZipInfo, policy: ImportPolicy) -> str | None:
    """Why a member of an archive is not read."""
    parts = info.filename.replace("\\", "/").split("/")
    if info.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
        return "its name climbs out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a symbolic link is not followed"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.file_size > BOMB and info.file_size > policy.zip_ratio * max(info.compress_size, 1):
        return f"it unpacks to {info.file_size // max(info.compress_size, 1):,} times its size"
    if info.filename.lower().endswith(".zip"):
        return "an archive inside an archive is not opened"
    return None
