"""A store with a clock that tests move, an embedder that is cheap, and the invariants that time must not break."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

import numpy as np

import tenuto
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.jobs import Runner
from tenuto.lifecycle.rolling import ON_DEMAND
from tenuto.policy import Calibration
from tenuto.ports import Where
from tenuto.records.conversation import (
    KeyPoint,
    Message,
    Session,
    SessionState,
    SessionStatus,
    Summary,
    SummaryKind,
)
from tenuto.records.memory import AgentState, Domain, Kind, Memory, StateChange
from tenuto.records.operations import JobStatus
from tenuto.text.words import tokens

START = datetime(2024, 1, 1, 8, 0, tzinfo=UTC)


class WordEmbedder:
    """A bag of hashed words: texts that share words are close. Real enough for ranking, cheap enough for years."""

    model = "words-64"
    dimension = 64
    calibration = Calibration()

    def embed(self, texts, *, query=False):
        found = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for token in tokens(text):
                found[row, blake2b(token.encode(), digest_size=1).digest()[0] % self.dimension] += 1.0
        return found / np.linalg.norm(found, axis=1, keepdims=True)


class Clock:
    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> datetime:
        self.now += timedelta(**parts)
        return self.now


class World:
    """One store, one clock, one user."""

    def __init__(self, path: Path | None = None, *, model=None, policy=None, embedder=None, leave_out=()) -> None:
        self.clock = Clock()
        self.store = tenuto.open(
            str(path) if path else "memory:",
            clock=self.clock,
            embedder=embedder or WordEmbedder(),
            model=model,
            policy=policy,
            background=False,
        )
        handlers = {kind: handler for kind, handler in HANDLERS.items() if kind not in leave_out}
        self.runner = Runner(self.store.deps, handlers)
        self.marks: dict[tuple[str, str], int] = {}

    def user(self, name: str = "ana", persona: str | None = "coach", channel: str = "api"):
        return self.store.user(name, persona=persona, channel=channel)

    def all(self, type_, *where: Where, user: str = "ana", order: str = "id"):
        with self.store.deps.store.reading(user) as reader:
            return reader.find(type_, *where, order=order)

    def keep(self, content: str, user: str = "ana", **changes) -> Memory:
        """Write a memory as the write path would leave it."""
        deps, now = self.store.deps, self.clock()
        from tenuto.recall.entry import make_entry

        memory = Memory(
            **{
                "id": deps.ids("mem", now),
                "content": content,
                "domain": Domain.PROFILE,
                "kind": Kind.FACT,
                "created_at": now,
                "updated_at": now,
                **changes,
            }
        )
        with deps.store.writing(user) as tx:
            tx.put(memory)
            tx.index(make_entry(memory))
        return memory

    # --- invariants ---------------------------------------------------------------------------------------------------

    def check(self, user: str = "ana") -> None:
        """What must hold at every step."""
        messages = self.all(Message, user=user, order="seq")
        self.check_ranges(user, messages)
        self.check_sessions(user, messages)
        self.check_topics(user, messages)
        self.check_versions(user)
        self.check_state(user)
        failed = [job for job in self.store.jobs("failed") if job.status is JobStatus.FAILED]
        assert not failed, [(job.kind, job.error) for job in failed]

    def check_ranges(self, user: str, messages: list[Message]) -> None:
        size = self.store.deps.policy.summary.range_every_messages
        by_persona: dict[str | None, list[Message]] = {}
        for message in messages:
            by_persona.setdefault(message.persona, []).append(message)
        found = self.all(Summary, Where("kind", "=", SummaryKind.RANGE), user=user, order="start_seq")
        for persona, own in by_persona.items():
            ranges = [one for one in found if one.persona == persona and one.topic != ON_DEMAND]
            for number, one in enumerate(ranges):
                part = own[number * size : (number + 1) * size]
                assert len(part) == size
                assert (one.start_message_id, one.end_message_id) == (part[0].id, part[-1].id)
                assert one.message_count == size
                assert one.compression is not None
                assert 0 < one.compression <= 1 or len(one.content) <= 220
            state = next(s for s in self.all(SessionState, user=user) if s.id == (persona or ""))
            assert state.message_count == len(own)
            self._monotone(user, f"range {persona}", state.summarised_until_seq)
            assert state.summarised_until_seq == (ranges[-1].end_seq if ranges else 0)

    def check_sessions(self, user: str, messages: list[Message]) -> None:
        turns = Counter(message.session_id for message in messages)
        sessions = self.all(Session, user=user)
        records = self.all(Summary, Where("kind", "=", SummaryKind.SESSION), Where("current", "=", True), user=user)
        told = {one.session_id: one for one in records}
        assert len(told) == len(records), "two current records of one session"
        idle = self.store.deps.policy.session.idle_close
        for session in sessions:
            assert session.turn_count == turns[session.id]
            assert session.classified_turns <= session.turn_count
            self._monotone(user, f"classified {session.id}", session.classified_turns)
            if session.classified_turns:
                assert told[session.id].message_count == session.classified_turns
            own = sorted(message.at for message in messages if message.session_id == session.id)
            assert (session.started_at, session.last_activity_at) == (own[0], own[-1])
            if session.external_id is None:
                assert all(b - a < idle for a, b in itertools.pairwise(own))
            if session.status is SessionStatus.CLOSED:
                assert session.ended_at is not None
        points = Counter((point.session_id, point.message_id, point.content) for point in self.all(KeyPoint, user=user))
        assert all(count == 1 for count in points.values()), points.most_common(1)

    def check_topics(self, user: str, messages: list[Message]) -> None:
        topics = self.all(Summary, Where("kind", "=", SummaryKind.TOPIC), user=user)
        for persona in {message.persona for message in messages}:
            own = [one for one in topics if one.persona == persona]
            mark = max((one.end_seq for one in own), default=0)
            self._monotone(user, f"topics {persona}", mark)
            past = sum(message.persona == persona and message.seq <= mark for message in messages)
            assert sum(one.message_count for one in own) == past, "a message in two topics, or in none"
        most = self.store.deps.policy.summary.topic_tokens
        assert all(self.store.deps.tokens.count(one.content) <= most for one in topics[-20:])

    def check_versions(self, user: str) -> None:
        length = self.store.deps.policy.summary.rolling_length
        for kind in (SummaryKind.ROLLING, SummaryKind.SPINE, SummaryKind.PROFILE, SummaryKind.BRIEF):
            rows = self.all(Summary, Where("kind", "=", kind), user=user, order="version")
            for persona in {row.persona for row in rows}:
                own = [row for row in rows if row.persona == persona]
                assert [row.version for row in own] == list(range(1, len(own) + 1))
                assert [row.current for row in own] == [False] * (len(own) - 1) + [True]
                assert all(a.id == b.replaces for a, b in itertools.pairwise(own))
                if kind is SummaryKind.ROLLING:
                    assert all(len(row.content) <= length for row in own)
                    assert sorted({row.end_seq for row in own}) == [row.end_seq for row in own]

    def check_state(self, user: str) -> None:
        for state in self.all(AgentState, user=user):
            for name, value in state.axes.items():
                assert (-1.0 if name == "mood" else 0.0) <= value <= 1.0
        moved: Counter[str] = Counter()
        for change in self.all(StateChange, user=user):
            if change.session_id and "connection" in change.deltas:
                moved[change.session_id] += round(change.deltas["connection"] * 1e6)
        for session in self.all(Session, user=user):
            assert abs(moved[session.id]) <= abs(session.connection_delta) * 1e6 + 200, "a delta counted twice"

    def _monotone(self, user: str, name: str, value: int) -> None:
        assert value >= self.marks.get((user, name), 0), f"{name} went back to {value}"
        self.marks[user, name] = value
