"""JSON lines and CSV with one message each, under any of the usual column names; also lists of chat messages.

Needed: a text and a time. ``role`` defaults to user; ``id`` makes the import idempotent across files; ``thread`` keeps
conversations apart.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import msgspec

from tenuto.errors import InputError
from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Made, Options, listing, mapping, moment, string, tidy, words_of
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import decoded, json_items, lines, text_lines

TEXT = ("content", "text", "message", "body", "utterance")
TIME = ("at", "timestamp", "created_at", "date", "time", "datetime", "create_time", "sent_at")
ID = ("id", "message_id", "uuid", "guid", "external_id")
THREAD = ("thread", "session", "session_id", "conversation", "conversation_id", "thread_id", "chat", "chat_id")
SPEAKER = ("speaker", "name", "author", "from", "sender")
ROLES = {
    "user": Role.USER, "human": Role.USER, "me": Role.USER, "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT, "model": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL, "function": Role.TOOL,
}  # fmt: skip


def _jsonl(source: Source) -> list[Member]:
    return [member for member in source.ending(".jsonl", ".ndjson") if _first(member) is not None]


def _first(member: Member) -> dict[str, Any] | None:
    """The first line as an object; a first line that is longer than the head is taken on trust."""
    line, mark, _ = member.head().lstrip(b"\xef\xbb\xbf \r\n").partition(b"\n")
    try:
        found = json_line(line)
    except (ValueError, RecursionError):
        return {} if line.startswith(b"{") and not mark and len(line) > 10_000 else None
    return found if isinstance(found, dict) else None


def recognise_jsonl(source: Source) -> bool:
    return any(_messages_like(_first(member)) for member in _jsonl(source)[:4])


def _messages_like(found: dict[str, Any] | None) -> bool:
    if found is None or "tenuto" in found:
        return False
    keys = {str(key).lower() for key in found}
    return not keys or "messages" in keys or bool(keys & set(TEXT))


def parse_jsonl(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _jsonl(source):
        made = Made()
        for number, line in lines(source, member, options.policy.line_bytes):
            where = f"{member.name}:{number}"
            if isinstance(line, Skipped):
                yield line
                continue
            if not line.strip():
                continue
            try:
                item = json_line(line)
            except (ValueError, RecursionError) as error:
                yield Skipped(where=where, why=f"not JSON: {error}")
                continue
            yield from _item(item, where, made, options)


def json_line(line: bytes) -> Any:
    """One line; a second, more patient reading for other encodings and halves of surrogate pairs."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(decoded(line))


def recognise_json(source: Source) -> bool:
    members = source.ending(".json")
    if len(members) != 1:
        return False
    head = members[0].head().lstrip(b"\xef\xbb\xbf \t\r\n")
    has_text = any(f'"{name}"'.encode() in head for name in TEXT)
    has_time = any(f'"{name}"'.encode() in head for name in TIME)
    return head.startswith(b"[") and has_text and (has_time or b'"messages"' in head)


def parse_json(source: Source, options: Options) -> Iterator[Parsed]:
    for member in source.ending(".json"):
        made = Made()
        for number, item in enumerate(json_items(source, member, "item"), 1):
            yield from _item(item, f"{member.name}, item {number}", made, options)


def _item(item: Any, where: str, made: Made, options: Options) -> Iterator[Parsed]:
    """One message, or a conversation with a list of them."""
    row = _lower(item)
    if not isinstance(row.get("messages"), list):
        yield _message(row, where, made, options, None)
        return
    thread = _of(row, (*THREAD, "id", "title")) or where
    at = next((row[name] for name in TIME if row.get(name)), None)
    for number, message in enumerate(listing(row["messages"]), 1):
        inner = dict(_lower(message))
        if at is not None and not any(inner.get(name) for name in TIME):
            inner["at"] = at
        yield _message(inner, f"{where}, message {number}", made, options, thread)


def _lower(item: Any) -> dict[str, Any]:
    """A row with the names of its fields in small letters, which they mostly are."""
    row = mapping(item)
    if all(type(key) is str and key.islower() for key in row):
        return row
    return {str(key).lower(): value for key, value in row.items()}


def recognise_csv(source: Source) -> bool:
    for member in source.ending(".csv", ".tsv")[:4]:
        header = {name.lower().strip() for name in _header(member)[0]}
        if header & set(TEXT) and header & set(TIME):
            return True
    return False


def _header(member: Member) -> tuple[list[str], str]:
    first = next(iter(decoded(member.head(8192)).strip().splitlines()), "")
    delimiter = max((",", ";", "\t", "|"), key=first.count)
    try:
        return next(csv.reader(io.StringIO(first), delimiter=delimiter), []), delimiter
    except csv.Error:
        return [], delimiter


def parse_csv(source: Source, options: Options) -> Iterator[Parsed]:
    for member in source.ending(".csv", ".tsv"):
        names, delimiter = _header(member)
        keys, made, skips = [name.lower().strip() for name in names], Made(), list[Skipped]()

        def texts(member: Member = member, skips: list[Skipped] = skips) -> Iterator[str]:
            for _, line in text_lines(source, member, options.policy.line_bytes):
                if isinstance(line, Skipped):
                    skips.append(line)
                else:
                    yield line + "\n"

        csv.field_size_limit(options.policy.line_bytes)
        reader = csv.reader(texts(), delimiter=delimiter)
        try:
            for number, row in enumerate(reader):
                yield from skips
                skips.clear()
                if number and row:
                    where = f"{member.name}:{reader.line_num}"
                    yield _message(dict(zip(keys, row, strict=False)), where, made, options, None)
        except csv.Error as error:
            raise InputError(
                f"{member.name} line {reader.line_num}: {error}. What was imported before stays.", code="import_damaged"
            ) from error
        yield from skips


def _message(row: dict[str, Any], where: str, made: Made, options: Options, thread: str | None) -> Parsed:
    text = tidy(next((words_of(row[name]) for name in TEXT if row.get(name)), ""))
    at = next((found for name in TIME if name in row and (found := moment(row[name], options.zone)) is not None), None)
    if not text or at is None:
        return Skipped(where=where, why="no date" if text else "no text")
    speaker = _of(row, SPEAKER)
    word = (string(row.get("role")) or "").lower()
    if word and word not in ROLES:
        return Skipped(where=where, why=f"unknown role {word[:40]!r}")
    role = ROLES.get(word, Role.USER)
    mine = role is Role.USER and (not options.me or speaker is None or options.is_me(speaker))
    thread = thread or _of(row, THREAD) or "messages"
    metadata = row.get("metadata")
    return Said(
        id=_of(row, ID) or made.id(at.isoformat(), thread, speaker or word, text),
        content=text,
        role=role,
        at=at,
        thread=thread,
        title=_of(row, ("title",)),
        speaker=speaker,
        mine=mine,
        thinking=tidy(words_of(row.get("thinking") or row.get("reasoning"))) or None,
        model=_of(row, ("model",)),
        channel=_of(row, ("channel",)),
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _of(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        if (value := row.get(name)) is not None and (found := string(value)):
            return found[:200]
    return None


JSONL = Format("jsonl", "JSON lines", recognise_jsonl, parse_jsonl)
JSON = Format("json", "a JSON list of messages", recognise_json, parse_json)
CSV = Format("csv", "CSV", recognise_csv, parse_csv)
