"""Looking at every part once and saying how it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenuto.access.keys import OPERATOR
from tenuto.deps import Deps
from tenuto.errors import TenutoError
from tenuto.privacy import audit
from tenuto.records.operations import JobStatus
from tenuto.storage.tables import TABLES
from tenuto.transfer.export import records


def examine(deps: Deps, *, thorough: bool = False) -> list[dict[str, Any]]:
    """One finding per part: the store, the embedder, the jobs; ``thorough`` reads every row as well."""
    found = [_store(deps), _embedder(deps), _jobs(deps, JobStatus.FAILED), _jobs(deps, JobStatus.PENDING)]
    return [*found, _rows(deps), _log(deps)] if thorough else found


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
    try:
        found = deps.store.jobs(status.value, limit=1000)
    except TenutoError as error:
        return {"what": f"{status.value} jobs", "ok": False, "detail": error.message}
    detail = f"{len(found)}"
    if status is JobStatus.FAILED and found:
        detail += f", the newest: {found[0].kind}: {found[0].error}"
    return {"what": f"{status.value} jobs", "ok": status is JobStatus.PENDING or not found, "detail": detail}


def _rows(deps: Deps) -> dict[str, Any]:
    """Whether every row can be read. In a sealed store one that was changed or moved by others does not open."""
    read, problems = 0, []
    for user in _everyone(deps):
        for table in TABLES:
            try:
                with deps.store.reading(user) as reader:
                    read += sum(1 for _ in records(reader, table))
            except TenutoError as error:
                problems.append(f"{table.name}: {error}")
    detail = f"{read:,} rows can be read"
    if problems:
        detail += f"; {len(problems)} tables of a user cannot, the first: {problems[0]}"
    return {"what": "rows", "ok": not problems, "detail": detail}


def _log(deps: Deps) -> dict[str, Any]:
    """Whether the audit logs hold, and the rows are those that they list."""
    report = audit.verify(deps)
    waiting = len(deps.store.unlisted())
    detail = f"{report.chains:,} logs with {report.links:,} entries"
    if waiting:
        detail += f"; rows of {waiting} users of an earlier release are not listed yet: run 'tenuto db upgrade'"
    if report.problems:
        detail += f"; {len(report.problems)} problems, the first: {report.problems[0]}"
    return {"what": "audit log", "ok": report.ok, "detail": detail}


def _everyone(deps: Deps) -> Iterator[str]:
    """The operator, and every user."""
    yield OPERATOR
    last = ""
    while page := deps.store.users(after=last):
        yield from page
        last = page[-1]
