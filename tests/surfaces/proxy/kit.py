"""What the tests of the memory proxy share."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx

from tenuto.records.memory import Domain, Kind, Memory, Trust


def pin(store, user: str, content: str = "Allergic to penicillin") -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    record = Memory(
        id="mem_pin", content=content, domain=Domain.PROFILE, kind=Kind.FACT, created_at=at, updated_at=at, pinned=True,
        importance=10.0, trust=Trust.USER_STATED,
    )  # fmt: skip
    with store.deps.store.writing(user) as tx:
        tx.put(record)


def kept(store, user: str, **options) -> list[tuple[str, str]]:
    return [(m.role.value, m.content) for m in store.user(user, **options).messages()]


def say(client, user: str, *messages, **options):
    talk = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    return client.chat.completions.create(model="scripted", messages=talk, user=user, **options)


def ask(url: str, **options) -> httpx.Response:
    """A request without any client's help."""
    body = options.pop("json", {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "user": "other"})
    with httpx.Client() as client:
        return client.post(f"{url}/v1/chat/completions", json=body, **options)
