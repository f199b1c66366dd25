"""Messages that are posted from a channel: by an app with its key, or by a webhook with its signature."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tenuto.surfaces.adapters.webhook import sign
from tenuto.surfaces.http.app import create_app
from tenuto.testing.fakes import FakeClock
from tests.surfaces.kit import Served, callers, make_store

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PATH = "/api/channels/sms/messages"
BODY = {"address": "+351 912 345 678", "text": "My dad is allergic to penicillin.", "id": "sms-1"}


@pytest.fixture
def posted() -> Iterator[Served]:
    store = make_store(clock=FakeClock(NOW))
    app = create_app(store, hosts=["testserver"], webhook_secret=SECRET)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Served(store, client, callers(store))
    store.close()


def headers(body: bytes, *, at: datetime = NOW, secret: str = SECRET, id: str = "msg_1") -> dict[str, str]:
    stamp = str(int(at.timestamp()))
    signature = sign(secret, id, stamp, body)
    return {
        "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": stamp,
        "webhook-signature": signature,
    }  # fmt: skip


def post(server: Served, body: Any = BODY, **signed: Any) -> httpx.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return server.client.post(PATH, content=raw, headers=headers(raw, **signed))


def kept(server: Served) -> int:
    return sum(len(server.store.user(user).messages()) for user in server.store.users())


def test_a_signed_message_is_kept_once_for_whom_it_came_from(posted: Served) -> None:
    first, replayed = post(posted), post(posted)
    assert (first.status_code, replayed.status_code) == (201, 201)
    assert first.json()["act"] == "inserted" and replayed.json()["act"] == "duplicate"
    assert first.json()["id"] == replayed.json()["id"]
    other = post(posted, {**BODY, "id": "sms-2", "text": "He is fine."}, id="msg_2")
    assert other.status_code == 201 and kept(posted) == 2
    assert len(posted.store.users()) == 1


@pytest.mark.parametrize(
    ("signed", "code"),
    [
        ({"secret": "whsec_" + "A" * 32}, "signature_wrong"),
        ({"at": NOW - timedelta(minutes=6)}, "signature_old"),
        ({"at": NOW + timedelta(minutes=6)}, "signature_old"),
    ],
)
def test_a_wrong_or_stale_signature_is_refused(posted: Served, signed: dict[str, Any], code: str) -> None:
    refused = post(posted, **signed)
    assert refused.status_code == 403 and refused.json()["code"] == code
    assert kept(posted) == 0


def test_a_signature_is_for_one_body_and_one_id(posted: Served) -> None:
    raw = json.dumps(BODY).encode()
    good = headers(raw)
    for changed in ({**good, "webhook-id": "msg_2"}, {**good, "webhook-timestamp": str(int(NOW.timestamp()) + 1)}):
        assert posted.client.post(PATH, content=raw, headers=changed).json()["code"] == "signature_wrong"
    assert posted.client.post(PATH, content=raw + b" ", headers=good).json()["code"] == "signature_wrong"
    bare = {name: value for name, value in good.items() if name != "webhook-id"}
    assert posted.client.post(PATH, content=raw, headers=bare).json()["code"] == "unsigned"
    assert kept(posted) == 0
    assert posted.client.post(PATH, content=raw, headers=good).status_code == 201, "the control"


def test_a_signature_opens_nothing_else(posted: Served) -> None:
    raw = b"{}"
    for path in ("/api/users/ana/observe", "/api/identify", "/api/keys"):
        assert posted.client.post(path, content=raw, headers=headers(raw)).status_code == 401


def test_an_app_posts_with_its_key_and_a_user_does_not(posted: Served) -> None:
    assert posted.post(PATH, BODY, caller="app").status_code == 201
    assert posted.post(PATH, BODY, caller="user").status_code == 403
    assert posted.client.post(PATH, json=BODY).status_code == 401
    raw = json.dumps(BODY).encode()
    both = {**headers(raw), **posted.headers("user")}
    assert posted.client.post(PATH, content=raw, headers=both).status_code == 403, "a key that may not stays refused"


def test_a_raw_mail_is_taken_apart(posted: Served) -> None:
    mail = (
        b"From: Ana <ana@example.org>\r\nSubject: Hi\r\nMessage-ID: <1@x>\r\n\r\nI moved to Porto.\r\n\r\n> quoted\r\n"
    )
    signed = {**headers(mail), "Content-Type": "message/rfc822"}
    made = posted.client.post("/api/channels/email/messages", content=mail, headers=signed)
    assert made.status_code == 201
    (user,) = posted.store.users()
    assert "Porto" in posted.store.user(user).messages()[0].content


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"text": "x"}', b'{"address": "x", "text": "y", "huh": 1}', b"\xff"]
)
def test_what_cannot_be_read_is_an_error_that_says_so(posted: Served, body: bytes) -> None:
    refused = post(posted, body)
    assert refused.status_code == 422 and kept(posted) == 0


def test_without_a_secret_there_are_no_webhooks(server: Served) -> None:
    refused = post(server)
    assert refused.status_code == 403 and refused.json()["code"] == "webhooks_off"
