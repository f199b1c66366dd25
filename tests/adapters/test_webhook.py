"""Posted messages: only with a right and fresh signature, and read exactly."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.errors import Denied, InputError, TenutoError
from tenuto.records.memory import Trust
from tenuto.records.operations import Act
from tenuto.surfaces.adapters import webhook
from tenuto.testing.fakes import FakeClock
from tests.transfer.world import world

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = datetime.fromtimestamp(1614265330, UTC)


def signed(body: bytes, *, id: str = "msg_1", stamp: str = "1614265330", secret: str = SECRET) -> dict[str, str]:
    return {"Webhook-Id": id, "Webhook-Timestamp": stamp, "Webhook-Signature": webhook.sign(secret, id, stamp, body)}


def test_the_published_example_of_the_standard() -> None:
    body = b'{"event_type":"ping","data":{"success":true}}'
    given = webhook.sign("whsec_plJ3nmyCDGBKInavdOK15jsl", "msg_loFOjxBNrRLzqYUf", "1731705121", body)
    assert given == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


def post(store: Any, body: Any, **options: Any) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return webhook.receive(
        store, options.pop("channel", "sms"), raw, options.pop("headers", None) or signed(raw), SECRET, **options
    )


def test_a_signed_message_is_kept_for_its_sender() -> None:
    with world(clock=FakeClock(NOW)) as store:
        body = {
            "address": "+39 06 698 12345", "id": "SM1", "text": "I moved to Turin", "at": "2021-02-25T15:00:00Z",
            "attachments": [{"name": "a.jpg", "type": "image/jpeg", "size": 3, "secret": 1}], "reply_to": "SM0",
            "proven": True,
        }  # fmt: skip
        receipt = post(store, body)
        ana = store.identify("sms", "+390669812345")
        (kept,) = ana.messages()
        assert kept.id == receipt.message_id and kept.content == "I moved to Turin" and kept.channel == "sms"
        assert kept.external_id == "sms:SM1" and kept.at == datetime(2021, 2, 25, 15, tzinfo=UTC)
        assert kept.metadata == {
            "identity": "sms:+390669812345",
            "attachments": [{"name": "a.jpg", "type": "image/jpeg", "size": 3}],
            "reply_to": "SM0",
        }
        assert kept.trust is Trust.USER_STATED
        assert post(store, body).act is Act.DUPLICATE, "a second delivery is harmless"
        assert [one["content"] for one in ana.working.messages()] == ["I moved to Turin"]


@pytest.mark.parametrize("channel", ["imessage", "sms", "web", "terminal", "api", "email"])
def test_every_channel(channel: str) -> None:
    address = {"imessage": "+390669812345", "sms": "+390669812345", "email": "ana@example.org"}.get(channel, "ana")
    with world(clock=FakeClock(NOW)) as store:
        post(store, {"address": address, "text": "hello"}, channel=channel)
        assert store.identify(channel, address).messages()[0].external_id == f"{channel}:msg_1"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"Webhook-Signature": "v1,AAAA"}, "signature_wrong"),
        ({"Webhook-Signature": ""}, "unsigned"),
        ({"Webhook-Timestamp": "1614265029"}, "signature_old"),
        ({"Webhook-Timestamp": "1614265631"}, "signature_old"),
        ({"Webhook-Timestamp": "soon"}, "unsigned"),
        ({"Webhook-Timestamp": "9" * 30}, "unsigned"),
        ({"Webhook-Id": "other"}, "signature_wrong"),
    ],
)
def test_unsigned_forged_and_old_requests_are_refused(change: dict[str, str], code: str) -> None:
    body = b'{"address": "ana", "text": "hi"}'
    with world(clock=FakeClock(NOW)) as store:
        with pytest.raises(Denied) as error:
            post(store, body, channel="web", headers={**signed(body), **change})
        assert error.value.code == code and store.users() == []
        with pytest.raises(Denied):
            post(store, body + b" ", channel="web", headers=signed(body))
        several = signed(body)
        several["Webhook-Signature"] = "v1,old " + several["Webhook-Signature"]
        assert post(store, body, channel="web", headers=several).act is Act.INSERTED, "while a secret is being changed"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{", b'{"address": 1, "text": "x"}', b'{"address": "a"}',
        b'{"address": "a", "text": "x", "at": "later"}',
        b'{"address": "a", "text": "x", "txet": "y"}', b'{"address": "a", "text": "x", "attachments": [1]}',
        b"\xff\xfe",
    ],
)  # fmt: skip
def test_bad_bodies_write_nothing(body: bytes) -> None:
    with world(clock=FakeClock(NOW)) as store:
        with pytest.raises(InputError):
            post(store, body, channel="web")
        assert store.users() == []


@given(st.binary(max_size=200))
def test_any_bytes_are_an_envelope_or_a_clear_error(body: bytes) -> None:
    try:
        webhook.parse("web", body)
    except TenutoError:
        return


def test_a_raw_mail_can_be_posted() -> None:
    raw = b"Authentication-Results: mx; dmarc=pass header.from=example.org\n"
    raw += b"From: Ana <ana@example.org>\nMessage-ID: <x@y>\nDate: Thu, 25 Feb 2021 15:00:00 +0000\n\n"
    raw += b"Hi there\n\n> quoted\n"
    with world(clock=FakeClock(NOW), policy={"identity": {"mail_servers": ["mx"]}}) as store:
        webhook.receive(store, "email", raw, signed(raw), SECRET, media="message/rfc822; charset=utf-8")
        kept = store.identify("email", "ana@example.org").messages()
        assert [(one.content, one.trust) for one in kept] == [
            ("Hi there", Trust.USER_STATED),
            ("> quoted", Trust.EXTERNAL),
        ]
