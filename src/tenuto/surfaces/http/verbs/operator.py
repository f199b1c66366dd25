"""For operators: users, keys, tokens, jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query, Request, Response

from tenuto.access import keys
from tenuto.access.decide import Need, check_mint
from tenuto.errors import InputError
from tenuto.lifecycle.curation import CurateReport
from tenuto.records.access import ApiKey, KeyKind, KeyScope
from tenuto.records.operations import Job, JobStatus
from tenuto.surfaces.http import bodies, names
from tenuto.surfaces.http.answers import Listed, answer
from tenuto.surfaces.http.routing import Store, UserId, needs, router

routes = router("/api", "operator")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShown:
    """A key without its hash."""

    id: str
    name: str
    scope: str
    kind: str
    user: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMade:
    """``secret`` is shown this once."""

    key: KeyShown
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCost:
    tokens: float
    money: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    done: bool


def shown(key: ApiKey) -> dict[str, Any]:
    times = {name: getattr(key, name) for name in ("created_at", "expires_at", "revoked_at", "last_used_at")}
    return {"id": key.id, "name": key.name, "scope": key.scope, "kind": key.kind, "user": key.subject, **times}


def lifetime(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


@routes.get("/users", response_model=Listed[str], **needs(Need.APP, about_user=False))
def users(
    store: Store, after: Annotated[str, Query(max_length=256)] = "", limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> Response:
    """The ids of users, in order."""
    if "\x00" in after:
        raise InputError("A user id holds no NUL character.", code="text_nul")
    found = store.deps.store.users(after, limit + 1)
    return answer({"items": found[:limit], "next": found[limit - 1] if len(found) > limit else None})


@routes.post("/users/{user}/tokens", status_code=201, response_model=KeyMade, **needs(Need.APP))
def mint(request: Request, store: Store, user: UserId, body: bodies.NewToken) -> Response:
    """A short token for one user: what an app hands to its own front end."""
    parent, policy = request.state.key, store.deps.policy.server
    scope = KeyScope(body.scope)
    check_mint(parent, scope)
    wanted = min(lifetime(body.seconds) or policy.token_valid, policy.token_longest)
    key, secret = keys.create(
        store.deps, name=f"token of {parent.name}"[:256], scope=scope, user=request.state.user, lifetime=wanted,
        kind=KeyKind.TOKEN, parent=parent.id,
    )  # fmt: skip
    return answer({"key": shown(key), "secret": secret}, 201)


@routes.get("/keys", response_model=Listed[KeyShown], **needs(Need.ADMIN, about_user=False))
def list_keys(store: Store, user: Annotated[str | None, Query(max_length=256)] = None) -> Response:
    """The server's keys, newest first, without their secrets."""
    found = store.keys(user=names.read(user) if user is not None else None)
    return answer({"items": [shown(key) for key in found], "next": None})


@routes.post("/keys", status_code=201, response_model=KeyMade, **needs(Need.ADMIN, about_user=False))
def create_key(store: Store, body: bodies.NewKey) -> Response:
    """A new key. The secret is shown this once."""
    key, secret = store.create_key(body.name, scope=body.scope, user=body.user, lifetime=lifetime(body.seconds))
    return answer({"key": shown(key), "secret": secret}, 201)


@routes.delete("/keys/{id}", response_model=KeyShown, **needs(Need.ADMIN, about_user=False, more=(404,)))
def revoke_key(request: Request, store: Store, id: str) -> Response:
    """Take a key back, and every token that it minted. Streams of it end."""
    key = store.revoke_key(id)
    request.app.state.door.forget()
    return answer(shown(key))


@routes.post("/settle", response_model=Settled, **needs(Need.ADMIN, about_user=False))
def settle(store: Store, body: bodies.Settle) -> Response:
    """Wait until background jobs are done, up to 30 seconds."""
    return answer(Settled(done=store.settle(timeout=30.0 if body.timeout is None else body.timeout)))


@routes.get("/examine", response_model=list[dict[str, Any]], **needs(Need.ADMIN, about_user=False))
def examine(store: Store, thorough: bool = False) -> Response:
    """What `tenuto doctor` says: one finding per part, with `ok`, `what` and `detail`; `thorough` reads every row."""
    return answer(store.examine(thorough=thorough))


@routes.get("/check", response_model=list[str], **needs(Need.ADMIN, about_user=False))
def check(store: Store) -> Response:
    """What is wrong with the store, in words; empty when all is well."""
    return answer(store.check())


@routes.get("/unembedded", response_model=Count, **needs(Need.ADMIN, about_user=False))
def unembedded(store: Store) -> Response:
    """How many entries wait for a vector of the current model."""
    return answer(Count(count=store.unembedded()))


@routes.get("/costs", response_model=dict[str, DayCost], **needs(Need.ADMIN, about_user=False))
def costs(store: Store, most: Annotated[int | None, Query(ge=1, le=10**6)] = None) -> Response:
    """What the model cost on each of the last days (UTC), all users together, or the first `most`."""
    return answer(store.costs(most=most))


@routes.post("/curate", response_model=list[CurateReport], **needs(Need.ADMIN, about_user=False))
def curate(store: Store, body: bodies.CurateMany) -> Response:
    """Curate one user's memories, or everybody's; or only show the plans."""
    return answer(store.curate(body.user, dry_run=body.dry_run))


@routes.post("/jobs/{id}/retry", response_model=Job, **needs(Need.ADMIN, about_user=False, more=(404, 409)))
def retry_job(store: Store, id: str, body: bodies.OfUser) -> Response:
    """Put a failed or cancelled job back into the queue."""
    return answer(store.retry_job(id, user=body.user))


@routes.post("/jobs/{id}/cancel", response_model=Job, **needs(Need.ADMIN, about_user=False, more=(404, 409)))
def cancel_job(store: Store, id: str, body: bodies.OfUser) -> Response:
    """Take a waiting job out of the queue."""
    return answer(store.cancel_job(id, user=body.user))


@routes.get("/jobs", response_model=Listed[Job], **needs(Need.ADMIN, about_user=False))
def jobs(
    store: Store,
    status: JobStatus | None = None,
    user: Annotated[str | None, Query(max_length=256)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """What background work there is, newest first."""
    if user is not None and "\x00" in user:
        raise InputError("A user id holds no NUL character.", code="text_nul")
    return answer({"items": store.jobs(status.value if status else None, user=user, limit=limit), "next": None})
