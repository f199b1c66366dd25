"""Logs without content and metrics without names: method, route, status, time, key id. Never a path, a query or a body.

Metrics are counted here in a few dictionaries and printed in Prometheus' text form, by the label ``process``. Several
worker processes share a folder: each leaves its counts there every few seconds, and whichever is asked prints those of
all, so that a scrape sees the whole server whoever answers it. A worker that died keeps its counts and loses its
gauges: counters never fall.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from tenuto.surfaces.http.outgoing import Outgoing
from tenuto.surfaces.http.problems import on_error

LOG = logging.getLogger("tenuto.http")
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LEFT_EVERY = 5.0
"""Seconds between the times that a process leaves its counts for the others."""


class Counts(msgspec.Struct):
    """What one process has counted: requests by (method, route, status), and of each route how many ended within each
    bound and not within the one before, with the sum of their seconds at the end."""

    process: int
    requests: dict[str, int] = {}
    seconds: dict[str, list[float]] = {}
    gauges: dict[str, float] = {}


class Metrics:
    """Counts of requests and how long they took. ``folder``: where the processes of one server leave theirs."""

    def __init__(self, process: int, folder: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._folder = folder
        self._own = Counts(process, gauges={"streams_open": 0, "requests_open": 0})

    def record(self, method: str, route: str, status: int, seconds: float) -> None:
        labels = f'method="{method}",route="{route}"'
        named = f'{labels},status="{status}"'
        with self._lock:
            self._own.requests[named] = self._own.requests.get(named, 0) + 1
            row = self._own.seconds.setdefault(labels, [0.0] * (len(BOUNDS) + 2))
            row[bisect_left(BOUNDS, seconds)] += 1
            row[-1] += seconds

    def add(self, gauge: str, by: int) -> None:
        with self._lock:
            self._own.gauges[gauge] += by

    def leave(self) -> None:
        """Write this process's counts to where the others find them."""
        if self._folder is None:
            return
        with self._lock:
            content = msgspec.json.encode(self._own)
        part = self._folder / f"{self._own.process}.part"
        part.write_bytes(content)
        part.replace(part.with_suffix(".json"))

    async def leave_often(self) -> None:
        """Until cancelled."""
        while self._folder is not None:
            self.leave()
            await asyncio.sleep(LEFT_EVERY)

    def all(self) -> list[Counts]:
        """The counts of every process of this server, this one's first."""
        with self._lock:
            found = [msgspec.json.decode(msgspec.json.encode(self._own), type=Counts)]
        for path in sorted(self._folder.glob("*.json")) if self._folder is not None else ():
            if path.stem != str(self._own.process):
                other = msgspec.json.decode(path.read_bytes(), type=Counts)
                found.append(other if _alive(other.process) else msgspec.structs.replace(other, gauges={}))
        return found

    def text(self, more: dict[str, float]) -> str:
        """Prometheus' text form; ``more`` are gauges of the store, the same whoever is asked."""
        every = self.all()
        lines = ["# TYPE tenuto_requests_total counter"]
        for one in every:
            own = f'process="{one.process}"'
            lines += [f"tenuto_requests_total{{{own},{labels}}} {n}" for labels, n in sorted(one.requests.items())]
        lines.append("# TYPE tenuto_request_seconds histogram")
        for one in every:
            for labels, row in sorted(one.seconds.items()):
                lines += _histogram(f'process="{one.process}",{labels}', row)
        for name in sorted({name for one in every for name in one.gauges}):
            lines.append(f"# TYPE tenuto_{name} gauge")
            lines += [f'tenuto_{name}{{process="{one.process}"}} {one.gauges[name]:g}' for one in every if one.gauges]
        for name, value in sorted(more.items()):
            lines += [f"# TYPE tenuto_{name} gauge", f"tenuto_{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _histogram(labels: str, row: list[float]) -> list[str]:
    within = list(accumulate(row[:-1]))
    bounds = zip((*BOUNDS, "+Inf"), within, strict=True)
    lines = [f'tenuto_request_seconds_bucket{{{labels},le="{bound}"}} {ended:g}' for bound, ended in bounds]
    lines.append(f"tenuto_request_seconds_count{{{labels}}} {within[-1]:g}")
    return [*lines, f"tenuto_request_seconds_sum{{{labels}}} {row[-1]:.6f}"]


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Watch:
    """The outermost layer: times each request, counts it, logs one line, and answers for what nobody caught."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, out = time.perf_counter(), Outgoing(send)
        self._metrics.add("requests_open", 1)
        failure: str | None = None
        try:
            await self.app(scope, receive, out.send)
        except Exception as error:
            failure = _place(error)
            if out.status is None:
                response = await on_error(Request(scope), error)
                await response(scope, receive, out.send)
            raise
        finally:
            self._metrics.add("requests_open", -1)
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
