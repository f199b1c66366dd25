"""One full example of every record that a store keeps: for contract tests and round trips."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tenuto.records.access import ApiKey, KeyScope, Replay
from tenuto.records.conversation import (
    KeyPoint,
    Message,
    Role,
    Session,
    SessionState,
    SourcedLine,
    Summary,
    SummaryKind,
)
from tenuto.records.identity import MergePart, UserMerge, UserMergeStatus
from tenuto.records.memory import (
    AgentState,
    Domain,
    Entity,
    EntityMerge,
    Evidence,
    Kind,
    Memory,
    MergeStatus,
    PinKind,
    Proactive,
    StateChange,
    Status,
    Todo,
    TodoKind,
    Trust,
    Version,
)
from tenuto.records.operations import Act, Event, Job, Receipt, WriteResult
from tenuto.records.scope import Identity
from tenuto.records.transfer import Import, Skipped
from tenuto.records.wishes import StandingWish, WishKind
from tenuto.records.workflow import Artifact, Lock, ModelKey, Outcome, PendingPatch, Workflow, WorkflowTurn

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
_EVIDENCE = (Evidence(message_id="msg_1", at=NOW, quote="I’m “allergic” 🥜", channel="imessage", session_id="ses_1"),)


def message(id: str = "msg_1", **changes: Any) -> Message:
    values: dict[str, Any] = {
        "id": id,
        "session_id": "ses_1",
        "role": Role.USER,
        "content": "Héllo 世界 👋",
        "at": NOW,
        "channel": "imessage",
        "persona": "coach",
        "external_id": f"external-{id}",
        "speaker": "Ana",
        "thinking": "…",
        "model": "m",
        "metadata": {"deep": [1, {"two": None}]},
        "importance": 6.5,
    }
    return Message(**(values | changes))


def memory(id: str = "mem_1", **changes: Any) -> Memory:
    values: dict[str, Any] = {
        "id": id,
        "content": "Ana is allergic to peanuts",
        "domain": Domain.PROFILE,
        "kind": Kind.FACT,
        "created_at": NOW,
        "updated_at": LATER,
        "key": "profile|person|ana|fact|allergy",
        "slot": f"slot-{id}",
        "attribute": "allergy",
        "value": "peanuts",
        "entities": ("person:ana", "org:acme"),
        "label": "Ana",
        "status": Status.REINFORCED,
        "persona": "coach",
        "importance": 10.0,
        "confidence": 0.9,
        "trust": Trust.USER_STATED,
        "evidence": _EVIDENCE,
        "pinned": True,
        "pin_kind": PinKind.AUTO,
        "proactive_use": Proactive.NO,
        "valid_from": NOW,
        "last_reinforced_at": LATER,
        "retrieval_keywords": ("nuts",),
        "valence": -0.5,
        "history": (
            Version(at=NOW, content="before", status=Status.ACTIVE, reason="upgraded", changed={"importance": 5}),
        ),
    }
    return Memory(**(values | changes))


def records() -> list[Any]:
    """One of each, with as many fields set as possible."""
    pending = PendingPatch(
        patch=({"op": "replace", "path": "/n", "value": 3},),
        digest="d",
        proposed_at=NOW,
        expires_at=LATER,
        channel="web",
        proposed_by="model",
        needs_restatement=True,
        shown="n: 2 → 3",
    )
    return [
        message(),
        memory(),
        Session(
            id="ses_1",
            persona="coach",
            channel="web",
            started_at=NOW,
            last_activity_at=LATER,
            ended_at=LATER,
            end_type="idle",
            external_id="x",
            turn_count=4,
            channels=("web", "email"),
            headline="h",
            thinking_highlights=({"moment": "m", "thought": "t"},),
            semantic_context={"ids": ["a"]},
            mood_delta=-0.1,
        ),
        SessionState(id="coach", message_count=3, last_interaction=NOW, last_user_message="hi", rolling_last_error="e"),
        Summary(
            id="sum_1",
            kind=SummaryKind.RANGE,
            content="c",
            created_at=NOW,
            made_by="extractive",
            start_seq=1,
            end_seq=50,
            start_message_id="a",
            end_message_id="b",
            message_count=50,
            compression=0.1,
            structured={"people": ["x"]},
            lines=(SourcedLine(text="c", messages=("a",), memories=("mem_1",), part="p", who="Ana", persona="coach"),),
        ),
        StandingWish(
            id="wsh_1",
            kind=WishKind.SILENCE,
            created_at=NOW,
            about="Petra",
            names=("Pet",),
            lasting=True,
            messages=("msg_1",),
            memories=("mem_1",),
            entities=("person:petra",),
            message_id="msg_2",
            quote="don't bring up Petra",
        ),
        KeyPoint(id="key_1", session_id="ses_1", type="insight", content="c", created_at=NOW, valence=0.5, weight=8.0),
        Entity(
            id="person:ana", type="person", label="Ana", created_at=NOW, updated_at=NOW, aliases=("Annie",), mentions=3
        ),
        EntityMerge(
            id="mrg_1",
            duplicate="person:makesh",
            into="person:mukesh",
            confidence=0.9,
            reason="sound",
            status=MergeStatus.PROPOSED,
            created_at=NOW,
            moved=("mem_1",),
        ),
        Todo(
            id="tdo_1",
            kind=TodoKind.COMMITMENT,
            content="call mum",
            created_at=NOW,
            updated_at=NOW,
            slot="s",
            due=LATER,
            completions=(NOW, LATER),
            entities=("person:mum",),
            evidence=_EVIDENCE,
        ),
        AgentState(id="coach", axes={"mood": -0.25, "connection": 0.3}, updated_at=NOW, outreach=True),
        StateChange(id="chg_1", persona=None, at=NOW, deltas={"mood": 0.1}, axes={"mood": 0.1}, reason="session"),
        Workflow(
            id="wfl_1",
            definition="trip",
            definition_version=2,
            state="DRAFT",
            created_at=NOW,
            updated_at=NOW,
            spec={"n": 2},
            locks=(Lock(field="n", value=2, confidence=0.9, explicit=True, at=NOW),),
            pending=pending,
        ),
        WorkflowTurn(
            id="wft_1",
            workflow_id="wfl_1",
            turn=1,
            at=NOW,
            state_before="DRAFT",
            state_after="CLARIFYING",
            channel="web",
            intent="state",
            confidence=0.8,
            proposed_by="parser",
            applied=({"op": "add"},),
            refused=("why",),
        ),
        Artifact(id="art_1", workflow_id="wfl_1", kind="artifact", created_at=NOW, content={"text": "t"}),
        Outcome(id="out_1", track="python", skill="loops", success=False, at=NOW, detail={"tries": 2}),
        ModelKey(
            id="openai", sealed=b"\x00\xff sealed", fingerprint="f", created_at=NOW, tested_at=LATER, working=True
        ),
        Identity(
            id="email:ana@example.org", channel="email", address="ana@example.org", created_at=NOW, verified_at=NOW
        ),
        Job(
            id="job_1",
            kind="digest",
            created_at=NOW,
            run_at=NOW,
            dedupe="d",
            payload={"messages": ["msg_1"]},
            error="e",
        ),
        Event(id="evt_1", kind="message.observed", at=NOW, subject_kind="message", subject_id="msg_1", data={"a": 1}),
        Receipt(
            id="rcp_1",
            message_id="msg_1",
            session_id="ses_1",
            at=NOW,
            settled=True,
            notes=("n",),
            results=(WriteResult(act=Act.SUPERSEDED, reason="r", subject_id="mem_1", previous_id="mem_0"),),
        ),
        UserMerge(
            id="ume_1",
            other="ben",
            status=UserMergeStatus.DONE,
            created_at=NOW,
            until=9,
            addresses=("email:b@example.org",),
            added={"messages": 3},
        ),
        MergePart(id="ump_1", merge_id="ume_1", kind="before", rows=({"table": "memories", "id": "mem_1"},)),
        Import(
            id="imp_1",
            format="chatgpt",
            name="conversations.json",
            started_at=NOW,
            updated_at=LATER,
            messages=3,
            vouched_at=LATER,
            skips=(Skipped(where="line 3", why="no text"),),
            oldest=NOW,
            newest=LATER,
        ),
        ApiKey(
            id="key_1",
            name="phone",
            scope=KeyScope.USER,
            digest="d",
            created_at=NOW,
            subject="ana",
            parent="key_0",
            expires_at=LATER,
            revoked_at=LATER,
            last_used_at=NOW,
        ),
        Replay(id="rpl_1", at=NOW, request="h", status=201, body='{"é": 1}'),
    ]
