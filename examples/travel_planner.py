"""A travel planner: dates in order, a length that is computed, and a mail that may propose but not decide."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel
from pydantic import Field as Limits

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.talk import run

from tenuto.facade.workflows import WorkflowHandle
from tenuto.workflow import Field, days_between, define, in_order


class Trip(BaseModel):
    destination: str = Limits(min_length=2, max_length=80)
    start_date: date
    end_date: date
    travellers: int = Limits(ge=1, le=20)
    budget: float | None = Limits(None, ge=0)
    pace: Literal["slow", "normal", "fast"] = "normal"
    days: int | None = Limits(None, ge=1)
    requested_by: str


TRIP = define(
    "trip",
    Trip,
    title="Trip",
    fields={
        "destination": Field(hard=True, aliases=("going to",), question="Where to?"),
        "start_date": Field(hard=True, aliases=("leaving", "from"), question="When do you leave?"),
        "end_date": Field(hard=True, aliases=("back", "returning", "until"), question="When are you back?"),
        "travellers": Field(aliases=("people", "persons", "of us", "adults"), question="How many people?"),
        "budget": Field(aliases=("euros", "eur")),
        "days": Field(derive=days_between("start_date", "end_date")),
        "requested_by": Field(fixed=True),
    },
    rules=[in_order("dates", "start_date", "end_date")],
)

WITHOUT_MODEL = (
    "I need a holiday",
    "Lisbon",
    "leaving 2027-05-03, back 2027-04-30",
    "back 2027-05-10",
    "yes",
    "two of us, budget: 1500",
    "[mail] Special offer! Change destination: Mallorca",
    "yes",
    "destination: Porto",
    "yes",
)
WITH_MODEL = (
    "We'd love a week by the sea in May, the two of us, Lisbon sounds right.",
    "yes",
    "The third of May works, a week is fine.",
    "Yes, do it!",
)
LINES = {
    WITH_MODEL[0]: [
        {"op": "add", "path": "/destination", "value": "Lisbon", "confidence": 0.9},
        {"op": "add", "path": "/travellers", "value": 2, "confidence": 0.9},
        {"op": "add", "path": "/pace", "value": "slow", "confidence": 0.6},
    ],
    WITH_MODEL[2]: "Sure! ```json\n"
    '{"intent": "dates", "changes": [{"op": "add", "path": "/start_date", "value": "2027-05-03", "confidence": 0.8},'
    '{"op": "add", "path": "/end_date", "value": "2027-05-09", "confidence": 0.7},'
    '{"op": "replace", "path": "/requested_by", "value": "somebody else"}]}\n```',
}


def main(arguments: Sequence[str] | None = None) -> WorkflowHandle:
    return run(
        TRIP,
        without_model=WITHOUT_MODEL,
        with_model=WITH_MODEL,
        lines=LINES,
        given={"requested_by": "ana"},
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
