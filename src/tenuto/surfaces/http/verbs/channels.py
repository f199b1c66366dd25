"""What arrives on a channel: posted by an app with its key, or by a webhook with its signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from tenuto.access.decide import Need
from tenuto.errors import Denied
from tenuto.facade.store import Tenuto
from tenuto.records.operations import Receipt
from tenuto.surfaces.adapters import webhook
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.bodies import Body, Name
from tenuto.surfaces.http.routing import Store, needs, router

routes = router("/api", "channels")
ENVELOPE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["address"],
    "properties": {
        "address": {"type": "string", "examples": ["ana@example.org"]},
        "text": {"type": "string", "examples": ["My dad is allergic to penicillin."]},
        "quoted": {"type": "string", "description": "What the sender quoted or passed on: kept as external."},
        "id": {"type": "string", "description": "The channel's own id of the message: the same one is kept once."},
        "at": {"type": "string", "format": "date-time"},
        "attachments": {"type": "array", "maxItems": 50, "items": {"type": "object"}},
        "proven": {"type": "boolean", "description": "Whether the channel itself proved who the sender is."},
        **{name: {"type": "string"} for name in ("reply_to", "subject", "persona", "device", "region")},
    },
}
SIGNATURE = [
    {"name": name, "in": "header", "required": False, "schema": {"type": "string"}, "description": "Standard Webhooks."}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
]


class Who(Body):
    channel: Name = Field(examples=["imessage"])
    address: Name = Field(examples=["+351 912 345 678"])
    region: Name | None = Field(None, description="Country of numbers in national form, such as PT.")
    device: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    user: str


def _posted() -> dict[str, Any]:
    declared = needs(Need.APP, about_user=False)
    content = {"application/json": {"schema": ENVELOPE}, "message/rfc822": {"schema": {"type": "string"}}}
    body = {"requestBody": {"required": True, "content": content}, "parameters": SIGNATURE, "x-signed": True}
    declared["openapi_extra"] = {**declared["openapi_extra"], **body}
    return declared


@routes.post("/channels/{channel}/messages", status_code=201, response_model=Receipt, **_posted())
async def receive(request: Request, store: Store, channel: str) -> Response:
    """Keep one message for whomever its address belongs to: an envelope as JSON, or a raw mail.

    The caller is an app with its key, or a webhook that signs as Standard Webhooks says, with the secret that the
    operator set in `TENUTO_WEBHOOK_SECRET`. The same `id` (else the webhook's id) is kept once.
    """
    body = await request.body()
    return await run_in_threadpool(_kept, request, store, channel, body)


def _kept(request: Request, store: Tenuto, channel: str, body: bytes) -> Response:
    media = request.headers.get("content-type", "application/json")
    if request.state.key is not None:
        return answer(webhook.keep(store, channel, body, media=media), 201)
    secret = request.app.state.webhook_secret
    if secret is None:
        raise Denied("This server takes no webhooks: the operator sets TENUTO_WEBHOOK_SECRET.", code="webhooks_off")
    return answer(webhook.receive(store, channel, body, request.headers, secret, media=media), 201)


@routes.post("/identify", response_model=Found, **needs(Need.APP, about_user=False))
def identify(store: Store, body: Who) -> Response:
    """The user whom an address belongs to; somebody new, apart from all others, if it was never seen."""
    return answer(Found(user=store.identify(body.channel, body.address, region=body.region, device=body.device).id))
