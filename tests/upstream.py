"""A scripted model server on loopback: speaks OpenAI's and Anthropic's wire formats, answers what the test wrote down.

It runs for real (uvicorn in a thread), so that clients, retries, streams and broken connections are the real thing too.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


class Served:
    """An ASGI application on a free port of 127.0.0.1."""

    def __init__(self, app: Any) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Served:
        self._thread.start()
        deadline = time.monotonic() + 20
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise RuntimeError("the server did not start")
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        self._socket.close()


@dataclass
class Step:
    """One answer: a text, a status with a body, tool calls, or a stream that is cut after so many pieces."""

    text: str = "Hello from upstream."
    status: int = 200
    body: Any = None
    tool_calls: list[dict[str, Any]] | None = None
    cut_after: int | None = None
    wait: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    finish: str = "stop"


@dataclass
class Upstream:
    """What was asked, and what is answered next; the last step repeats."""

    steps: deque[Step] = field(default_factory=deque)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def script(self, *steps: Step) -> None:
        self.steps = deque(steps)

    def next(self) -> Step:
        if not self.steps:
            return Step()
        return self.steps.popleft() if len(self.steps) > 1 else self.steps[0]

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._openai, methods=["POST"]),
                Route("/v1/messages", self._anthropic, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/v1/embeddings", self._embeddings, methods=["POST"]),
            ]
        )

    async def _models(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        return JSONResponse({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "test"}]})

    async def _embeddings(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        vectors = [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}]
        return JSONResponse(
            {"object": "list", "data": vectors, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    async def _openai(self, request: Request) -> Response:
        return await self._answer(request, openai_whole, openai_pieces)

    async def _anthropic(self, request: Request) -> Response:
        return await self._answer(request, anthropic_whole, anthropic_pieces)

    async def _answer(self, request: Request, whole: Callable[..., Any], pieces: Callable[..., list[str]]) -> Response:
        body = await request.json()
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        step = self.next()
        if step.wait:
            await asyncio.sleep(step.wait)
        if step.raw is not None:
            return Response(step.raw, step.status, step.headers, "application/json")
        if step.status != 200:
            return JSONResponse(step.body or {"error": {"message": "scripted"}}, step.status, step.headers)
        if not body.get("stream"):
            return JSONResponse(step.body or whole(step, body))
        return StreamingResponse(_stream(pieces(step, body), step.cut_after), media_type="text/event-stream")


async def _stream(pieces: list[str], cut_after: int | None):
    for number, piece in enumerate(pieces):
        if cut_after is not None and number == cut_after:
            raise ConnectionAbortedError("cut by the script")
        yield piece
        await asyncio.sleep(0.005)


def openai_whole(step: Step, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None if step.tool_calls else step.text}
    if step.tool_calls:
        message["tool_calls"] = step.tool_calls
    finish = "tool_calls" if step.tool_calls else step.finish
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
        "usage": usage,
    }


def openai_pieces(step: Step, body: dict[str, Any]) -> list[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        made = {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
        }
        return f"data: {json.dumps(made)}\n\n"

    found = [chunk({"role": "assistant", "content": ""})]
    if step.tool_calls:
        found += [chunk({"tool_calls": [call | {"index": n}]}) for n, call in enumerate(step.tool_calls)]
        return [*found, chunk({}, "tool_calls"), "data: [DONE]\n\n"]
    found += [chunk({"content": word}) for word in step.text.split(" ") for word in (word + " ",)]
    return [*found, chunk({}, step.finish), "data: [DONE]\n\n"]


def anthropic_whole(step: Step, body: dict[str, Any]) -> dict[str, Any]:
    content = step.tool_calls or [{"type": "text", "text": step.text}]
    stop = "tool_use" if step.tool_calls else "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5}
    made = {"id": "m1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    return made | {"content": content, "stop_reason": stop, "usage": usage}


def anthropic_pieces(step: Step, body: dict[str, Any]) -> list[str]:
    def event(kind: str, **data: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | data)}\n\n"

    start = anthropic_whole(step, body) | {"content": [], "stop_reason": None}
    found = [event("message_start", message=start)]
    found.append(event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
    found.append(event("ping"))
    for word in step.text.split(" "):
        found.append(event("content_block_delta", index=0, delta={"type": "text_delta", "text": word + " "}))
    found.append(event("content_block_stop", index=0))
    found.append(
        event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 5})
    )
    return [*found, event("message_stop")]
