"""Is it alive, is it ready, how busy is it."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request, Response
from starlette.responses import PlainTextResponse

from tenuto.access.decide import Need
from tenuto.errors import TenutoError
from tenuto.records.operations import JobStatus
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.metrics import MEDIA
from tenuto.surfaces.http.routing import Store, needs, router

routes = router("", "health")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: str
    problems: list[str] = field(default_factory=list)


@routes.get("/health", response_model=Health, **needs(Need.PUBLIC))
async def health() -> Response:
    """The process answers. Says nothing about the store."""
    return answer(Health(status="ok"))


@routes.get("/ready", response_model=Health, **needs(Need.PUBLIC, more=(503,)))
def ready(request: Request, store: Store) -> Response:
    """The store answers, and the server is not on its way down."""
    if request.app.state.feed.closing.is_set():
        return answer(Health(status="stopping"), 503)
    try:
        store.deps.store.users(limit=1)
    except TenutoError as error:
        return answer(Health(status="not ready", problems=[error.code]), 503)
    return answer(Health(status="ready"))


@routes.get("/metrics", response_class=PlainTextResponse, **needs(Need.ADMIN, about_user=False))
def metrics(request: Request, store: Store) -> Response:
    """Prometheus' text form. Holds no user's name and no content."""
    waiting = {
        f"jobs_{status.value}": len(store.jobs(status.value, limit=1000))
        for status in (JobStatus.PENDING, JobStatus.FAILED)
    }
    more: dict[str, float] = {name: float(count) for name, count in waiting.items()}
    return Response(request.app.state.metrics.text(more), media_type=MEDIA)
