"""A verb that exists is served: the library, the client and the routes cannot drift apart."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import tenuto
from tenuto.paging import LISTINGS
from tenuto.privacy.erase import Proof
from tenuto.records.channel import Envelope
from tenuto.records.identity import MergePlan
from tenuto.surfaces.client import RemoteTenuto, RemoteUser, connect
from tenuto.surfaces.client_work import RemoteModelKeys, RemoteWorkflow, RemoteWorking
from tenuto.surfaces.http.app import create_app
from tests.surfaces.kit import make_store

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LOCAL_ONLY = {"scope", "model"}
"""Not verbs of a store: who is meant, and a client of this process for a model elsewhere."""
STORE_LOCAL_ONLY = {
    "deps": "the parts of this process",
    "define": "a definition holds functions: the operator registers it where the server runs",
    "reembed": "hours of work: 'tenuto db reembed' where the server runs",
    "seal": "needs the key file: at the server's own command line",
    "rotate": "needs the key file: at the server's own command line",
    "rewrap": "needs the key file: at the server's own command line",
}
"""Verbs that are not served, each with its reason."""
HANDLES = {
    tenuto.workflows.WorkflowHandle: RemoteWorkflow,
    tenuto.context.working.Working: RemoteWorking,
    tenuto.model_keys.ModelKeys: RemoteModelKeys,
}
HANDLES_LOCAL_ONLY = {"heard", "reveal", "lookup", "own", "model"}
"""What the engine itself calls, and what would show a key."""


def public(cls: type) -> set[str]:
    own = set(vars(cls).get("__annotations__", ())) | {name for one in cls.__mro__[:-1] for name in vars(one)}
    return {name for name in own if not name.startswith("_")}


def same_signatures(ours: type, theirs: type, *, but: Collection[str] = ()) -> None:
    for name in public(ours) & public(theirs) - set(but):
        one, other = getattr(ours, name), getattr(theirs, name)
        if inspect.isfunction(one):
            assert list(inspect.signature(one).parameters) == list(inspect.signature(other).parameters), name


def test_every_verb_of_the_library_is_there_with_its_signature() -> None:
    """A verb that lands in the library without its client fails here; so does one that is excused without need."""
    assert public(tenuto.UserMemory) - public(RemoteUser) == LOCAL_ONLY
    assert public(tenuto.Tenuto) - public(RemoteTenuto) == set(STORE_LOCAL_ONLY) - {"deps"}
    same_signatures(tenuto.UserMemory, RemoteUser)
    same_signatures(tenuto.Tenuto, RemoteTenuto)
    for ours, theirs in HANDLES.items():
        assert public(ours) - public(theirs) <= HANDLES_LOCAL_ONLY, ours
        same_signatures(ours, theirs, but=("test",))


class _Notes(httpx.BaseTransport):
    """Notes which route each request takes."""

    def __init__(self, app: Any) -> None:
        self.taken: set[str] = set()
        self.asked = 0
        self._routes = [
            (method.upper(), re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + "$"), path)
            for path, operations in app.openapi()["paths"].items() for method in operations
        ]  # fmt: skip

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().partition("?")[0]
        fitting = [(m, p) for m, pattern, p in self._routes if m == request.method and pattern.match(path)]
        exact = sorted(fitting, key=lambda one: one[1].count("{"))[:1]
        self.taken.update(f"{m} {p}" for m, p in exact)
        self.asked += bool(exact)
        return httpx.Response(200 if exact else 404, content=b"{}")


ARGUMENTS: dict[str, Any] = {
    "text": "x", "query": "x", "message": "x", "id": "x", "todo_id": "x", "what": "messages", "duplicate": "a",
    "into": "b", "accept": True, "use": "no", "start": "a", "end": "b", "rules": None, "import_id": "x",
    "channel": "email", "address": "a@example.org", "code": "1", "merge_id": "x", "definition": "trip", "track": "t",
    "skill": "s", "success": True, "name": "n", "envelope": Envelope(channel="email", address="a@b.c", text="x"),
    "user": "ana", "provider": "openai", "key": "k", "value": 1, "content": {}, "state": "s", "operations": [],
    "deliver": None, "digest": "d", "source": "mail", "since": None,
}  # fmt: skip
"""Something for every parameter that has no default."""


def call(method: Any) -> None:
    asked = [] if isinstance(method, functools.partial) else inspect.signature(method).parameters.values()
    named = {one.name: ARGUMENTS[one.name] for one in asked if one.default is one.empty and one.kind != one.VAR_KEYWORD}
    with contextlib.suppress(Exception):  # the empty answer is of no use; only where it went counts here
        found = method(**named)
        list(found) if inspect.isgenerator(found) else None


def test_every_verb_takes_a_route_and_every_route_has_a_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's verbs go to routes that exist, and no route of the API is without a verb that takes it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").write_text("{}")
    store = make_store()
    app = create_app(store)
    notes = _Notes(app)
    remote = connect("http://x", "k", transport=notes, retries=0, sleep=lambda _: None)
    ana = remote.user("ana")
    places = [remote, ana, RemoteWorking(ana), RemoteModelKeys(ana), RemoteWorkflow(ana, "w1", None)]
    proof = Proof(
        user="ana", at=START, store="s", erased={}, left={}, key_destroyed=None, files_clean=True, digest="d"
    )  # fmt: skip
    plan = MergePlan(
        user="ana", other="b", channel="email", address="a", challenge_id="c", counts={}, conflicts=(), addresses=(),
        digest="d",
    )  # fmt: skip
    for name, value in {"path": tmp_path / "x.jsonl", "proof": proof, "plan": plan}.items():
        monkeypatch.setitem(ARGUMENTS, name, value)
    nowhere = set()
    for place in places:
        for name in public(type(place)) - {"id", "close", "user", "get", "page", "working", "model_keys"}:
            member, before = inspect.getattr_static(type(place), name), notes.asked
            call(functools.partial(getattr, place, name) if isinstance(member, property) else getattr(place, name))
            nowhere |= {name} if notes.asked == before else set()
    more: list[Callable[[], Any]] = [lambda: ana.trajectory(on=True), lambda: ana.outreach(on=True)]
    more += [functools.partial(ana.page, what) for what in LISTINGS]
    more += [functools.partial(ana.get, what, "x") for what in LISTINGS]
    for verb in more:
        with contextlib.suppress(Exception):
            verb()
    assert nowhere == set(), "verbs that ask nobody"
    served = {f"{m.upper()} {path}" for path, operations in app.openapi()["paths"].items() for m in operations}
    assert served - notes.taken == WITHOUT_A_VERB
    store.close()


WITHOUT_A_VERB = {
    "GET /health", "GET /ready", "GET /metrics",
    "POST /api/memory/summaries", "GET /api/memory/summaries/{session_id}", "POST /api/memory/pins",
    "GET /api/memory/pins/{session_id}", "GET /api/memory/stats/{session_id}",
    "POST /api/sessions/{session_id}/messages", "GET /api/sessions/{session_id}/messages",
    "POST /api/users/{user}/tokens",
}  # fmt: skip
"""The server's own matters, the routes by other names, and tokens, which the library has no use for."""
