"""A verb that exists is served: the library, the client and the routes cannot drift apart."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

import tenuto
from tenuto.facade.paging import LISTINGS
from tenuto.privacy.erase import Proof
from tenuto.records.channel import Envelope
from tenuto.records.identity import MergePlan
from tenuto.surfaces.client import RemoteTenuto, RemoteUser, connect
from tenuto.surfaces.client_work import RemoteModelKeys, RemoteWorkflow, RemoteWorking
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.app import create_app
from tests.surfaces.kit import make_store

SOURCES = Path(tenuto.__file__).parents[1]
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
    tenuto.facade.workflows.WorkflowHandle: RemoteWorkflow,
    tenuto.context.working.Working: RemoteWorking,
    tenuto.facade.model_keys.ModelKeys: RemoteModelKeys,
}
HANDLES_LOCAL_ONLY = {"heard", "reveal", "lookup", "own", "model"}
"""What the engine itself calls, and what would show a key."""


def public(cls: type) -> set[str]:
    own = set(vars(cls).get("__annotations__", ())) | {name for one in cls.__mro__[:-1] for name in vars(one)}
    return {name for name in own if not name.startswith("_")}


_WHOSE = "whose word it is follows from the key, never from what a request says"
NOT_SENT = {("remember", "trust"): _WHOSE, ("forget", "trust"): _WHOSE}
"""Options of a verb that the client has not, each with its reason."""
FACES = ("link", "subscribe", "workflow", "workflow_of", "settle", "user", "close", "test")
"""Verbs that hand over or take something of this process: their types differ on the two sides."""


def same_signatures(ours: type, theirs: type, *, but: Collection[str] = ()) -> None:
    """The same parameters with the same types and defaults."""
    for name in public(ours) & public(theirs) - set(but):
        one, other = getattr(ours, name), getattr(theirs, name)
        if not inspect.isfunction(one):
            continue
        here = {k: v for k, v in inspect.signature(one).parameters.items() if (name, k) not in NOT_SENT}
        there = inspect.signature(other).parameters
        assert list(here) == list(there), name
        for parameter in here if name not in FACES else ():
            assert here[parameter] == there[parameter], f"{name}({parameter})"


BODIES = {
    "observe": bodies.Observe, "recall": bodies.Recall, "context": bodies.Build, "remember": bodies.Remember,
    "memories": bodies.FindMemories, "todos": bodies.FindTodos, "entities": bodies.FindEntities, "edit": bodies.Edit,
    "merges": bodies.FindMerges, "forget": bodies.Forget, "pin": bodies.Pin, "allow": bodies.Use, "merge": bodies.Merge,
    "decide_merge": bodies.Decision, "close_session": bodies.CloseSession, "summarise": bodies.Summarise,
    "outreach": bodies.OutreachChange, "set_retention": bodies.Retention, "purge": bodies.Trial,
    "curate": bodies.Trial, "seed": bodies.Seed, "undo": bodies.Undo, "record_outcome": bodies.OutcomeTried,
}  # fmt: skip
"""What a request carries for each verb. What the path names (an id) is no field of it."""


@pytest.mark.parametrize("verb", BODIES)
def test_a_request_carries_every_option_of_its_verb(verb: str) -> None:
    """An option that works in the library works over HTTP, with the same default."""
    parameters = dict(inspect.signature(getattr(tenuto.UserMemory, verb)).parameters)
    expected = {k: v for k, v in parameters.items() if k != "self" and (verb, k) not in NOT_SENT}
    fields = BODIES[verb].model_fields
    in_path = {"id"} if verb in ("edit", "forget", "pin", "allow", "decide_merge") else set()
    assert set(fields) == set(expected) - in_path
    for name, field in fields.items():
        default = expected[name].default
        if default in (inspect.Parameter.empty, msgspec.UNSET):
            assert field.is_required() or field.default is None, name
        else:
            assert field.default == default, name


def test_a_mistyped_option_is_refused_by_the_type_checker(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import tenuto\n\nana = tenuto.open('memory:').user('ana')\n"
        "ana.recall('tea', limit=3, kinds=['memory'])\nana.recall('tea', limt=3)\nana.memories(pined=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(SOURCES)},
    )  # fmt: skip
    wrong = [line.split(":")[1] for line in done.stdout.splitlines() if "error:" in line]
    assert wrong == ["5", "6"], done.stdout + done.stderr


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
    "deliver": None, "digest": "d", "profile": {"name": "Ana"}, "source": "mail", "since": None, "session_id": "s",
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
    "POST /api/memory/context", "GET /api/memory/pins/{session_id}", "GET /api/memory/stats/{session_id}",
    "POST /api/sessions/{session_id}/messages", "GET /api/sessions/{session_id}/messages",
    "POST /api/users/{user}/tokens",
}  # fmt: skip
"""The server's own matters, the routes by other names, and tokens, which the library has no use for."""
