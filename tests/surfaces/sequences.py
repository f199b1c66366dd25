"""Requests that follow from each other: what one answer names, the next request asks for.

Schemathesis finds the links in the schema by itself (an id in an answer, the same id in a path) and walks along them:
make, read, change, erase, read again. Finding them takes a quarter of a minute, so this runs with the full count alone
(``make fuzz``, row 14), beside ``test_schemathesis.py``, whose store, schema and checks it shares. Every one begins
with the same rows and a key of its own, for one may erase the user or revoke the key that it came with.
"""

from __future__ import annotations

import time
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.stateful import run_state_machine_as_test

from tests.surfaces.kit import bearer
from tests.surfaces.test_schemathesis import CASES, CHECKS, SEED, SLOWEST_SECONDS, known_ids, schema, store

STEPS = 10
"""Requests of one sequence, at most."""
EACH = 5
"""Sequences under one seed."""
walked = {"sequences": 0, "requests": 0, "linked": 0}


class Sequences(schema.as_state_machine()):  # type: ignore[misc]
    def setup(self) -> None:
        walked["sequences"] += 1
        for user in list(store.users()):
            if user in store.users():  # one that was joined to another goes with it
                store.user(user).erase()
        known_ids()
        self.key = bearer(store.create_key("sequence", scope="admin")[1])
        self.begun = 0.0

    def get_call_kwargs(self, case: schemathesis.Case) -> dict[str, Any]:
        self.begun = time.monotonic()
        return {"headers": {**(case.headers or {}), **self.key, "Tenuto-User": "ana"}, "timeout": 20}

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


def test_no_sequence_breaks_the_server() -> None:
    rules = hypothesis.settings(
        max_examples=EACH, stateful_step_count=STEPS, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    for number in range(max(1, CASES // (STEPS * EACH))):
        seed = int(SEED or 0) * 100_000 + number
        machine = type(f"Sequences{seed}", (Sequences,), {"_hypothesis_internal_use_seed": seed})
        try:
            run_state_machine_as_test(machine, settings=rules)
        except FlakyStrategyDefinition:
            # Which links can be followed depends on answers, and ids in them are new each time: the same choices may
            # lead elsewhere, which ends this seed. What went wrong in an answer is another error, and not caught.
            continue
    print(walked)
    assert walked["linked"] > walked["sequences"] > 0, walked
