"""Erasing one thing for good and taking back what a source brought in: each shows what it is about before it is done.

The question is a page of its own, so that it is asked with scripts switched off as well; only the answer is a form.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query, Request, Response

from tenuto.access.decide import Need
from tenuto.errors import InputError, NotFound
from tenuto.facade.user import UserMemory
from tenuto.records.conversation import Message, Session
from tenuto.records.memory import Memory
from tenuto.surfaces.web.routing import Viewer, page_needs, router, show

routes = router()
Text = Annotated[str, Query(max_length=1000)]
KINDS: dict[str, type[Any]] = {"memory": Memory, "message": Message, "session": Session}
OFFERED = 200
"""How many of the newest rows of a kind are looked at for the names of sources."""


def sources(person: UserMemory) -> list[str]:
    """Where what is kept came from, to choose from."""
    rows = [*person.page("messages", limit=OFFERED).items, *person.page("memories", limit=OFFERED, status="*").items]
    return sorted({row.source for row in rows if row.source})


@routes.get("/u/{user}/privacy/erase", **page_needs(Need.WRITE))
def ask(request: Request, person: Viewer, kind: Text = "", id: Text = "") -> Response:
    """What would be erased, and the question."""
    return show(request, "erase.html", person, "privacy", kind=kind, id=id, words=_words(person, kind, id))


@routes.post("/u/{user}/privacy/erase/part", **page_needs(Need.WRITE))
def erase_part(request: Request, person: Viewer) -> Response:
    form = request.state.form
    kind, id = form.get("kind", ""), form.get("id", "")
    if kind not in (*KINDS, "source"):
        raise _unknown(kind)
    proof = person.erase(**{kind: id})
    problems = person.verify_erasure(proof)
    return show(request, "erased.html", person, "privacy", proof=proof, erased=f"The {kind}", problems=problems)


@routes.get("/u/{user}/privacy/undo", **page_needs(Need.WRITE))
def preview(request: Request, person: Viewer, source: Text = "", since: Text = "") -> Response:
    """What would go, what would come back, and the question."""
    found = person.undo(source, _day(since), preview=True)
    return show(request, "undo.html", person, "privacy", found=found, source=source, since=since)


@routes.post("/u/{user}/privacy/undo", **page_needs(Need.WRITE))
def undo(request: Request, person: Viewer) -> Response:
    form = request.state.form
    source, since = form.get("source", ""), form.get("since", "")
    found = person.undo(source, _day(since))
    return show(request, "undo.html", person, "privacy", found=found, source=source, since=since)


def _day(given: str) -> datetime | None:
    if not given:
        return None
    try:
        day = datetime.fromisoformat(given)
    except ValueError:
        raise InputError("Give a day as year-month-day, such as 2026-03-01.", code="time_invalid") from None
    return day if day.tzinfo else day.replace(tzinfo=UTC)


def _words(person: UserMemory, kind: str, id: str) -> str:
    """The thing itself, in words, so that nobody erases another one than they meant."""
    if kind not in KINDS:
        raise _unknown(kind)
    with person._deps.store.reading(person.id) as reader:
        found = reader.get(KINDS[kind], id)
    if found is None:
        raise NotFound(f"There is no {kind} {id[:80]!r}.", code=f"{kind}_not_found")
    if isinstance(found, Session):
        return f"{found.headline or 'A session'}, {found.started_at:%d %B %Y}, {found.turn_count} messages"
    return str(found.content)


def _unknown(kind: str) -> InputError:
    return InputError(
        f"There is no {kind[:40]!r} to erase: a memory, a message, a session or a source.", code="part_invalid"
    )
