"""Messages that another program posts: a signed JSON envelope, or a raw mail.

Signatures follow Standard Webhooks: ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature`` over the exact
bytes of the body, with a shared secret (``whsec_…``). A request that is older than five minutes is refused, so a
recorded one cannot be sent again later; one that is sent twice within them is the same message, by its id.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec

from tenuto.errors import Denied, InputError
from tenuto.facade.store import Tenuto
from tenuto.records.base import EPOCH
from tenuto.records.channel import Envelope
from tenuto.records.operations import Receipt
from tenuto.surfaces.adapters.mail import from_raw
from tenuto.transfer.parsing import moment, string

TOLERANCE = timedelta(minutes=5)
PREFIX = "whsec_"
ATTACHMENTS = 50
TAKEN = (
    "address", "text", "quoted", "id", "at", "attachments", "reply_to", "subject", "persona", "device", "region",
    "proven",
)  # fmt: skip


def receive(
    store: Tenuto,
    channel: str,
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    media: str = "application/json",
) -> Receipt:
    """Check, read and keep one posted message. ``headers`` may have names in any case."""
    named = {name.lower(): value for name, value in headers.items()}
    verify(secret, named, body, store.deps.clock())
    return keep(store, channel, body, media=media, fallback_id=named.get("webhook-id"))


def keep(
    store: Tenuto, channel: str, body: bytes, *, media: str = "application/json", fallback_id: str | None = None
) -> Receipt:
    """Read and keep a posted message whose sender is known to be let in."""
    if media.partition(";")[0].strip().lower() == "message/rfc822":
        envelope = from_raw(body, channel=channel, html_bytes=store.deps.policy.importing.html_bytes)
    else:
        envelope = parse(channel, body, fallback_id=fallback_id)
    return store.receive(envelope)


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
    """Raise :class:`Denied` unless one of the signatures is right and fresh."""
    id, stamp, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not id or not given or not stamp.isdigit() or len(stamp) > 12:
        raise Denied(
            "The request is not signed: it needs webhook-id, webhook-timestamp and webhook-signature.", code="unsigned"
        )
    if abs(now - (EPOCH + timedelta(seconds=int(stamp)))) > TOLERANCE:
        raise Denied("The signature is too old, or the clocks differ by more than five minutes.", code="signature_old")
    expected = sign(secret, id, stamp, body)
    found = [hmac.compare_digest(one.encode(), expected.encode()) for one in given.split(" ")[:16]]
    if not any(found):
        raise Denied("The signature does not fit the body and the secret.", code="signature_wrong")


def sign(secret: str, id: str, stamp: str, body: bytes) -> str:
    """The ``v1`` signature of a body."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InputError("A webhook secret is 'whsec_' and base64.", code="secret_invalid") from None
    return "v1," + b64encode(hmac.new(key, f"{id}.{stamp}.".encode() + body, sha256).digest()).decode()


def parse(channel: str, body: bytes, *, fallback_id: str | None = None) -> Envelope:
    """The envelope in a JSON body; a field that is not known here is refused, so that a typing error is noticed."""
    try:
        row = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"The body is not a JSON object: {error}.", code="body_invalid") from None
    unknown = sorted(set(row) - set(TAKEN))
    if unknown:
        raise InputError(f"Unknown fields: {', '.join(unknown)[:200]}. Known: {', '.join(TAKEN)}.", code="body_invalid")
    address, text = row.get("address", 0), row.get("text", "")
    quoted, proven = row.get("quoted", ""), row.get("proven")
    if not all(isinstance(one, str) for one in (address, text, quoted)) or not isinstance(proven, bool | None):
        raise InputError("'address', 'text' and 'quoted' must be strings, 'proven' a flag.", code="body_invalid")
    at = moment(row.get("at"))
    if row.get("at") is not None and at is None:
        raise InputError("'at' must be a time such as 2026-03-01T12:30:00Z.", code="body_invalid")
    return Envelope(
        channel=channel,
        address=address,
        text=text,
        quoted=quoted,
        proven=proven,
        external_id=string(row.get("id")) or fallback_id,
        at=at,
        attachments=tuple(_attachments(row.get("attachments"))),
        reply_to=string(row.get("reply_to")),
        subject=string(row.get("subject")),
        persona=string(row.get("persona")),
        device=string(row.get("device")),
        region=string(row.get("region")),
    )


def _attachments(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > ATTACHMENTS or not all(isinstance(one, dict) for one in value):
        raise InputError(f"'attachments' is a list of at most {ATTACHMENTS} objects.", code="body_invalid")
    return [{name: one[name] for name in ("name", "type", "size", "url") if name in one} for one in value]
