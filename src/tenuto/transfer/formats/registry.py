"""All formats, most telling first, and what to say about one that is none of them.

A format's module is imported when it is first needed: opening a store must not wait for parsers that nobody asked for.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from tenuto.errors import InputError
from tenuto.transfer.parsing import Format
from tenuto.transfer.source import Source

FORMATS = {
    "account": "account:FORMAT",
    "chatgpt": "chatgpt:FORMAT",
    "claude": "claude:FORMAT",
    "sostenuto": "sostenuto:FORMAT",
    "gemini": "gemini:FORMAT",
    "telegram": "telegram:FORMAT",
    "slack": "slack:FORMAT",
    "imessage": "imessage:FORMAT",
    "sms": "sms:FORMAT",
    "letta": "memories:LETTA",
    "langmem": "memories:LANGMEM",
    "mem0": "memories:MEM0",
    "zep": "memories:ZEP",
    "mail": "mail:FORMAT",
    "whatsapp": "whatsapp:FORMAT",
    "jsonl": "generic:JSONL",
    "csv": "generic:CSV",
    "json": "generic:JSON",
}
"""Name → module:attribute, in the order in which they are tried."""
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


@lru_cache(maxsize=64)
def load(name: str) -> Format:
    """A format by its name."""
    if name not in FORMATS:
        raise InputError(f"Unknown format {name!r}. Known: {', '.join(FORMATS)}.", code="format_unknown")
    module, _, attribute = FORMATS[name].partition(":")
    found: Format = getattr(import_module(f"tenuto.transfer.formats.{module}"), attribute)
    return found


def choose(source: Source, name: str | None = None) -> Format:
    """The format of a source: the named one, or the one that recognises itself in it."""
    if name is not None:
        return load(name)
    for one in map(load, FORMATS):
        if one.recognise(source):
            return one
    raise InputError(_unknown(source), code="format_unknown")


def _unknown(source: Source) -> str:
    known = ", ".join(load(name).title for name in FORMATS)
    if not source.members:
        left = f" ({source.skips[0].where}: {source.skips[0].why})" if source.skips else ""
        return f"{source.name} holds nothing that can be read{left}."
    head = source.members[0].head(512).lstrip(b"\xef\xbb\xbf \r\n")
    named = next((what for magic, what in MAGIC if head[: len(magic)].lower() == magic.lower()), None)
    what = f"looks like {named}" if named else "is in a format that is not known here"
    return f"{source.name} {what}. Known: {known}; or give --format."
