"""Staging and confirmation: what is applied is exactly what was shown.

A staged change carries a digest over everything the person was shown: the workflow, the definition's version, the
turn, the channel, the deadline, each field with its old and its new value, and the sentence itself. A confirmation
counts only for that digest, once, before the deadline, on the channel that showed it, while the old values still
stand. There is one pending change at a time: a newer one replaces it, and the reply says so. What came from outside
is shown but never confirmed by a bare yes: the person has to say it in their own words.

What would break it: applying ``PendingPatch.patch`` anywhere but through :func:`settle`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from tenuto.errors import Conflict
from tenuto.language.consent import Consent
from tenuto.policy import WorkflowPolicy
from tenuto.records.base import micros
from tenuto.records.workflow import PendingPatch, Workflow
from tenuto.workflow.draft import Change

_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cn"})
"""Characters that are written as escapes: line breaks, zero-width and direction marks, private ones."""


class Settlement(StrEnum):
    """What came of an answer to a pending change. All but the first two change nothing."""

    CONFIRMED = "confirmed"
    REFUSED = "refused"
    NOTHING_PENDING = "nothing_pending"
    ALREADY_SETTLED = "already_settled"
    EXPIRED = "confirmation_expired"
    WRONG_CHANNEL = "wrong_channel"
    REPLACED = "confirmation_replaced"
    NOT_SHOWN = "confirmation_not_shown"
    NEEDS_RESTATEMENT = "restatement_needed"
    STALE = "values_changed"


SAYS = {
    Settlement.CONFIRMED: "Done.",
    Settlement.REFUSED: "Kept as it was.",
    Settlement.NOTHING_PENDING: "Nothing waits for a yes or no, so nothing was changed.",
    Settlement.ALREADY_SETTLED: "That change is settled already; nothing was done again.",
    Settlement.EXPIRED: "That proposal has expired and nothing was changed: say again what you want.",
    Settlement.WRONG_CHANNEL: "That change was shown on another channel: answer it there.",
    Settlement.REPLACED: "A newer proposal has replaced that one: look at it and answer again.",
    Settlement.NOT_SHOWN: "A change waits that was not shown here before, so nothing was done: look at it and answer.",
    Settlement.NEEDS_RESTATEMENT: "That was proposed by text from outside: say the change in your own words.",
    Settlement.STALE: "The values have changed since that was shown: say again what you want.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A yes or a no.

    ``seen`` is the digest of what the person was looking at, the empty string when that was nothing, and ``None`` where
    the surface cannot know (a text message): then the answer is about what was shown last on its channel.
    """

    consent: Consent
    channel: str
    at: datetime
    seen: str | None = None


def is_live(pending: PendingPatch | None, now: datetime) -> bool:
    return pending is not None and now < pending.expires_at


def stage(
    workflow: Workflow,
    changes: Sequence[Change],
    *,
    channel: str,
    now: datetime,
    policy: WorkflowPolicy,
    external: bool = False,
) -> PendingPatch:
    """The change as it will be shown, with its digest. An equal one that is still live is kept as it is."""
    patch = tuple(change.operation(workflow.spec) for change in changes)
    old = workflow.pending
    if (
        old is not None
        and is_live(old, now)
        and (old.patch, old.channel, old.needs_restatement) == (patch, channel, external)
    ):
        return old
    pending = PendingPatch(
        patch=patch,
        digest="",
        proposed_at=now,
        expires_at=now + policy.confirm_within,
        channel=channel,
        proposed_by=", ".join(sorted({change.by for change in changes})),
        needs_restatement=external,
        shown=sentence(patch, external=external),
        turn=workflow.turn + 1,
    )
    return replace(pending, digest=digest(workflow, pending))


def digest(workflow: Workflow, pending: PendingPatch) -> str:
    """SHA-256 over all that was shown and all that limits the answer."""
    bound = [
        "tenuto/workflow/pending/1",
        workflow.id,
        workflow.definition,
        workflow.definition_version,
        pending.turn,
        pending.channel,
        micros(pending.proposed_at),
        micros(pending.expires_at),
        pending.proposed_by,
        pending.needs_restatement,
        pending.shown,
        list(pending.patch),
    ]
    return sha256(msgspec.json.encode(bound, order="deterministic")).hexdigest()


def settle(workflow: Workflow, answer: Answer, now: datetime) -> Settlement:
    """What an answer comes to. Decides only; the caller applies ``pending.patch`` on ``CONFIRMED``."""
    pending = workflow.pending
    if pending is None:
        known = bool(answer.seen) and answer.seen == workflow.settled
        return Settlement.ALREADY_SETTLED if known else Settlement.NOTHING_PENDING
    if answer.seen is not None and answer.seen != pending.digest:
        known = bool(answer.seen) and answer.seen == workflow.settled
        unseen = Settlement.REPLACED if answer.seen else Settlement.NOT_SHOWN
        return Settlement.ALREADY_SETTLED if known else unseen
    if answer.consent is Consent.NO and pending.needs_restatement:
        return Settlement.REFUSED
    if answer.channel != pending.channel:
        return Settlement.WRONG_CHANNEL
    if answer.consent is Consent.NO:
        return Settlement.REFUSED
    if not is_live(pending, now):
        return Settlement.EXPIRED
    if answer.at < pending.proposed_at:
        return Settlement.REPLACED
    if pending.needs_restatement:
        return Settlement.NEEDS_RESTATEMENT
    return Settlement.STALE if _moved_on(workflow, pending) else Settlement.CONFIRMED


def demand(settlement: Settlement) -> None:
    """For callers that answer by a verb and not by text: anything but an effect is a :class:`Conflict`."""
    if settlement not in (Settlement.CONFIRMED, Settlement.REFUSED):
        raise Conflict(SAYS[settlement], code=settlement.value)


def sentence(patch: Sequence[dict[str, Any]], *, external: bool) -> str:
    """The change in words, the same each time."""
    parts = []
    for operation in patch:
        name = str(operation["path"])[1:].replace("_", " ")
        if operation["op"] == "remove":
            parts.append(f"clear {name} (now {show(operation.get('was'))})")
        elif "was" in operation:
            parts.append(f"change {name} from {show(operation['was'])} to {show(operation['value'])}")
        else:
            parts.append(f"set {name} to {show(operation['value'])}")
    joined = "; ".join(parts)
    if external:
        return f"Text from outside proposes to {joined}. To take it over, say it in your own words."
    return f"{joined[:1].upper()}{joined[1:]}? Answer yes or no."


def show(value: Any) -> str:
    """A value in a sentence: in full, and without signs that could hide a part of it or pass for the sentence."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"“{_visible(value)}”"
    if isinstance(value, list) and all(isinstance(part, (str, int, float)) for part in value):
        return ", ".join(show(part) for part in value) or "none"
    if isinstance(value, dict) and value and all(isinstance(part, (int, float)) for part in value.values()):
        return ", ".join(f"{part} {_visible(name)}" for name, part in value.items())
    return _visible(msgspec.json.encode(value).decode())


def _visible(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" if unicodedata.category(char) in _HIDDEN else char for char in text)


def _moved_on(workflow: Workflow, pending: PendingPatch) -> bool:
    """The record was tampered with, or an old value does not stand any more."""
    if digest(workflow, pending) != pending.digest:
        return True
    nothing = object()
    return any(
        workflow.spec.get(str(operation["path"])[1:], nothing) != operation.get("was", nothing)
        for operation in pending.patch
    )
