"""Typed work: drafts with a state machine, locks and a pending patch; outcomes and what a learner masters."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What was settled about a field. Once ``locked``, it takes an explicit statement and a confirmation to change."""

    field: str
    value: Any
    confidence: float
    explicit: bool
    at: datetime
    locked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingPatch:
    """A change that was shown and waits for its confirmation. ``digest`` is the hash of exactly what was shown.

    Each operation of ``patch`` sets or removes one whole field and carries the value that was there (``was``), so that
    nothing can come out differently from what the person read.
    """

    patch: tuple[dict[str, Any], ...]
    digest: str
    proposed_at: datetime
    expires_at: datetime
    channel: str
    proposed_by: str
    needs_restatement: bool = False
    shown: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A typed draft with its state machine. Only :mod:`tenuto.workflow` writes one."""

    id: str
    definition: str
    definition_version: int
    state: str
    created_at: datetime
    updated_at: datetime
    persona: str | None = None
    session_id: str | None = None
    spec: dict[str, Any] = field(default_factory=dict)
    locks: tuple[Lock, ...] = ()
    pending: PendingPatch | None = None
    asked: tuple[str, ...] = ()
    """Question keys, newest last; the empty string stands for a turn that asked nothing."""
    question: str = ""
    """The words of the question that is open, as it was asked."""
    turn: int = 0
    error: str | None = None
    settled: str | None = None
    """Digest of the last patch that was confirmed or refused: a second answer to it is recognised."""
    heard: tuple[str, ...] = ()
    """External ids of the last messages taken in: a message that is delivered twice counts once."""
    reopened: bool = False
    """Fields were erased: what is derived, and the state, are to be found anew when it is read next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowTurn:
    """The trace of one turn: additive, for reading only; no decision ever reads it back."""

    id: str
    workflow_id: str
    turn: int
    at: datetime
    state_before: str
    state_after: str
    channel: str
    intent: str
    confidence: float
    proposed_by: str
    applied: tuple[dict[str, Any], ...] = ()
    staged: tuple[dict[str, Any], ...] = ()
    refused: tuple[str, ...] = ()
    question_key: str | None = None
    moves: tuple[str, ...] = ()
    digest: str | None = None
    message_id: str | None = None
    """The message that was heard: ours, or the caller's id of it; ``None`` for what was done by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What a workflow produced (``kind`` artifact) or what was handed in for it (``kind`` submission)."""

    id: str
    workflow_id: str
    kind: str
    created_at: datetime
    content: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One try at one skill. The learner profile is computed from these and from nothing else."""

    id: str
    track: str
    skill: str
    success: bool
    at: datetime
    seq: int = 0
    artifact_id: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKey:
    """A person's own key for a model provider, sealed. ``id`` is the provider's name. Never exported, never logged."""

    id: str
    sealed: bytes
    fingerprint: str
    created_at: datetime
    tested_at: datetime | None = None
    working: bool | None = None


NEVER_EXPORTED: tuple[type, ...] = (ModelKey,)
"""Records that leave the store by no export, backup for people, or copy: whoever needs a key enters it again."""
