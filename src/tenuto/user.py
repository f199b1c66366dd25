"""One person's memory, seen by one persona on one channel. Every verb here is scoped to that person by construction."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tenuto.context.build import Context, build
from tenuto.deps import Deps
from tenuto.identity import joining, link
from tenuto.identity.addresses import normalise
from tenuto.ingest.observe import check, observe
from tenuto.lifecycle import care, close, look, purge, running
from tenuto.lifecycle.care import CurateReport
from tenuto.lifecycle.outreach import Outreach
from tenuto.lifecycle.purge import PurgeReport
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.trajectory import Trajectory
from tenuto.ports import Where
from tenuto.privacy.erase import Proof, erase, verify
from tenuto.providers.system import secret_code, secret_token
from tenuto.recall.search import recall
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary, SummaryKind
from tenuto.records.identity import Challenge, MergePlan, Purpose, UserMerge
from tenuto.records.memory import AgentState, StateChange
from tenuto.records.operations import Receipt
from tenuto.records.recall import Hit
from tenuto.records.scope import Identity, Scope
from tenuto.records.transfer import Import
from tenuto.transfer.export import export
from tenuto.transfer.files import Progress, estimate_file, find_import, import_file, imports
from tenuto.transfer.report import Estimate
from tenuto.transfer.restore import is_export, restore
from tenuto.transfer.vouching import vouch


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

    # --- going out and coming in --------------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """Everything of this user as one file: ``.jsonl`` or ``.json`` to keep or move, ``.md`` to read."""
        return export(self._deps, self._scope, path)

    def import_file(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        me: str | Iterable[str] = (),
        timezone: str = "UTC",
        vouch: bool = False,
        extract: bool = True,
        progress: Progress | None = None,
    ) -> Import:
        """Bring in earlier talk or memories: a file, a folder or an archive. Doing it again goes on where it stopped."""
        if is_export(self._deps, path, format):
            done = restore(self._deps, self._scope, path, vouch=vouch, progress=progress)
        else:
            names = [me] if isinstance(me, str) else list(me)
            done = import_file(
                self._deps, self._scope, path, format=format, names=names, timezone=timezone, vouch=vouch,
                extract=extract, progress=progress,
            )  # fmt: skip
        self._wake()
        return done

    def estimate_import(
        self, path: str | os.PathLike[str], *, format: str | None = None, me: str | Iterable[str] = (), timezone: str = "UTC"
    ) -> Estimate:
        """What an import would bring, from when, and what it would cost; nothing is written."""
        names = [me] if isinstance(me, str) else list(me)
        return estimate_file(self._deps, self._scope, path, format=format, names=names, timezone=timezone)

    def imports(self) -> list[Import]:
        """What was imported, newest first."""
        return imports(self._deps, self._scope)

    def vouch(self, import_id: str) -> Import:
        """Vouch for an import as a whole: its memories become active, what others said in it can be recalled."""
        believed = vouch(self._deps, self._scope, find_import(self._deps, self._scope, import_id))
        self._wake()
        return believed

    # --- addresses ----------------------------------------------------------------------------------------------------

    def identities(self) -> list[Identity]:
        """The addresses that lead to this user."""
        return link.identities(self._deps, self._scope)

    def link(
        self, channel: str, address: str, deliver: link.Courier, *, merge: bool = False, region: str | None = None
    ) -> Challenge:
        """Send a code to another address, to add it (or with ``merge`` to join the account it belongs to)."""
        purpose = Purpose.MERGE if merge else Purpose.LINK
        code, token, salt = secret_code(), secret_token(), secret_token()
        known = normalise(channel, address, region=region)
        return link.begin(
            self._deps, self._scope, channel, known, purpose, deliver, code=code, token=token, salt=salt
        )  # fmt: skip

    def confirm_link(self, channel: str, address: str, code: str, *, region: str | None = None) -> Identity:
        """Add the address that the code (or the link's token) was sent to."""
        known = normalise(channel, address, region=region)
        proof = link.prove(self._deps, self._scope, channel, known, Purpose.LINK, code)
        return link.finish_link(self._deps, self._scope, proof)

    def unlink(self, channel: str, address: str, *, region: str | None = None) -> Identity:
        """Take an address away; whoever writes from it next is somebody new."""
        return link.unlink(self._deps, self._scope, channel, normalise(channel, address, region=region))

    def merge_plan(self, channel: str, address: str, code: str, *, region: str | None = None) -> MergePlan:
        """With the code from ``link(…, merge=True)``: what joining that address's account into this one would do."""
        known = normalise(channel, address, region=region)
        proof = link.prove(self._deps, self._scope, channel, known, Purpose.MERGE, code)
        return joining.plan(self._deps, self._scope, proof)

    def merge(self, plan: MergePlan) -> UserMerge:
        """Do what the plan showed. Can be taken back with :meth:`unmerge`."""
        return joining.merge(self._deps, self._scope, plan)

    def merges(self) -> list[UserMerge]:
        """Accounts that were joined into this one, newest first."""
        return joining.merges(self._deps, self._scope)

    def unmerge(self, merge_id: str) -> UserMerge:
        """Give both accounts back as they were, plus what came since."""
        return joining.unmerge(self._deps, self._scope, merge_id)
