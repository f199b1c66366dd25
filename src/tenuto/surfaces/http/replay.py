"""Idempotency keys: the first request with a key does the work, later ones get the same answer.

The key is claimed before the work begins (a row of the user's, so erasing the user erases it) and filled in after. A
request that finds the claim but no answer is told to wait; a claim that was never filled in (the process died) can be
taken over after ``policy.server.replay_wait``. Only what succeeded, or failed in a way that would fail again, is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tenuto.deps import Deps
from tenuto.ports import Where
from tenuto.records.access import Replay
from tenuto.surfaces.http import problems
from tenuto.surfaces.http.problems import Refused

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
LONGEST_KEY = 256


async def replayed(request: Request, inner: Handler) -> Response:
    """The kept answer, or the answer of ``inner``, kept."""
    key = request.headers["idempotency-key"]
    if not 0 < len(key) <= LONGEST_KEY:
        raise Refused(422, "idempotency_key_invalid", f"An idempotency key has 1 to {LONGEST_KEY} characters.")
    deps: Deps = request.app.state.store.deps
    owner = request.state.user or ""
    id = sha256("\n".join((request.state.key.id, request.method, request.url.path, key)).encode()).hexdigest()
    asked = sha256(request.url.query.encode() + b"\n" + await request.body()).hexdigest()
    kept = await run_in_threadpool(_claim, deps, owner, id, asked)
    if kept is not None:
        return Response(kept.body, kept.status, {"Idempotent-Replay": "true"}, media_type=kept.media_type)
    try:
        response = await inner(request)
    except BaseException as error:
        response = (
            await problems.on_error(request, error) if isinstance(error, Exception) else Response(status_code=500)
        )
        await run_in_threadpool(_settle, deps, owner, id, asked, response)
        raise
    await run_in_threadpool(_settle, deps, owner, id, asked, response)
    return response


def _claim(deps: Deps, owner: str, id: str, asked: str) -> Replay | None:
    """The kept answer; ``None`` when this request is the one that does the work."""
    now, policy = deps.clock(), deps.policy.server
    with deps.store.writing(owner) as tx:
        old = tx.ids(Replay, Where("at", "<", now - policy.replay_kept))
        tx.remove(Replay, *sorted(old)) if old else None
        kept = tx.get(Replay, id)
        if kept is None or (kept.status == 0 and now - kept.at > policy.replay_wait):
            tx.put(Replay(id=id, at=now, request=asked))
            return None
    if kept.request != asked:
        raise Refused(422, "idempotency_key_reused", "This idempotency key belongs to another request: take a new one.")
    if kept.status == 0:
        raise Refused(409, "request_at_work", "The first request with this key is still at work.", {"Retry-After": "1"})
    return kept


def _settle(deps: Deps, owner: str, id: str, asked: str, response: Response) -> None:
    """Keep a final answer; free the key after a failure that may pass."""
    with deps.store.writing(owner) as tx:
        if response.status_code >= 500 or response.status_code == 429:
            tx.remove(Replay, id)
            return
        media, body = response.media_type or "application/json", bytes(response.body).decode()
        tx.put(Replay(id=id, at=deps.clock(), request=asked, status=response.status_code, media_type=media, body=body))
