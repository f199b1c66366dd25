"""Reading large files a little at a time: bounded lines, and the items of a JSON array wherever it lies in a document.

Memory stays flat whatever the size: a line or an item that is longer than the limit is passed over, not held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

import ijson

from tenuto.errors import InputError
from tenuto.records.transfer import Skipped
from tenuto.transfer.source import Member, Source

DEEPEST = 256
"""Levels of a JSON document."""
_ESCAPES = re.compile(rb"\\.", re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def lines(source: Source, member: Member, limit: int) -> Iterator[tuple[int, bytes | Skipped]]:
    """(number, line without its end) from 1; a line over the limit comes as a skip."""
    with source.stream(member) as file:
        number = 0
        while line := file.readline(limit + 1):
            number += 1
            if len(line) <= limit or line.endswith(b"\n"):
                yield number, line.rstrip(b"\r\n")
                continue
            dropped = len(line)
            while (more := file.readline(1 << 20)) and not more.endswith(b"\n"):
                dropped += len(more)
            why = f"a line of over {(dropped + len(more)) // 2**20} MiB"
            yield number, Skipped(where=f"{member.name}:{number}", why=why)


def text_lines(source: Source, member: Member, limit: int) -> Iterator[tuple[int, str | Skipped]]:
    """Lines as text, in whatever encoding the file turns out to have; single bad bytes are replaced."""
    head = member.head(4096)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield from _utf16_lines(source, member, limit)
        return
    for number, line in lines(source, member, limit):
        yield number, line if isinstance(line, Skipped) else decoded(line)


def _utf16_lines(source: Source, member: Member, limit: int) -> Iterator[tuple[int, str | Skipped]]:
    import io

    with source.stream(member) as file, io.TextIOWrapper(file, "utf-16", errors="replace", newline=None) as text:
        number = 0
        while line := text.readline(limit):
            number += 1
            yield number, line.rstrip("\r\n")


def decoded(data: bytes) -> str:
    """Text from bytes of unknown encoding: UTF-16 where marked, UTF-8, else Windows-1252, and never an error."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def json_items(source: Source, member: Member, prefix: str) -> Iterator[Any]:
    """The items at a prefix such as ``item`` (a top-level array) or ``messages.item``, one after another."""
    with source.stream(member) as file:
        try:
            yield from ijson.items(_Shallow(_without_bom(file), member.name), prefix, use_float=True)
        except ijson.JSONError as error:
            raise not_json(member.name, error) from error
        except (UnicodeDecodeError, OverflowError) as error:
            raise not_json(member.name, error) from error


def json_events(source: Source, member: Member) -> Iterator[tuple[str, str, Any]]:
    """(prefix, event, value) over a whole document, for formats whose items need what stands around them."""
    with source.stream(member) as file:
        try:
            yield from ijson.parse(_Shallow(_without_bom(file), member.name), use_float=True)
        except ijson.JSONError as error:
            raise not_json(member.name, error) from error
        except (UnicodeDecodeError, OverflowError) as error:
            raise not_json(member.name, error) from error


class _Shallow:
    """Passes JSON on and refuses nesting that no export has: the parser's time grows with the square of the depth."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._depth = 0
        self._inside = False
        self._escaped = False

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._look(data)
        return data

    def _look(self, data: bytes) -> None:
        if self._escaped:
            data = data[1:]
        bare = _ESCAPES.sub(b"", data)
        self._escaped = bare.endswith(b"\\")
        for part in bare.split(b'"'):
            if not self._inside and part:
                for bracket in part.translate(None, _NOT_BRACKETS):
                    self._depth += 1 if bracket in b"[{" else -1
                    if self._depth > DEEPEST:
                        raise InputError(f"{self._name} is nested too deeply to be an export.", code="import_damaged")
            self._inside = not self._inside
        self._inside = not self._inside


def not_json(name: str, error: Exception) -> InputError:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return InputError(
        f"{name} is not valid JSON, or is cut off: {reason}. What was imported before stays; importing the whole file "
        "later goes on from there.",
        code="import_damaged",
    )


def _without_bom(file: IO[bytes]) -> IO[bytes]:
    start = file.peek(3)[:3] if hasattr(file, "peek") else b""
    if start == b"\xef\xbb\xbf":
        file.read(3)
    return file
