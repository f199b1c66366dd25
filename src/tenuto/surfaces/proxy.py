"""The memory proxy: a client changes its base URL and has memory.

    client → POST /v1/chat/completions → + memory → upstream → answer, byte for byte → client
                                                       └→ both turns are kept

It speaks OpenAI's ``/v1/chat/completions`` and Anthropic's ``/v1/messages``; models and embeddings pass through. What
the client sent stays as it is but for the memory (:mod:`proxy_wire`); what the upstream says, errors included, comes
back unchanged. The user's message is kept also when the upstream fails. A retry of the same request is the same turn:
its messages have ids made of what was said, so the store refuses the second copy, whichever process wrote the first.
A memory that fails costs the memory, never the answer: the request goes on without it, and a header says so.

Upstreams are named by whoever starts the proxy, never by a request. A person who keeps a key of their own for that
upstream asks with it; else the operator's key is sent, or the client's where the proxy has none of its own.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import anyio
import anyio.to_thread
import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tenuto.errors import BudgetTooSmall, Conflict, InputError, StoreError, TenutoError
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.privacy.model_keys import Secret
from tenuto.records.context import Context
from tenuto.surfaces import proxy_wire as wire
from tenuto.surfaces.proxy_access import Access, Credential, vendor_of
from tenuto.surfaces.proxy_replies import (
    answer_headers,
    anthropic_user,
    body_of,
    decode,
    json_body,
    refusal,
    request_headers,
    unreachable,
)
from tenuto.text.fences import without_marked

log = logging.getLogger("tenuto.proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where answers come from. ``openai`` ends before ``/chat/completions``, ``anthropic`` before ``/v1/messages``."""

    openai: str | None = None
    anthropic: str | None = None
    key: str | None = None
    """Sent instead of the client's own key, unless the person keeps one."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wire format: where it lives, how memory goes in, how words come out."""

    name: str
    path: str
    base: Callable[[Upstream], str | None]
    inject: Callable[[wire.Body, wire.Turn, wire.Memory], wire.Body]
    answer: Callable[[Any], str]
    piece: Callable[[Any], tuple[str, bool]]


OPENAI = Dialect(
    "openai", "/chat/completions", lambda up: up.openai, wire.inject_openai, wire.answer_openai, wire.piece_openai
)
ANTHROPIC = Dialect(
    "anthropic",
    "/v1/messages",
    lambda up: up.anthropic,
    wire.inject_anthropic,
    wire.answer_anthropic,
    wire.piece_anthropic,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request on its way: whose it is, what is sent, what is to be kept."""

    dialect: Dialect
    credential: Credential
    body: wire.Body
    at: datetime
    memory: UserMemory | None = None
    session: str | None = None
    turn: wire.Turn | None = None
    own: Secret | None = None
    """The person's own key for the upstream."""
    headers: dict[str, str] = field(default_factory=dict)
    """Added to the answer."""


class Proxy:
    """The routes and what they share. ``client`` is made when it is first needed."""

    def __init__(
        self, store: Tenuto, upstream: Upstream, access: Access, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._store = store
        self._upstream = upstream
        self._access = access
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._injected: OrderedDict[tuple[str, ...], tuple[datetime, int, Context]] = OrderedDict()

    def routes(self) -> list[Route]:
        """For a server that mounts the proxy beside its own routes."""
        return [
            Route("/v1/chat/completions", self.openai, methods=["POST"]),
            Route("/v1/messages", self.anthropic, methods=["POST"]),
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/embeddings", self.embeddings, methods=["POST"]),
        ]

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def openai(self, request: Request) -> Response:
        return await self._chat(request, OPENAI)

    async def anthropic(self, request: Request) -> Response:
        return await self._chat(request, ANTHROPIC)

    async def models(self, request: Request) -> Response:
        return await self._pass(request, "GET", "/models")

    async def embeddings(self, request: Request) -> Response:
        return await self._pass(request, "POST", "/embeddings")

    # --- a turn of a conversation -------------------------------------------------------------------------------------

    async def _chat(self, request: Request, dialect: Dialect) -> Response:
        try:
            asked = await self._read(request, dialect)
        except TenutoError as error:
            return refusal(dialect.name, error)
        except ClientDisconnect:
            return Response(status_code=499)
        url = f"{(dialect.base(self._upstream) or '').rstrip('/')}{dialect.path}"
        sent = self._http().build_request(
            "POST",
            url,
            params=request.url.query,
            content=msgspec.json.encode(asked.body),
            headers=self._headers(request, asked.credential, asked.own, anthropic=dialect is ANTHROPIC),
        )
        response = await self._send(asked, sent)
        if isinstance(response, httpx.HTTPError):
            return unreachable(dialect.name, response)
        if response.is_success and "text/event-stream" in response.headers.get("content-type", ""):
            headers = answer_headers(response) | asked.headers
            return StreamingResponse(self._stream(asked, response), response.status_code, headers)
        return await self._whole(request, asked, response)

    async def _send(self, asked: Asked, sent: httpx.Request) -> httpx.Response | httpx.HTTPError:
        """Ask the upstream, and keep what the user said while it thinks."""
        answered: list[httpx.Response | httpx.HTTPError] = []

        async def send() -> None:
            try:
                answered.append(await self._http().send(sent, stream=True))
            except httpx.HTTPError as error:
                answered.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_said, asked)
            group.start_soon(send)
        return answered[0]

    async def _read(self, request: Request, dialect: Dialect) -> Asked:
        """Check the request and put memory into it."""
        credential = await self._access.enter(request)
        base = dialect.base(self._upstream)
        if base is None:
            raise InputError(f"This proxy has no upstream for {dialect.name}: start it with one.", code="no_upstream")
        body = await json_body(request, self._store.deps.policy.proxy.body_bytes)
        at = self._store.deps.clock()
        session = request.headers.get("tenuto-session")
        mode = request.headers.get("tenuto-memory", "on").lower()
        turn = wire.find_turn(body.get("messages"), "")
        if mode == "off" or turn is None:
            own = await self._own_key(await self._anybody(request, body), base)
            return Asked(dialect=dialect, credential=credential, body=body, at=at, own=own)
        memory = await self._memory(request, body)
        own = await self._own_key(memory, base)
        context: Context | None = None
        try:
            context = await self._context(memory, session, turn)
            headers = {"tenuto-memory": "on", "tenuto-tokens": str(context.tokens)}
        except TenutoError as error:
            log.warning("going on without memory: %s", error.code)
            headers = {"tenuto-memory": f"failed; {error.code}"}
        anchor = f"{memory.scope.persona or ''}\x00{session or (context.anchor if context else '')}"
        turn = wire.find_turn(body["messages"], anchor) or turn
        if context is not None:
            body = dialect.inject(body, turn, wire.memory_of(context))
        return Asked(
            dialect=dialect,
            credential=credential,
            memory=memory if mode != "read" else None,
            session=session,
            body=body,
            turn=turn,
            at=at,
            own=own,
            headers=headers,
        )

    async def _memory(self, request: Request, body: wire.Body) -> UserMemory:
        field = body.get("user") or anthropic_user(body)
        return self._store.user(
            await self._access.whose(request, str(field) if field else None),
            persona=request.headers.get("tenuto-persona") or None,
            channel=request.headers.get("tenuto-channel") or "api",
        )

    async def _anybody(self, request: Request, body: wire.Body) -> UserMemory | None:
        """The same where nobody's memory is needed, and nobody need be named."""
        try:
            return await self._memory(request, body)
        except InputError as error:
            if error.code != "user_missing":
                raise
            return None

    async def _own_key(self, memory: UserMemory | None, base: str) -> Secret | None:
        """The person's own key; one that does not open is an error, a store that is away costs only the key."""
        if memory is None:
            return None
        try:
            return await anyio.to_thread.run_sync(memory.model_keys.own, vendor_of(base))
        except StoreError as error:
            log.warning("going on without the person's own key: %s", error.code)
            return None

    async def _context(self, memory: UserMemory, session: str | None, turn: wire.Turn) -> Context:
        """The context of this turn; the same one for a retry and for what comes back from a tool."""
        scope = memory.scope
        key = (scope.user, scope.persona or "", session or "", turn.said)
        policy, now = self._store.deps.policy.proxy, self._store.deps.clock()
        known = self._injected.get(key)
        if known is not None and now - known[0] > policy.turn_kept:
            known = None
        text = _fit(turn.text, self._store)
        epoch, context = await anyio.to_thread.run_sync(lambda: self._build(memory, session, text, turn.sent, known))
        self._injected[key] = (known[0] if known else now, epoch, context)
        while len(self._injected) > policy.turns_kept:
            self._injected.popitem(last=False)
        return context

    def _build(
        self,
        memory: UserMemory,
        session: str | None,
        text: str,
        sent: tuple[str, ...],
        known: tuple[datetime, int, Context] | None,
    ) -> tuple[int, Context]:
        """The context, anew or as it was; nothing that was taken away meanwhile comes back by a retry."""
        with self._store.deps.store.reading(memory.id) as reader:
            profile = reader.profile()
        epoch = profile.epoch if profile is not None else -1
        if known is not None and known[1] in (epoch, -1):
            return epoch, known[2]
        options: dict[str, Any] = {"session": session, "replay": False, "sent": sent}
        if self._store.deps.policy.context.personas is None:
            options["persona_text"] = ""
        try:
            return epoch, memory.context(text, **options)
        except BudgetTooSmall as error:
            roomy = error.needed + self._store.deps.policy.context.budget
            return epoch, memory.context(text, budget=roomy, **options)

    # --- the answer ---------------------------------------------------------------------------------------------------

    async def _whole(self, request: Request, asked: Asked, response: httpx.Response) -> Response:
        try:
            content = await response.aread()
        except httpx.HTTPError as error:
            return unreachable(asked.dialect.name, error)
        finally:
            await response.aclose()
        if response.is_success and not await request.is_disconnected():
            await self._keep_answer(asked, asked.dialect.answer(decode(content)))
        return Response(content, response.status_code, answer_headers(response) | asked.headers)

    async def _stream(self, asked: Asked, response: httpx.Response) -> AsyncIterator[bytes]:
        """Pass every piece on at once; the last one waits until the answer is kept."""
        heard, kept = wire.Listener(asked.dialect.piece), False
        try:
            async for part in response.aiter_bytes():
                heard.hear(part)
                if heard.finished and not kept:
                    kept = True
                    await self._keep_answer(asked, heard.text)
                yield part
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _keep_said(self, asked: Asked) -> None:
        if asked.turn is not None:
            await self._keep(asked, asked.turn.text, id=f"proxy-{asked.turn.said}", at=asked.at)

    async def _keep_answer(self, asked: Asked, answer: str) -> None:
        """Keep an answer that came to its end."""
        model = asked.body.get("model")
        if asked.turn is not None:
            name = str(model)[:256] if model else None
            await self._keep(asked, answer, id=f"proxy-{asked.turn.asked}-answer", role="assistant", model=name)

    async def _keep(self, asked: Asked, text: str, **about: Any) -> None:
        """Keep one turn, whatever becomes of the request meanwhile."""
        memory = asked.memory
        if memory is not None and (fit := _fit(without_marked(text), self._store)):
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(lambda: _observe(memory, fit, session=asked.session, **about))

    # --- what passes through ------------------------------------------------------------------------------------------

    async def _pass(self, request: Request, method: str, path: str) -> Response:
        try:
            credential = await self._access.enter(request)
            base = self._upstream.openai
            if base is None:
                raise InputError("This proxy has no upstream for openai: start it with one.", code="no_upstream")
            own = await self._own_key(await self._anybody(request, {}), base)
            content = await body_of(request, self._store.deps.policy.proxy.body_bytes) if method == "POST" else None
        except TenutoError as error:
            return refusal("openai", error)
        url = f"{base.rstrip('/')}{path}"
        headers = self._headers(request, credential, own, anthropic=False)
        try:
            response = await self._http().request(
                method, url, params=request.url.query, content=content, headers=headers
            )
        except httpx.HTTPError as error:
            return unreachable("openai", error)
        return Response(response.content, response.status_code, answer_headers(response))

    def _headers(
        self, request: Request, credential: Credential, own: Secret | None, *, anthropic: bool
    ) -> dict[str, str]:
        key = own.reveal() if own is not None else self._upstream.key
        return request_headers(request, key, forward_key=credential.forward_key, anthropic=anthropic)

    def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            policy = self._store.deps.policy.proxy
            timeout = httpx.Timeout(policy.timeout.total_seconds(), connect=policy.connect.total_seconds())
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
            self._client = httpx.AsyncClient(timeout=timeout, limits=limits, transport=self._transport)
        return self._client


def proxy_app(
    store: Tenuto, upstream: Upstream, access: Access, *, transport: httpx.AsyncBaseTransport | None = None
) -> Starlette:
    """The proxy as an application of its own."""
    proxy = Proxy(store, upstream, access, transport=transport)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await proxy.aclose()

    return Starlette(routes=proxy.routes(), lifespan=lifespan)


def _observe(memory: UserMemory, text: str, **about: Any) -> None:
    try:
        memory.observe(text, **about)
    except Conflict:
        log.info("this turn is kept already, with another answer")
    except TenutoError as error:
        log.error("a message was not kept: %s", error.code)


def _fit(text: str, store: Tenuto) -> str:
    """What can be kept of a text: without NUL and half characters, cut at the limit of one message."""
    clean = text.replace("\x00", "").encode("utf-8", "replace")
    return clean[: store.deps.policy.limits.text_bytes].decode("utf-8", "ignore").strip()
