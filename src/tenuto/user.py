"""One person's memory, seen by one persona on one channel. Every verb here is scoped to that person by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from tenuto.context.build import Context, build
from tenuto.deps import Deps
from tenuto.ingest.observe import check, observe
from tenuto.lifecycle import care, close, look, purge, running
from tenuto.lifecycle.care import CurateReport
from tenuto.lifecycle.outreach import Outreach
from tenuto.lifecycle.purge import PurgeReport
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.trajectory import Trajectory
from tenuto.ports import Where
from tenuto.privacy.erase import Proof, erase, verify
from tenuto.recall.search import recall
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary, SummaryKind
from tenuto.records.memory import AgentState, StateChange
from tenuto.records.operations import Receipt
from tenuto.records.recall import Hit
from tenuto.records.scope import Scope


class UserMemory:
    """What is kept of one user, and everything that can be done with it."""

    def __init__(self, deps: Deps, scope: Scope, wake: Callable[[], None]) -> None:
        self._deps = deps
        self._scope = scope
        self._wake = wake

    @property
    def id(self) -> str:
        """The user's id."""
        return self._scope.user

    @property
    def scope(self) -> Scope:
        return self._scope

    def observe(
        self,
        text: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        at: datetime | None = None,
        id: str | None = None,
        session: str | None = None,
        thinking: str | None = None,
        model: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Receipt:
        """Keep one thing said. Durable when this returns; what it means is worked out in the background."""
        incoming = check(
            self._deps,
            text,
            role=role,
            speaker=speaker,
            at=at,
            id=id,
            session=session,
            thinking=thinking,
            model=model,
            metadata=metadata,
        )
        receipt = observe(self._deps, self._scope, incoming)
        self._wake()
        return receipt

    def recall(self, query: str, *, limit: int = 10, **filters: Any) -> list[Hit]:
        """The right few things for a query, best first, each with its reasons."""
        return recall(self._deps, self._scope, query, limit=limit, **filters)

    def context(self, message: str, *, budget: int | None = None, **options: Any) -> Context:
        """What a model should read now, within ``budget`` tokens."""
        hits = recall(self._deps, self._scope, message, limit=self._deps.policy.context.relevant)
        return build(self._deps, self._scope, message, hits=hits, budget=budget, **options)

    def messages(self, *, session_id: str | None = None, limit: int = 100) -> list[Message]:
        """The last messages, oldest first."""
        where = [Where("session_id", "=", session_id)] if session_id else []
        with self._deps.store.reading(self.id) as reader:
            return reader.find(Message, *where, order="-at", limit=limit)[::-1]

    def sessions(self, *, limit: int = 100) -> list[Session]:
        """Sessions with this persona (or all of them without one), newest first."""
        where = [Where("persona", "=", self._scope.persona)] if self._scope.persona else []
        with self._deps.store.reading(self.id) as reader:
            return reader.find(Session, *where, order="-last_activity_at", limit=limit)

    def stats(self) -> dict[str, Any]:
        """Totals, the oldest and newest message, and the average importance."""
        with self._deps.store.reading(self.id) as reader:
            return reader.stats()

    def erase(self) -> Proof:
        """Erase everything of this user, for good; the proof tells what is gone. To hide one memory, forget it."""
        return erase(self._deps, self._scope)

    def verify_erasure(self, proof: Proof) -> list[str]:
        """What is wrong with a proof of erasure, in words; empty when nothing of this user is left."""
        return verify(self._deps, self.id, proof)

    def receipt(self, id: str) -> Receipt | None:
        """What came of an observed message, by the receipt's id."""
        with self._deps.store.reading(self.id) as reader:
            return reader.get(Receipt, id)

    # --- time: sessions, summaries, the companion's state, retention --------------------------------------------------

    def close_session(self, session_id: str | None = None, *, end_type: str = "explicit") -> Session | None:
        """End a session: the one named (by our id or yours), or the open one. ``None`` if there is none to end."""
        closed = close.close_session(self._deps, self._scope, session_id, end_type)
        self._wake()
        return closed

    def summaries(
        self, *, kind: str | None = None, session_id: str | None = None, versions: bool = False, limit: int = 100
    ) -> list[Summary]:
        """Summaries, newest first: the current version of each, or with ``versions`` all of them."""
        where = [Where("kind", "=", SummaryKind(kind))] if kind else []
        where += [Where("session_id", "=", session_id)] if session_id else []
        where += [] if versions else [Where("current", "=", True)]
        with self._deps.store.reading(self.id) as reader:
            found = reader.find(Summary, *where, order="-created_at", limit=None if self._scope.persona else limit)
        visible = (None, self._scope.persona)
        return [one for one in found if self._scope.persona is None or one.persona in visible][:limit]

    def summarise(self, start: str | datetime, end: str | datetime) -> Summary:
        """One summary of everything from ``start`` to ``end``, both included: two message ids, or two times."""
        return running.summarise_range(self._deps, self._scope, start, end)

    def key_points(self, *, session_id: str | None = None, limit: int = 100) -> list[KeyPoint]:
        """What was worth keeping from sessions, newest first."""
        where = [Where("session_id", "=", session_id)] if session_id else []
        with self._deps.store.reading(self.id) as reader:
            return reader.find(KeyPoint, *where, order="-created_at", limit=limit)

    def state(self) -> AgentState:
        """The persona's axes towards the user, now. Nothing about it is hidden."""
        return look.agent_state(self._deps, self._scope)

    def state_history(self, *, limit: int = 100) -> list[StateChange]:
        """How the state came about: every change with its reason, newest first."""
        return look.state_history(self._deps, self._scope, limit)

    def session_state(self) -> SessionState:
        """What survives sessions: message count, last interaction, how summaries and the curator fare."""
        return look.session_state(self._deps, self._scope)

    def trajectory(self, *, on: bool | None = None) -> Trajectory:
        """Where the talk has been going, with the formula of every number; ``on`` switches it on or off first."""
        if on is not None:
            look.set_trajectory(self._deps, self._scope, on)
        return look.trajectory(self._deps, self._scope)

    def outreach(self, *, on: bool | None = None, made: bool = False) -> Outreach:
        """May the persona make contact now? ``on`` is the user's switch; ``made`` notes that contact was made."""
        if on is not None or made:
            look.set_outreach(self._deps, self._scope, on=on, made=made)
        return look.may_reach_out(self._deps, self._scope)

    def retention(self) -> Rules:
        """How long what is kept."""
        return look.retention_rules(self._deps, self._scope)

    def set_retention(self, rules: Mapping[str, Any] | None) -> Rules:
        """The user's own rules over the operator's; ``None`` takes them back. ``docs/lifecycle.md`` shows the form."""
        return look.set_retention(self._deps, self._scope, rules)

    def purge(self, *, dry_run: bool = False) -> PurgeReport:
        """Take what has had its time under :meth:`retention`, now; or with ``dry_run`` only tell what would go."""
        return purge.purge(self._deps, self.id, dry_run=dry_run)

    def curate(self, *, dry_run: bool = False) -> CurateReport:
        """Fold near-duplicates, archive what has faded, look after todos; or with ``dry_run`` only show the plan."""
        return care.curate(self._deps, self.id, dry_run=dry_run)
