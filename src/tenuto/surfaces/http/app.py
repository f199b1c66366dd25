"""The server's application: ``create_app(store)`` puts guard, routes, page, MCP and proxy together over one store.

The store is the caller's: the application uses it and does not close it. What is not installed is left out (MCP without
its SDK) and said so at ``/health``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from tenuto import settings
from tenuto.access.authenticate import Door
from tenuto.errors import TenutoError
from tenuto.facade.store import Tenuto
from tenuto.identity.link import Courier
from tenuto.providers.limits import Limiter, LocalLimiter
from tenuto.surfaces.http import events
from tenuto.surfaces.http.access_log import AccessLog
from tenuto.surfaces.http.answers import Problem
from tenuto.surfaces.http.guard import LOOPBACK, Guard
from tenuto.surfaces.http.metrics import Metrics
from tenuto.surfaces.http.problems import Refused, on_error
from tenuto.surfaces.http.proxy import proxy_of
from tenuto.surfaces.http.routing import Admission
from tenuto.surfaces.http.verbs import (
    channels,
    compatibility,
    health,
    identity,
    learning,
    listings,
    memory,
    operator,
    privacy,
    talk,
    time,
    transfer,
    workflows,
    working_memory,
)
from tenuto.surfaces.proxy import Upstream
from tenuto.surfaces.web import actions, pages, removal

ROUTERS = (
    talk.routes, health.routes, memory.routes, time.routes,
    listings.routes, privacy.routes, privacy.operator, transfer.routes, identity.routes, learning.routes,
    workflows.routes, working_memory.routes, events.routes, channels.routes, compatibility.routes, operator.routes,
)  # fmt: skip
SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""The framework's own telemetry would name paths, and paths name people."""
DESCRIPTION = """\
The memory of an AI that talks with people, over HTTP. Every verb is about one user, and the user comes from the key:
a key that is bound to a user acts for that user only. Errors are `application/problem+json` with a stable `code`.
`docs/http.md` explains paging, idempotency keys, conditional requests and live events.
"""


def create_app(
    store: Tenuto,
    *,
    hosts: Iterable[str] = LOOPBACK,
    limiter: Limiter | None = None,
    upstream: Upstream | None = None,
    courier: Courier | None = None,
    webhook_secret: str | None = None,
) -> FastAPI:
    """The application over ``store``. ``hosts``: the names that it answers to, besides which nothing is answered.

    ``upstream``: where the memory proxy sends chats; without one there is no proxy. ``courier``: carries the codes that
    prove an address. ``webhook_secret``: what webhooks sign with.
    """
    policy, metrics = store.deps.policy.server, Metrics(settings.metrics_folder())
    door, limits, mcp = Door(store.deps), limiter or LocalLimiter(), _mcp(store)
    proxy = proxy_of(store, upstream) if upstream is not None else None

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        feed = app.state.feed = events.Feed(store, metrics)
        loop = asyncio.get_running_loop()
        anyio.to_thread.current_default_thread_limiter().total_tokens = policy.threads

        def recheck() -> None:
            loop.call_soon_threadsafe(feed.recheck)

        door.on_forget = recheck
        async with contextlib.AsyncExitStack() as stack:
            if mcp is not None:
                await stack.enter_async_context(mcp.running())
            if proxy is not None:
                stack.push_async_callback(proxy.aclose)
            yield
            door.on_forget = lambda: None
            feed.stop()

    app = FastAPI(
        title="Tenuto", version=_version(), description=DESCRIPTION, lifespan=lifespan, docs_url=None, redoc_url=None,
        redirect_slashes=False, telemetry=SILENT,
    )  # fmt: skip
    app.state.store, app.state.door, app.state.metrics = store, door, metrics
    app.state.admission = Admission(store.deps.policy.limits, policy, limits)
    app.state.uploads = 0
    app.state.courier, app.state.webhook_secret = courier, webhook_secret
    app.router.routes.extend(_routes(mcp, proxy))
    for error in (TenutoError, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, on_error)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    app.add_middleware(Guard, door=door, policy=policy, limiter=limits, hosts=hosts)
    app.add_middleware(AccessLog, metrics=metrics)
    return app


def _routes(mcp: Any, proxy: Any) -> Iterator[BaseRoute]:
    """All routes, side by side: a router that is included would have each request look for its route twice."""
    for routes in (*ROUTERS, pages.routes, actions.routes, removal.routes):
        yield from routes.routes
    if mcp is not None:
        yield Route("/mcp", mcp, methods=["GET", "POST", "DELETE"], include_in_schema=False)
    if proxy is not None:
        yield from proxy.routes()


def _mcp(store: Tenuto) -> Any:
    """MCP's endpoint, where its SDK is installed."""
    if find_spec("mcp") is None:
        return None
    from tenuto.surfaces.http.mcp import McpEndpoint

    return McpEndpoint(store, _version())


def _version() -> str:
    from tenuto import __version__

    return __version__


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The schema, with the key and the problem form declared once."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = schema.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        parts["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer", "description": "A key or token: tnk_… or tnt_…"}
        }
        for operation in (one for path in schema["paths"].values() for one in path.values()):
            if operation.get("x-needs") != "public":
                operation["security"] = [{"key": []}]
            operation.get("responses", {}).pop("422", None) if not _takes_input(operation) else None
        app.openapi_schema = schema
    return app.openapi_schema


def _takes_input(operation: dict[str, Any]) -> bool:
    return bool(operation.get("parameters") or operation.get("requestBody"))
