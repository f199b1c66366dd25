"""Linking and joining accounts over HTTP: what a caller may not learn, and may not make up."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tenuto.records.identity import Delivery
from tenuto.surfaces.http.app import create_app
from tests.surfaces.kit import Served, bearer, callers, make_store

NEW = {"channel": "email", "address": "new@example.org"}


def world(courier: Any = None) -> Served:
    store = make_store()
    store.user("ana").observe("I live in Lisbon.")
    client = TestClient(create_app(store, hosts=["testserver"], courier=courier), raise_server_exceptions=False)
    return Served(store, client, callers(store))


def test_a_user_gets_no_code_but_by_the_address() -> None:
    carried: list[Delivery] = []
    server = world(carried.append)
    sent = server.post("/api/users/ana/identities/link", NEW, caller="user")
    assert sent.status_code == 201 and len(carried) == 1
    secret = (carried[0].code, carried[0].token)
    assert not any(one in sent.text for one in secret) and "hash" not in sent.text and "salt" not in sent.text
    assert server.post("/api/users/ana/identities/link", {**NEW, "by_caller": True}, caller="user").status_code == 403
    right = {**NEW, "code": carried[0].code}
    assert server.post("/api/users/ana/identities/confirm", right, caller="other").status_code == 403
    done = server.post("/api/users/ana/identities/confirm", right, caller="user")
    assert done.status_code == 201 and done.json()["verified_at"]
    assert server.post("/api/users/ana/identities/confirm", right, caller="user").status_code == 403, "serves once"


def test_without_a_courier_only_an_app_can_carry_a_code() -> None:
    server = world()
    assert server.post("/api/users/ana/identities/link", NEW, caller="user").json()["code"] == "no_courier"
    made = server.post("/api/users/ana/identities/link", {**NEW, "by_caller": True}, caller="app")
    assert made.status_code == 201 and len(made.json()["code"]) >= 6


@pytest.mark.parametrize("forged", [{"other": "cleo"}, {"other": "cleo", "addresses": ["email:cleo@example.org"]}])
def test_a_plan_that_names_somebody_else_joins_nobody_else(forged: dict[str, Any]) -> None:
    """The proof says who is joined; what the plan says about it is not believed."""
    server = world()
    ben = server.store.identify("email", "ben@example.org")
    ben.observe("My sister is called Mia.")
    server.store.user("cleo").observe("My secret is a xylophone.")
    asked = {"channel": "email", "address": "ben@example.org"}
    code = server.post("/api/users/ana/identities/link", {**asked, "merge": True, "by_caller": True}, caller="app")
    plan = server.post("/api/users/ana/user-merges/plan", {**asked, "code": code.json()["code"]}, caller="user").json()
    assert plan["other"] == ben.id
    server.post("/api/users/ana/user-merges", {**plan, **forged}, caller="user")
    said = [one.content for one in server.store.user("ana").messages()]
    assert "My secret is a xylophone." not in said
    assert server.store.user("cleo").messages() and "xylophone" not in server.get("/api/users/ana/export").text
    spent = server.post("/api/users/ana/user-merges", plan, caller="user")
    assert spent.status_code in (403, 409), "the proof serves once"


def test_a_plan_needs_its_proof() -> None:
    server = world()
    cleo = server.store.identify("email", "cleo@example.org")
    cleo.observe("My secret is a xylophone.")
    plan = {"user": "ana", "other": cleo.id, "channel": "email", "address": "cleo@example.org", "challenge_id": "chl_x",
            "counts": {}, "conflicts": [], "addresses": ["email:cleo@example.org"], "digest": "0" * 64}  # fmt: skip
    refused = server.client.post(
        "/api/users/ana/user-merges", json=plan, headers=bearer(server.callers["user"]["Authorization"].split()[1])
    )
    assert refused.status_code == 403 and refused.json()["code"] == "challenge_over"
    assert len(server.store.user("ana").messages()) == 1
