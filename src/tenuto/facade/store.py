"""The facade: ``tenuto.open()`` gives a :class:`Tenuto`, its ``user()`` a :class:`UserMemory`: one short method a verb.

This is the only place that sequences flows. A flow does one thing with the store; what comes after it is decided here.
"""
# Over 400 lines: one short method per verb, each with its example.

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from tenuto import settings
from tenuto.access import keys as server_keys
from tenuto.call_context import verbs
from tenuto.deps import Deps
from tenuto.errors import InputError, SettingError
from tenuto.facade.doctor import examine
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.jobs import Runner, cancel_job, retry_job
from tenuto.facade.receive import receive
from tenuto.facade.user import UserMemory
from tenuto.identity.addresses import normalise
from tenuto.identity.link import identify
from tenuto.ingest.embedding import embed_user
from tenuto.ingest.extract.model import Spent, spent_by_day
from tenuto.ingest.model_costs import asked_by_day
from tenuto.lifecycle import curation
from tenuto.lifecycle.curation import CurateReport
from tenuto.policy import Policy
from tenuto.ports import Clock, Embedder, Ids, KeyedModel, MessageReader, Model, Tokens
from tenuto.privacy import audit
from tenuto.privacy.audit import Accesses
from tenuto.privacy.binding import bind
from tenuto.privacy.keys import FileKeys, KeyProvider
from tenuto.privacy.keys import provider as key_provider
from tenuto.privacy.reseal import rewrap, rotate_user, seal_store
from tenuto.privacy.ring import Keyring
from tenuto.privacy.vault import SealedVault
from tenuto.providers.bus import open_bus
from tenuto.providers.embed import LocalEmbedder
from tenuto.providers.embed_e5 import MultilingualE5
from tenuto.providers.model import as_model, unpaid_model
from tenuto.providers.reader import LocalReader
from tenuto.providers.reading_process import reading_process
from tenuto.providers.system import RandomIds, system_clock
from tenuto.providers.tokens import LocalTokens
from tenuto.providers.working import open_working
from tenuto.recall.indexes import Indexes
from tenuto.records.access import ApiKey
from tenuto.records.audit import AuditEntry, AuditHead, AuditReport
from tenuto.records.channel import Envelope
from tenuto.records.operations import Job, Receipt
from tenuto.records.scope import Scope
from tenuto.storage.opening import open_store
from tenuto.text import clean
from tenuto.workflow.definition import Definition
from tenuto.workflow.load import load as load_definition


@verbs
class Tenuto:
    """A store of many users' memory. Safe to use from several threads; close it, or use it in a ``with``."""

    def __init__(self, deps: Deps, *, background: bool = True) -> None:
        self.deps = deps
        self._background = background
        self._runner = Runner(deps, HANDLERS)
        self._closed = False
        deps.store.when_events(deps.bus.publish)
        _OPEN.add(self)
        self._wake()

    def user(self, user: str, *, persona: str | None = None, channel: str = "api") -> UserMemory:
        """Everything of one person, seen by one persona on one channel.

        >>> ana = store.user("ana", persona="coach", channel="imessage")
        """
        limits = self.deps.policy.limits
        scope = Scope(
            user=clean.name(user, limits, what="user id"),
            persona=clean.optional_name(persona, limits, what="persona"),
            channel=clean.name(channel, limits, what="channel"),
        )
        return UserMemory(self.deps, scope, self._wake)

    def identify(
        self, channel: str, address: str, *, region: str | None = None, device: str | None = None
    ) -> UserMemory:
        """The user whom an address belongs to, on that channel; somebody new, apart from all others, if never seen.

        >>> store.identify("sms", "+15550100").observe("Running late, start without me.")
        """
        user = identify(self.deps, channel, normalise(channel, address, region=region), device=device)
        return self.user(user, channel=channel)

    def define(self, definition: Definition | str | os.PathLike[str]) -> Definition:
        """Register a workflow definition: one made in code, or the file that holds one.

        >>> store.define(activity)
        """
        made = definition if isinstance(definition, Definition) else load_definition(os.fspath(definition))
        return self.deps.definitions.add(made)

    def receive(self, envelope: Envelope) -> Receipt:
        """Keep what arrived on a channel, for whomever the address belongs to.

        >>> store.receive(Envelope(channel="email", address="ana@example.org", text="See you at six."))
        """
        receipt = receive(self.deps, envelope)
        self._wake()
        return receipt

    def users(self) -> list[str]:
        """The ids of all users, in order.

        >>> for user in store.users():
        ...     print(user)
        """
        found: list[str] = []
        while page := self.deps.store.users(after=found[-1] if found else "", limit=1000):
            found.extend(page)
        return found

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until background jobs are done; ``False`` if the time ran out first.

        >>> store.settle(timeout=60)
        """
        return self._runner.drain(timeout=timeout)

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        """Give everything a vector of the current model. May be stopped and taken up again; search works meanwhile.

        >>> store.reembed()
        """
        return sum(embed_user(self.deps, user, progress) for user in self.users())

    def unembedded(self) -> int:
        """How many entries wait for a vector of the current model.

        >>> store.unembedded()
        """
        total = 0
        for user in self.users():
            with self.deps.store.reading(user) as reader:
                total += len(reader.unembedded(self.deps.embedder.model, 10**9))
        return total

    def examine(self, *, thorough: bool = False) -> list[dict[str, Any]]:
        """What ``tenuto doctor`` says: one finding per part, each with ``ok``, ``what`` and ``detail``.

        ``thorough`` reads every row as well, and says whether one was changed behind Tenuto's back in a sealed store.

        >>> for finding in store.examine():
        ...     print(finding["ok"], finding["what"], finding["detail"])
        """
        return examine(self.deps, thorough=thorough)

    def jobs(self, status: str | None = None, *, user: str | None = None, limit: int = 100) -> list[Job]:
        """What background work there is, newest first; ``status`` pending, running, done, failed or cancelled.

        >>> store.jobs("failed")
        """
        return self.deps.store.jobs(status, user, limit)

    def costs(self, *, most: int | None = None) -> dict[str, dict[str, float]]:
        """What the model cost on each of the last days (UTC), of all users or the first ``most``: tokens and money.

        Counted is what memory asks of a model for itself: extraction, closes, summaries, typed work; not chats, and not
        the vectors of a remote embedder. Money follows from ``memory.model_input_price`` and
        ``memory.model_output_price``.

        >>> store.costs()
        """
        total: dict[str, Spent] = {}
        for user in self.users() if most is None else self.deps.store.users(limit=most):
            with self.deps.store.reading(user) as reader:
                for day, spent in (*spent_by_day(reader).items(), *asked_by_day(reader).items()):
                    total[day] = total.get(day, Spent()).plus(spent)
        return {day: {"tokens": total[day].tokens, "money": total[day].cost} for day in sorted(total)}

    def create_key(
        self, name: str, *, scope: str = "app", user: str | None = None, lifetime: timedelta | None = None
    ) -> tuple[ApiKey, str]:
        """A new key of the server and its secret, shown this once; ``scope`` admin, app, user or read.

        >>> key, secret = store.create_key("website", scope="app")
        """
        return server_keys.create(self.deps, name=name, scope=scope, user=user, lifetime=lifetime)

    def keys(self, *, user: str | None = None) -> list[ApiKey]:
        """The server's keys, newest first, without their secrets.

        >>> store.keys()
        """
        return server_keys.listing(self.deps, user=user)

    def revoke_key(self, id: str) -> ApiKey:
        """Take a key back, and every token that it minted.

        >>> store.revoke_key(key.id)
        """
        return server_keys.revoke(self.deps, id)

    def seal(self, progress: Callable[[str], None] | None = None) -> int:
        """Encrypt a store that was opened with ``keys`` and ``convert``; how many users. Can be taken up again.

        >>> sealed.seal()
        """
        return seal_store(self.deps, progress)

    def rotate(self, user: str) -> int:
        """Give a user a new data key, seal everything with it and destroy the old one; the new key's number.

        >>> sealed.rotate("ana")
        """
        return rotate_user(self.deps, user)

    def rewrap(self) -> int:
        """Rotate the key that wraps all data keys; how many were wrapped anew.

        >>> sealed.rewrap()
        """
        return rewrap(self.deps)

    def retry_job(self, id: str, *, user: str | None = None) -> Job:
        """Put a failed or cancelled job back into the queue.

        >>> for job in store.jobs("failed"):
        ...     store.retry_job(job.id)
        """
        job = retry_job(self.deps, id, user)
        self._wake()
        return job

    def cancel_job(self, id: str, *, user: str | None = None) -> Job:
        """Take a waiting job out of the queue.

        >>> for job in store.jobs("pending"):
        ...     store.cancel_job(job.id)
        """
        return cancel_job(self.deps, id, user)

    def curate(self, user: str | None = None, *, dry_run: bool = False) -> list[CurateReport]:
        """Curate one user's memories, or everybody's; ``dry_run`` only shows the plans.

        >>> store.curate("ana", dry_run=True)
        """
        chosen = [self.user(user).id] if user is not None else self.users()
        return [curation.curate(self.deps, one, dry_run=dry_run) for one in chosen]

    def audit(self, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
        """The operator's own log, newest first: keys made and revoked, users erased. See ``UserMemory.audit``.

        >>> store.audit(limit=20)
        """
        return audit.entries(self.deps, "", before=before, limit=limit)

    def audit_head(self) -> AuditHead:
        """Where every audit log stands now: keep it where whoever can write to the store cannot.

        >>> head = store.audit_head()
        """
        return audit.head(self.deps)

    def verify_audit(self, head: AuditHead | None = None) -> AuditReport:
        """Check every entry of every audit log; ``head`` is one that was kept, to find what was made anew since.

        >>> assert store.verify_audit(head).ok
        """
        return audit.verify(self.deps, known=head)

    def check(self) -> list[str]:
        """What is wrong with the store, in words; empty when all is well.

        >>> assert store.check() == []
        """
        return self.deps.store.check()

    def close(self) -> None:
        """Finish the job at hand, leave the rest in the store, and release everything. Calling it twice is fine.

        >>> store.close()
        """
        if not self._closed:
            self._closed = True
            self._runner.stop()
            if self.deps.accesses is not None:
                self.deps.accesses.close()
            self.deps.bus.close()
            self.deps.store.close()
            if self.deps.working is not None:
                self.deps.working.close()
            if isinstance(self.deps.vault, SealedVault):
                self.deps.vault.ring.close()

    def _wake(self) -> None:
        if self._background:
            self._runner.wake()

    def __enter__(self) -> Tenuto:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
    model: str | Model | Callable[[str, str], str] | None = None,
    embedder: Embedder | str | None = None,
    reader: MessageReader | None = None,
    keys: str | SealedVault | None = None,
    clock: Clock | None = None,
    policy: Policy | Mapping[str, Any] | None = None,
    tokens: Tokens | None = None,
    ids: Ids | None = None,
    background: bool = True,
    upgrade: bool = False,
    convert: bool = False,
) -> Tenuto:
    """Open a store: a SQLite file (default ``./tenuto.db``), ``postgresql://…``, or ``memory:`` for trying things out.

    Without arguments it needs no key, no server and no network. ``background=False`` leaves jobs to ``settle()`` or to
    a worker. ``upgrade=True`` brings the schema of a PostgreSQL database up to this version's; a SQLite file upgrades
    itself. ``keys`` (``file:PATH``, or a vault) encrypts content at rest; ``convert`` allows that for a store which
    holds plain data until ``seal()`` has sealed it.
    """
    rules = settings.load(policy)
    now = _checked(clock) if clock is not None else system_clock
    where = str(url or settings.connection("db") or "tenuto.db")
    sealed = _vault(keys if keys is not None else settings.connection("keys"))
    seals = _model_key_seals()
    chosen, unpaid = _model(model or settings.connection("model"), rules, own_keys=seals is not None)
    store, vault = bind(lambda vault: open_store(where, vault, now, upgrade=upgrade), sealed, convert=convert)
    deps = Deps(
        store=store,
        embedder=_embedder(embedder),
        reader=reader or LocalReader(),
        tokens=tokens or LocalTokens(),
        vault=vault,
        clock=now,
        ids=ids or RandomIds(),
        policy=rules,
        indexes=Indexes(rules.recall.index_bytes),
        isolated=reading_process(rules.reading),
        model=chosen,
        unpaid_model=unpaid,
        bus=open_bus(redis or settings.connection("redis"), where, rules.context.batch),
        working=open_working(redis or settings.connection("redis"), rules.working, vault, now),
        model_key_seals=seals,
        accesses=Accesses(store, rules.audit.flush),
    )
    return Tenuto(deps, background=background)


def _vault(keys: str | SealedVault | None) -> SealedVault | None:
    if keys is None or isinstance(keys, SealedVault):
        return keys
    provider, ring = key_provider(keys, settings.secret("TENUTO_KEY"))
    return SealedVault(Keyring(ring, provider))


def _model(
    given: str | Model | Callable[[str, str], str] | None, rules: Policy, *, own_keys: bool
) -> tuple[Model | None, KeyedModel | None]:
    """The store's model; where the operator has no key for it but people may keep theirs, the model without one."""
    try:
        return as_model(given, rules.model, settings.secret), None
    except SettingError as error:
        if not own_keys or error.code != "model_key_missing" or not isinstance(given, str):
            raise
        return None, unpaid_model(given, rules.model)


def _model_key_seals() -> KeyProvider | None:
    spec = settings.connection("model_keys")
    return FileKeys(Path(spec.removeprefix("file:")).expanduser(), create=True) if spec else None


def _embedder(given: Embedder | str | None) -> Embedder:
    if given is None or given in ("local", "minilm"):
        return LocalEmbedder()
    if given == "e5-multilingual":
        return LocalEmbedder(MultilingualE5())
    if isinstance(given, str):
        raise SettingError(
            f"Unknown embedder {given!r}: 'minilm', 'e5-multilingual', or an object such as "
            "tenuto.providers.embed_remote.RemoteEmbedder."
        )
    return given


def _checked(clock: Clock) -> Clock:
    """The caller's clock, refused at the first naive answer."""

    def checked() -> datetime:
        return clean.moment(clock(), what="clock")

    if not callable(clock):
        raise InputError("'clock' takes a function that returns an aware datetime.", code="clock_invalid")
    return checked
