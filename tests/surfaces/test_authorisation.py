"""Every route and every tool has a row here that says who may use it; one without a row fails."""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute

from tests.surfaces.kit import Served

USER = "/api/users/{user}"
LISTINGS = (
    "messages", "sessions", "summaries", "key-points", "memories", "entities", "merges", "todos", "state-changes",
    "workflows", "event-log",
)  # fmt: skip

ROWS: dict[str, str] = {
    "GET /health": "public",
    "GET /ready": "public",
    "GET /metrics": "admin",
    f"POST {USER}/observe": "write",
    f"GET {USER}/receipts/{{id}}": "read",
    f"POST {USER}/recall": "read",
    f"POST {USER}/context": "read",
    f"GET {USER}/stats": "read",
    f"POST {USER}/memories": "write",
    f"POST {USER}/seed": "write",
    f"POST {USER}/memories/find": "read",
    f"PATCH {USER}/memories/{{id}}": "write",
    f"POST {USER}/memories/{{id}}/forget": "write",
    f"POST {USER}/memories/{{id}}/restore": "write",
    f"GET {USER}/memories/{{id}}/history": "read",
    f"POST {USER}/memories/{{id}}/confirm": "write",
    f"PUT {USER}/memories/{{id}}/pin": "write",
    f"DELETE {USER}/memories/{{id}}/pin": "write",
    f"PUT {USER}/memories/{{id}}/use": "write",
    f"POST {USER}/todos/find": "read",
    f"GET {USER}/wins": "read",
    f"GET {USER}/wishes": "read",
    f"POST {USER}/wishes/{{id}}/lift": "write",
    f"POST {USER}/todos/{{id}}/complete": "write",
    f"POST {USER}/todos/{{id}}/cancel": "write",
    f"POST {USER}/entities/find": "read",
    f"GET {USER}/entities/{{id}}/card": "read",
    f"POST {USER}/merges/find": "read",
    f"POST {USER}/merges": "write",
    f"POST {USER}/merges/{{id}}/decide": "write",
    f"POST {USER}/merges/{{id}}/undo": "write",
    f"POST {USER}/sessions/close": "write",
    f"PUT {USER}/sessions/{{id}}/name": "write",
    f"POST {USER}/summaries": "write",
    f"GET {USER}/state": "read",
    f"GET {USER}/session-state": "read",
    f"GET {USER}/trajectory": "read",
    f"PUT {USER}/trajectory": "write",
    f"GET {USER}/outreach": "read",
    f"PUT {USER}/outreach": "write",
    f"GET {USER}/retention": "read",
    f"PUT {USER}/retention": "write",
    f"POST {USER}/purge": "write",
    f"POST {USER}/curate": "write",
    f"GET {USER}/export": "read",
    f"POST {USER}/imports": "write",
    f"GET {USER}/imports": "read",
    f"POST {USER}/imports/{{id}}/vouch": "write",
    f"GET {USER}/changes": "read",
    f"GET {USER}/identities": "read",
    f"POST {USER}/identities/confirm": "write",
    f"POST {USER}/identities/unlink": "write",
    f"GET {USER}/user-merges": "read",
    f"POST {USER}/user-merges/{{id}}/undo": "write",
    f"POST {USER}/imports/estimate": "write",
    f"POST {USER}/identities/link": "write",
    f"POST {USER}/user-merges/plan": "write",
    f"POST {USER}/user-merges": "write",
    f"POST {USER}/workflows": "write",
    f"PATCH {USER}/workflows/{{id}}": "write",
    f"GET {USER}/workflows/{{id}}/look": "read",
    f"POST {USER}/workflows/{{id}}/send": "write",
    f"POST {USER}/workflows/{{id}}/confirm": "write",
    f"POST {USER}/workflows/{{id}}/refuse": "write",
    f"POST {USER}/workflows/{{id}}/move": "write",
    f"POST {USER}/workflows/{{id}}/artifacts": "write",
    f"GET {USER}/workflows/{{id}}/artifacts": "read",
    f"GET {USER}/workflows/{{id}}/trace": "read",
    f"GET {USER}/workflows/{{id}}/stream": "read",
    f"GET {USER}/working": "read",
    f"PUT {USER}/working/{{name}}": "write",
    f"GET {USER}/model-keys": "read",
    f"PUT {USER}/model-keys/{{provider}}": "write",
    f"POST {USER}/model-keys/{{provider}}/test": "write",
    f"DELETE {USER}/model-keys/{{provider}}": "write",
    "POST /api/channels/{channel}/messages": "app",
    "POST /api/identify": "app",
    "GET /api/examine": "admin",
    "GET /api/check": "admin",
    "GET /api/costs": "admin",
    "GET /api/unembedded": "admin",
    "POST /api/curate": "admin",
    "POST /api/jobs/{id}/retry": "admin",
    "POST /api/jobs/{id}/cancel": "admin",
    f"POST {USER}/outcomes": "write",
    f"GET {USER}/learner/{{track}}": "read",
    f"POST {USER}/erase": "write",
    f"POST {USER}/erase/verify": "read",
    f"POST {USER}/undo": "write",
    f"GET {USER}/audit": "read",
    f"GET {USER}/audit/verify": "read",
    f"GET {USER}/events": "read",
    **{f"GET {USER}/{name}": "read" for name in LISTINGS},
    **{f"GET {USER}/{name}/{{id}}": "read" for name in LISTINGS},
    "POST /api/memory/summaries": "write",
    "GET /api/memory/summaries/{session_id}": "read",
    "POST /api/memory/pins": "write",
    "GET /api/memory/pins/{session_id}": "read",
    "POST /api/memory/context": "read",
    "GET /api/memory/stats/{session_id}": "read",
    "POST /api/sessions/{session_id}/messages": "write",
    "GET /api/sessions/{session_id}/messages": "read",
    "GET /api/users": "app",
    f"POST {USER}/tokens": "app",
    "GET /api/keys": "admin",
    "POST /api/keys": "admin",
    "DELETE /api/keys/{id}": "admin",
    "GET /api/jobs": "admin",
    "POST /api/settle": "admin",
    "GET /api/audit": "admin",
    "GET /api/audit/head": "admin",
    "POST /api/audit/verify": "admin",
}

VIEWS = ("memories", "timeline", "people", "promises", "companion", "context", "waiting", "privacy")
PAGES: dict[str, str] = {
    "GET /static/{name}": "public",
    "GET /sign-in": "public",
    "GET /": "own",
    "POST /sign-out": "own",
    **{f"GET /u/{{user}}/{name}": "read" for name in VIEWS},
    "GET /u/{user}/memories/{id}": "read",
    "GET /u/{user}/people/{id}": "read",
    "POST /u/{user}/memories": "write",
    "POST /u/{user}/memories/{id}/{action}": "write",
    "POST /u/{user}/todos/{id}/{action}": "write",
    "POST /u/{user}/merges/{id}/{action}": "write",
    "POST /u/{user}/people/{id}/merge": "write",
    "POST /u/{user}/workflows/{id}/{action}": "write",
    "POST /u/{user}/companion/{switch}": "write",
    "POST /u/{user}/privacy/retention": "write",
    "POST /u/{user}/privacy/wishes/{id}/lift": "write",
    "POST /u/{user}/privacy/erase": "write",
    "GET /u/{user}/privacy/erase": "write",
    "POST /u/{user}/privacy/erase/part": "write",
    "GET /u/{user}/privacy/undo": "write",
    "POST /u/{user}/privacy/undo": "write",
    "GET /u/{user}/privacy/export": "read",
    "GET /system": "admin",
    "POST /system/keys": "admin",
    "POST /system/keys/{id}/revoke": "admin",
    "POST /system/jobs/{id}/{action}": "admin",
}
"""The page's own routes, which the documentation of the API leaves out."""

ALLOWED: dict[str, frozenset[str]] = {
    "public": frozenset({"none", "user", "other", "app", "admin", "reader", "reader_of_all"}),
    "own": frozenset({"user", "other", "app", "admin", "reader", "reader_of_all"}),
    "read": frozenset({"user", "app", "admin", "reader", "reader_of_all"}),
    "write": frozenset({"user", "app", "admin"}),
    "app": frozenset({"app", "admin"}),
    "admin": frozenset({"admin"}),
}
"""Who may do what with the memory of the user ana."""


def routes(app: object) -> list[str]:
    """Every operation of the application, as it is documented and as it is routed."""
    return sorted(
        f"{method.upper()} {path}" for path, operations in app.openapi()["paths"].items() for method in operations
    )


def test_every_route_has_a_row(server: Served) -> None:
    assert set(routes(server.client.app)) == set(ROWS)


def test_no_route_hides_from_the_documentation(server: Served) -> None:
    served = {
        f"{method} {route.path}"
        for route in _all_routes(server.client.app.router)
        for method in route.methods - {"HEAD"}
    }
    beside = {"GET /openapi.json", "GET /mcp", "POST /mcp", "DELETE /mcp"}
    assert served - beside == set(ROWS) | set(PAGES)


def _all_routes(router: object) -> list[APIRoute]:
    found = []
    for route in router.routes:
        inner = getattr(route, "original_router", None) or getattr(route, "router", None)
        found += _all_routes(inner) if inner is not None else [route] if hasattr(route, "path") else []
    return found


@pytest.mark.parametrize("row", sorted({**ROWS, **PAGES}))
def test_the_matrix(server: Served, row: str) -> None:
    """A caller who may is not refused; one without a key gets 401; everyone else 403, whatever the body holds."""
    method, path = row.split(" ", 1)
    need = {**ROWS, **PAGES}[row]
    url = re.sub(r"\{\w+\}", "x", path.replace("{user}", "ana"))
    server.client.app.state.feed.stop()
    for caller, headers in server.callers.items():
        named = {} if "{user}" in path else {"Tenuto-User": "ana"}
        response = server.client.request(method, url, headers={**headers, **named}, content=b"{")
        allowed = caller in ALLOWED[need]
        refused = 401 if caller == "none" else 403
        expected = "anything but 401 and 403" if allowed else refused
        assert (response.status_code not in (401, 403)) if allowed else (response.status_code == refused), (
            f"{caller} on {row}: {response.status_code}, expected {expected}: {response.text}"
        )


def test_the_matrix_can_fail(server: Served) -> None:
    """The control: a route that forgets its need would be seen."""
    from tenuto.access import decide

    before = decide.ALLOWS[decide.KeyScope.READ]
    decide.ALLOWS[decide.KeyScope.READ] = frozenset(decide.Need)
    try:
        response = server.post("/api/users/ana/observe", {"text": "x"}, caller="reader")
    finally:
        decide.ALLOWS[decide.KeyScope.READ] = before
    assert response.status_code == 201


def test_a_key_of_one_user_reads_nothing_of_another(server: Served) -> None:
    server.post("/api/users/ana/observe", {"text": "My sister is called Mia."})
    assert server.get("/api/users/ana/messages", caller="other").status_code == 403
    own = server.get("/api/users/ben/messages", caller="other")
    assert own.json()["items"] == []
    sneaky = server.client.get("/api/sessions/x/messages", headers={**server.headers("other"), "Tenuto-User": "ana"})
    assert sneaky.status_code == 403 and sneaky.json()["code"] == "other_user"
