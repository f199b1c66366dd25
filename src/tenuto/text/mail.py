"""A raw mail as plain values: who wrote it, what they wrote themselves, and what they only quoted or passed on.

Only the sender's own words are the sender's. Quoted and forwarded text was written by somebody else and must never be
taken for the sender's, so it is handed over apart; when in doubt, text counts as quoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy as email_policy
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from functools import lru_cache
from typing import Any

from tenuto.errors import InputError, SettingError
from tenuto.text.html import to_text

LANGUAGES = ["en", "de", "fr", "it", "es", "nl", "pl", "sv", "da"]
BODY_CHARACTERS = 200_000
"""More of one body is not read: a person does not write that much."""
FORWARDED = re.compile(
    r"^\s*(?:-{2,}\s*(?:Forwarded message|Original Message|Weitergeleitete Nachricht|Message transféré|"
    r"Messaggio inoltrato|Mensaje reenviado)\s*-{2,}|Begin forwarded message:|-{8,} Forwarded)",
    re.IGNORECASE | re.MULTILINE,
)
QUOTED_LINE = re.compile(r"^\s{0,3}>")
INTRO = re.compile(
    r"^\s*(?:On|Am|Le|Il|El|Op)\b.{0,200}(?:wrote|schrieb|écrit|scritto|escribió|schreef)\s*:\s*$",
    re.IGNORECASE | re.DOTALL,
)


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
    forged: bool = False
    """The receiving server says that the sender is not who they claim to be."""


def read(raw: bytes, *, html_bytes: int = 1024**2) -> Mail:
    """Parse a mail; raises :class:`InputError` for bytes that are none."""
    try:
        message = BytesParser(policy=email_policy.default).parsebytes(raw)
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
    text, quoted, signature = split(_body(message, html_bytes))
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
        forged=_forged(message),
    )


def split(body: str) -> tuple[str, str, str]:
    """(own words, quoted or forwarded words, signature)."""
    body = body[:BODY_CHARACTERS].replace("\r\n", "\n")
    forward = FORWARDED.search(body)
    passed_on = body[forward.start() :] if forward else ""
    rest = body[: forward.start()] if forward else body
    if not rest.strip():
        return "", passed_on.strip(), ""
    replies = _parser().read(text=rest).replies
    own = replies[0].body if replies else rest
    signature = replies[0].signatures if replies else ""
    mine, theirs = _without_quotes(own)
    later = rest[rest.find(own) + len(own) :] if own and own in rest else ""
    if signature:
        later = later.replace(signature, "", 1)
    quoted = "\n".join(part for part in (theirs, later.strip(), passed_on.strip()) if part)
    return mine.strip(), quoted.strip(), (signature or "").strip()


@lru_cache(maxsize=1)
def _parser() -> Any:
    """An optional dependency: whoever reads no mail does without it."""
    try:
        from mailparser_reply import EmailReplyParser
    except ImportError:
        raise SettingError("Reading mail needs a library: pip install 'tenuto[channels]'.") from None
    return EmailReplyParser(languages=LANGUAGES)


def _without_quotes(text: str) -> tuple[str, str]:
    """Lines that begin with ``>`` are somebody else's wherever they stand, with the line that introduces them."""
    mine: list[str] = []
    theirs: list[str] = []
    for line in text.split("\n"):
        if QUOTED_LINE.match(line):
            while mine and (not mine[-1].strip() or INTRO.match(mine[-1])):
                theirs.append(mine.pop())
            theirs.append(line)
        else:
            mine.append(line)
    return "\n".join(mine), "\n".join(theirs)


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
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError, KeyError, ValueError):
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    except (ValueError, IndexError, AttributeError, TypeError, ArithmeticError):
        return ""
    return re.sub(r"\s+", " ", str(value or "")).replace("\x00", "").strip()[:998]


def _addresses(message: EmailMessage, name: str) -> list[tuple[str, str]]:
    return [
        (label, address.strip().lower()) for label, address in getaddresses([_header(message, name)]) if "@" in address
    ]


def _ids(message: EmailMessage, name: str) -> list[str]:
    return re.findall(r"<([^<>\s]{1,250})>", _header(message, name))


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


def _forged(message: EmailMessage) -> bool:
    """What the first Authentication-Results says (the receiving server puts its own on top). None says nothing."""
    results = _header(message, "authentication-results").lower()
    if "dmarc=fail" in results:
        return True
    return "spf=fail" in results and "dkim=pass" not in results


def _automatic(message: EmailMessage) -> bool:
    if _header(message, "auto-submitted").lower() not in ("", "no"):
        return True
    if _header(message, "precedence").lower() in ("bulk", "list", "junk", "auto_reply"):
        return True
    return bool(_header(message, "list-id") or _header(message, "x-autoreply"))
