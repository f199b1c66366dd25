"""SMS Backup & Restore's XML: ``sms`` and ``mms`` elements.

The program writes emoji as two numbered halves of a surrogate pair, which is not XML; they are joined before the parser
sees them. A document type with entities is refused: no backup has one, and it is how XML bombs are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any
from xml.etree import ElementTree

from tenuto.errors import InputError
from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Made, Options, moment, tidy
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import lines

HALVES = re.compile(rb"&#(5[5-6]\d{3});&#(5[6-7]\d{3});")
LONE = re.compile(rb"&#(?:0|5[5-7]\d{3});")
RECEIVED = "1"
CHUNK = 1 << 16
"""Bytes that the parser is given at least."""


def _members(source: Source) -> list[Member]:
    return source.ending(".xml")


def recognise(source: Source) -> bool:
    return any(b"<smses" in member.head(8192) for member in _members(source)[:8])


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        if b"<smses" in member.head(8192):
            yield from _document(source, member, options)


def _document(source: Source, member: Member, options: Options) -> Iterator[Parsed]:
    if b"<!ENTITY" in member.head() or b"<!DOCTYPE" in member.head():
        raise InputError(
            f"{member.name} declares a document type: a backup of messages has none.", code="import_refused"
        )
    made = Made()
    root: ElementTree.Element | None = None
    try:
        for found in _elements(source, member, options):
            if isinstance(found, Skipped):
                yield found
            elif root is None:
                root = found
            elif found.tag in ("sms", "mms"):
                yield _message(found, member.name, made, options)
                root.clear()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise InputError(
            f"{member.name} is damaged or cut off ({error}). What was imported before stays; importing the whole file "
            "later goes on from there.",
            code="import_damaged",
        ) from error


def _elements(source: Source, member: Member, options: Options) -> Iterator[ElementTree.Element | Skipped]:
    """The root as soon as it begins, then each element that ends.

    The parser begins anew with what it has not understood whenever it is given more. So it is given much at a time, and
    twice as much while nothing comes of it: then the time grows with the file, whatever is in it.
    """
    parser: Any = ElementTree.XMLPullParser(["start", "end"])
    waiting, enough, begun = bytearray(), CHUNK, False
    for line in chain((line for _, line in lines(source, member, options.policy.line_bytes)), [None]):
        if isinstance(line, Skipped):
            yield line
            continue
        waiting += LONE.sub(b"", HALVES.sub(_join, line)) + b"\n" if line is not None else b""
        if line is not None and len(waiting) < enough:
            continue
        parser.feed(bytes(waiting))
        waiting.clear()
        enough *= 2
        for event, element in parser.read_events():
            if event == "end" or not begun:
                yield element
            begun, enough = True, CHUNK
    parser.close()


def _message(element: ElementTree.Element, where: str, made: Made, options: Options) -> Parsed:
    value = element.attrib
    if element.tag == "sms":
        text, sent = tidy(value.get("body")), value.get("type") != RECEIVED
    else:
        parts = [part.attrib.get("text", "") for part in element.iter("part") if part.attrib.get("ct") == "text/plain"]
        text, sent = tidy("\n".join(parts)), value.get("msg_box") != RECEIVED
    at = moment(value.get("date"))
    address = tidy(value.get("address"))
    if at is None or not text or text == "null" or not address:
        return Skipped(where=f"{where}, {value.get('readable_date', '?')}", why="no text" if at else "no date")
    contact = tidy(value.get("contact_name"))
    known = contact if contact and contact != "(Unknown)" else address
    return Said(
        id=made.id(at.isoformat(), address, str(sent), text),
        content=text,
        role=Role.USER,
        at=at,
        thread=address,
        title=known,
        speaker=None if sent else known,
        mine=sent,
        channel="sms",
    )


def _join(match: re.Match[bytes]) -> bytes:
    high, low = int(match[1]), int(match[2])
    if not (0xD800 <= high < 0xDC00 <= low < 0xE000):
        return b""
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).encode()


FORMAT = Format("sms", "SMS Backup & Restore", recognise, parse)
