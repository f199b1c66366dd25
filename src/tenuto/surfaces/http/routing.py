"""Routes that say what they need, and check it before a byte of the body is read.

Each route is declared with :func:`needs`; the guard runs first: who is it, may they, is it about a user they may act
for, do they come too often. Only then is the body read and parsed. A route without a declared need cannot be made.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tenuto.access.decide import Need, permit, subject_of
from tenuto.engine import Tenuto
from tenuto.providers.limits import Bucket, Limiter
from tenuto.records.access import ApiKey
from tenuto.surfaces.http import names
from tenuto.surfaces.http.answers import conditional, problems
from tenuto.surfaces.http.crew import Crew
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.replay import replayed
from tenuto.user import UserMemory

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
ERRORS = {
    Need.PUBLIC: (),
    Need.READ: (401, 403, 404),
    Need.WRITE: (401, 403, 404, 409),
    Need.APP: (401, 403),
    Need.ADMIN: (401, 403),
}


async def admit(request: Request, need: Need, named: str | None, *, about_user: bool) -> str | None:
    """The user that the request is about (``None`` where it is about none), or a refusal."""
    if need is Need.PUBLIC:
        return None
    key: ApiKey | None = request.state.key
    if key is None:
        raise Refused(
            401, "key_missing", "Send a key: Authorization: Bearer tnk_…", {"WWW-Authenticate": 'Bearer realm="tenuto"'}
        )
    permit(key, need)
    user = subject_of(key, named) if about_user else None
    request.state.user = user
    await _limit(request, key, user)
    return user


async def _limit(request: Request, key: ApiKey, user: str | None) -> None:
    by_key, by_user = request.app.state.buckets
    asked = [(f"key:{key.id}", by_key)]
    if user is not None:
        asked.append((f"user:{user}", by_user))
    seconds = await wait(request.app.state.limiter, asked)
    if seconds > 0:
        raise too_many(seconds)


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
        inner = self._direct(super().get_route_handler())
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

    def _direct(self, inner: Handler) -> Handler:
        """The short way for a route that takes a person and a body and nothing else, which is most of what is asked.

        FastAPI works every parameter out anew for every request, which takes as long as a recall. Whatever is not plain
        (a query, another content type, a body that does not fit) goes the long way, and gets its answer there.
        """
        model = _only_body(self.endpoint)
        if model is None:
            return inner
        endpoint, validate = self.endpoint, model.model_validate

        async def direct(request: Request) -> Response:
            if request.scope["query_string"] or request.headers.get("content-type") != "application/json":
                return await inner(request)
            try:
                body = validate(json.loads(await request.body()))
            except (ValueError, RecursionError, ClientDisconnect):
                return await inner(request)
            person = await _person(request, request.state.user)
            crew: Crew | None = request.app.state.crew
            if crew is None:  # the application is called without having been started
                return await asyncio.to_thread(endpoint, person, body)
            response: Response = await crew.run(partial(contextvars.copy_context().run, endpoint, person, body))
            return response

        return direct


def _only_body(endpoint: Callable[..., Any]) -> type[BaseModel] | None:
    """The form of the body of a plain function ``(person, body)`` that answers by itself."""
    hints = get_type_hints(endpoint, include_extras=True)
    model = hints.get("body")
    if asyncio.iscoroutinefunction(endpoint) or list(hints) != ["person", "body", "return"]:
        return None
    if hints["person"] != Person or not issubclass(hints["return"], Response):
        return None
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


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
