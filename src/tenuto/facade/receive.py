"""What arrives on a channel becomes the words of a user: the facade's sequence of identifying and observing.

The sender's own text is the user's where it is proven that they sent it: by the channel, or by a known mail server.
What they quoted or passed on was written by somebody else: it is kept beside it, as external, and so is everything of a
sender who is not proven.
"""

from __future__ import annotations

from typing import Any

from tenuto.context.working import Working
from tenuto.deps import Deps
from tenuto.errors import InputError
from tenuto.identity.addresses import normalise
from tenuto.identity.link import identify
from tenuto.ingest.observe import check, observe
from tenuto.policy import IdentityPolicy
from tenuto.records.base import evolve
from tenuto.records.channel import Envelope
from tenuto.records.conversation import Role
from tenuto.records.memory import Trust
from tenuto.records.operations import Act, Receipt
from tenuto.records.scope import Scope
from tenuto.text import clean
from tenuto.text.mail_proof import proven

QUOTED = "quoted"
UNPROVEN = "unproven"
NOT_PROVEN = (
    "Kept as text from outside: nothing proves who sent it (see identity.mail_servers, identity.proven_channels)."
)


def receive(deps: Deps, envelope: Envelope) -> Receipt:
    """Keep one envelope; the receipt of the sender's own words, or of the quoted ones if there are no others."""
    if not envelope.text.strip() and not envelope.quoted.strip():
        raise InputError("There is no text in it.", code="text_empty")
    channel = clean.name(envelope.channel, deps.policy.limits, what="channel")
    persona = clean.optional_name(envelope.persona, deps.policy.limits, what="persona")
    address = normalise(channel, envelope.address, region=envelope.region)
    id = f"{channel}:{envelope.external_id}"[:240] if envelope.external_id else None
    own = _proven(deps.policy.identity, envelope, channel, address)
    about, trust = _about(envelope, address), None if own else Trust.EXTERNAL
    said = (
        [
            check(
                deps,
                envelope.text,
                at=envelope.at,
                id=id,
                metadata=about,
                trust=trust,
                source="conversation" if own else f"{channel}:{UNPROVEN}",
            )
        ]
        if envelope.text.strip()
        else []
    )
    if envelope.quoted.strip():
        said.append(
            check(
                deps,
                envelope.quoted[: deps.policy.limits.text_bytes // 4],
                role=Role.TOOL,
                at=envelope.at,
                id=f"{id}:{QUOTED}" if id else None,
                metadata=about,
                trust=Trust.EXTERNAL,
                source=f"{channel}:{QUOTED}",
            )
        )
    user = identify(deps, channel, address, device=envelope.device)
    scope = Scope(user=user, persona=persona, channel=channel)
    receipts = [observe(deps, scope, one) for one in said]
    if not own and receipts[0].act is Act.INSERTED:
        receipts[0] = evolve(receipts[0], notes=(*receipts[0].notes, NOT_PROVEN))
    if receipts[0].act is Act.INSERTED and said[0].trust is not Trust.EXTERNAL:
        Working(deps.working, scope).heard(receipts[0], said[0].role, said[0].content)
    return receipts[0]


def _proven(policy: IdentityPolicy, envelope: Envelope, channel: str, address: str) -> bool:
    """Whether it is known that the sender sent it. On every channel a mail is decided by its server's word."""
    if envelope.results is not None:
        return proven(envelope.results, address, policy.mail_servers)
    return channel in policy.proven_channels if envelope.proven is None else envelope.proven


def _about(envelope: Envelope, address: str) -> dict[str, Any]:
    found: dict[str, Any] = {"identity": f"{envelope.channel}:{address}"}
    if envelope.attachments:
        found["attachments"] = [dict(one) for one in envelope.attachments]
    for name in ("reply_to", "subject", "device"):
        if value := getattr(envelope, name):
            found[name] = value[:300]
    return found
