"""The short way for a route that takes a person and a body and nothing else, which is most of what is asked.

The framework looks every route up, and works every parameter out, anew for each request, which takes as long as a
recall. Here such a route is found by its path at once; who may use it is decided as for every other route, before a
byte of the body is read. Whatever is not plain (a query, an idempotency key, another content type, a body that does not
fit) goes the long way, and gets its answer there.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, get_type_hints

from pydantic import BaseModel
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenuto.access.decide import Need
from tenuto.engine import Tenuto
from tenuto.errors import TenutoError
from tenuto.stops import Stops
from tenuto.surfaces.http import names
from tenuto.surfaces.http.desk import Desk
from tenuto.surfaces.http.problems import on_error
from tenuto.surfaces.http.routing import STOPS, Admission, GuardedRoute, Person
from tenuto.surfaces.http.whole import BODY
from tenuto.user import UserMemory

PREFIX = "/api/users/{user}/"


@dataclass(frozen=True, slots=True)
class Plain:
    """A route that can be taken the short way."""

    route: GuardedRoute
    need: Need
    model: type[BaseModel]
    verb: Callable[..., Response]
    stops: Callable[..., Stops[Response]] | None
    """The same for an event loop, where there is such a form."""


class Lane:
    """The layer within the guard: answers what is plain, and hands the rest on."""

    def __init__(self, app: ASGIApp, *, routes: Iterable[BaseRoute], store: Tenuto, state: State) -> None:
        self.app = app
        self._plain = {one.route.path.removeprefix(PREFIX): one for one in map(_plain, routes) if one is not None}
        self._store = store
        self._state = state
        self._admission: Admission = state.admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        plain, name = self._find(scope)
        if plain is None:
            await self.app(scope, receive, send)
            return
        scope["route"], scope["path_params"] = plain.route, {"user": name}
        try:
            user = await self._admission.admit(scope["state"], plain.need, names.read(name), about_user=True)
            content = scope.get("extensions", {}).get(BODY)
            if content is None:
                content = await _content(receive)
                if content is None:
                    return
                receive = _again(content, receive)
            body = _fitting(plain.model, content)
            if body is None:
                await self.app(scope, receive, send)
                return
            response = await self._do(plain, self._store.user(str(user)), body)
        except (TenutoError, HTTPException) as error:
            response = await on_error(Request(scope), error)
        await response(scope, receive, send)

    async def _do(self, plain: Plain, person: UserMemory, body: BaseModel) -> Response:
        """The verb, where it costs least."""
        desk: Desk | None = self._state.desk
        if plain.stops is not None and desk is not None and desk.ready:
            response: Response = await desk.run(plain.stops(person, body))
        else:
            response = await self._state.crew.run(partial(contextvars.copy_context().run, plain.verb, person, body))
        return response

    def _find(self, scope: Scope) -> tuple[Plain | None, str]:
        """The route and the user's name in its path, where the request is plain."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
            return None, ""
        parts = scope["path"].split("/", 4)
        if len(parts) != 5 or parts[:3] != ["", "api", "users"] or not parts[3] or "\x00" in parts[3]:
            return None, ""
        plain = self._plain.get(parts[4])
        return (plain, parts[3]) if plain is not None and _is_plain(scope["headers"]) else (None, "")


def _plain(route: BaseRoute) -> Plain | None:
    """A route over a plain function ``(person, body)`` that answers by itself."""
    if not isinstance(route, GuardedRoute) or route.methods != {"POST"} or not route.path.startswith(PREFIX):
        return None
    hints = get_type_hints(route.endpoint, include_extras=True)
    model, returned = hints.get("body"), hints.get("return")
    if asyncio.iscoroutinefunction(route.endpoint) or list(hints) != ["person", "body", "return"]:
        return None
    if hints["person"] != Person or not (isinstance(returned, type) and issubclass(returned, Response)):
        return None
    if "{" in route.path.removeprefix(PREFIX) or not (isinstance(model, type) and issubclass(model, BaseModel)):
        return None
    need = Need((route.openapi_extra or {})["x-needs"])
    return Plain(route, need, model, route.endpoint, getattr(route.endpoint, STOPS, None))


def _is_plain(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    sent = dict(headers)
    return sent.get(b"content-type") == b"application/json" and b"idempotency-key" not in sent


async def _content(receive: Receive) -> bytes | None:
    """The whole body; ``None`` where the client has gone before its end, however whole it looks."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _fitting(model: type[BaseModel], content: bytes) -> Any:
    try:
        return model.model_validate(json.loads(content.decode()))
    except (ValueError, RecursionError):
        return None


def _again(content: bytes, receive: Receive) -> Receive:
    """The body that was read already, once more."""
    waiting: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
