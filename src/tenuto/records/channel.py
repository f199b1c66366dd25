"""What arrives on a channel, in one shape whatever the channel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One thing that came in. ``text`` is the sender's own; ``quoted`` is what they quoted or passed on.

    ``external_id`` makes a second delivery of the same thing harmless. Attachments are described, not carried.
    ``proven``: whether the channel itself proved who the sender is; without a word on it
    ``identity.proven_channels`` decides. ``results`` is what a mail server found out, which decides for every mail.
    What is not proven is nobody's own word.
    """

    channel: str
    address: str
    text: str = ""
    external_id: str | None = None
    at: datetime | None = None
    quoted: str = ""
    attachments: tuple[dict[str, Any], ...] = ()
    reply_to: str | None = None
    subject: str | None = None
    persona: str | None = None
    device: str | None = None
    region: str | None = None
    proven: bool | None = None
    results: str | None = None
