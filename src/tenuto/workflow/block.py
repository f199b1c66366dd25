"""A workflow as lines for the context: where it stands, what is settled, what is open, what was asked.

Only facts of the record; the context room puts them between its fences. A staged change is shown as waiting, so that
the model speaks of it as a question and never as done. Nothing of the trace is shown.
"""

from __future__ import annotations

from datetime import datetime

from tenuto.records.workflow import Workflow
from tenuto.workflow.collector import is_live, show
from tenuto.workflow.definition import Definition
from tenuto.workflow.questions import CONFIRM, open_questions

MOST = 400
"""Characters of one value; the draft itself has all of it."""


def workflow_block(workflow: Workflow, definition: Definition, now: datetime) -> list[str]:
    """Lines, most important first; the first names the workflow and its state."""
    verdict = definition.judge(workflow.spec)
    locked = {lock.field for lock in workflow.locks if lock.locked}
    lines = [f"{definition.title}: {workflow.state}"]
    if workflow.error:
        lines.append(f"last error: {_short(workflow.error)}")
    pending = workflow.pending
    if pending is not None and is_live(pending, now):
        lines.append(f"waiting for an answer, not done: {_short(pending.shown)}")
    last = next((key for key in reversed(workflow.asked) if key), "")
    if not last.startswith(CONFIRM):
        asked = next((one for one in open_questions(definition, workflow, verdict, now) if one.key == last), None)
        if asked is not None:
            lines.append(f"question asked: {_short(asked.text)}")
    for name in definition.fields:
        if name in workflow.spec:
            mark = " (settled)" if name in locked else ""
            lines.append(f"{name.replace('_', ' ')}: {_short(show(workflow.spec[name]))}{mark}")
    if verdict.missing:
        lines.append(f"missing: {', '.join(name.replace('_', ' ') for name in verdict.missing)}")
    lines.extend(f"does not fit: {_short(clash.message)}" for clash in verdict.clashes)
    return lines


def _short(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]}…"
