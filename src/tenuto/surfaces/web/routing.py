"""How a page is asked for: the API's guard, answers for people, and forms that prove where they come from."""

from __future__ import annotations

import hmac
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tenuto.access.decide import ALLOWS, Need
from tenuto.errors import TenutoError
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.records.access import KeyScope
from tenuto.surfaces.http import names
from tenuto.surfaces.http.problems import Refused, status_of
from tenuto.surfaces.http.routing import Handler, UserId, admit
from tenuto.surfaces.web.rendering import page

VIEWS = (
    ("memories", "Memories", "m"),
    ("timeline", "Timeline", "t"),
    ("people", "People and things", "p"),
    ("promises", "Promises", "o"),
    ("companion", "Companion", "c"),
    ("context", "Context", "x"),
    ("waiting", "Waiting for you", "w"),
    ("privacy", "Privacy", "y"),
)
DONE = {
    "remembered": "Kept.",
    "edited": "Saved. The old wording is in the history.",
    "pinned": "Pinned: it is in every context now.",
    "unpinned": "Unpinned.",
    "forgotten": "Forgotten. You can bring it back.",
    "restored": "It is back.",
    "confirmed": "Confirmed: it counts as yours now.",
    "allowed": "Changed when it may be brought up.",
    "completed": "Done. Well held.",
    "cancelled": "Dropped.",
    "merged": "They are one now.",
    "kept_apart": "They stay two.",
    "unmerged": "They are two again.",
    "switched": "Switched.",
    "lifted": "The wish is lifted.",
    "retention": "The rules hold from now on.",
    "revoked": "The key no longer opens anything.",
    "retried": "The job is back in the queue.",
    "dropped": "The job is out of the queue.",
    "applied": "Applied.",
    "refused": "Refused; nothing was changed.",
}
"""What a page says after a form was sent: fixed words, named by a word in the address."""


class PageRoute(APIRoute):
    """Guarded like the API's; refusals become pages; forms must carry the browser's token."""

    def get_route_handler(self) -> Handler:
        inner = super().get_route_handler()
        extra = self.openapi_extra or {}
        need, about_user = Need(extra["x-needs"]), bool(extra["x-about-user"])

        async def handler(request: Request) -> Response:
            try:
                named = request.path_params.get("user")
                if any("\x00" in str(value) for value in request.path_params.values()):
                    raise Refused(422, "text_nul", "A path holds no NUL character.")
                await admit(request, need, names.read(named) if named is not None else None, about_user=about_user)
                if request.method == "POST":
                    request.state.form = await _form(request)
                return await inner(request)
            except TenutoError as error:
                return _sorry(request, status_of(error), error.code, error.message)
            except Refused as refused:
                return _sorry(request, refused.status_code, refused.code, refused.detail, dict(refused.headers or {}))

        return handler


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, if the browser that is signed in sent it from our own page."""
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    wanted = request.state.csrf
    if wanted is not None and not hmac.compare_digest(form.pop("csrf", "").encode(), wanted.encode()):
        raise Refused(
            403, "csrf_missing", "This form is out of date: go back, load the page again, and send it once more."
        )
    return form


def _sorry(request: Request, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    name = "signin.html" if status == 401 else "sorry.html"
    response = page(name, status, detail=detail, code=code, status=status, back=_back(request))
    response.headers.update(headers or {})
    return response


def _back(request: Request) -> str:
    user = request.path_params.get("user")
    return f"/u/{names.write(names.read(user))}/memories" if user and not user.startswith("~~") else "/"


def page_needs(need: Need, *, about_user: bool = True) -> dict[str, Any]:
    """The keyword arguments of a page's route."""
    extra = {"x-needs": need.value, "x-about-user": about_user and need is not Need.PUBLIC}
    return {"openapi_extra": extra, "include_in_schema": False}


def router() -> APIRouter:
    return APIRouter(route_class=PageRoute, include_in_schema=False)


async def _viewer(
    request: Request, user: UserId, persona: Annotated[str | None, Query(max_length=256)] = None
) -> UserMemory:
    store: Tenuto = request.app.state.store
    return store.user(request.state.user, persona=persona or None, channel="web")


Viewer = Annotated[UserMemory, Depends(_viewer)]


def show(request: Request, name: str, person: UserMemory | None, active: str, **values: Any) -> Response:
    """A page with its frame: navigation, who is looked at, what was just done."""
    key = request.state.key
    return page(
        name,
        active=active,
        views=VIEWS,
        user=person.id if person else None,
        base=f"/u/{names.write(person.id)}" if person else "",
        persona=person.scope.persona if person else None,
        personas=_personas(person) if person else [],
        csrf=request.state.csrf or "",
        admin=key.scope is KeyScope.ADMIN,
        many=key.subject is None,
        can_write=Need.WRITE in ALLOWS[key.scope],
        done=DONE.get(request.query_params.get("done", "")),
        waiting=_waiting(person) if person else 0,
        **values,
    )


def _personas(person: UserMemory) -> list[str]:
    found = {one.persona for one in person.page("sessions", limit=200).items if one.persona}
    return sorted(found | ({person.scope.persona} if person.scope.persona else set()))


def _waiting(person: UserMemory) -> int:
    """How much waits for the user's word, up to a page of each."""
    return len(person.page("memories", limit=100, status="candidate").items) + len(person.merges())


def back_to(request: Request, path: str, done: str) -> Response:
    """After a form: the page again, with a word on what was done."""
    mark = "&" if "?" in path else "?"
    return RedirectResponse(f"{path}{mark}done={done}", 303)


def base_of(person: UserMemory) -> str:
    return f"/u/{names.write(person.id)}"
