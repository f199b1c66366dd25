"""``tenuto.connect(url, key)``: the same verbs over HTTP, with the same records and the same errors.

Every method here has the signature of its namesake in the library and returns the same types, so that code moves from
an embedded store to a server by changing one line; the tests run the same scenarios on both. A write carries an
idempotency key, so repeating it after a broken connection does nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

import httpx
import msgspec

from tenuto import errors
from tenuto.records.audit import AuditEntry, AuditHead, AuditReport
from tenuto.records.operations import Job
from tenuto.surfaces.client_link import Link
from tenuto.surfaces.client_user import RemoteUser


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


__all__ = ["RemoteTenuto", "RemoteUser", "connect"]
