"""Logs without content and metrics without names: method, route, status, time, key id. Never a path, a query or a body.

Metrics are counted here in a few dictionaries and printed in Prometheus' text form. One process, one registry: with
several workers, each answers for itself under its own ``process`` label.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("tenuto.http")
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of requests and how long they took."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * (len(BOUNDS) + 2))
        """Of each route: how many ended within each bound and not within the one before; the last is their sum."""
        self.gauges: dict[str, float] = {"streams_open": 0, "requests_open": 0}

    def record(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, route, status] += 1
            row = self._seconds[method, route]
            row[bisect_left(BOUNDS, seconds)] += 1
            row[-1] += seconds

    def add(self, gauge: str, by: int) -> None:
        with self._lock:
            self.gauges[gauge] += by

    def text(self, more: dict[str, float]) -> str:
        """Prometheus' text form."""
        with self._lock:
            requests, seconds = dict(self._requests), {key: list(row) for key, row in self._seconds.items()}
            gauges = {**self.gauges, **more}
        own = f'process="{self._process}"'
        lines = ["# TYPE tenuto_requests_total counter"]
        for (method, route, status), count in sorted(requests.items()):
            lines.append(f'tenuto_requests_total{{{own},method="{method}",route="{route}",status="{status}"}} {count}')
        lines.append("# TYPE tenuto_request_seconds histogram")
        for (method, route), row in sorted(seconds.items()):
            labels = f'{own},method="{method}",route="{route}"'
            within = list(accumulate(row[:-1]))
            for bound, ended in zip((*BOUNDS, "+Inf"), within, strict=True):
                lines.append(f'tenuto_request_seconds_bucket{{{labels},le="{bound}"}} {ended:g}')
            lines.append(f"tenuto_request_seconds_count{{{labels}}} {within[-1]:g}")
            lines.append(f"tenuto_request_seconds_sum{{{labels}}} {row[-1]:.6f}")
        for name, value in sorted(gauges.items()):
            lines += [f"# TYPE tenuto_{name} gauge", f"tenuto_{name}{{{own}}} {value:g}"]
        return "\n".join(lines) + "\n"


class Watch:
    """The outermost layer: times each request, counts it, logs one line."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.add("requests_open", 1)
        failure: str | None = None
        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            failure = _place(error)
            raise
        finally:
            self._metrics.add("requests_open", -1)
            self._end(scope, status, time.perf_counter() - begun, failure)

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


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _route(scope: Scope) -> str:
    """The route's template, never the path: ids may be addresses of people."""
    return str(getattr(scope.get("route"), "path", None) or scope.get("mounted") or "none")


def _place(error: BaseException) -> str:
    """The error's class and where it was raised, without its words."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"
