"""Taking everything along, bringing something in, and what happened in between."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from tenuto.access.decide import Need
from tenuto.errors import InputError, StoreFull
from tenuto.facade.user import UserMemory
from tenuto.records.operations import Event
from tenuto.records.transfer import Import
from tenuto.surfaces.http.answers import answer, encode
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.routing import Person, needs, router
from tenuto.transfer.report import Estimate

routes = router("/api/users/{user}", "transfer")
MEDIA = {"jsonl": "application/x-ndjson", "json": "application/json", "md": "text/markdown; charset=utf-8"}
FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


FileName = Annotated[
    str, Query(pattern=r"^[\w .()-]{1,200}$", description="The file's name; its ending tells the format.")
]
Me = Annotated[str, Query(max_length=256, description="The user's own names in the file, with commas between them.")]


def exported(person: UserMemory, kind: str) -> Response:
    """Everything of one user as a file to keep."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{kind}"
        counts = person.export(path)
        content = path.read_bytes()
    headers = {
        "Content-Disposition": f'attachment; filename="tenuto-export.{kind}"',
        "Tenuto-Counts": encode(counts).decode(),
    }
    return Response(content, media_type=MEDIA[kind], headers=headers)


@routes.get("/export", response_class=Response, **needs(Need.READ))
def export(person: Person, format: Annotated[Literal["jsonl", "json", "md"], Query()] = "jsonl") -> Response:
    """Everything of this user as one file: `jsonl` or `json` to keep or move, `md` to read."""
    return exported(person, format)


def _needs_file() -> dict[str, Any]:
    declared = needs(Need.WRITE, more=(507,))
    declared["openapi_extra"] = {**declared["openapi_extra"], **FILE}
    return declared


@routes.post("/imports", status_code=201, response_model=Import, **_needs_file())
async def import_file(
    request: Request,
    person: Person,
    name: FileName = "import.jsonl",
    format: Annotated[str | None, Query(max_length=64)] = None,
    me: Me = "",
    timezone: Annotated[str, Query(max_length=64)] = "UTC",
    vouch: Annotated[bool, Query(description="Vouch for all of it at once.")] = False,
    extract: Annotated[bool, Query(description="Work out what the messages say.")] = True,
) -> Response:
    """Bring in earlier talk or memories. What others said in it waits until the user vouches for it."""
    options: dict[str, Any] = {
        "format": format, "me": _names(me), "timezone": timezone, "vouch": vouch, "extract": extract
    }  # fmt: skip
    async with _received(request, _file_name(name)) as path:
        return answer(await run_in_threadpool(person.import_file, path, **options), 201)


@asynccontextmanager
async def _received(request: Request, name: str) -> AsyncIterator[Path]:
    """The file that is sent, written down as it arrives, gone afterwards. The guard counts its bytes and its time."""
    state, most = request.app.state, request.app.state.store.deps.policy.server.uploads
    if state.uploads >= most:
        raise Refused(503, "uploads_busy", "Other files are arriving: try again in a moment.", {"Retry-After": "5"})
    state.uploads += 1
    try:
        with tempfile.TemporaryDirectory(prefix="tenuto-import-") as folder:
            path = Path(folder) / name
            try:
                with path.open("wb") as file:
                    async for chunk in request.stream():
                        await run_in_threadpool(file.write, chunk)
            except OSError as error:
                raise StoreFull(f"There is no room here for this file: {error.strerror}.") from error
            yield path
    finally:
        state.uploads -= 1


def _file_name(given: str) -> str:
    if given.strip(" .") == "":
        raise InputError("Give the file a name.", code="name_empty")
    return Path(given).name


def _names(me: str) -> list[str]:
    return [one.strip() for one in me.split(",") if one.strip()]


@routes.post("/imports/estimate", response_model=Estimate, **_needs_file())
async def estimate_import(
    request: Request,
    person: Person,
    name: FileName = "import.jsonl",
    format: Annotated[str | None, Query(max_length=64)] = None,
    me: Me = "",
    timezone: Annotated[str, Query(max_length=64)] = "UTC",
) -> Response:
    """What an import would bring, from when, and what it would cost; nothing is written."""
    options: dict[str, Any] = {"format": format, "me": _names(me), "timezone": timezone}
    async with _received(request, _file_name(name)) as path:
        return answer(await run_in_threadpool(person.estimate_import, path, **options))


@routes.get("/imports", response_model=list[Import], **needs(Need.READ))
def imports(person: Person) -> Response:
    """What was imported, newest first."""
    return answer(person.imports())


@routes.post("/imports/{id}/vouch", response_model=Import, **needs(Need.WRITE))
def vouch(person: Person, id: str) -> Response:
    """Vouch for an import as a whole: its memories become active."""
    return answer(person.vouch(id))


@routes.get("/changes", response_model=list[Event], **needs(Need.READ))
def changes(
    person: Person,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
) -> Response:
    """What happened, in order, after the event with this number."""
    return answer(person.events(after=after, limit=limit))
