"""One line of log per request: method, route, status, time, key id. Never a path, a query or a body."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from tenuto.errors import where_raised
from tenuto.surfaces.http.metrics import Metrics
from tenuto.surfaces.http.outgoing import Outgoing
from tenuto.surfaces.http.problems import on_error

LOG = logging.getLogger("tenuto.http")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class AccessLog:
    """The outermost layer: times each request, counts it, logs one line, and answers for what nobody caught."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, out = time.perf_counter(), Outgoing(send)
        self._metrics.requests_open.inc()
        failure: str | None = None
        try:
            await self.app(scope, receive, out.send)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered and logged here
            failure = where_raised(error)
            if out.status is not None:  # the server has to cut the answer off, and must not log the error's words
                raise ConnectionAbortedError("an answer could not be finished") from None
            response = await on_error(Request(scope), error)
            await response(scope, receive, out.send)
        finally:
            self._metrics.requests_open.dec()
            self._end(scope, out.status or 500, time.perf_counter() - begun, failure)

    def _end(self, scope: Scope, status: int, seconds: float, failure: str | None) -> None:
        route = _route(scope)
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self._metrics.record(method, route, status, seconds)
        if not LOG.isEnabledFor(logging.INFO) and failure is None:
            return
        key = scope.get("state", {}).get("key")
        line: dict[str, Any] = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 2)}
        line["key"] = key.id if key else None
        if failure:
            line["failure"] = failure
        LOG.log(logging.ERROR if failure else logging.INFO, json.dumps(line))


def _route(scope: Scope) -> str:
    """The route's template, never the path: ids may be addresses of people."""
    return str(getattr(scope.get("route"), "path", None) or scope.get("mounted") or "none")
