"""A store with everything that a context may hold, written as records: what other rooms make of talk is apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import tenuto
from tenuto.records.conversation import KeyPoint, Summary, SummaryKind
from tenuto.records.memory import AgentState, Domain, Kind, Memory, Proactive, Todo, TodoKind, TodoStatus, Trust
from tenuto.records.scope import User

START = datetime(2025, 6, 2, 9, 0, tzinfo=UTC)


class Watch:
    """A clock that only the test moves."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **delta: float) -> datetime:
        self.at += timedelta(**delta)
        return self.at


def open_store(watch: Callable[[], datetime], url: str = "memory:", **options) -> tenuto.Tenuto:
    return tenuto.open(url, clock=watch, background=False, **options)


def memory(number: int | str, content: str, at: datetime, **changes) -> Memory:
    fields = {"domain": Domain.PROFILE, "kind": Kind.FACT, "importance": 7.5, "trust": Trust.USER_STATED} | changes
    return Memory(id=f"mem_{number}", content=content, created_at=at, updated_at=at, **fields)


def furnish(store: tenuto.Tenuto, user: str, persona: str | None, at: datetime) -> None:
    """One record at least for every block that other rooms fill."""
    old = at - timedelta(days=3)
    with store.deps.store.writing(user) as tx:
        tx.put(
            memory("pin", "Allergic to penicillin", old, pinned=True, importance=10.0),
            memory("base", "Works as a nurse in Oslo", old),
            memory("quiet", "Was in hospital as a child", old, proactive_use=Proactive.NO, importance=9.0),
            memory("aside", "Was in hospital once", old, importance=3.0),
            memory("rule", "Likes it short", old, trust=Trust.USER_CONFIRMED, should_do="Answer in two sentences"),
            memory("other", "Told to another persona", old, persona="somebody else"),
            Summary(id="sum_p", kind=SummaryKind.PROFILE, content="A nurse of 34.", created_at=old, made_by="rules"),
            Summary(
                id="sum_b",
                kind=SummaryKind.BRIEF,
                content="Warm and direct.",
                created_at=old,
                made_by="rules",
                persona=persona,
            ),
            Summary(
                id="sum_s", kind=SummaryKind.SPINE, content="Moved, then studied.", created_at=old, made_by="rules"
            ),
            Summary(
                id="sum_r",
                kind=SummaryKind.RANGE,
                content="Talked about the move.",
                created_at=old,
                made_by="rules",
                persona=persona,
            ),
            Summary(
                id="sum_t",
                kind=SummaryKind.TOPIC,
                topic="garden",
                content="Grows beans.",
                created_at=old,
                made_by="rules",
                persona=persona,
            ),
            KeyPoint(
                id="kp_1",
                session_id="ses_old",
                type="open_loop",
                content="The results of the test",
                created_at=old,
                weight=8,
                persona=persona,
            ),
            Todo(
                id="tdo_1",
                kind=TodoKind.COMMITMENT,
                content="Call the bank",
                created_at=old,
                updated_at=old,
                persona=persona,
            ),
            Todo(
                id="tdo_2",
                kind=TodoKind.THREAD,
                content="How the exam went",
                created_at=old,
                updated_at=old,
                persona=persona,
            ),
            Todo(
                id="tdo_3",
                kind=TodoKind.FRICTION,
                content="Nights without sleep",
                created_at=old,
                updated_at=old,
                persona=persona,
            ),
            Todo(
                id="tdo_4",
                kind=TodoKind.TASK,
                content="Ran five kilometres",
                created_at=old,
                updated_at=old,
                persona=persona,
                status=TodoStatus.DONE,
                completed_at=at - timedelta(hours=20),
            ),
            AgentState(id=persona or "", axes={"connection": 0.4, "mood": -0.2}, updated_at=old),
        )
        tx.set_user(User(user_id=user, created_at=old, timezone="Europe/Oslo"))
