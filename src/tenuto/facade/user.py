"""One person's memory, seen by one persona on one channel. Every verb here is scoped to that person by construction."""
# Over 400 lines: one short method per verb, and there are many verbs.

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack, cast

from msgspec import UNSET, UnsetType

from tenuto.access import keys as server_keys
from tenuto.call_context import verbs as named_verbs
from tenuto.context.build import Context, build
from tenuto.context.working import Working
from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound, SettingError
from tenuto.facade import paging
from tenuto.facade.model_keys import ModelKeys
from tenuto.facade.options import PageFilters
from tenuto.facade.paging import Page
from tenuto.facade.workflows import WorkflowHandle
from tenuto.identity import joining, link
from tenuto.identity.addresses import normalise
from tenuto.ingest.model_costs import Counted, counted
from tenuto.ingest.observe import check, observe
from tenuto.lifecycle import close, companion, curation, purge, rolling
from tenuto.lifecycle.curation import CurateReport
from tenuto.lifecycle.outreach import Outreach
from tenuto.lifecycle.purge import PurgeReport
from tenuto.lifecycle.rebuild import make_anew
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.trajectory import Trajectory
from tenuto.memories import change, listing, seeding
from tenuto.memories import remember as verbs
from tenuto.memories import wishes as wishing
from tenuto.memories.listing import EntityCard
from tenuto.memories.remember import Remembered
from tenuto.ports import KeyedModel, Model, Where
from tenuto.privacy import audit, parts
from tenuto.privacy.erase import Proof, erase, verify
from tenuto.privacy.model_keys import with_own_key
from tenuto.privacy.parts import Undone
from tenuto.providers.embed_speed import seconds_to_embed
from tenuto.providers.model import as_model
from tenuto.providers.system import secret_code, secret_token
from tenuto.recall.search import recall
from tenuto.recall.surround import Kept, session_context
from tenuto.records.audit import AuditEntry, AuditReport
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary, SummaryKind
from tenuto.records.identity import Challenge, MergePlan, Purpose, UserMerge
from tenuto.records.memory import AgentState, Entity, EntityMerge, Memory, StateChange, Todo, Trust, Version
from tenuto.records.operations import Act, Event, Receipt
from tenuto.records.recall import Recalled
from tenuto.records.scope import Identity, Scope
from tenuto.records.transfer import Import
from tenuto.records.wishes import StandingWish
from tenuto.records.workflow import Outcome, Workflow
from tenuto.sync.subscribe import Subscription, events
from tenuto.transfer.export import export
from tenuto.transfer.files import Progress, estimate_file, find_import, import_file, imports
from tenuto.transfer.report import Estimate
from tenuto.transfer.restore import is_export, restore
from tenuto.transfer.seed import SeedReport, read_profile, statements
from tenuto.transfer.vouching import vouch
from tenuto.workflow.advance import begin
from tenuto.workflow.definition import Definition
from tenuto.workflow.learner import LearnerProfile
from tenuto.workflow.outcomes import learner, record_outcome


@named_verbs
class UserMemory:
    """What is kept of one user, and everything that can be done with it."""

    def __init__(self, deps: Deps, scope: Scope, wake: Callable[[], None]) -> None:
        self._deps = deps
        self._scope = scope
        self._wake = wake

    @property
    def id(self) -> str:
        """The user's id.

        >>> ana.id  # "ana"
        """
        return self._scope.user

    @property
    def scope(self) -> Scope:
        """The user, the persona and the channel of every verb here.

        >>> ana.scope.persona
        """
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
        tokens: int | None = None,
    ) -> Receipt:
        """Keep one thing said. Durable when this returns; what it means is worked out in the background.

        ``tokens`` is what it cost the model, where you know it; ``metadata={"important": True}`` keeps it in sight.

        >>> receipt = ana.observe("My dad is allergic to penicillin.", id="msg-17")
        """
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
            tokens=tokens,
        )
        receipt = observe(self._deps, self._scope, incoming)
        if receipt.act is Act.INSERTED:
            self.working.heard(receipt, incoming.role, incoming.content)
        self._wake()
        return receipt

    @property
    def working(self) -> Working:
        """The last messages, the active channel and temporary variables: fast, and gone an hour after the last word.

        >>> ana.working.set("draft", "v2")
        """
        return Working(self._deps.working, self._scope, self._deps.policy.working, self._deps.policy.limits)

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Iterable[str] | str | None = None,
        profile: str = "default",
        since: datetime | None = None,
        until: datetime | None = None,
        persona: str | None = None,
        domain: str | None = None,
        kind: str | None = None,
        entity: str | None = None,
        status: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        source: str | None = None,
        role: str | None = None,
        speaker: str | None = None,
        outside: bool = False,
        held: bool = False,
        passages: bool = False,
        valence: float | None = None,
        arousal: float | None = None,
    ) -> Recalled:
        """The right few things for a query, best first, each with its reasons; ``notes`` say what went wrong.

        ``limit`` is the most, not a quota. ``kinds``: among memory, message, key_point, summary, todo. ``profile``:
        default, blended or decayed. The rest narrows: a time (``since`` included, ``until`` not), a ``persona``
        (``"*"`` for all, without one), a memory's ``domain``, ``kind``, ``entity`` (``"person:john"``) or ``status``, a
        message's ``channel``, ``session``, ``source``, ``role`` or ``speaker``. ``outside`` adds what waits for a
        confirmation, and ``held`` what the person wished to be held back (for their own eyes: each such hit is marked);
        ``passages`` hands messages over with their neighbours; ``valence`` and ``arousal`` (-1 to 1)
        prefer what was said in a like mood.

        >>> ana.recall("antibiotics", kinds=["memory"], since=last_year)
        """
        return recall(
            self._deps,
            self._scope,
            query,
            limit=limit,
            kinds=kinds,
            profile=profile,
            since=since,
            until=until,
            persona=persona,
            domain=domain,
            kind=kind,
            entity=entity,
            status=status,
            channel=channel,
            session=session,
            source=source,
            role=role,
            speaker=speaker,
            outside=outside,
            held=held,
            passages=passages,
            valence=valence,
            arousal=arousal,
        )

    def context(
        self,
        message: str,
        *,
        budget: int | None = None,
        session: str | None = None,
        refresh: bool = False,
        replay: bool = True,
        sent: Iterable[str] | None = None,
        persona_text: str | None = None,
    ) -> Context:
        """What a model should read now, within ``budget`` tokens (8,000 by default, room for the answer included).

        What the session is about is found on its first message that says something; ``refresh`` finds it anew.
        ``session`` is your own id of the session. ``replay=False`` leaves its turns out, for a caller who sends them
        anyway: all of them, or the texts in ``sent``. ``persona_text`` replaces the words that introduce the persona.

        >>> ana.context("Which antibiotics are safe for him?", budget=4000).messages
        """
        close.catch_up(counted(self._deps, self.id) if self._deps.unpaid_model is None else self._paid, self._scope)
        limit = self._deps.policy.context.relevant
        hits = recall(self._deps, self._scope, message, limit=limit)

        def lasting(query: str) -> Sequence[Kept]:
            found = hits if query == message else recall(self._deps, self._scope, query, limit=limit)
            return session_context(self._deps, self._scope, query, found, session=session, refresh=refresh)

        return build(
            self._deps,
            self._scope,
            message,
            hits=hits,
            lasting=lasting,
            refresh=refresh,
            budget=budget,
            session=session,
            replay=replay,
            sent=sent,
            persona_text=persona_text,
        )

    def messages(self, *, session_id: str | None = None, limit: int = 100) -> list[Message]:
        """The last messages, oldest first; of one session, by our id of it or yours.

        >>> ana.messages(limit=20)
        """
        return paging.rows(self._deps, self._scope, "messages", order="-at", limit=limit, session_id=session_id)[::-1]

    def sessions(self, *, limit: int = 100) -> list[Session]:
        """Sessions with this persona (or all of them without one), newest first.

        >>> ana.sessions(limit=5)[0].started_at
        """
        return paging.rows(self._deps, self._scope, "sessions", limit=limit)

    def page(
        self, what: str, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[PageFilters]
    ) -> Page[Any]:
        """One page of a listing such as memories or messages; ``next`` of a page is the cursor of the one after it.

        >>> first = ana.page("memories", limit=50)
        """
        return paging.find(self._deps, self._scope, what, limit=limit, cursor=cursor, **filters)

    def get(self, what: str, id: str) -> Any:
        """One row of a listing by its id.

        >>> ana.get("messages", message.id)
        """
        return paging.one(self._deps, self._scope, what, id)

    def stats(self) -> dict[str, Any]:
        """Totals, the oldest and newest message, and the average importance.

        >>> ana.stats()["total_memories"]
        """
        with self._deps.store.reading(self.id) as reader:
            return reader.stats()

    def erase(
        self,
        *,
        memory: str | None = None,
        message: str | None = None,
        session: str | None = None,
        source: str | None = None,
    ) -> Proof:
        """Erase everything of this user, or one part with all that came of it, for good; the proof tells what is gone.

        A part is one memory, one message, one session (by our ids or yours) or everything that one source brought in.
        To hide a memory so that it can come back, forget it.

        >>> proof = ana.erase(memory=memory.id)
        """
        if memory is message is session is source is None:
            server_keys.drop_user(self._deps, self.id)
            return erase(self._deps, self._scope)
        part = parts.chosen(memory=memory, message=message, session=session, source=source)
        proof = parts.erase_part(self._deps, self._scope, part)
        self._wake()
        return proof

    def undo(self, source: str, since: datetime | None = None, *, preview: bool = False) -> Undone:
        """Take back everything that a source brought in, and what came of it; with ``preview`` only tell what would go.

        ``source`` is what messages and memories carry as theirs (``import:imp_…``, ``email:quoted``, ``direct``,
        ``conversation``); ``since`` is when it began to arrive.

        >>> ana.undo("email:quoted", since=yesterday, preview=True)
        """
        done = parts.undo(self._deps, self._scope, source, since, preview=preview)
        if not preview:
            self._wake()
        return done

    def verify_erasure(self, proof: Proof) -> list[str]:
        """What is wrong with a proof of erasure, in words; empty when nothing of this user is left.

        >>> assert ana.verify_erasure(proof) == []
        """
        return verify(self._deps, self.id, proof)

    def audit(self, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
        """Who changed or read what of this user, newest first; ``before`` is a number to go on from. No content.

        >>> for entry in ana.audit(limit=20):
        ...     print(entry.at, entry.actor, entry.verb)
        """
        return audit.entries(self._deps, self.id, before=before, limit=limit)

    def verify_audit(self) -> AuditReport:
        """Check every entry of this user's audit log.

        >>> assert ana.verify_audit().ok
        """
        return audit.verify(self._deps, user=self.id)

    def receipt(self, id: str) -> Receipt | None:
        """What came of an observed message, by the receipt's id.

        >>> ana.receipt(receipt.id).results
        """
        with self._deps.store.reading(self.id) as reader:
            return reader.get(Receipt, id)

    # --- what is known ------------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        pin: bool | str = False,
        session: str | None = None,
        kind: str | None = None,
        importance: float | None = None,
        private: bool = False,
        proactive_use: str | None = None,
        should_do: str | None = None,
        should_not_do: str | None = None,
        at: datetime | None = None,
        trust: Trust = Trust.USER_STATED,
        source: str = "direct",
        message: str | None = None,
        domain: str | None = None,
        sensitivity: str | None = None,
        time_scope: str | None = None,
        epistemic: str | None = None,
        valence: float | None = None,
        arousal: float | None = None,
        salience: float | None = None,
        retrieval_conditions: str | None = None,
        do_not_use_when: str | None = None,
    ) -> Remembered:
        """Keep one thing for good; says whether it was new, the same, fuller, or replaces something.

        ``pin`` keeps it in every context (``True``, or a kind of pin), of one ``session`` if that is given.
        ``private`` keeps it for this persona. ``proactive_use``: yes, only_when_relevant or no. ``should_do`` and
        ``should_not_do`` tell the model how to behave. ``message`` is where it was said: the evidence. ``domain`` says
        whom it is about: profile, people, project, agent (the persona), relational (both), evidence. What the rest
        says by hand (``sensitivity`` low, medium, high; ``time_scope``; ``epistemic``; ``valence`` -1 to 1; ``arousal``
        and ``salience`` 0 to 1) is kept as given. With ``retrieval_conditions`` it is used only where the message is
        about that, and with ``do_not_use_when`` never where it is.

        >>> ana.remember("Allergic to penicillin", pin=True)
        """
        return verbs.remember(
            self._deps,
            self._scope,
            text,
            pin=pin,
            session=session,
            kind=kind,
            importance=importance,
            private=private,
            proactive_use=proactive_use,
            should_do=should_do,
            should_not_do=should_not_do,
            at=at,
            trust=trust,
            source=source,
            message=message,
            domain=domain,
            sensitivity=sensitivity,
            time_scope=time_scope,
            epistemic=epistemic,
            valence=valence,
            arousal=arousal,
            salience=salience,
            retrieval_conditions=retrieval_conditions,
            do_not_use_when=do_not_use_when,
        )

    def seed(self, profile: Mapping[str, Any] | str | os.PathLike[str]) -> SeedReport:
        """Keep what is known before the first word: a profile, or a file with one (YAML, TOML or JSON).

        Loading it again changes nothing. Sections: name, facts, people, preferences, projects, rules, pins.

        >>> store.user("ana").seed({"name": "Ana Souza", "rules": ["Answer in Portuguese"]})
        """
        return seeding.seed(self._deps, self._scope, statements(read_profile(profile)))

    def memories(
        self,
        *,
        status: str | None = None,
        kind: str | None = None,
        domain: str | None = None,
        attribute: str | None = None,
        entity: str | None = None,
        pinned: bool | None = None,
        persona: str | None = None,
        limit: int | None = None,
        sensitivity: str | None = None,
        time_scope: str | None = None,
        epistemic: str | None = None,
        valence: tuple[float, float] | None = None,
        arousal: tuple[float, float] | None = None,
        salience: tuple[float, float] | None = None,
    ) -> list[Memory]:
        """What is known, newest first: what recall reads, or with ``status`` (``"*"`` for all) something else.

        ``valence``, ``arousal`` and ``salience`` take two numbers, from and to.

        >>> ana.memories(entity="person:john", pinned=True)
        """
        return listing.memories(
            self._deps,
            self._scope,
            status=status,
            kind=kind,
            domain=domain,
            attribute=attribute,
            entity=entity,
            pinned=pinned,
            persona=persona,
            limit=limit,
            sensitivity=sensitivity,
            time_scope=time_scope,
            epistemic=epistemic,
            valence=valence,
            arousal=arousal,
            salience=salience,
        )

    def memory(self, id: str) -> Memory:
        """One memory with its evidence and versions.

        >>> ana.memory(memory.id).evidence
        """
        with self._deps.store.reading(self.id) as reader:
            return change.get(reader, self._scope, id)

    def forget(self, id: str, *, reason: str = "asked to forget", trust: Trust = Trust.USER_STATED) -> Memory:
        """Out of every reading, until it is restored. Erasing is for good; forgetting is not.

        Asked for by a model (``trust`` inferred or external) the memory stays, and contexts ask the person.

        >>> ana.forget(memory.id)
        """
        return change.forget(self._deps, self._scope, id, reason=reason, trust=trust)

    def restore(self, id: str) -> Memory:
        """Bring back what was forgotten, archived or superseded.

        >>> ana.restore(forgotten.id)
        """
        return change.restore(self._deps, self._scope, id)

    def history(self, id: str) -> list[Version]:
        """What a memory was before, oldest first, the values it replaced included; the present state is the last.

        >>> for version in ana.history(memory.id):
        ...     print(version.content)
        """
        return change.history(self._deps, self._scope, id)

    def edit(
        self,
        id: str,
        *,
        content: str | UnsetType = UNSET,
        importance: float | UnsetType = UNSET,
        proactive_use: str | UnsetType = UNSET,
        should_do: str | UnsetType | None = UNSET,
        should_not_do: str | UnsetType | None = UNSET,
        valid_from: datetime | UnsetType | None = UNSET,
        valid_to: datetime | UnsetType | None = UNSET,
        happens_at: datetime | UnsetType | None = UNSET,
        kind: str | UnsetType = UNSET,
        retrieval_keywords: Iterable[str] | UnsetType = UNSET,
        sensitivity: str | UnsetType = UNSET,
        time_scope: str | UnsetType = UNSET,
        epistemic: str | UnsetType = UNSET,
        valence: float | UnsetType = UNSET,
        arousal: float | UnsetType = UNSET,
        salience: float | UnsetType = UNSET,
        retrieval_conditions: str | UnsetType | None = UNSET,
        do_not_use_when: str | UnsetType | None = UNSET,
    ) -> Memory:
        """Correct a memory; the old wording stays in its history. What is not given stays; ``None`` takes it away.

        >>> ana.edit(memory.id, content="Allergic to penicillin and sulfa drugs")
        """
        given = {
            "content": content,
            "importance": importance,
            "proactive_use": proactive_use,
            "should_do": should_do,
            "should_not_do": should_not_do,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "happens_at": happens_at,
            "kind": kind,
            "retrieval_keywords": retrieval_keywords,
            "sensitivity": sensitivity,
            "time_scope": time_scope,
            "epistemic": epistemic,
            "valence": valence,
            "arousal": arousal,
            "salience": salience,
            "retrieval_conditions": retrieval_conditions,
            "do_not_use_when": do_not_use_when,
        }
        changes = {name: value for name, value in given.items() if value is not UNSET}
        return change.edit(self._deps, self._scope, id, **changes)

    def confirm(self, id: str) -> Memory:
        """Vouch for a memory: what came from outside becomes active.

        >>> ana.confirm(waiting.id)
        """
        return change.confirm(self._deps, self._scope, id)

    def pin(self, id: str, *, kind: str = "manual", session: str | None = None) -> Memory:
        """Always in context, or in the context of one session.

        >>> ana.pin(memory.id)
        """
        return change.pin(self._deps, self._scope, id, kind=kind, session=session)

    def unpin(self, id: str) -> Memory:
        """No longer in every context; it stays known.

        >>> ana.unpin(memory.id)
        """
        return change.unpin(self._deps, self._scope, id)

    def allow(self, id: str, use: str) -> Memory:
        """May it be brought up? ``yes``, ``only_when_relevant`` or ``no``.

        >>> ana.allow(memory.id, "only_when_relevant")
        """
        return change.allow(self._deps, self._scope, id, use)

    def wishes(self) -> list[StandingWish]:
        """What the person asked to be forgotten or not brought up, as far as it stands; the latest first.

        >>> [(wish.kind, wish.about) for wish in ana.wishes()]
        """
        return wishing.wishes(self._deps, self._scope)

    def lift(self, id: str) -> StandingWish:
        """End a wish: what was silenced may come up when it is relevant, what was forgotten is back.

        >>> ana.lift(ana.wishes()[0].id)
        """
        return wishing.lift(self._deps, self._scope, id)

    def todos(
        self,
        *,
        status: str | None = "open",
        kind: str | None = None,
        persona: str | None = None,
        limit: int | None = None,
    ) -> list[Todo]:
        """What is open with this persona; ``status="*"`` for all, ``persona="*"`` for every persona's.

        >>> for todo in ana.todos():
        ...     print(todo.due, todo.content)
        """
        return listing.todos(self._deps, self._scope, status=status, kind=kind, persona=persona, limit=limit)

    def wins(self) -> list[Todo]:
        """What was completed in the last 48 hours.

        >>> ana.wins()
        """
        return listing.wins(self._deps, self._scope)

    def complete(self, todo_id: str) -> Todo:
        """A todo is done; a habit is counted and stays.

        >>> ana.complete(todo.id)
        """
        return listing.finish(self._deps, self._scope, todo_id)

    def cancel(self, todo_id: str) -> Todo:
        """A todo is no longer wanted.

        >>> ana.cancel(todo.id)
        """
        return listing.finish(self._deps, self._scope, todo_id, cancelled=True)

    def entities(self, *, type: str | None = None, limit: int | None = None) -> list[Entity]:
        """People, places, orgs and projects, the most mentioned first.

        >>> ana.entities(type="person")
        """
        return listing.entities(self._deps, self._scope, type=type, limit=limit)

    def entity(self, id: str) -> EntityCard:
        """``entity("person:john")``: who it is, and the facts.

        >>> ana.entity(entity.id).facts
        """
        return listing.entity(self._deps, self._scope, id)

    def merges(self, *, status: str | None = "proposed") -> list[EntityMerge]:
        """Entities that may be one.

        >>> ana.merges()
        """
        return listing.merges(self._deps, self._scope, status=status)

    def merge(self, duplicate: str, into: str) -> EntityMerge:
        """Two entities are one.

        >>> ana.merge(duplicate.id, into=entity.id)
        """
        return listing.merge(self._deps, self._scope, duplicate, into)

    def decide_merge(self, id: str, *, accept: bool) -> EntityMerge:
        """Accept or refuse a proposed merge.

        >>> for merge in ana.merges():
        ...     ana.decide_merge(merge.id, accept=True)
        """
        return listing.decide_merge(self._deps, self._scope, id, accept=accept)

    def unmerge(self, id: str) -> EntityMerge:
        """Take a merge back.

        >>> ana.unmerge(merged.id)
        """
        return listing.unmerge(self._deps, self._scope, id)

    # --- time: sessions, summaries, the companion's state, retention --------------------------------------------------

    def close_session(self, session_id: str | None = None, *, end_type: str = "explicit") -> Session | None:
        """End a session: the one named (by our id or yours), or the open one. ``None`` if there is none to end.

        >>> ana.close_session()
        """
        closed = close.close_session(self._deps, self._scope, session_id, end_type)
        self._wake()
        return closed

    def name_session(self, session_id: str, name: str | None) -> Session:
        """What a session is called, from now on; ``None`` takes the name away. By our id of it or yours.

        >>> ana.name_session(ana.sessions()[0].id, "Planning the trip")
        """
        return close.name_session(self._deps, self._scope, session_id, name)

    def summaries(
        self, *, kind: str | None = None, session_id: str | None = None, versions: bool = False, limit: int = 100
    ) -> list[Summary]:
        """Summaries, newest first: the current version of each, or with ``versions`` all of them.

        >>> ana.summaries(kind="session")
        """
        if kind is not None and kind not in set(SummaryKind):
            raise InputError(f"Unknown kind {kind!r}: use one of {', '.join(SummaryKind)}.", code="kind_unknown")
        current = paging.ANY if versions else None
        return paging.rows(
            self._deps, self._scope, "summaries", limit=limit, kind=kind, session_id=session_id, current=current
        )

    def summarise(self, start: str | datetime, end: str | datetime, *, session_id: str | None = None) -> Summary:
        """One summary of everything from ``start`` to ``end``, both included: two message ids, or two times.

        ``session_id`` takes the messages of that session alone. Ranges do not overlap: one that holds another takes its
        place, one that cuts into another is refused.

        >>> ana.summarise(yesterday, now).content
        """
        return rolling.summarise_range(self._paid, self._scope, start, end, session_id)

    def key_points(self, *, session_id: str | None = None, limit: int = 100) -> list[KeyPoint]:
        """What was worth keeping from sessions, newest first.

        >>> ana.key_points(limit=10)
        """
        return paging.rows(self._deps, self._scope, "key_points", limit=limit, session_id=session_id)

    def state(self) -> AgentState:
        """The persona's axes towards the user, now. Nothing about it is hidden.

        >>> ana.state().axes["connection"]
        """
        return companion.agent_state(self._deps, self._scope)

    def state_history(self, *, limit: int = 100) -> list[StateChange]:
        """How the state came about: every change with its reason, newest first.

        >>> ana.state_history(limit=5)
        """
        return companion.state_history(self._deps, self._scope, limit)

    def session_state(self) -> SessionState:
        """What survives sessions: message count, last interaction, how summaries and the curator fare.

        >>> ana.session_state().message_count
        """
        return companion.session_state(self._deps, self._scope)

    def trajectory(self, *, on: bool | None = None) -> Trajectory:
        """Where the talk has been going, with the formula of every number; ``on`` switches it on or off first.

        >>> ana.trajectory(on=True)
        """
        if on is not None:
            companion.set_trajectory(self._deps, self._scope, on)
        return companion.trajectory(self._deps, self._scope)

    def outreach(self, *, on: bool | None = None, made: bool = False, timezone: str | None = None) -> Outreach:
        """May the persona make contact now? ``on`` is the user's switch; ``made`` notes that contact was made.

        ``timezone`` is where the user lives, such as ``Europe/Rome``: without it quiet hours cannot be kept, so: no.

        >>> ana.outreach(on=True, timezone="Europe/Rome").allowed
        """
        if timezone is not None:
            companion.set_timezone(self._deps, self._scope, timezone)
        if on is not None or made:
            companion.set_outreach(self._deps, self._scope, on=on, made=made)
        return companion.may_reach_out(self._deps, self._scope)

    def retention(self) -> Rules:
        """The rules of how long each kind of thing is kept.

        >>> ana.retention()
        """
        return companion.retention_rules(self._deps, self._scope)

    def set_retention(self, rules: Mapping[str, Any] | None) -> Rules:
        """The user's own rules over the operator's; ``None`` takes them back. ``docs/lifecycle.md`` shows the form.

        >>> ana.set_retention({"channels": {"email": {"purge_text": timedelta(days=90), "all": True}}})
        """
        return companion.set_retention(self._deps, self._scope, rules)

    def purge(self, *, dry_run: bool = False) -> PurgeReport:
        """Take what has had its time under :meth:`retention`, now; or with ``dry_run`` only tell what would go.

        >>> ana.purge(dry_run=True)
        """
        return purge.purge(self._deps, self.id, dry_run=dry_run)

    def curate(self, *, dry_run: bool = False) -> CurateReport:
        """Fold near-duplicates, archive what has faded, look after todos; or with ``dry_run`` only show the plan.

        >>> ana.curate(dry_run=True)
        """
        return curation.curate(self._deps, self.id, dry_run=dry_run)

    # --- going out and coming in --------------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """Everything of this user as one file: ``.jsonl`` or ``.json`` to keep or move, ``.md`` to read.

        >>> ana.export(folder / "ana.json")
        """
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
        """Bring in earlier talk or memories: a file, a folder or an archive. Again goes on where it stopped.

        >>> ana.import_file(chat, format="whatsapp", me="Ana", vouch=True)
        """
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
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        me: str | Iterable[str] = (),
        timezone: str = "UTC",
    ) -> Estimate:
        """What an import would bring, from when, and what it would cost; nothing is written.

        >>> ana.estimate_import(chat, format="whatsapp", me="Ana").messages
        """
        names, sample = [me] if isinstance(me, str) else list(me), list[str]()
        found = estimate_file(
            self._deps, self._scope, path, format=format, names=names, timezone=timezone, sample=sample
        )  # fmt: skip
        found.embedding_seconds = seconds_to_embed(self._deps.embedder, sample, found.messages + found.memories)
        return found

    def imports(self) -> list[Import]:
        """What was imported, newest first.

        >>> ana.imports()
        """
        return imports(self._deps, self._scope)

    def vouch(self, import_id: str) -> Import:
        """Vouch for an import as a whole: its memories become active, what others said in it can be recalled.

        >>> ana.vouch(brought.id)
        """
        believed = vouch(self._deps, self._scope, find_import(self._deps, self._scope, import_id))
        self._wake()
        return believed

    # --- live ---------------------------------------------------------------------------------------------------------

    def events(self, *, after: int = 0, limit: int = 500) -> list[Event]:
        """What happened, in order, after the event with this number.

        >>> ana.events(after=0, limit=100)
        """
        return events(self._deps, self.id, after, limit)

    def subscribe(self, *, after: int | None = None) -> Subscription:
        """Follow what happens, on any channel and from any process: from now on, or after an event's number.

        >>> with ana.subscribe(after=0) as subscription:
        ...     events = subscription.next(timeout=5)
        """
        return Subscription(self._deps, self.id, after)

    # --- addresses ----------------------------------------------------------------------------------------------------

    def identities(self) -> list[Identity]:
        """The addresses that lead to this user.

        >>> ana.identities()
        """
        return link.identities(self._deps, self._scope)

    def link(
        self, channel: str, address: str, deliver: link.Courier, *, merge: bool = False, region: str | None = None
    ) -> Challenge:
        """Send a code to another address, to add it (or with ``merge`` to join the account it belongs to).

        >>> ana.link("email", "ana@example.org", send)
        """
        purpose = Purpose.MERGE if merge else Purpose.LINK
        code, token, salt = secret_code(), secret_token(), secret_token()
        known = normalise(channel, address, region=region)
        return link.begin(
            self._deps, self._scope, channel, known, purpose, deliver, code=code, token=token, salt=salt
        )  # fmt: skip

    def confirm_link(self, channel: str, address: str, code: str, *, region: str | None = None) -> Identity:
        """Add the address that the code (or the link's token) was sent to.

        >>> ana.confirm_link("email", "ana@example.org", code)
        """
        known = normalise(channel, address, region=region)
        proof = link.prove(self._deps, self._scope, channel, known, Purpose.LINK, code)
        return link.finish_link(self._deps, self._scope, proof)

    def unlink(self, channel: str, address: str, *, region: str | None = None) -> Identity:
        """Take an address away; whoever writes from it next is somebody new.

        >>> ana.unlink("email", "ana@example.org")
        """
        return link.unlink(self._deps, self._scope, channel, normalise(channel, address, region=region))

    def merge_plan(self, channel: str, address: str, code: str, *, region: str | None = None) -> MergePlan:
        """With the code from ``link(…, merge=True)``: what joining that address's account into this one would do.

        >>> plan = ana.merge_plan("sms", "+15550100", code)
        """
        known = normalise(channel, address, region=region)
        proof = link.prove(self._deps, self._scope, channel, known, Purpose.MERGE, code)
        return joining.plan(self._deps, self._scope, proof)

    def merge_user(self, plan: MergePlan) -> UserMerge:
        """Do what the plan showed. Can be taken back with :meth:`unmerge_user`.

        >>> ana.merge_user(plan)
        """
        return joining.merge(self._deps, self._scope, plan)

    def user_merges(self) -> list[UserMerge]:
        """Accounts that were joined into this one, newest first.

        >>> ana.user_merges()
        """
        return joining.merges(self._deps, self._scope)

    def unmerge_user(self, merge_id: str) -> UserMerge:
        """Give both accounts back as they were, plus what came since.

        >>> ana.unmerge_user(joined.id)
        """
        undone = joining.unmerge(self._deps, self._scope, merge_id)
        for user in (self.id, undone.other):
            make_anew(self._deps, user, undone.created_at)
        self._wake()
        return undone

    # --- typed work ---------------------------------------------------------------------------------------------------

    def workflow(
        self,
        definition: Definition | str,
        id: str | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        model: str | Model | Callable[[str, str], str] | None = None,
    ) -> WorkflowHandle:
        """Open the workflow with this id, or begin a new one; ``given`` fills fields of a new one.

        ``model`` is taken as by ``tenuto.open``, with the person's own key where they have set one; without it the
        store's model proposes, or the parsers alone.

        >>> draft = ana.workflow(activity, given={"language": "Python"})
        """
        kind = self._deps.definitions.get(definition) if isinstance(definition, str) else definition
        self._deps.definitions.add(kind)
        record = begin(self._deps, self._scope, kind, id=id, given=given, session_id=session_id)
        proposer = as_model(model, self._deps.policy.model, self.model_keys.lookup)
        if proposer is not None:
            asked = Counted(proposer, self._deps, self.id)
            return WorkflowHandle(self._deps, self._scope, kind, record.id, self._wake, asked)
        return WorkflowHandle(self._paid, self._scope, kind, record.id, self._wake)

    def workflow_of(self, id: str) -> WorkflowHandle:
        """The workflow with this id, or the last one that lives in the session with this id (ours, or yours).

        >>> ana.workflow_of(draft.id)
        """
        with self._deps.store.reading(self.id) as reader:
            found = reader.get(Workflow, id)
            if found is None:
                sessions = [id, *reader.ids(Session, Where("external_id", "=", id))]
                living = reader.find(Workflow, Where("session_id", "in", sessions), order="-updated_at", limit=1)
                found = living[0] if living else None
        if found is None:
            raise NotFound(f"There is no workflow '{id[:80]}', and none in such a session.", code="workflow_unknown")
        return self.workflow(found.definition, found.id)

    def workflows(self, *, definition: str | None = None, state: str | None = None, limit: int = 100) -> list[Workflow]:
        """Workflows, the last touched first.

        >>> ana.workflows(definition="activity")
        """
        return paging.rows(self._deps, self._scope, "workflows", limit=limit, definition=definition, state=state)

    def record_outcome(
        self,
        track: str,
        skill: str,
        success: bool,
        at: datetime | None = None,
        *,
        style: str | None = None,
        artifact_id: str | None = None,
        id: str | None = None,
    ) -> Outcome:
        """One try at one skill; the learner profile follows from these alone.

        >>> ana.record_outcome("python", "loops", success=True)
        """
        return record_outcome(
            self._deps, self._scope, track, skill, success, at=at, style=style, artifact_id=artifact_id, id=id
        )

    def learner(self, track: str, *, at: datetime | None = None) -> LearnerProfile:
        """What the person masters in one track, replayed from the outcomes.

        >>> ana.learner("python").skills
        """
        return learner(self._deps, self._scope, track, at=at)

    @property
    def model(self) -> Model | None:
        """The store's model as this person asks it: with their own key where they keep one for it.

        >>> ana.model is None  # no model: rules and the reader alone
        """
        chosen = self._deps.model or self._deps.unpaid_model
        provider = getattr(chosen, "key_provider", None)
        own = self.model_keys.own(provider) if provider is not None else None
        if own is not None:
            return cast(KeyedModel, chosen).with_key(own.reveal())
        if self._deps.model is None and chosen is not None:
            raise SettingError(
                f"The model {chosen.name} needs a key: set {str(provider).upper()}_API_KEY, or keep one of your own: "
                f"tenuto model-keys set {provider}.",
                code="model_key_missing",
            )
        return self._deps.model

    @property
    def _paid(self) -> Deps:
        """What flows use that may ask the store's model: with this person's own key where they keep one for it."""
        return counted(with_own_key(self._deps, self.id), self.id)

    @property
    def model_keys(self) -> ModelKeys:
        """The person's own keys for model providers: sealed at rest, never exported.

        >>> ana.model_keys.list()
        """
        return ModelKeys(self._deps, self._scope)
