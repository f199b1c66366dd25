"""All formats, most telling first, and what to say about one that is none of them."""

from __future__ import annotations

from tenuto.errors import InputError
from tenuto.transfer.formats import (
    account,
    chatgpt,
    claude,
    gemini,
    generic,
    imessage,
    mail,
    memories,
    slack,
    sms,
    sostenuto,
    telegram,
    whatsapp,
)
from tenuto.transfer.parsing import Format
from tenuto.transfer.source import Source

FORMATS: tuple[Format, ...] = (
    account.FORMAT,
    chatgpt.FORMAT,
    claude.FORMAT,
    sostenuto.FORMAT,
    gemini.FORMAT,
    telegram.FORMAT,
    slack.FORMAT,
    imessage.FORMAT,
    sms.FORMAT,
    memories.LETTA,
    memories.LANGMEM,
    memories.MEM0,
    memories.ZEP,
    mail.FORMAT,
    whatsapp.FORMAT,
    generic.JSONL,
    generic.CSV,
    generic.JSON,
)
BY_NAME = {one.name: one for one in FORMATS}
MAGIC = (
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive: unpack it first"),
    (b"Rar!", "a RAR archive: unpack it first"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3\x00", "a SQLite database without messages that are known here"),
    (b"\xd0\xcf\x11\xe0", "an Office or Outlook file (.pst, .doc): export it as mbox or CSV"),
    (b"!BDN", "an Outlook .pst file: export it as mbox"),
    (b"<!DOCTYPE html", "a web page: choose JSON instead of HTML when you ask for the export"),
    (b"<html", "a web page: choose JSON instead of HTML when you ask for the export"),
    (b"BEGIN:VC", "a calendar or an address book"),
)


def choose(source: Source, name: str | None = None) -> Format:
    """The format of a source: the named one, or the one that recognises itself in it."""
    if name is not None:
        if name not in BY_NAME:
            raise InputError(f"Unknown format {name!r}. Known: {', '.join(BY_NAME)}.", code="format_unknown")
        return BY_NAME[name]
    for one in FORMATS:
        if one.recognise(source):
            return one
    raise InputError(_unknown(source), code="format_unknown")


def _unknown(source: Source) -> str:
    known = ", ".join(one.title for one in FORMATS)
    if not source.members:
        left = f" ({source.skips[0].where}: {source.skips[0].why})" if source.skips else ""
        return f"{source.name} holds nothing that can be read{left}."
    head = source.members[0].head(512).lstrip(b"\xef\xbb\xbf \r\n")
    named = next((what for magic, what in MAGIC if head[: len(magic)].lower() == magic.lower()), None)
    what = f"looks like {named}" if named else "is in a format that is not known here"
    return f"{source.name} {what}. Known: {known}; or give --format."
