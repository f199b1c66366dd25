"""Running the server: one process, or several that share a listening socket, and an end that loses nothing.

Stopping (SIGTERM, SIGINT): no new connections, live streams end, requests at work get ``policy.server.shutdown`` to
finish, the background job at hand is finished, the rest waits in the store. A worker that dies is started again.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import socket
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

import uvicorn
from prometheus_client.multiprocess import mark_process_dead

from tenuto import settings
from tenuto.access import keys
from tenuto.access.decide import usable
from tenuto.errors import InputError, SettingError
from tenuto.facade import store as facade_store
from tenuto.facade.store import Tenuto
from tenuto.providers.limits import Limiter, LocalLimiter
from tenuto.records.access import KeyKind
from tenuto.surfaces.adapters.delivery import Smtp
from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.http.guard import LOOPBACK
from tenuto.surfaces.http.protocol import protocol_of
from tenuto.surfaces.proxy import Upstream

LOG = logging.getLogger("tenuto.serve")
LOOP: Any = "uvloop" if find_spec("uvloop") else "asyncio"
"""There is no uvloop for Windows."""
WAITING = 2048
"""Connections that may wait to be accepted."""
LATE_SECONDS = 0.05
"""How often a server that stops looks for connections that were made meanwhile."""
RESTARTS = 20
"""A worker that dies more often than this takes the server down: something is wrong that restarting does not mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How to serve. Travels to worker processes, so it is plain data."""

    db: str | None = None
    redis: str | None = None
    host: str = "127.0.0.1"
    port: int = 8368
    names: tuple[str, ...] = ()
    workers: int = 1
    certificate: str | None = None
    certificate_key: str | None = None
    behind: str | None = None
    """The address of a reverse proxy whose forwarded headers are believed."""
    logs: bool = True
    upstream: Upstream | None = None
    """Where the memory proxy sends chats."""
    workflows: tuple[str, ...] = ()
    """Files of workflow definitions."""
    options: tuple[tuple[str, Any], ...] = ()
    """More keyword arguments of ``tenuto.open``."""

    @property
    def hosts(self) -> tuple[str, ...]:
        own = f"[{self.host}]" if ":" in self.host else self.host
        return tuple(dict.fromkeys((*LOOPBACK, own, *self.names)))

    @property
    def address(self) -> str:
        own = "127.0.0.1" if self.host in ("0.0.0.0", "::") else f"[{self.host}]" if ":" in self.host else self.host
        host = self.names[0] if self.names else own
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}"


def upstream_of(openai: str | None, anthropic: str | None) -> Upstream | None:
    """What the operator named, on the command line or in the environment; the key only there."""
    openai = openai or settings.connection("upstream")
    if openai is None and anthropic is None:
        return None
    return Upstream(openai=openai, anthropic=anthropic, key=settings.connection("upstream_key"))


def courier() -> Smtp | None:
    """Who carries codes to addresses: the mail server that the operator named in ``TENUTO_SMTP``."""
    place = settings.connection("smtp")
    if place is None:
        return None
    host, _, port = place.partition(":")
    if not host or (port and not port.isdigit()):
        raise SettingError(f"TENUTO_SMTP takes HOST or HOST:PORT, not {place!r}.")
    sender = settings.connection("smtp_sender") or f"tenuto@{host}"
    password = settings.connection("smtp_password")
    return Smtp(
        host=host, port=int(port or 587), sender=sender, user=sender if password else None, password=password,
        tls=int(port or 587) != 25,
    )  # fmt: skip


def open_store(serving: Serving) -> Tenuto:
    store = facade_store.open(serving.db, redis=serving.redis, **dict(serving.options))
    for path in serving.workflows:
        store.define(path)
    return store


def check_bind(store: Tenuto, serving: Serving) -> None:
    """Anything but loopback needs a key first: a server that others can reach must be able to tell them apart."""
    if serving.host in ("127.0.0.1", "::1", "localhost"):
        return
    now = store.deps.clock()
    made = store.keys()
    if not any(usable(key, now) for key in made):
        raise InputError(
            f"{serving.host} can be reached by others, and there is no key yet: run 'tenuto keys create NAME' first, "
            "or leave --host out.",
            code="keys_missing",
        )


def sign_in_link(store: Tenuto, address: str, user: str | None = None) -> str:
    """An address that signs one browser in, once, within ``policy.server.link_valid``."""
    scope, valid = ("user" if user else "admin"), store.deps.policy.server.link_valid
    _, secret = keys.create(store.deps, name="sign-in link", scope=scope, user=user, lifetime=valid, kind=KeyKind.LINK)
    return f"{address}/sign-in?link={secret}"


def listen(serving: Serving) -> socket.socket:
    """The listening socket, bound before anything is said about an address."""
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    # Named, because asyncio switches Nagle's delay off (40 ms an answer) only where it sees that it is TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((serving.host, serving.port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"{serving.host}:{serving.port} cannot be used ({error.strerror}): choose another with --port.",
            code="port_taken",
        ) from None
    listener.listen(WAITING)
    listener.set_inheritable(True)
    return listener


def run_one(serving: Serving, listener: socket.socket, store: Tenuto | None = None) -> None:
    """Serve in this process until told to stop."""
    level = logging.INFO if serving.logs else logging.ERROR
    logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    opened = store or open_store(serving)
    try:
        _server(serving, opened).run(sockets=[listener])
    finally:
        opened.close()


def run_many(serving: Serving, listener: socket.socket) -> None:
    """Serve in several processes; start again what dies; stop all when told to."""
    with tempfile.TemporaryDirectory(prefix="tenuto-metrics-") as folder:
        settings.share_metrics(folder)
        _run_many(serving, listener)


def _run_many(serving: Serving, listener: socket.socket) -> None:
    context = multiprocessing.get_context("spawn")
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    workers = [_start(context, serving, listener) for _ in range(serving.workers)]
    restarts = 0
    while not stopping.wait(0.5):
        for place, worker in enumerate(workers):
            if not worker.is_alive():
                restarts += 1
                LOG.error('{"worker": %d, "died": %s}', worker.pid or 0, worker.exitcode)
                mark_process_dead(worker.pid or 0, settings.metrics_folder())  # type: ignore[no-untyped-call]
                workers[place] = _start(context, serving, listener)
        if restarts > RESTARTS:
            break
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join()


def _start(context: Any, serving: Serving, listener: socket.socket) -> BaseProcess:
    worker: BaseProcess = context.Process(target=run_one, args=(serving, listener))
    worker.start()
    return worker


def _server(serving: Serving, store: Tenuto) -> uvicorn.Server:
    policy = store.deps.policy.server
    app = create_app(
        store, hosts=serving.hosts, limiter=limiter(serving.redis), upstream=serving.upstream, courier=courier(),
        webhook_secret=settings.connection("webhook_secret"),
    )  # fmt: skip
    config = uvicorn.Config(
        app,
        http=protocol_of(policy, trusted=serving.behind),
        loop=LOOP,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=policy.connections,
        backlog=WAITING if serving.workers == 1 else 1,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=int(policy.shutdown.total_seconds()),
        proxy_headers=serving.behind is not None,
        forwarded_allow_ips=serving.behind or "",
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.certificate_key,
    )
    return _Stopping(config, app)


class _Stopping(uvicorn.Server):
    """Ends live streams as soon as it is told to stop, and connections that are made while it stops.

    Either would hold it up otherwise, and be cut off at the end of its time.
    """

    def __init__(self, config: uvicorn.Config, app: Any) -> None:
        super().__init__(config)
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio takes as many connections at once as may wait: one process would have all that arrive together,
            # and the others none. So each takes one at a time, and as many may wait as before.
            listener.listen(WAITING)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.create_task(self._end_late_ones())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end_late_ones(self) -> None:
        """uvicorn tells the connections that there are; one that was accepted just before is made only after that."""
        while True:
            await asyncio.sleep(LATE_SECONDS)
            for connection in list(self.server_state.connections):
                if not connection.transport.is_closing():
                    connection.shutdown()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        feed = getattr(self._app.state, "feed", None)
        if self._loop is not None and feed is not None:
            self._loop.call_soon_threadsafe(feed.stop)


def limiter(redis: str | None) -> Limiter:
    """Counted in Redis where there is one, so that several processes share their limits."""
    if redis is None:
        return LocalLimiter()
    from tenuto.providers.redis_limits import RedisLimiter

    return RedisLimiter(redis)


__all__ = ["Serving", "check_bind", "limiter", "listen", "open_store", "replace", "run_many", "run_one", "sign_in_link"]
