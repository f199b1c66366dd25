"""A workflow as lines for the context: where it stands, what waits, what was asked, what is settled.

Only facts of the record; the context room puts them between its fences. A staged change is shown as waiting, so that
the model speaks of it as a question and never as done. Nothing of the trace is shown. The record alone is enough; with
its definition the lines also say what is missing.
"""

from __future__ import annotations

from datetime import datetime

from tenuto.records.workflow import Workflow
from tenuto.workflow.collector import is_live, show
from tenuto.workflow.definition import Definition

MOST = 400
"""Characters of one value; the draft itself has all of it."""


def workflow_block(workflow: Workflow, now: datetime, definition: Definition | None = None) -> list[str]:
    """Lines, most important first; the first names the workflow and its state."""
    locked = {lock.field for lock in workflow.locks if lock.locked}
    lines = [f"{definition.title if definition else workflow.definition}: {workflow.state}"]
    if workflow.error:
        lines.append(f"last error: {_short(workflow.error)}")
    pending = workflow.pending
    if pending is not None and is_live(pending, now):
        lines.append(f"waiting for an answer, not done: {_short(pending.shown)}")
    if workflow.question and (pending is None or workflow.question != pending.shown):
        lines.append(f"question asked: {_short(workflow.question)}")
    for name in definition.fields if definition else sorted(workflow.spec):
        if name in workflow.spec:
            mark = " (settled)" if name in locked else ""
            lines.append(f"{name.replace('_', ' ')}: {_short(show(workflow.spec[name]))}{mark}")
    if definition is not None:
        verdict = definition.judge(workflow.spec)
        if verdict.missing:
            lines.append(f"missing: {', '.join(name.replace('_', ' ') for name in verdict.missing)}")
        lines.extend(f"does not fit: {_short(clash.message)}" for clash in verdict.clashes)
    return lines


def _short(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]}…"
