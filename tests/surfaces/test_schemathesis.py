"""Requests made from the server's own schema, and from its worst: no server error, no hang, nothing undocumented.

A few hundred cases here; ``TENUTO_TEST_CASES=10000`` for the full count (``make fuzz``).
"""

from __future__ import annotations

import math
import os

import hypothesis
import schemathesis
from hypothesis import HealthCheck
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig

from tenuto.surfaces.http.app import create_app
from tests.surfaces.kit import callers, make_store

CASES = int(os.environ.get("TENUTO_TEST_CASES", "240"))
store = make_store(policy={"server": {"streams": 0}})
app = create_app(store, hosts=["testserver", "localhost", "127.0.0.1"])
ADMIN = callers(store)["admin"]
schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=SchemathesisConfig())
schema = schema.exclude(path_regex="/events$")
"""A stream has no end, and so no case; tests of its own look after it."""
OPERATIONS = sum(1 for path in app.openapi()["paths"].values() for _ in path)
counted = {"cases": 0}


@schema.parametrize()
@hypothesis.settings(
    max_examples=max(3, math.ceil(CASES / OPERATIONS)), deadline=None, derandomize=True,
    suppress_health_check=list(HealthCheck), print_blob=False,
)  # fmt: skip
def test_no_request_breaks_the_server(case: schemathesis.Case) -> None:
    counted["cases"] += 1
    response = case.call(headers={**(case.headers or {}), **ADMIN, "Tenuto-User": "ana"}, timeout=20)
    case.validate_response(response, checks=[not_a_server_error, *_documented()])


def _documented() -> list[object]:
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    return [status_code_conformance, content_type_conformance, response_schema_conformance]


def test_there_were_enough_cases() -> None:
    assert counted["cases"] >= CASES * 0.5, counted
