"""A coding-exercise planner: language, 1 to 7 problems, and a difficulty plan whose counts add up to them.

Language and problem count are hard: whatever a model infers about them is shown first and needs a yes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Limits

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.talk import run

from tenuto.facade.workflows import WorkflowHandle
from tenuto.workflow import Field, define, sum_matches


class DifficultyPlan(BaseModel):
    model_config = ConfigDict(extra="forbid")
    easy: int = Limits(0, ge=0, le=7)
    medium: int = Limits(0, ge=0, le=7)
    hard: int = Limits(0, ge=0, le=7)


class Activity(BaseModel):
    language: Literal["python", "java", "javascript", "cpp", "sql"]
    problem_count: int = Limits(ge=1, le=7)
    difficulty_plan: DifficultyPlan
    topic: str = Limits(min_length=1, max_length=80)
    style: Literal["return", "stdout", "mixed"] = "return"


ACTIVITY = define(
    "activity",
    Activity,
    title="Coding exercises",
    fields={
        "language": Field(hard=True, question="Which language (python, java, javascript, cpp, sql)?"),
        "problem_count": Field(hard=True, aliases=("problems", "exercises"), question="How many problems (1 to 7)?"),
        "difficulty_plan": Field(aliases=("plan", "difficulty"), question="How many easy, medium and hard ones?"),
        "topic": Field(question="What should they practise?"),
    },
    rules=[sum_matches("counts", "difficulty_plan", "problem_count")],
)

WITHOUT_MODEL = (
    "Hello!",
    "Python please",
    "5 problems: 2 easy, 1 medium, 1 hard",
    "2 easy, 1 medium, 2 hard",
    "recursion",
    "switch to java",
    "no, keep it",
)
WITH_MODEL = (
    "My second-years just finished loops and want something in Python.",
    "Enough for one lesson, nothing too hard.",
    "go ahead",
    "Surprise me with the rest.",
)
LINES = {
    WITH_MODEL[0]: [
        {"op": "add", "path": "/language", "value": "python", "confidence": 0.95},
        {"op": "add", "path": "/topic", "value": "loops", "confidence": 0.8},
    ],
    WITH_MODEL[1]: [
        {"op": "add", "path": "/problem_count", "value": 3, "confidence": 0.7},
        {"op": "add", "path": "/difficulty_plan", "value": {"easy": 2, "medium": 1, "hard": 0}, "confidence": 0.6},
    ],
    WITH_MODEL[3]: [
        {"op": "replace", "path": "/language", "value": "cobol", "confidence": 1.0},
        {"op": "replace", "path": "/language", "value": "java", "confidence": 1.0},
        {"op": "add", "path": "/state", "value": "SAVED", "confidence": 1.0},
    ],
}


def main(arguments: Sequence[str] | None = None) -> WorkflowHandle:
    return run(ACTIVITY, without_model=WITHOUT_MODEL, with_model=WITH_MODEL, lines=LINES, arguments=arguments)


if __name__ == "__main__":
    main()
