"""One batch of an import, in one transaction: messages, their sessions, their words in the index, and the run's record.

Everything that a live message brings happens here too, but once per batch instead of once per message: session states,
sessions and the import's counts are written at the end, one event tells of the batch, one job embeds, one job per few
messages looks for memories. That, and few statements, is what makes it fast.

Trust is written here, by rule: what the user wrote is theirs; everything else is external until the user vouches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tenuto.deps import Deps
from tenuto.ingest.message_importance import message_importance
from tenuto.ingest.observe import DIGEST, EMBED
from tenuto.lifecycle.due import ARRIVAL_SLACK, CLOSE_SESSION, RANGE, SPINE, Due, timer
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.sessions import IDLE
from tenuto.ports import Transaction, Where
from tenuto.recall.entry import make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role, Session, SessionState, SessionStatus
from tenuto.records.memory import Epistemic, Evidence, Memory, PinKind, Status, Trust
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.transfer import Import, Noted, Parsed, Said, Skipped
from tenuto.transfer.parsing import digest
from tenuto.transfer.threads import Threads

OWN_IDS = ("jsonl", "json", "csv")
"""Formats whose ids are the caller's own and are kept as they are."""
CHUNK = 500
SESSIONS_HELD = 5_000


@dataclass(slots=True)
class Work:
    """What goes on from batch to batch."""

    run: Import
    threads: Threads
    vouched: bool = False
    extract: bool = True
    sessions: dict[str, Session] = field(default_factory=dict)


def trust_of(role: Role, mine: bool, vouched: bool) -> Trust:
    """Whose word an imported message is."""
    if mine and role is Role.USER:
        return Trust.USER_STATED
    return Trust.INFERRED if vouched and role is not Role.TOOL else Trust.EXTERNAL


def take_in(deps: Deps, scope: Scope, work: Work, batch: Sequence[Parsed]) -> Import:
    """Keep one batch; the import's record after it."""
    now = deps.clock()
    skips = [item for item in batch if isinstance(item, Skipped)]
    said, late = _datable([item for item in batch if isinstance(item, Said)], now, deps)
    noted = [item for item in batch if isinstance(item, Noted)]
    skips += late
    with deps.store.writing(scope.user) as tx:
        fresh, repeated, clashes = _fresh(tx, work, [piece for item in said for piece in pieces(item, deps)])
        messages = _messages(deps, scope, tx, work, fresh, now)
        memories = _memories(deps, scope, tx, work, noted, now)
        run = _counted(deps, work.run, messages, len(memories), [*skips, *clashes], now)
        run = evolve(run, duplicates=run.duplicates + repeated + len(noted) - len(memories))
        tx.put(run)
        if messages or memories:
            tx.put(_event(deps, scope, run, len(messages), len(memories), now))
    work.run = run
    return run


def pieces(item: Said, deps: Deps) -> list[Said]:
    """A message within the limit of one text; a longer one in several, cut between paragraphs where possible."""
    limit = deps.policy.limits.text_bytes
    if len(item.content) * 4 <= limit or len(item.content.encode()) <= limit:
        return [item]
    parts, rest, size = [], item.content, limit // 4
    while rest:
        cut = rest.rfind("\n", size // 2, size) if len(rest) > size else len(rest)
        cut = cut if cut > 0 else size
        parts.append(rest[:cut].strip())
        rest = rest[cut:].lstrip("\n")
    kept = [part for part in parts if part]
    return [
        evolve(
            item,
            id=item.id if place == 1 else f"{item.id}#{place}",
            content=part,
            thinking=item.thinking if place == 1 else None,
            metadata={**item.metadata, "part": place, "parts": len(kept)},
        )
        for place, part in enumerate(kept, 1)
    ]


def _datable(said: list[Said], now: datetime, deps: Deps) -> tuple[list[Said], list[Skipped]]:
    latest = now + deps.policy.importing.ahead
    good = [item for item in said if item.at <= latest]
    bad = [
        Skipped(where=f"message {item.id}"[:200], why=f"dated in the future: {item.at:%Y-%m-%d}")
        for item in said
        if item.at > latest
    ]
    return good, bad


def _external(format: str, id: str) -> str:
    whole = id if format in OWN_IDS else f"{format}:{id}"
    return whole if len(whole) <= 200 else f"{format}:{digest(id)}"


def _fresh(tx: Transaction, work: Work, said: list[Said]) -> tuple[list[tuple[str, Said]], int, list[Skipped]]:
    """What is not there yet, how many were there already, and ids that are taken by another text."""
    wanted: dict[str, Said] = {}
    repeated, clashes = 0, []

    def clash(item: Said) -> Skipped:
        return Skipped(where=f"message {item.id}"[:200], why="another text was kept under the same id")

    for item in said:
        id = _external(work.run.format, item.id)
        if id not in wanted:
            wanted[id] = item
        elif wanted[id].content == item.content:
            repeated += 1
        else:
            clashes.append(clash(item))
    ids = list(wanted)
    for start in range(0, len(ids), CHUNK):
        for known in tx.find(Message, Where("external_id", "in", ids[start : start + CHUNK])):
            item = wanted.pop(known.external_id or "")
            work.threads.place(item.thread, item.at)
            if known.content == item.content:
                repeated += 1
            else:
                clashes.append(clash(item))
    return list(wanted.items()), repeated, clashes


def _messages(
    deps: Deps, scope: Scope, tx: Transaction, work: Work, fresh: list[tuple[str, Said]], now: datetime
) -> list[Message]:
    if not fresh:
        return []
    named = [work.threads.place(item.thread, item.at) for _, item in fresh]
    sessions = _sessions(deps, scope, tx, work, named, fresh, now)
    importance, source = deps.policy.importance, work.run.source
    messages = [
        Message(
            id=deps.ids("msg", now),
            session_id=sessions[name].id,
            role=item.role,
            content=item.content,
            at=item.at,
            channel=item.channel or scope.channel,
            persona=scope.persona,
            importance=message_importance(item.content, item.role, importance),
            external_id=id,
            speaker=item.speaker[:200] if item.speaker else None,
            thinking=_cut(item.thinking, deps),
            model=item.model[:200] if item.model else None,
            trust=trust_of(item.role, item.mine, work.vouched),
            source=source,
            metadata=_metadata(item),
        )
        for name, (id, item) in zip(named, fresh, strict=True)
    ]
    key = deps.vault.index_key(scope.user)
    tx.put(*messages)
    tx.index(*[make_entry(message, key) for message in messages])
    state = _state(deps, tx, scope, messages)
    tx.put(state, *sessions.values())
    enqueue(deps.ids, tx, _due(deps, work, messages, list(sessions.values()), state, now), now)
    return messages


def _sessions(
    deps: Deps,
    scope: Scope,
    tx: Transaction,
    work: Work,
    named: list[str],
    fresh: list[tuple[str, Said]],
    now: datetime,
) -> dict[str, Session]:
    """The sessions of this batch with its messages counted."""
    if len(work.sessions) > SESSIONS_HELD:
        work.sessions.clear()
    missing = list({name for name in named if name not in work.sessions})
    for start in range(0, len(missing), CHUNK):
        for session in tx.find(Session, Where("external_id", "in", missing[start : start + CHUNK])):
            if session.persona == scope.persona:
                work.sessions[session.external_id or ""] = session
    first: dict[str, datetime] = {}
    last: dict[str, datetime] = {}
    turns: dict[str, int] = {}
    channels: dict[str, str] = {}
    for name, (_, item) in zip(named, fresh, strict=True):
        first[name] = min(first.get(name, item.at), item.at)
        last[name] = max(last.get(name, item.at), item.at)
        turns[name] = turns.get(name, 0) + 1
        channels.setdefault(name, item.channel or scope.channel)
    touched = {}
    for name, count in turns.items():
        session = work.sessions.get(name) or Session(
            id=deps.ids("ses", now),
            persona=scope.persona,
            channel=channels[name],
            started_at=first[name],
            last_activity_at=last[name],
            external_id=name,
            channels=(channels[name],),
        )
        end = max(session.last_activity_at, last[name])
        over = now - end >= deps.policy.session.idle_close
        touched[name] = work.sessions[name] = evolve(
            session,
            started_at=min(session.started_at, first[name]),
            last_activity_at=end,
            turn_count=session.turn_count + count,
            status=SessionStatus.CLOSED if over else SessionStatus.OPEN,
            ended_at=end if over else None,
            end_type=IDLE if over else None,
        )
    return touched


def _state(deps: Deps, tx: Transaction, scope: Scope, messages: list[Message]) -> SessionState:
    state = tx.get(SessionState, scope.persona or "") or SessionState(id=scope.persona or "")
    newest = max(messages, key=lambda message: message.at)
    last = state.last_user_message
    if state.last_interaction is None or newest.at >= state.last_interaction:
        own = [message for message in messages if message.trust is Trust.USER_STATED]
        if own:
            last = max(own, key=lambda message: message.at).content[: deps.policy.session.last_message_length]
    return evolve(
        state,
        message_count=state.message_count + len(messages),
        messages_since_spine=state.messages_since_spine + len(messages),
        last_interaction=max(state.last_interaction or newest.at, newest.at),
        last_user_message=last,
    )


def _due(
    deps: Deps, work: Work, messages: list[Message], sessions: list[Session], state: SessionState, now: datetime
) -> list[Due]:
    persona = state.id
    found = [Due(EMBED, EMBED, now), Due(RANGE, f"{RANGE}:{persona}", now + ARRIVAL_SLACK, {"persona": persona})]
    found.append(Due(SPINE, SPINE, now + ARRIVAL_SLACK))
    if not work.extract:
        return found[:1]
    found += digests(messages, deps, now)
    for session in sessions:
        if session.status is SessionStatus.OPEN:
            found.append(timer(session, deps.policy, now))
        else:
            purpose = f"{CLOSE_SESSION}:{session.id}"
            found.append(Due(CLOSE_SESSION, purpose, now + ARRIVAL_SLACK, {"session_id": session.id}))
    return found


def digests(messages: Iterable[Message], deps: Deps, now: datetime) -> list[Due]:
    """One job per few messages to look for memories, the oldest first. What another assistant promised binds nobody."""
    size = deps.policy.importing.digest
    ids = [one.id for one in sorted(messages, key=lambda one: one.at) if one.role is Role.USER]
    return [Due(DIGEST, "", now, {"messages": ids[start : start + size]}) for start in range(0, len(ids), size)]


def _memories(deps: Deps, scope: Scope, tx: Transaction, work: Work, noted: list[Noted], now: datetime) -> list[Memory]:
    key = deps.vault.index_key(scope.user)
    kept = []
    for item in noted:
        memory = to_memory(item, scope, work.run, min(item.at, now), now)
        if work.vouched:
            memory = vouched_memory(memory, now)
        if tx.add(memory):
            kept.append(memory)
    tx.index(*[make_entry(memory, key) for memory in kept])
    if kept:
        enqueue(deps.ids, tx, [Due(EMBED, EMBED, now)], now)
    return kept


def to_memory(item: Noted, scope: Scope, run: Import, at: datetime, now: datetime) -> Memory:
    """A memory of another system as a candidate. What it wanted to be waits in the metadata."""
    wishes = {
        name: value for name, value in (("pin", item.pin and item.pin.value), ("deprecated", item.deprecated)) if value
    }
    return Memory(
        id=f"mem_{digest(run.format, item.id)}",
        content=item.content,
        domain=item.domain,
        kind=item.kind,
        created_at=at,
        updated_at=now,
        key=f"{item.domain}|||{item.kind}|",
        entities=item.entities,
        status=Status.CANDIDATE,
        persona=scope.persona,
        importance=item.importance,
        confidence=item.confidence,
        epistemic=Epistemic.INFERRED,
        trust=Trust.EXTERNAL,
        source=run.source,
        surface="import",
        made_by=f"import:{run.format}",
        evidence=(Evidence(message_id=None, at=at, trust=Trust.EXTERNAL),),
        proactive_use=item.proactive_use,
        valence=item.valence,
        arousal=item.arousal,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        metadata={**item.metadata, **({"import": wishes} if wishes else {})},
    )


def vouched_memory(memory: Memory, now: datetime) -> Memory:
    """The candidate once the user has vouched for its import: believed, never more than inferred."""
    wishes: dict[str, Any] = memory.metadata.get("import") or {}
    pin = PinKind(wishes["pin"]) if wishes.get("pin") else None
    return evolve(
        memory,
        status=Status.DEPRECATED if wishes.get("deprecated") else Status.ACTIVE,
        trust=Trust.INFERRED,
        updated_at=now,
        pinned=pin is not None,
        pin_kind=pin,
        evidence=tuple(evolve(one, trust=Trust.INFERRED) for one in memory.evidence),
    )


def _cut(text: str | None, deps: Deps) -> str | None:
    if not text:
        return None
    limit = deps.policy.limits.text_bytes
    return text if len(text) * 4 <= limit else text.encode()[:limit].decode("utf-8", "ignore")


def _metadata(item: Said) -> dict[str, Any]:
    found = {"thread": item.thread[:200], **item.metadata}
    if item.title:
        found["title"] = item.title[:200]
    return found


def _counted(
    deps: Deps, run: Import, messages: list[Message], memories: int, skips: list[Skipped], now: datetime
) -> Import:
    times = [message.at for message in messages]
    oldest, newest = min(times, default=run.oldest), max(times, default=run.newest)
    room = max(0, deps.policy.importing.skips_kept - len(run.skips))
    return evolve(
        run,
        updated_at=now,
        messages=run.messages + len(messages),
        memories=run.memories + memories,
        skipped=run.skipped + len(skips),
        skips=(*run.skips, *skips[:room]),
        oldest=min(run.oldest or oldest, oldest) if oldest else None,
        newest=max(run.newest or newest, newest) if newest else None,
    )


def _event(deps: Deps, scope: Scope, run: Import, messages: int, memories: int, now: datetime) -> Event:
    return Event(
        id=deps.ids("evt", now),
        kind="import.batch",
        at=now,
        subject_kind="import",
        subject_id=run.id,
        channel=scope.channel,
        persona=scope.persona,
        data={"messages": messages, "memories": memories},
    )
