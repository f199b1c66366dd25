"""Taking everything along, bringing something in, and the addresses that lead to a user."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from tenuto.access.decide import Need
from tenuto.errors import InputError
from tenuto.records.identity import UserMerge
from tenuto.records.operations import Event
from tenuto.records.scope import Identity
from tenuto.records.transfer import Import
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.routing import Person, needs, router
from tenuto.user import UserMemory

routes = router("/api/users/{user}", "transfer")
MEDIA = {"jsonl": "application/x-ndjson", "json": "application/json", "md": "text/markdown; charset=utf-8"}
FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def exported(person: UserMemory, kind: str) -> Response:
    """Everything of one user as a file to keep."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{kind}"
        person.export(path)
        content = path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="tenuto-export.{kind}"'}
    return Response(content, media_type=MEDIA[kind], headers=headers)


@routes.get("/export", response_class=Response, **needs(Need.READ))
def export(person: Person, format: Annotated[Literal["jsonl", "json", "md"], Query()] = "jsonl") -> Response:
    """Everything of this user as one file: `jsonl` or `json` to keep or move, `md` to read."""
    return exported(person, format)


def _needs_file() -> dict[str, Any]:
    declared = needs(Need.WRITE)
    declared["openapi_extra"] = {**declared["openapi_extra"], **FILE}
    return declared


@routes.post("/imports", status_code=201, response_model=Import, **_needs_file())
async def import_file(
    request: Request,
    person: Person,
    name: Annotated[
        str, Query(pattern=r"^[\w .()-]{1,200}$", description="The file's name; its ending tells the format.")
    ] = "import.jsonl",
    format: Annotated[str | None, Query(max_length=64)] = None,
    me: Annotated[str, Query(max_length=256, description="The user's own name in the file.")] = "",
    timezone: Annotated[str, Query(max_length=64)] = "UTC",
) -> Response:
    """Bring in earlier talk or memories. What others said in it waits until the user vouches for it."""
    if name.strip(" .") == "":
        raise InputError("Give the file a name.", code="name_empty")
    content = await request.body()
    return await run_in_threadpool(_imported, person, content, Path(name).name, format, me, timezone)


def _imported(person: UserMemory, content: bytes, name: str, format: str | None, me: str, timezone: str) -> Response:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        done = person.import_file(path, format=format, me=[me] if me else [], timezone=timezone)
    return answer(done, 201)


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


@routes.get("/identities", response_model=list[Identity], **needs(Need.READ))
def identities(person: Person) -> Response:
    """The addresses that lead to this user."""
    return answer(person.identities())


@routes.post("/identities/confirm", status_code=201, response_model=Identity, **needs(Need.WRITE))
def confirm_link(person: Person, body: bodies.ConfirmLink) -> Response:
    """Add the address that a code was sent to."""
    return answer(person.confirm_link(body.channel, body.address, body.code, region=body.region), 201)


@routes.post("/identities/unlink", response_model=Identity, **needs(Need.WRITE))
def unlink(person: Person, body: bodies.Unlink) -> Response:
    """Take an address away; whoever writes from it next is somebody new."""
    return answer(person.unlink(body.channel, body.address, region=body.region))


@routes.get("/user-merges", response_model=list[UserMerge], **needs(Need.READ))
def user_merges(person: Person) -> Response:
    """Accounts that were joined into this one, newest first."""
    return answer(person.user_merges())


@routes.post("/user-merges/{id}/undo", response_model=UserMerge, **needs(Need.WRITE))
def unmerge_user(person: Person, id: str) -> Response:
    """Give both accounts back as they were, plus what came since."""
    return answer(person.unmerge_user(id))
