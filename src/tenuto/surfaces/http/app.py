"""The server's application: ``create_app(store)`` puts guard, routes, page, MCP and proxy together over one store.

The store is the caller's: the application uses it and does not close it. What is not installed is left out (MCP without
its SDK) and said so at ``/health``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tenuto.access.door import Door
from tenuto.engine import Tenuto
from tenuto.errors import TenutoError
from tenuto.identity.link import Courier
from tenuto.providers.limits import Limiter, LocalLimiter
from tenuto.surfaces.http import events
from tenuto.surfaces.http.answers import Problem
from tenuto.surfaces.http.crew import Crew, Unstarted
from tenuto.surfaces.http.desk import Desk
from tenuto.surfaces.http.guard import LOOPBACK, Guard
from tenuto.surfaces.http.lane import Lane
from tenuto.surfaces.http.problems import Refused, on_error
from tenuto.surfaces.http.proxy import proxy_of
from tenuto.surfaces.http.routing import Admission
from tenuto.surfaces.http.verbs import (
    channels,
    hands,
    health,
    identity,
    learning,
    listings,
    memory,
    operator,
    privacy,
    seeds,
    talk,
    time,
    transfer,
    workflows,
)
from tenuto.surfaces.http.watch import Metrics, Watch
from tenuto.surfaces.proxy import Upstream
from tenuto.surfaces.web import actions, pages, removal

ROUTERS = (
    talk.routes, health.routes, memory.routes, time.routes,
    listings.routes, privacy.routes, privacy.operator, transfer.routes, identity.routes, learning.routes,
    workflows.routes, hands.routes, events.routes, channels.routes, seeds.routes, operator.routes,
)  # fmt: skip
THREADS = 40
"""Verbs at work at the same time in one process; further ones wait their turn."""
SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""The framework's own telemetry would name paths, and paths name people."""
DESCRIPTION = """\
The memory of an AI that talks with people, over HTTP. Every verb is about one user, and the user comes from the key:
a key that is bound to a user acts for that user only. Errors are `application/problem+json` with a stable `code`.
`docs/http.md` explains paging, idempotency keys, conditional requests and live events.
"""


class Application(FastAPI):
    """Goes to the watch at once: it answers for what nobody caught, and the framework's own outer layers do not."""

    _first: ASGIApp | None = None

    def build_middleware_stack(self) -> ASGIApp:
        built = super().build_middleware_stack()
        layer: Any = built
        outermost: Any = self.user_middleware[0].cls
        if outermost is Watch:  # else somebody put a layer around ours, and theirs comes first
            while not isinstance(layer, Watch):
                layer = layer.app
            self._first = layer
        return built

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._first is None or scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        await self._first(scope, receive, send)


def create_app(
    store: Tenuto,
    *,
    hosts: Iterable[str] = LOOPBACK,
    limiter: Limiter | None = None,
    upstream: Upstream | None = None,
    courier: Courier | None = None,
    webhook_secret: str | None = None,
    counts: str | None = None,
) -> FastAPI:
    """The application over ``store``. ``hosts``: the names that it answers to, besides which nothing is answered.

    ``upstream``: where the memory proxy sends chats; without one there is no proxy. ``courier``: carries the codes that
    prove an address. ``webhook_secret``: what webhooks sign with. ``counts``: a folder that the processes of one server
    share for their metrics.
    """
    metrics = Metrics(os.getpid(), Path(counts) if counts else None)
    door, limits, mcp = Door(store.deps), limiter or LocalLimiter(), _mcp(store)
    proxy = proxy_of(store, upstream) if upstream is not None else None

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        feed = app.state.feed = events.Feed(store, metrics)
        loop = asyncio.get_running_loop()
        app.state.crew = crew = Crew(THREADS, loop)
        looker = store.deps.store.looker(loop)
        app.state.desk = Desk(looker, crew) if looker is not None else None

        def recheck() -> None:
            loop.call_soon_threadsafe(feed.recheck)

        door.on_forget = recheck
        async with contextlib.AsyncExitStack() as stack:
            if mcp is not None:
                await stack.enter_async_context(mcp.running())
            if proxy is not None:
                stack.push_async_callback(proxy.aclose)
            stack.callback(crew.close)
            if looker is not None:
                stack.callback(looker.close)
            leaving = asyncio.create_task(metrics.leave_often())
            yield
            leaving.cancel()
            metrics.leave()
            door.on_forget = lambda: None
            feed.stop()
            app.state.crew, app.state.desk = Unstarted(), None

    app = Application(
        title="Tenuto", version=_version(), description=DESCRIPTION, lifespan=lifespan, docs_url=None, redoc_url=None,
        redirect_slashes=False, telemetry=SILENT,
    )  # fmt: skip
    policy = store.deps.policy.server
    app.state.store, app.state.door, app.state.metrics = store, door, metrics
    app.state.admission = Admission(store.deps.policy.limits, policy, limits)
    app.state.uploads = 0
    app.state.crew, app.state.desk = Unstarted(), None
    app.state.courier, app.state.webhook_secret = courier, webhook_secret
    app.router.routes.extend(_routes(mcp, proxy))
    for error in (TenutoError, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, on_error)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    app.add_middleware(Lane, routes=app.router.routes, store=store, state=app.state)
    app.add_middleware(Guard, door=door, policy=policy, limiter=limits, hosts=hosts)
    app.add_middleware(Watch, metrics=metrics)
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
