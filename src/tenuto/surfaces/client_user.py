"""One person's memory behind a server: the verbs of :class:`tenuto.UserMemory`, each one request."""
# Over 400 lines: one short method per verb, and there are many verbs.

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote

import httpx
import msgspec
from msgspec import UNSET, UnsetType

from tenuto import errors
from tenuto.facade.paging import ANY
from tenuto.lifecycle.curation import CurateReport
from tenuto.lifecycle.outreach import Outreach
from tenuto.lifecycle.purge import PurgeReport
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.trajectory import Trajectory
from tenuto.memories.listing import EntityCard
from tenuto.memories.remember import Remembered
from tenuto.privacy.erase import Proof
from tenuto.privacy.parts import Undone
from tenuto.records.audit import AuditEntry, AuditReport
from tenuto.records.context import Context
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary
from tenuto.records.memory import AgentState, Entity, EntityMerge, Memory, StateChange, Todo, Version
from tenuto.records.operations import Event, Receipt
from tenuto.records.recall import Hit, Recalled
from tenuto.records.wishes import StandingWish
from tenuto.surfaces.client_accounts import Accounts
from tenuto.surfaces.client_link import Whole, error_of, part, plain
from tenuto.surfaces.client_work import Work
from tenuto.transfer.seed import SeedReport, read_profile


class RemoteUser(Accounts, Work):
    """One person's memory behind a server: :class:`tenuto.UserMemory`'s verbs."""

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
        """Keep one thing said. Durable when this returns."""
        body = {
            "text": text, "role": role, "speaker": speaker, "at": at, "id": id, "session": session,
            "thinking": thinking, "model": model, "metadata": metadata, "tokens": tokens,
        }  # fmt: skip
        return self._write("POST", "observe", Receipt, body)

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
        """The right few things for a query, best first, each with its reasons."""
        body = {
            "query": query, "limit": limit, "kinds": [kinds] if isinstance(kinds, str) else kinds and list(kinds),
            "profile": profile, "since": since, "until": until, "persona": persona, "domain": domain, "kind": kind,
            "entity": entity, "status": status, "channel": channel, "session": session, "source": source, "role": role,
            "speaker": speaker, "outside": outside, "passages": passages, "valence": valence, "arousal": arousal,
            "held": held,
        }  # fmt: skip
        found = self._ask("POST", "recall", body)
        return Recalled([msgspec.convert(hit, Hit) for hit in found["hits"]], tuple(found["notes"]))

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
        """What a model should read now, within ``budget`` tokens."""
        body = {
            "message": message, "budget": budget, "session": session, "refresh": refresh, "replay": replay,
            "sent": None if sent is None else list(sent), "persona_text": persona_text,
        }  # fmt: skip
        return msgspec.convert(self._ask("POST", "context", body), Context)

    def messages(self, *, session_id: str | None = None, limit: int = 100) -> list[Message]:
        """The last messages, oldest first."""
        return self._all("messages", limit, order="-at", session_id=session_id)[::-1]

    def sessions(self, *, limit: int = 100) -> list[Session]:
        """Sessions with this persona (or all of them without one), newest first."""
        return self._all("sessions", limit)

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
        """Keep one thing for good; says whether it was new, the same, fuller, or replaces something."""
        body = {
            "text": text, "pin": pin, "session": session, "kind": kind, "importance": importance, "private": private,
            "proactive_use": proactive_use, "should_do": should_do, "should_not_do": should_not_do, "at": at,
            "source": source, "message": message, "domain": domain, "sensitivity": sensitivity,
            "time_scope": time_scope, "epistemic": epistemic, "valence": valence, "arousal": arousal,
            "salience": salience, "retrieval_conditions": retrieval_conditions, "do_not_use_when": do_not_use_when,
        }  # fmt: skip
        return self._write("POST", "memories", Remembered, body)

    def seed(self, profile: Mapping[str, Any] | str | os.PathLike[str]) -> SeedReport:
        """Keep what is known before the first word: a profile, or a file here with one (YAML, TOML or JSON)."""
        return self._write("POST", "seed", SeedReport, Whole(profile=dict(read_profile(profile))))

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
        """What is known, newest first."""
        body = {
            "status": status, "kind": kind, "domain": domain, "attribute": attribute, "entity": entity,
            "pinned": pinned, "persona": persona, "limit": limit, "sensitivity": sensitivity,
            "time_scope": time_scope, "epistemic": epistemic, "valence": valence, "arousal": arousal,
            "salience": salience,
        }  # fmt: skip
        return msgspec.convert(self._ask("POST", "memories/find", body), list[Memory])

    def memory(self, id: str) -> Memory:
        """One memory with its evidence and versions."""
        return self._read(f"memories/{part(id)}", Memory)

    def forget(self, id: str, *, reason: str = "asked to forget") -> Memory:
        """Out of every reading, until it is restored."""
        return self._write("POST", f"memories/{part(id)}/forget", Memory, {"reason": reason})

    def restore(self, id: str) -> Memory:
        """Bring back what was forgotten, archived or superseded."""
        return self._write("POST", f"memories/{part(id)}/restore", Memory)

    def history(self, id: str) -> list[Version]:
        """What a memory was before, oldest first; the present state is the last."""
        return msgspec.convert(self._ask("GET", f"memories/{part(id)}/history"), list[Version])

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
        """Correct a memory; the old wording stays in its history."""
        given = {
            "content": content, "importance": importance, "proactive_use": proactive_use, "should_do": should_do,
            "should_not_do": should_not_do, "valid_from": valid_from, "valid_to": valid_to, "happens_at": happens_at,
            "kind": kind, "retrieval_keywords": retrieval_keywords, "sensitivity": sensitivity,
            "time_scope": time_scope, "epistemic": epistemic, "valence": valence, "arousal": arousal,
            "salience": salience, "retrieval_conditions": retrieval_conditions, "do_not_use_when": do_not_use_when,
        }  # fmt: skip
        changes = Whole({name: value for name, value in given.items() if value is not UNSET})
        return self._write("PATCH", f"memories/{part(id)}", Memory, changes)

    def confirm(self, id: str) -> Memory:
        """Vouch for a memory: what came from outside becomes active."""
        return self._write("POST", f"memories/{part(id)}/confirm", Memory)

    def pin(self, id: str, *, kind: str = "manual", session: str | None = None) -> Memory:
        """Always in context, or in the context of one session."""
        return self._write("PUT", f"memories/{part(id)}/pin", Memory, {"kind": kind, "session": session})

    def unpin(self, id: str) -> Memory:
        """No longer always in context."""
        return self._write("DELETE", f"memories/{part(id)}/pin", Memory)

    def allow(self, id: str, use: str) -> Memory:
        """May it be brought up? ``yes``, ``only_when_relevant`` or ``no``."""
        return self._write("PUT", f"memories/{part(id)}/use", Memory, {"use": use})

    def wishes(self) -> list[StandingWish]:
        """What the person asked to be forgotten or not brought up, as far as it stands; the latest first."""
        return msgspec.convert(self._ask("GET", "wishes"), list[StandingWish])

    def lift(self, id: str) -> StandingWish:
        """End a wish: what was silenced may come up when it is relevant, what was forgotten is back."""
        return self._write("POST", f"wishes/{part(id)}/lift", StandingWish)

    def todos(
        self,
        *,
        status: str | None = "open",
        kind: str | None = None,
        persona: str | None = None,
        limit: int | None = None,
    ) -> list[Todo]:
        """What is open with this persona; ``status="*"`` for all."""
        body = Whole(status=status, kind=kind, persona=persona, limit=limit)
        return msgspec.convert(self._ask("POST", "todos/find", body), list[Todo])

    def wins(self) -> list[Todo]:
        """What was completed in the last 48 hours."""
        return msgspec.convert(self._ask("GET", "wins"), list[Todo])

    def complete(self, todo_id: str) -> Todo:
        """A todo is done; a habit is counted and stays."""
        return self._write("POST", f"todos/{part(todo_id)}/complete", Todo)

    def cancel(self, todo_id: str) -> Todo:
        """A todo is no longer wanted."""
        return self._write("POST", f"todos/{part(todo_id)}/cancel", Todo)

    def entities(self, *, type: str | None = None, limit: int | None = None) -> list[Entity]:
        """People, places, orgs and projects, the most mentioned first."""
        return msgspec.convert(self._ask("POST", "entities/find", {"type": type, "limit": limit}), list[Entity])

    def entity(self, id: str) -> EntityCard:
        """``entity("person:john")``: who it is, and the facts."""
        return self._read(f"entities/{part(id)}/card", EntityCard)

    def merges(self, *, status: str | None = "proposed") -> list[EntityMerge]:
        """Entities that may be one."""
        return msgspec.convert(self._ask("POST", "merges/find", Whole(status=status)), list[EntityMerge])

    def merge(self, duplicate: str, into: str) -> EntityMerge:
        """Two entities are one."""
        return self._write("POST", "merges", EntityMerge, {"duplicate": duplicate, "into": into})

    def decide_merge(self, id: str, *, accept: bool) -> EntityMerge:
        """Accept or refuse a proposed merge."""
        return self._write("POST", f"merges/{part(id)}/decide", EntityMerge, {"accept": accept})

    def unmerge(self, id: str) -> EntityMerge:
        """Take a merge back."""
        return self._write("POST", f"merges/{part(id)}/undo", EntityMerge)

    def close_session(self, session_id: str | None = None, *, end_type: str = "explicit") -> Session | None:
        """End a session: the one named (by our id or yours), or the open one. ``None`` if there is none to end."""
        body = {"session_id": session_id, "end_type": end_type}
        return self._write("POST", "sessions/close", cast("type[Session | None]", Session | None), body)

    def name_session(self, session_id: str, name: str | None) -> Session:
        """What a session is called, from now on; ``None`` takes the name away."""
        return self._write("PUT", f"sessions/{part(session_id)}/name", Session, Whole(name=name))

    def summaries(
        self, *, kind: str | None = None, session_id: str | None = None, versions: bool = False, limit: int = 100
    ) -> list[Summary]:
        """Summaries, newest first: the current version of each, or with ``versions`` all of them."""
        current = ANY if versions else None
        return self._all("summaries", limit, kind=kind, session_id=session_id, current=current)

    def summarise(self, start: str | datetime, end: str | datetime, *, session_id: str | None = None) -> Summary:
        """One summary of everything from ``start`` to ``end``, both included: two message ids, or two times."""
        return self._write("POST", "summaries", Summary, {"start": start, "end": end, "session_id": session_id})

    def key_points(self, *, session_id: str | None = None, limit: int = 100) -> list[KeyPoint]:
        """What was worth keeping from sessions, newest first."""
        return self._all("key_points", limit, session_id=session_id)

    def state(self) -> AgentState:
        """The persona's axes towards the user, now."""
        return self._read("state", AgentState)

    def state_history(self, *, limit: int = 100) -> list[StateChange]:
        """How the state came about: every change with its reason, newest first."""
        return self._all("state_changes", limit)

    def session_state(self) -> SessionState:
        """What survives sessions: message count, last interaction, how summaries and the curator fare."""
        return self._read("session-state", SessionState)

    def trajectory(self, *, on: bool | None = None) -> Trajectory:
        """Where the talk has been going; ``on`` switches it on or off first."""
        if on is None:
            return self._read("trajectory", Trajectory)
        return self._write("PUT", "trajectory", Trajectory, {"on": on})

    def outreach(self, *, on: bool | None = None, made: bool = False, timezone: str | None = None) -> Outreach:
        """May the persona make contact now? ``on`` is the user's switch; ``made`` notes that contact was made.

        ``timezone`` is where the user lives, such as ``Europe/Rome``.
        """
        if on is None and not made and timezone is None:
            return self._read("outreach", Outreach)
        return self._write("PUT", "outreach", Outreach, {"on": on, "made": made, "timezone": timezone})

    def retention(self) -> Rules:
        """The rules of how long each kind of thing is kept."""
        return self._read("retention", Rules)

    def set_retention(self, rules: Mapping[str, Any] | None) -> Rules:
        """The user's own rules over the operator's; ``None`` takes them back."""
        return self._write("PUT", "retention", Rules, Whole(rules=rules))

    def purge(self, *, dry_run: bool = False) -> PurgeReport:
        """Take what has had its time, now; or with ``dry_run`` only tell what would go."""
        return self._write("POST", "purge", PurgeReport, {"dry_run": dry_run})

    def curate(self, *, dry_run: bool = False) -> CurateReport:
        """Fold near-duplicates, archive what has faded; or with ``dry_run`` only show the plan."""
        return self._write("POST", "curate", CurateReport, {"dry_run": dry_run})

    def erase(
        self,
        *,
        memory: str | None = None,
        message: str | None = None,
        session: str | None = None,
        source: str | None = None,
    ) -> Proof:
        """Erase everything of this user, or one part with all that came of it, for good."""
        part = {"memory": memory, "message": message, "session": session, "source": source}
        return self._write("POST", "erase", Proof, {"user": self._user, **part})

    def undo(self, source: str, since: datetime | None = None, *, preview: bool = False) -> Undone:
        """Take back everything that a source brought in, and what came of it; ``preview`` only tells what would go."""
        return self._write("POST", "undo", Undone, {"source": source, "since": since, "preview": preview})

    def verify_erasure(self, proof: Proof) -> list[str]:
        """What is wrong with a proof of erasure, in words; empty when nothing of this user is left."""
        found: list[str] = self._ask("POST", "erase/verify", Whole(**msgspec.to_builtins(proof)))
        return found

    def audit(self, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
        """Who changed or read what of this user, newest first. No content."""
        page = self._ask("GET", "audit", query={"before": before, "limit": limit})
        return [msgspec.convert(one, AuditEntry) for one in page["items"]]

    def verify_audit(self) -> AuditReport:
        """Check every entry of this user's audit log."""
        return self._read("audit/verify", AuditReport)

    def stats(self) -> dict[str, Any]:
        """Totals, the oldest and newest message, and the average importance."""
        found: dict[str, Any] = self._ask("GET", "stats")
        for name in ("oldest_message", "newest_message"):
            found[name] = msgspec.convert(found[name], datetime | None)
        return found

    def receipt(self, id: str) -> Receipt | None:
        """What came of an observed message, by the receipt's id."""
        try:
            return msgspec.convert(self._ask("GET", f"receipts/{quote(id, safe='')}"), Receipt)
        except errors.NotFound:
            return None

    def events(self, *, after: int = 0, limit: int = 500) -> list[Event]:
        """What happened, in order, after the event with this number."""
        return msgspec.convert(self._ask("GET", "changes", query={"after": after, "limit": limit}), list[Event])

    def subscribe(self, *, after: int | None = None) -> Iterator[Event]:
        """What happens to the user, live, after number ``after`` (``None``: from now on). Ends with the connection."""
        path, query = self._path("events"), plain({"after": after})
        with self._link.http.stream("GET", path, params=query, timeout=httpx.Timeout(60.0)) as response:
            if response.status_code >= 400:
                response.read()
                raise error_of(response)
            for line in response.iter_lines():
                if line.startswith("data: ") and '"subject_kind"' in line:
                    yield msgspec.json.decode(line[6:], type=Event)

    def __repr__(self) -> str:
        return f"<RemoteUser {self._user} at {self._link.url}>"
