"""Requests that follow from each other: what one answer names, the next request asks for.

Schemathesis finds the links in the schema by itself (an id in an answer, the same id in a path) and walks along them:
make, read, change, erase, read again. Finding them takes a quarter of a minute, so this runs with the full count alone
(``make fuzz``, row 14), beside ``test_schemathesis.py``, whose store, schema and checks it shares.
"""

from __future__ import annotations

import time
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck

from tests.surfaces.test_schemathesis import ADMIN, CASES, CHECKS, SEED, SLOWEST_SECONDS, known_ids, schema

STEPS = 10
"""Requests of one sequence, at most."""
walked = {"sequences": 0, "requests": 0, "linked": 0}


class Sequences(schema.as_state_machine()):  # type: ignore[misc]
    def setup(self) -> None:
        walked["sequences"] += 1
        known_ids()
        self.begun = 0.0

    def get_call_kwargs(self, case: schemathesis.Case) -> dict[str, Any]:
        self.begun = time.monotonic()
        return {"headers": {**(case.headers or {}), **ADMIN, "Tenuto-User": "ana"}, "timeout": 20}

    def before_call(self, case: schemathesis.Case) -> None:
        if "user" in case.path_parameters:
            case.path_parameters["user"] = "ana"

    def validate_response(self, response: Any, case: schemathesis.Case, **_: Any) -> None:
        assert time.monotonic() - self.begun < SLOWEST_SECONDS, "it hangs"
        walked["requests"] += 1
        case.validate_response(response, checks=CHECKS)

    def step(self, input: Any) -> Any:
        walked["linked"] += input.transition is not None
        return super().step(input)


TestSequences = Sequences.TestCase
TestSequences.settings = hypothesis.settings(
    max_examples=max(2, CASES // 50), stateful_step_count=STEPS, deadline=None, derandomize=SEED is None, database=None,
    suppress_health_check=list(HealthCheck), print_blob=False,
)  # fmt: skip


def test_requests_did_follow_from_each_other() -> None:
    print(walked)
    assert walked["sequences"] >= 2 and walked["linked"] > 0, walked
