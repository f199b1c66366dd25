"""The Messages database of a Mac (``chat.db``), read without changing it.

Newer systems keep the text only inside ``attributedBody``, a serialised object: the text is its first string. Times are
nanoseconds (older: seconds) since 2001. The database must be a file on the disk; one that another program holds locked
is a clear error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from tenuto.errors import InputError
from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Options, tidy
from tenuto.transfer.source import Member, Source

MAGIC = b"SQLite format 3\x00"
SINCE = datetime(2001, 1, 1, tzinfo=UTC)
WAIT_MILLISECONDS = 2000
QUERY = """
SELECT m.guid, m.text, {body}, m.date, m.is_from_me, h.id, c.guid, c.display_name, c.chat_identifier
FROM message AS m
LEFT JOIN handle AS h ON h.ROWID = m.handle_id
LEFT JOIN chat_message_join AS j ON j.message_id = m.ROWID
LEFT JOIN chat AS c ON c.ROWID = j.chat_id
{where}
ORDER BY c.ROWID, m.date, m.ROWID
"""


def _members(source: Source) -> list[Member]:
    return [member for member in source.members if member.name.lower().endswith(".db") and member.head(16) == MAGIC]


def recognise(source: Source) -> bool:
    return any(member.path is not None and "message" in _tables(member.path) for member in _members(source)[:4])


def _tables(path: Path) -> set[str]:
    try:
        with closing(_opened(path)) as database:
            return {row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    except apsw.Error:
        return {"message"} if path.name == "chat.db" else set()


def _opened(path: Path) -> apsw.Connection:
    uri = f"file:{path.resolve().as_posix().replace('?', '%3f').replace('#', '%23')}?mode=ro"
    database = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    database.set_busy_timeout(WAIT_MILLISECONDS)
    database.execute("PRAGMA trusted_schema = OFF").fetchall()
    return database


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        if member.path is None:
            yield Skipped(where=member.name, why="a database inside an archive: unpack it first")
            continue
        try:
            yield from _database(source, member, member.path)
        except (apsw.BusyError, apsw.LockedError) as error:
            raise InputError(
                f"{member.name} is locked by another program: quit Messages, or copy the file (with its -wal) and "
                "import the copy. What was imported before stays.",
                code="import_locked",
            ) from error
        except apsw.Error as error:
            raise InputError(
                f"{member.name} cannot be read as a Messages database: {error}. What was imported before stays.",
                code="import_damaged",
            ) from error


def _database(source: Source, member: Member, path: Path) -> Iterator[Parsed]:
    with closing(_opened(path)) as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(message)")}
        body = "m.attributedBody" if "attributedBody" in columns else "NULL"
        where = "WHERE coalesce(m.associated_message_type, 0) = 0" if "associated_message_type" in columns else ""
        total = max(1, next(iter(database.execute("SELECT count(*) FROM message")))[0])
        for row in database.execute(QUERY.format(body=body, where=where)):
            source.read = min(source.size, source.read + member.size // total)
            yield _message(row)


def _message(row: tuple[Any, ...]) -> Parsed:
    guid, text, body, date, from_me, handle, chat, display, identifier = row
    content = tidy(text) or tidy(attributed_text(body) if isinstance(body, bytes) else "")
    content = content.replace("\ufffc", "").strip()
    if not guid or not content or not isinstance(date, (int, float)) or not date:
        return Skipped(where=f"message {guid}", why="no date" if content else "no text")
    try:
        at = SINCE + (timedelta(microseconds=date / 1000) if date > 10**11 else timedelta(seconds=date))
    except OverflowError:
        return Skipped(where=f"message {guid}", why="no date")
    thread = tidy(chat) or tidy(identifier) or tidy(handle) or "chat"
    return Said(
        id=str(guid),
        content=content,
        role=Role.USER,
        at=at,
        thread=thread,
        title=tidy(display) or tidy(identifier) or None,
        speaker=None if from_me else tidy(handle) or None,
        mine=bool(from_me),
        channel="imessage",
    )


def attributed_text(body: bytes) -> str:
    """The string inside a serialised ``NSAttributedString``; empty where it cannot be found."""
    start = body.find(b"NSString")
    if start < 0:
        return ""
    mark = body.find(b"\x2b", start + len(b"NSString"), start + len(b"NSString") + 8)
    if mark < 0 or mark + 2 > len(body):
        return ""
    size, place = body[mark + 1], mark + 2
    if size in (0x81, 0x82, 0x83):
        width = {0x81: 2, 0x82: 4, 0x83: 8}[size]
        size, place = int.from_bytes(body[place : place + width], "little"), place + width
    return body[place : place + size].decode("utf-8", "replace")


FORMAT = Format("imessage", "Messages on a Mac (chat.db)", recognise, parse)
