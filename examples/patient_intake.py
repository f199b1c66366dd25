"""A patient-intake form from a JSON file: its own states, everything medical is hard, nothing is guessed into it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.talk import run

from tenuto.facade.workflows import WorkflowHandle
from tenuto.workflow import load

INTAKE = load(Path(__file__).with_suffix(".json"))

WITHOUT_MODEL = (
    "Hi, I have an appointment.",
    "My name is Ana Ruiz",
    "1984-02-29",
    "penicillin and latex",
    "none",
    "no",
    "allergies: penicillin",
    "no, keep it",
)
WITH_MODEL = (
    "Hello, Ana Ruiz here, born on the leap day of 1984.",
    "that's right",
    "Penicillin gave me a rash once, and I take something for my thyroid.",
    "What do you mean?",
    "yes please",
    "I quit smoking years ago.",
)
LINES = {
    WITH_MODEL[0]: [
        {"op": "add", "path": "/full_name", "value": "Ana Ruiz", "confidence": 0.99},
        {"op": "add", "path": "/date_of_birth", "value": "1984-02-29", "confidence": 0.9},
    ],
    WITH_MODEL[2]: [
        {"op": "add", "path": "/allergies", "value": ["penicillin"], "confidence": 0.8},
        {"op": "add", "path": "/medication", "value": ["thyroid medicine"], "confidence": 0.5},
    ],
    WITH_MODEL[5]: [{"op": "add", "path": "/smoker", "value": False, "confidence": 0.7}],
}


def main(arguments: Sequence[str] | None = None) -> WorkflowHandle:
    return run(
        INTAKE,
        without_model=WITHOUT_MODEL,
        with_model=WITH_MODEL,
        lines=LINES,
        given={"clinic": "north"},
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
