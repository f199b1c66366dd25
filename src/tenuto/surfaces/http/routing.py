"""Routes that say what they need, and check it before a byte of the body is read.

Each route is declared with :func:`needs`; the guard runs first: who is it, may they, is it about a user they may act
for, do they come too often. Only then is the body read and parsed. A route without a declared need cannot be made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from tenuto.access.decide import Need, permit, subject_of
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.policy import Limits, ServerPolicy
from tenuto.providers.limits import Bucket, Limiter
from tenuto.records.access import ApiKey
from tenuto.surfaces.http import names
from tenuto.surfaces.http.answers import conditional, problems
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.replay import replayed
from tenuto.text import clean

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
ERRORS = {
    Need.PUBLIC: (),
    Need.READ: (401, 403, 404),
    Need.WRITE: (401, 403, 404, 409),
    Need.APP: (401, 403),
    Need.ADMIN: (401, 403),
}
UNAUTHORISED = {"WWW-Authenticate": 'Bearer realm="tenuto"'}


class Admission:
    """Who may do what, about whom, how often: the same for every route."""

    def __init__(self, limits: Limits, policy: ServerPolicy, limiter: Limiter) -> None:
        self._limits = limits
        self._limiter = limiter
        self._by_key = Bucket(policy.key_rate, policy.key_burst)
        self._by_user = Bucket(policy.user_rate, policy.user_burst)

    async def admit(self, state: dict[str, Any], need: Need, named: str | None, *, about_user: bool) -> str | None:
        """The user that the request is about (``None`` where it is about none), or a refusal."""
        if need is Need.PUBLIC:
            return None
        key: ApiKey | None = state["key"]
        if key is None:
            raise Refused(401, "key_missing", "Send a key: Authorization: Bearer tnk_…", UNAUTHORISED)
        permit(key, need)
        user = clean.name(subject_of(key, named), self._limits, what="user id") if about_user else None
        state["user"] = user
        asked = [(f"key:{key.id}", self._by_key)]
        if user is not None:
            asked.append((f"user:{user}", self._by_user))
        seconds = await wait(self._limiter, asked)
        if seconds > 0:
            raise too_many(seconds)
        return user


async def admit(request: Request, need: Need, named: str | None, *, about_user: bool) -> str | None:
    """The application's :class:`Admission`, asked about a request."""
    admission: Admission = request.app.state.admission
    return await admission.admit(request.scope["state"], need, named, about_user=about_user)


async def wait(limiter: Limiter, asked: list[tuple[str, Bucket]]) -> float:
    """Ask the limiter; one that lives elsewhere is asked from a thread."""
    if getattr(limiter, "remote", False):
        return await asyncio.to_thread(limiter.wait, asked)
    return limiter.wait(asked)


def too_many(seconds: float) -> Refused:
    after = str(max(1, int(seconds + 0.999)))
    return Refused(429, "too_many_requests", f"Too many requests: come back in {after} s.", {"Retry-After": after})


class GuardedRoute(APIRoute):
    """Checks the declared need, then lets FastAPI read the request; keeps and repeats answers; adds entity tags."""

    def get_route_handler(self) -> Handler:
        inner = super().get_route_handler()
        extra = self.openapi_extra or {}
        need, about_user = Need(extra["x-needs"]), bool(extra["x-about-user"])
        repeatable, signed = bool(extra.get("x-repeatable")), bool(extra.get("x-signed"))

        async def handler(request: Request) -> Response:
            if any("\x00" in str(value) for value in request.path_params.values()):
                raise Refused(422, "text_nul", "A path holds no NUL character.")
            if signed and request.state.key is None and "webhook-signature" in request.headers:
                return await inner(request)  # the route itself checks the signature, over the body
            named = request.path_params.get("user")
            if named is None and about_user:
                named = request.headers.get("tenuto-user")
            await admit(request, need, names.read(named) if named is not None else None, about_user=about_user)
            if repeatable and "idempotency-key" in request.headers:
                return await replayed(request, inner)
            return conditional(request, await inner(request))

        return handler


def needs(
    need: Need, *, about_user: bool = True, repeatable: bool = False, more: tuple[int, ...] = ()
) -> dict[str, Any]:
    """The keyword arguments of a route: what it needs, and the errors that follow from it."""
    statuses = sorted({*ERRORS[need], *more, 400, 413, 422, 429, 500, 503} if need is not Need.PUBLIC else {*more, 500})
    extra: dict[str, Any] = {"x-needs": need.value, "x-about-user": about_user and need is not Need.PUBLIC}
    if repeatable:
        extra["x-repeatable"] = True
        extra["parameters"] = [
            {
                "name": "Idempotency-Key", "in": "header", "required": False,
                "schema": {"type": "string", "minLength": 1, "maxLength": 256},
                "description": "The same key with the same request gives the same answer and does nothing twice.",
            }
        ]  # fmt: skip
        statuses = sorted({*statuses, 409})
    return {"openapi_extra": extra, "responses": problems(*statuses)}


def router(prefix: str, tag: str) -> APIRouter:
    """A router whose routes are guarded."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=GuardedRoute)


async def _store(request: Request) -> Tenuto:
    store: Tenuto = request.app.state.store
    return store


UserId = Annotated[
    str,
    Path(
        description="The user's id; one that a path cannot carry as ~ + base64url.", examples=["ana"], max_length=1400
    ),
]


async def _named(
    request: Request,
    tenuto_user: Annotated[
        str | None, Header(description="The user, for keys of many users.", examples=["ana"])
    ] = None,
    persona: Annotated[str | None, Query(max_length=256)] = None,
    channel: Annotated[str, Query(max_length=256)] = "api",
) -> UserMemory:
    return await _person(request, "", persona, channel)


async def _person(
    request: Request,
    user: UserId,
    persona: Annotated[str | None, Query(description="The voice that the user talks to.", max_length=256)] = None,
    channel: Annotated[str, Query(description="Where the message came from.", max_length=256)] = "api",
) -> UserMemory:
    store: Tenuto = request.app.state.store
    return store.user(request.state.user, persona=persona, channel=channel)


Store = Annotated[Tenuto, Depends(_store)]
Person = Annotated[UserMemory, Depends(_person)]
"""The memory of the user in the path, whom the guard let through."""
Named = Annotated[UserMemory, Depends(_named)]
"""The same where the path names no user: the key's own, or the one in a header."""
