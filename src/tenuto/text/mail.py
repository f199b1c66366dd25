"""A raw mail as plain values: who wrote it, what they wrote themselves, and what they only quoted or passed on.

Only the sender's own words are the sender's. Quoted and forwarded text was written by somebody else and must never be
taken for the sender's, so it is handed over apart; when in doubt, text counts as quoted.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email import policy as email_policy
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.utils import getaddresses, parsedate_to_datetime
from typing import cast

from tenuto.errors import InputError
from tenuto.text import patterns
from tenuto.text.html import to_text
from tenuto.text.replies import split

BODY_CHARACTERS = 200_000
"""More of one body is not read: a person does not write that much."""
HEADER_CHARACTERS = 2000
"""More of one header is not read: the standard library's parsers of headers take quadratic time."""
MOST_PARTS = 100
"""A mail with more parts, or more attached mails, is refused: each line is held against all that are open."""
SLOW_CHARSETS = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape", "utf_7"})
"""Encodings that no mail program writes text in, and whose decoders take quadratic time or mean something else."""
_SPACE = patterns.compile(r"\s+")
_ID = patterns.compile(r"<([^<>\s]{1,250})>")


class _Policy(email_policy.EmailPolicy):
    """The standard library's rules, with short headers."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name[:HEADER_CHARACTERS], value[:HEADER_CHARACTERS]


_POLICY = _Policy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """``text`` is the sender's own; ``quoted`` is everything that was not."""

    id: str | None
    sender: str
    sender_name: str | None
    to: tuple[str, ...]
    at: datetime | None
    subject: str | None
    text: str
    quoted: str
    signature: str
    reply_to: str | None
    thread: str | None
    attachments: tuple[dict[str, str | int | None], ...]
    automatic: bool
    """Sent by a program: a list, a bounce, an automatic reply."""
    results: str = ""
    """What the receiving server found out about the sender, as it wrote it; see :mod:`tenuto.text.mail_proof`."""


def read(raw: bytes, *, html_bytes: int = 1024**2) -> Mail:
    """Parse a mail; raises :class:`InputError` for bytes that are none."""
    lowered = raw.lower()
    if lowered.count(b"boundary=") > MOST_PARTS or lowered.count(b"message/rfc822") > MOST_PARTS:
        raise InputError(f"This mail has more than {MOST_PARTS} parts.", code="mail_unreadable")
    try:
        message = cast(EmailMessage, message_from_bytes(raw, policy=_POLICY))
        return _mail(message, html_bytes)
    except (
        MessageError,
        ValueError,
        LookupError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise InputError(
            f"This is not a mail that can be read: {type(error).__name__}: {error}.", code="mail_unreadable"
        ) from error


def _mail(message: EmailMessage, html_bytes: int) -> Mail:
    name, sender = next(iter(_addresses(message, "from")), ("", ""))
    text, quoted, signature = split(_body(message, html_bytes)[:BODY_CHARACTERS])
    references = _ids(message, "references")
    reply_to = next(iter(_ids(message, "in-reply-to")), references[-1] if references else None)
    id = next(iter(_ids(message, "message-id")), None)
    return Mail(
        id=id,
        sender=sender,
        sender_name=name or None,
        to=tuple(address for header in ("to", "cc") for _, address in _addresses(message, header)),
        at=_date(message),
        subject=_header(message, "subject") or None,
        text=text,
        quoted=quoted,
        signature=signature,
        reply_to=reply_to,
        thread=references[0] if references else reply_to or id,
        attachments=tuple(_attachments(message)),
        automatic=_automatic(message),
        results=_results(message),
    )


def _body(message: EmailMessage, html_bytes: int) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None or part.get_content_maintype() != "text":
        return ""
    text = _content(part)
    if part.get_content_subtype() == "html":
        return to_text(text[:html_bytes])
    if not text.strip() and (html := message.get_body(preferencelist=("html",))) is not None:
        return to_text(_content(html)[:html_bytes])
    return text


def _content(part: MIMEPart) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        charset = codecs.lookup(str(part.get_content_charset("utf-8"))).name.replace("-", "_")
        return payload.decode("utf-8" if charset in SLOW_CHARSETS else charset, "replace")
    except (LookupError, UnicodeError, ValueError):
        return payload.decode("utf-8", "replace")


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    except (ValueError, IndexError, AttributeError, TypeError, ArithmeticError):
        return ""
    return _SPACE.sub(" ", str(value or "")[:HEADER_CHARACTERS]).replace("\x00", "").strip()[:998]


def _addresses(message: EmailMessage, name: str) -> list[tuple[str, str]]:
    return [
        (label, address.strip().lower()) for label, address in getaddresses([_header(message, name)]) if "@" in address
    ]


def _ids(message: EmailMessage, name: str) -> list[str]:
    return _ID.findall(_header(message, name))


def _date(message: EmailMessage) -> datetime | None:
    try:
        at = parsedate_to_datetime(_header(message, "date"))
    except (ValueError, TypeError, IndexError, ArithmeticError):
        return None
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def _attachments(message: EmailMessage) -> list[dict[str, str | int | None]]:
    found: list[dict[str, str | int | None]] = []
    for part in message.iter_attachments():
        payload = part.get_payload(decode=True)
        size = len(payload) if isinstance(payload, bytes) else None
        found.append({"name": part.get_filename(), "type": part.get_content_type(), "size": size})
    return found[:50]


def _results(message: EmailMessage) -> str:
    """The topmost Authentication-Results, as it stands there; nothing for a mail with several senders."""
    named = [(name.lower(), str(value)) for name, value in message.raw_items()]
    if sum(name == "from" for name, _ in named) != 1 or len(_addresses(message, "from")) != 1:
        return ""
    return next((_SPACE.sub(" ", value).strip() for name, value in named if name == "authentication-results"), "")


def _automatic(message: EmailMessage) -> bool:
    if _header(message, "auto-submitted").lower() not in ("", "no"):
        return True
    if _header(message, "precedence").lower() in ("bulk", "list", "junk", "auto_reply"):
        return True
    return bool(_header(message, "list-id") or _header(message, "x-autoreply"))
