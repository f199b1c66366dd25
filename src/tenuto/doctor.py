"""Looking at every part once and saying how it is."""

from __future__ import annotations

from typing import Any

from tenuto.deps import Deps
from tenuto.errors import TenutoError
from tenuto.records.operations import JobStatus


def examine(deps: Deps) -> list[dict[str, Any]]:
    """One finding per part: the store, the embedder, the jobs."""
    return [_store(deps), _embedder(deps), _jobs(deps, JobStatus.FAILED), _jobs(deps, JobStatus.PENDING)]


def _store(deps: Deps) -> dict[str, Any]:
    try:
        problems = deps.store.check()
    except TenutoError as error:
        problems = [error.message]
    return {"what": "store", "ok": not problems, "detail": "; ".join(problems) or deps.store.url}


def _embedder(deps: Deps) -> dict[str, Any]:
    try:
        vector = deps.embedder.embed(["a note held for its full value"])
    except TenutoError as error:
        return {"what": "embedder", "ok": False, "detail": error.message}
    detail = f"{deps.embedder.model}, {vector.shape[1]} dimensions"
    return {"what": "embedder", "ok": vector.shape == (1, deps.embedder.dimension), "detail": detail}


def _jobs(deps: Deps, status: JobStatus) -> dict[str, Any]:
    found = deps.store.jobs(status.value, limit=1000)
    detail = f"{len(found)}"
    if status is JobStatus.FAILED and found:
        detail += f", the newest: {found[0].kind}: {found[0].error}"
    return {"what": f"{status.value} jobs", "ok": status is JobStatus.PENDING or not found, "detail": detail}
