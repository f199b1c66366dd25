"""The memory proxy on the server: the same keys, limits and users as every other route.

Mounted only where an operator named an upstream. A key that is bound to a user acts for that user, whatever the body's
``user`` says; a key of many users names one, in that field or in the header ``Tenuto-User``.
"""

from __future__ import annotations

from starlette.requests import Request

from tenuto.access.decide import Need
from tenuto.facade.store import Tenuto
from tenuto.records.access import ApiKey
from tenuto.surfaces.http import names
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.routing import admit
from tenuto.surfaces.proxy import Proxy, Upstream
from tenuto.surfaces.proxy_access import Credential


class ByKey:
    """Asks the server's own door, which the guard has already opened or not."""

    async def enter(self, request: Request) -> Credential:
        if request.state.key is None:
            raise Refused(401, "key_missing", "Send a key: Authorization: Bearer tnk_…")
        return Credential()

    async def whose(self, request: Request, field: str | None) -> str:
        key: ApiKey = request.state.key
        header = request.headers.get("tenuto-user")
        named = names.read(header) if header else field if key.subject is None else None
        return str(await admit(request, Need.WRITE, named, about_user=True))


def proxy_of(store: Tenuto, upstream: Upstream) -> Proxy:
    """The proxy for this server."""
    return Proxy(store, upstream, ByKey())
