"""What to ask next, chosen by code.

The order is the definition's: first what waits for a confirmation, then fields that clash, then fields that are
missing. A question that was just asked is never asked again in the next turn: where another one is open it comes
first, and where it was the only one the turn asks nothing and says what is still open, so that no conversation runs in
a circle. The same record gives the same question every time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenuto.records.workflow import Workflow
from tenuto.workflow.collector import is_live
from tenuto.workflow.definition import Definition
from tenuto.workflow.parsers import choices_of
from tenuto.workflow.read_numbers import count_names
from tenuto.workflow.shape import Verdict

CONFIRM = "confirm"
"""The key of the question that shows a staged change."""
CLASH = "clash:"
"""A clash's key is this and the rule's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``key`` is stable and for programs, ``fields`` are what an answer may be about, ``text`` is for the person."""

    key: str
    text: str
    fields: tuple[str, ...] = ()


def open_questions(definition: Definition, workflow: Workflow, verdict: Verdict, now: datetime) -> list[Question]:
    """Everything that could be asked, in order."""
    pending = workflow.pending
    if pending is not None and is_live(pending, now) and not pending.needs_restatement:
        fields = tuple(str(operation["path"])[1:] for operation in pending.patch)
        return [Question(key=f"{CONFIRM}:{pending.digest[:12]}", text=pending.shown, fields=fields)]
    found = [
        Question(key=f"{CLASH}{clash.rule}", text=_about(clash.message), fields=clash.fields)
        for clash in verdict.clashes
    ]
    found += [
        Question(key=name, text=wording(definition, name), fields=(name,))
        for name in verdict.missing
        if definition.writable(name)
    ]
    return found


def next_question(definition: Definition, workflow: Workflow, verdict: Verdict, now: datetime) -> Question | None:
    """The first open question that was not just asked."""
    last = workflow.asked[-1] if workflow.asked else ""
    return next((one for one in open_questions(definition, workflow, verdict, now) if one.key != last), None)


def last_question(definition: Definition, workflow: Workflow, verdict: Verdict, now: datetime) -> Question | None:
    """The question that was asked last, if it is still open.

    A turn that asked nothing does not make an answer late: the question before it stands.
    """
    last = next((key for key in reversed(workflow.asked) if key), "")
    return next((one for one in open_questions(definition, workflow, verdict, now) if one.key == last), None)


def wording(definition: Definition, name: str) -> str:
    """The definition's own question, or one made from the schema."""
    if own := definition.fields[name].question:
        return own
    schema = definition.schema_of(name)
    label = str(schema.get("title") or name).replace("_", " ").lower()
    return f"What is the {label}{_hint(schema)}?"


def still_open(verdict: Verdict) -> str:
    """What is missing, for a turn that asks nothing."""
    parts = [name.replace("_", " ") for name in verdict.missing] + [
        clash.message.rstrip(".") for clash in verdict.clashes
    ]
    return f"Still open: {'; '.join(parts)}." if parts else ""


def _about(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}. What should it be?"


def _hint(schema: Mapping[str, Any]) -> str:
    if choices := choices_of(schema):
        return f" ({', '.join(choices)})"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" ({low} to {high})"
    if counts := count_names(schema):
        return f" (how many {', '.join(counts)})"
    return " (year-month-day)" if schema.get("format") == "date" else ""
