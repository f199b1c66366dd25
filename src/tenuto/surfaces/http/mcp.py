"""MCP over streamable HTTP at ``/mcp``, behind the same guard as every route.

The key's own user, or the one in the header ``Tenuto-User``; the persona in ``Tenuto-Persona``. Each request stands
alone (no session is kept between them), so any of several processes can answer it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextvars import ContextVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from tenuto.access.decide import Need, permit
from tenuto.errors import Denied, TenutoError
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.records.access import ApiKey
from tenuto.surfaces.http import names
from tenuto.surfaces.http.problems import Refused, on_error
from tenuto.surfaces.http.routing import admit
from tenuto.surfaces.mcp import create_mcp

_CALLER: ContextVar[tuple[ApiKey, UserMemory] | None] = ContextVar("tenuto_mcp_caller", default=None)


def _caller(need: Need) -> UserMemory:
    found = _CALLER.get()
    if found is None:
        raise Denied("Nobody is calling.", code="key_missing")
    permit(found[0], need)
    return found[1]


class McpEndpoint:
    """One ASGI application; ``running`` must be entered around it."""

    def __init__(self, store: Tenuto, version: str) -> None:
        self._store = store
        self._server = create_mcp(_caller, version=version)
        self._manager = self._made()

    def _made(self) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            app=self._server._lowlevel_server,
            json_response=True,
            stateless=True,
            # The guard has checked host and origin already, against the names that this server answers to.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=self._store.deps.policy.server.body_bytes,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A manager runs once; an application may be started again."""
        self._manager = self._made()
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["mounted"] = "/mcp"
        request = Request(scope, receive)
        try:
            named = request.headers.get("tenuto-user")
            user = await admit(request, Need.READ, names.read(named) if named else None, about_user=True)
            persona = request.headers.get("tenuto-persona") or None
            memory = self._store.user(str(user), persona=persona, channel="mcp")
        except (Refused, TenutoError) as error:
            await (await on_error(request, error))(scope, receive, send)
            return
        token = _CALLER.set((request.state.key, memory))
        try:
            await self._manager.handle_request(scope, receive, send)
        finally:
            _CALLER.reset(token)
