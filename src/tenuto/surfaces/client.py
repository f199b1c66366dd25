"""``tenuto.connect(url, key)``: the same verbs over HTTP, with the same records and the same errors.

Every method here has the signature of its namesake in the library and returns the same types, so that code moves from
an embedded store to a server by changing one line; the tests run the same scenarios on both. A write carries an
idempotency key, so repeating it after a broken connection does nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Any

import httpx
import msgspec

from tenuto import errors
from tenuto.lifecycle.curation import CurateReport
from tenuto.records.access import ApiKey
from tenuto.records.audit import AuditEntry, AuditHead, AuditReport
from tenuto.records.channel import Envelope
from tenuto.records.operations import Job, Receipt
from tenuto.surfaces.client_link import Link, part
from tenuto.surfaces.client_user import RemoteUser
from tenuto.surfaces.http.names import write as path_name


def connect(
    url: str,
    key: str,
    *,
    timeout_seconds: float = 60.0,
    retries: int = 2,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> RemoteTenuto:
    """A server's store. ``key`` is what ``tenuto keys create`` printed, or a token that an app minted."""
    if not url.startswith(("http://", "https://")):
        raise errors.SettingError(f"A server's address begins with http:// or https://, not {url!r}.")
    return RemoteTenuto(Link(url, key, timeout_seconds, retries, transport, sleep))


class RemoteTenuto:
    """A store behind a server: :class:`tenuto.Tenuto`'s verbs."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def user(self, user: str, *, persona: str | None = None, channel: str = "api") -> RemoteUser:
        """Everything of one person, seen by one persona on one channel."""
        return RemoteUser(self._link, user, persona, channel)

    def users(self) -> list[str]:
        """The ids of all users, in order."""
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = self._link.call("GET", "/api/users", query={"after": after, "limit": 1000})
            found += page["items"]
            after = page["next"]
        return found

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until background jobs are done; ``False`` if the time ran out first."""
        return bool(self._link.call("POST", "/api/settle", body={"timeout": timeout})["done"])

    def jobs(self, status: str | None = None, *, user: str | None = None, limit: int = 100) -> list[Job]:
        """What background work there is, newest first."""
        page = self._link.call("GET", "/api/jobs", query={"status": status, "user": user, "limit": limit})
        return [msgspec.convert(one, Job) for one in page["items"]]

    def audit(self, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
        """The operator's own log, newest first."""
        page = self._link.call("GET", "/api/audit", query={"before": before, "limit": limit})
        return [msgspec.convert(one, AuditEntry) for one in page["items"]]

    def audit_head(self) -> AuditHead:
        """Where every audit log stands now."""
        return msgspec.convert(self._link.call("GET", "/api/audit/head"), AuditHead)

    def verify_audit(self, head: AuditHead | None = None) -> AuditReport:
        """Check every entry of every audit log; ``head`` is one that was kept."""
        body = {"head": msgspec.to_builtins(head) if head is not None else None}
        return msgspec.convert(self._link.call("POST", "/api/audit/verify", body=body), AuditReport)

    def identify(
        self, channel: str, address: str, *, region: str | None = None, device: str | None = None
    ) -> RemoteUser:
        """The user whom an address belongs to; somebody new, apart from all others, if never seen."""
        body = {"channel": channel, "address": address, "region": region, "device": device}
        return self.user(str(self._link.call("POST", "/api/identify", body=body)["user"]), channel=channel)

    def receive(self, envelope: Envelope) -> Receipt:
        """Keep what arrived on a channel, for whomever the address belongs to."""
        plain = msgspec.to_builtins(envelope)
        channel, plain["id"] = plain.pop("channel"), plain.pop("external_id")
        path = f"/api/channels/{part(channel)}/messages"
        return msgspec.convert(self._link.call("POST", path, body=plain), Receipt)

    def create_key(
        self, name: str, *, scope: str = "app", user: str | None = None, lifetime: timedelta | None = None
    ) -> tuple[ApiKey, str]:
        """A new key of the server and its secret, shown this once."""
        seconds = None if lifetime is None else int(lifetime.total_seconds())
        made = self._link.call(
            "POST", "/api/keys", body={"name": name, "scope": scope, "user": user, "seconds": seconds}
        )
        return _key(made["key"]), str(made["secret"])

    def keys(self, *, user: str | None = None) -> list[ApiKey]:
        """The server's keys, newest first, without their secrets."""
        named = path_name(user) if user is not None else None
        return [_key(one) for one in self._link.call("GET", "/api/keys", query={"user": named})["items"]]

    def revoke_key(self, id: str) -> ApiKey:
        """Take a key back, and every token that it minted."""
        return _key(self._link.call("DELETE", f"/api/keys/{part(id)}"))

    def retry_job(self, id: str, *, user: str | None = None) -> Job:
        """Put a failed or cancelled job back into the queue."""
        return msgspec.convert(self._link.call("POST", f"/api/jobs/{part(id)}/retry", body={"user": user}), Job)

    def cancel_job(self, id: str, *, user: str | None = None) -> Job:
        """Take a waiting job out of the queue."""
        return msgspec.convert(self._link.call("POST", f"/api/jobs/{part(id)}/cancel", body={"user": user}), Job)

    def curate(self, user: str | None = None, *, dry_run: bool = False) -> list[CurateReport]:
        """Curate one user's memories, or everybody's; ``dry_run`` only shows the plans."""
        found = self._link.call("POST", "/api/curate", body={"user": user, "dry_run": dry_run})
        return msgspec.convert(found, list[CurateReport])

    def costs(self, *, most: int | None = None) -> dict[str, dict[str, float]]:
        """What the model cost on each of the last days (UTC), all users together (or the first ``most``)."""
        return dict(self._link.call("GET", "/api/costs", query={"most": most}))

    def examine(self, *, thorough: bool = False) -> list[dict[str, Any]]:
        """What ``tenuto doctor`` says: one finding per part, each with ``ok``, ``what`` and ``detail``."""
        return list(self._link.call("GET", "/api/examine", query={"thorough": thorough}))

    def check(self) -> list[str]:
        """What is wrong with the store, in words; empty when all is well."""
        return list(self._link.call("GET", "/api/check"))

    def unembedded(self) -> int:
        """How many entries wait for a vector of the current model."""
        return int(self._link.call("GET", "/api/unembedded")["count"])

    def close(self) -> None:
        """Close the connections."""
        self._link.http.close()

    def __enter__(self) -> RemoteTenuto:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteTenuto {self._link.url}>"


def _key(shown: dict[str, Any]) -> ApiKey:
    """A key as the server shows it: without its hash."""
    plain = {name: value for name, value in shown.items() if name != "user"}
    return msgspec.convert({**plain, "subject": shown["user"], "digest": ""}, ApiKey)


__all__ = ["RemoteTenuto", "RemoteUser", "connect"]
