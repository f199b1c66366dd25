"""Mail as a channel: raw messages in, and a mailbox that is looked into from time to time.

A mail is marked as seen only after it was kept, and its Message-ID makes a second reading harmless, so a crash in
between costs nothing. Mail from programs (lists, bounces, automatic replies) is passed over: nobody said it.
"""

from __future__ import annotations

import imaplib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from tenuto.errors import InputError, ProviderError, TenutoError
from tenuto.records.channel import Envelope
from tenuto.text import mail

TIMEOUT = 30.0


def from_raw(raw: bytes, *, channel: str = "email", html_bytes: int = 1024**2) -> Envelope:
    """The envelope of an RFC 822 message."""
    found = mail.read(raw, html_bytes=html_bytes)
    if not found.sender:
        raise InputError("The mail names no sender.", code="mail_unreadable")
    return Envelope(
        channel=channel,
        address=found.sender,
        text=found.text,
        quoted=found.quoted,
        external_id=found.id or sha256(raw).hexdigest(),
        at=found.at,
        attachments=found.attachments,
        reply_to=found.reply_to,
        subject=found.subject,
        results=found.results,
    )


@dataclass(slots=True)
class Polled:
    """What one look into a mailbox brought."""

    kept: int = 0
    passed_over: int = 0
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """An IMAP mailbox."""

    host: str
    user: str
    password: str = field(repr=False)
    port: int = 993
    tls: bool = True
    folder: str = "INBOX"
    batch: int = 50

    def poll(self, receive: Callable[[Envelope], object]) -> Polled:
        """Hand over what is new. A mail that cannot be kept stays unseen and is named."""
        result = Polled()
        try:
            with self._connected() as connection:
                for number in self._unseen(connection):
                    self._one(connection, number, receive, result)
        except (imaplib.IMAP4.error, OSError) as error:
            raise ProviderError(f"The mailbox {self.user} at {self.host} cannot be read: {error}.") from error
        return result

    def _connected(self) -> imaplib.IMAP4:
        kind = imaplib.IMAP4_SSL if self.tls else imaplib.IMAP4
        connection = kind(self.host, self.port, timeout=TIMEOUT)
        connection.login(self.user, self.password)
        return connection

    def _unseen(self, connection: imaplib.IMAP4) -> list[bytes]:
        status, _ = connection.select(f'"{self.folder}"')
        if status != "OK":
            raise imaplib.IMAP4.error(f"there is no folder {self.folder!r}")
        _, found = connection.uid("SEARCH", "UNSEEN")
        numbers = found[0].split() if found and found[0] else []
        return list(numbers[: self.batch])

    def _one(
        self, connection: imaplib.IMAP4, number: bytes, receive: Callable[[Envelope], object], result: Polled
    ) -> None:
        _, parts = connection.uid("FETCH", number.decode(), "(BODY.PEEK[])")
        raw = next((part[1] for part in parts if isinstance(part, tuple)), b"")
        try:
            if mail.read(raw).automatic:
                result.passed_over += 1
            else:
                receive(from_raw(raw))
                result.kept += 1
        except InputError as error:
            result.failed.append(f"{number.decode()}: {error.message}")
        except TenutoError as error:
            result.failed.append(f"{number.decode()}: {error.message}")
            if error.retry:
                return
        connection.uid("STORE", number.decode(), "+FLAGS", r"(\Seen)")


def mailbox(url: str, password: str) -> Mailbox:
    """``imaps://ana@example.org@mail.example.org:993/INBOX``; ``imap://`` is without TLS, for this machine only."""
    match = re.fullmatch(r"(imaps?)://(.+)@([^@/:]+)(?::(\d+))?(?:/(.+))?", url)
    if match is None:
        raise InputError("A mailbox is written imaps://user@host/INBOX.", code="mailbox_invalid")
    tls = match[1] == "imaps"
    port = int(match[4] or (993 if tls else 143))
    return Mailbox(host=match[3], user=match[2], password=password, port=port, tls=tls, folder=match[5] or "INBOX")
