"""Requests made from the server's own schema, and from its worst: no server error, no hang, nothing undocumented.

A few hundred cases here; ``TENUTO_TEST_CASES=10000`` for the full count (``make fuzz``), ``TENUTO_TEST_SEED=7`` for
others than last time. All cases meet one store, one after the other, and half of the ids in paths are ids of rows that
exist in it by then: so verbs do their work on what other verbs left behind, and are not just refused.
"""

from __future__ import annotations

import math
import os
import time
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tenuto.facade.paging import LISTINGS
from tenuto.surfaces.http.app import create_app
from tests.surfaces.kit import callers, make_store

CASES = int(os.environ.get("TENUTO_TEST_CASES", "240"))
SEED = os.environ.get("TENUTO_TEST_SEED")
SLOWEST_SECONDS = 30.0
TALK = (
    "My dad is allergic to penicillin.", "Remind me to call Mia on Friday.", "I moved to Lisbon in May.",
    "My sister Mia loves climbing.", "Mia Santos is my sister.", "I feel a bit low today.",
)  # fmt: skip
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

store = make_store(policy={"server": {"streams": 0}})
app = create_app(store, hosts=["testserver", "localhost", "127.0.0.1"])
ADMIN = callers(store)["admin"]
schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=SchemathesisConfig())
schema = schema.exclude(path_regex="/events$")
"""A stream has no end, and so no case; tests of its own look after it."""
OPERATIONS = sum(1 for path in app.openapi()["paths"].values() for _ in path)
counted = {"cases": 0, "real": 0}


def seeded(function: Any) -> Any:
    return function if SEED is None else hypothesis.seed(int(SEED))(function)


def known_ids() -> dict[str, list[str]]:
    """Rows to act on, by the listing that they stand in. Erased by some case every now and then, and made again."""
    ana = store.user("ana")
    if not ana.messages(limit=1):
        for n, text in enumerate(TALK):
            ana.observe(text, session="session-7", id=f"m{n}")
        ana.remember("I live in Porto", pin=True)
        store.settle()
    return {
        what.replace("_", "-"): [one.id for one in ana.page(what, limit=20).items]
        for what in LISTINGS
        if what != "events"
    }


@schemathesis.serializer("message/rfc822")
def raw_mail(context: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


@schema.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Every second id is one that exists, for a user who does."""
    found = dict(path_parameters or {})
    dice = sum(map(ord, repr(sorted(found.items()))))
    if not found or dice % 2:
        return path_parameters
    if "user" in found:
        found["user"] = "ana"
    if "id" in found:
        ids = known_ids().get(context.operation.path.split("/")[4], []) if "{user}" in context.operation.path else []
        found["id"] = ids[dice % len(ids)] if ids else found["id"]
        counted["real"] += bool(ids)
    if "session_id" in found:
        found["session_id"] = "session-7"
    return found


@schema.parametrize()
@hypothesis.settings(
    max_examples=max(3, math.ceil(CASES / OPERATIONS)), deadline=None, derandomize=SEED is None, database=None,
    suppress_health_check=list(HealthCheck), print_blob=False,
)  # fmt: skip
@seeded
def test_no_request_breaks_the_server(case: schemathesis.Case) -> None:
    counted["cases"] += 1
    begun = time.monotonic()
    response = case.call(headers={**(case.headers or {}), **ADMIN, "Tenuto-User": "ana"}, timeout=60)
    assert time.monotonic() - begun < SLOWEST_SECONDS, "it hangs"
    case.validate_response(response, checks=CHECKS)


def test_there_were_enough_cases() -> None:
    print(counted)
    assert counted["cases"] >= CASES * 0.5, counted
    assert counted["real"] > CASES / 100, "requests that name rows which exist"
