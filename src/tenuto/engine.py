"""The facade: ``tenuto.open()`` gives a :class:`Tenuto`, its ``user()`` a :class:`UserMemory` with one short method per verb.

This is the only place that sequences flows. A flow does one thing with the store; what comes after it is decided here.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from tenuto import settings
from tenuto.access import keys as server_keys
from tenuto.deps import Deps
from tenuto.doctor import examine
from tenuto.errors import InputError, SettingError
from tenuto.handlers import HANDLERS
from tenuto.ingest.embedding import embed_user
from tenuto.jobs import Runner
from tenuto.policy import Policy
from tenuto.ports import Clock, Embedder, Ids, Model, Store, Tokens, Vault
from tenuto.providers.embed import LocalEmbedder
from tenuto.providers.system import RandomIds, system_clock
from tenuto.providers.tokens import LocalTokens
from tenuto.providers.vault import PlainVault
from tenuto.recall.indexes import Indexes
from tenuto.records.access import ApiKey
from tenuto.records.operations import Job
from tenuto.records.scope import Scope
from tenuto.storage.opening import open_store
from tenuto.text import clean
from tenuto.user import UserMemory


class Tenuto:
    """A store of many users' memory. Safe to use from several threads; close it, or use it in a ``with``."""

    def __init__(self, deps: Deps, *, background: bool = True) -> None:
        self.deps = deps
        self._background = background
        self._runner = Runner(deps, HANDLERS)
        self._closed = False
        _OPEN.add(self)

    def user(self, user: str, *, persona: str | None = None, channel: str = "api") -> UserMemory:
        """Everything of one person, seen by one persona on one channel."""
        limits = self.deps.policy.limits
        scope = Scope(
            user=clean.name(user, limits, what="user id"),
            persona=clean.optional_name(persona, limits, what="persona"),
            channel=clean.name(channel, limits, what="channel"),
        )
        return UserMemory(self.deps, scope, self._wake)

    def users(self) -> list[str]:
        """The ids of all users, in order."""
        found: list[str] = []
        while page := self.deps.store.users(after=found[-1] if found else "", limit=1000):
            found.extend(page)
        return found

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until background jobs are done; ``False`` if the time ran out first."""
        return self._runner.drain(timeout=timeout)

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        """Give everything a vector of the current model. May be stopped and taken up again; search works meanwhile."""
        return sum(embed_user(self.deps, user, progress) for user in self.users())

    def unembedded(self) -> int:
        """How many entries wait for a vector of the current model."""
        total = 0
        for user in self.users():
            with self.deps.store.reading(user) as reader:
                total += len(reader.unembedded(self.deps.embedder.model, 10**9))
        return total

    def examine(self) -> list[dict[str, Any]]:
        """What ``tenuto doctor`` says: one finding per part, each with ``ok``, ``what`` and ``detail``."""
        return examine(self.deps)

    def jobs(self, status: str | None = None, *, user: str | None = None, limit: int = 100) -> list[Job]:
        """What background work there is, newest first; ``status`` pending, running, done, failed or cancelled."""
        return self.deps.store.jobs(status, user, limit)

    def create_key(
        self, name: str, *, scope: str = "app", user: str | None = None, lifetime: timedelta | None = None
    ) -> tuple[ApiKey, str]:
        """A new key of the server and its secret, shown this once; ``scope`` admin, app, user or read."""
        return server_keys.create(self.deps, name=name, scope=scope, user=user, lifetime=lifetime)

    def keys(self, *, user: str | None = None) -> list[ApiKey]:
        """The server's keys, newest first, without their secrets."""
        return server_keys.listing(self.deps, user=user)

    def revoke_key(self, id: str) -> ApiKey:
        """Take a key back, and every token that it minted."""
        return server_keys.revoke(self.deps, id)

    def check(self) -> list[str]:
        """What is wrong with the store, in words; empty when all is well."""
        return self.deps.store.check()

    def close(self) -> None:
        """Finish the job at hand, leave the rest in the store, and release everything. Calling it twice is fine."""
        if not self._closed:
            self._closed = True
            self._runner.stop()
            self.deps.store.close()

    def _wake(self) -> None:
        if self._background:
            self._runner.wake()

    def __enter__(self) -> Tenuto:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Tenuto {self.deps.store.url}{' (closed)' if self._closed else ''}>"


_OPEN: weakref.WeakSet[Tenuto] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for store in list(_OPEN):
        store.close()


def open(
    url: str | os.PathLike[str] | None = None,
    *,
    redis: str | None = None,
    model: str | Model | None = None,
    embedder: Embedder | str | None = None,
    keys: Any = None,
    clock: Clock | None = None,
    policy: Policy | Mapping[str, Any] | None = None,
    tokens: Tokens | None = None,
    ids: Ids | None = None,
    background: bool = True,
) -> Tenuto:
    """Open a store: a SQLite file (default ``./tenuto.db``), ``postgresql://…``, or ``memory:`` for trying things out.

    Without arguments it needs no key, no server and no network. ``background=False`` leaves jobs to ``settle()`` or to
    a worker.
    """
    rules = settings.load(policy)
    now = _checked(clock) if clock is not None else system_clock
    vault: Vault = PlainVault()
    if keys is not None or settings.connection("keys"):
        raise SettingError("Encryption at rest is not part of this version: leave 'keys' out.")
    if redis is not None or settings.connection("redis"):
        raise SettingError("Redis is not part of this version: leave 'redis' out.")
    store: Store = open_store(str(url or settings.connection("db") or "tenuto.db"), vault, now)
    deps = Deps(
        store=store,
        embedder=_embedder(embedder),
        tokens=tokens or LocalTokens(),
        vault=vault,
        clock=now,
        ids=ids or RandomIds(),
        policy=rules,
        indexes=Indexes(rules.recall.index_bytes),
        model=_model(model),
    )
    return Tenuto(deps, background=background)


def _embedder(given: Embedder | str | None) -> Embedder:
    if given is None or given == "local":
        return LocalEmbedder()
    if isinstance(given, str):
        raise SettingError(f"Unknown embedder {given!r}: pass an object such as tenuto.providers.embed.RemoteEmbedder.")
    return given


def _model(given: str | Model | None) -> Model | None:
    if isinstance(given, str):
        raise SettingError(f"Unknown model {given!r}.")
    return given


def _checked(clock: Clock) -> Clock:
    """The caller's clock, refused at the first naive answer."""

    def checked() -> datetime:
        return clean.moment(clock(), what="clock")

    if not callable(clock):
        raise InputError("'clock' takes a function that returns an aware datetime.", code="clock_invalid")
    return checked
