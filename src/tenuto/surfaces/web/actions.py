"""The forms: each takes one decision of a person and calls one verb. Afterwards the page is shown again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from fastapi import Request, Response
from starlette.responses import RedirectResponse

from tenuto.access import keys as server_keys
from tenuto.access.decide import Need
from tenuto.errors import InputError, NotFound
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.records.access import KeyKind
from tenuto.surfaces.web.pages import system_page
from tenuto.surfaces.web.routing import Viewer, back_to, base_of, page_needs, router, show

routes = router()
Form = Mapping[str, str]
Act = Callable[[UserMemory, str, Form], Any]

ON_MEMORY: dict[str, tuple[str, Act]] = {
    "pin": ("pinned", lambda person, id, form: person.pin(id)),
    "unpin": ("unpinned", lambda person, id, form: person.unpin(id)),
    "forget": ("forgotten", lambda person, id, form: person.forget(id, reason=form.get("reason") or "asked to forget")),
    "restore": ("restored", lambda person, id, form: person.restore(id)),
    "confirm": ("confirmed", lambda person, id, form: person.confirm(id)),
    "allow": ("allowed", lambda person, id, form: person.allow(id, form.get("use", ""))),
    "edit": ("edited", lambda person, id, form: person.edit(id, **_edited(form))),
}
ON_TODO: dict[str, tuple[str, Act]] = {
    "complete": ("completed", lambda person, id, form: person.complete(id)),
    "cancel": ("cancelled", lambda person, id, form: person.cancel(id)),
}
ON_MERGE: dict[str, tuple[str, Act]] = {
    "accept": ("merged", lambda person, id, form: person.decide_merge(id, accept=True)),
    "refuse": ("kept_apart", lambda person, id, form: person.decide_merge(id, accept=False)),
    "undo": ("unmerged", lambda person, id, form: person.unmerge(id)),
}
ON_WORKFLOW: dict[str, tuple[str, Act]] = {
    "confirm": ("applied", lambda person, id, form: person.workflow_of(id).confirm(form.get("digest"))),
    "refuse": ("refused", lambda person, id, form: person.workflow_of(id).refuse(form.get("digest"))),
}
SWITCHES: dict[str, Callable[[UserMemory, bool], Any]] = {
    "outreach": lambda person, on: person.outreach(on=on),
    "trajectory": lambda person, on: person.trajectory(on=on),
}


def _edited(form: Form) -> dict[str, Any]:
    """What the edit form says; an empty rule is no rule."""
    found: dict[str, Any] = {"content": form.get("content", "")}
    for name in ("should_do", "should_not_do"):
        if name in form:
            found[name] = form[name].strip() or None
    if form.get("importance"):
        try:
            found["importance"] = float(form["importance"])
        except ValueError:
            raise InputError("The importance is a number from 0 to 10.", code="importance_invalid") from None
    return found | ({"kind": form["kind"]} if form.get("kind") else {})


def _run(table: Mapping[str, tuple[str, Act]], request: Request, person: UserMemory, id: str, action: str) -> str:
    if action not in table:
        raise NotFound(f"There is nothing called {action!r} here.", code="no_such_route")
    done, act = table[action]
    act(person, id, request.state.form)
    return done


def _return(request: Request, person: UserMemory, default: str) -> str:
    """Back to the page that the form was on, if it is one of this user's."""
    wanted = request.state.form.get("back", "")
    base = base_of(person)
    own = wanted.startswith(f"{base}/") and "\\" not in wanted and "//" not in wanted
    return wanted if own else f"{base}/{default}"


@routes.post("/u/{user}/memories", **page_needs(Need.WRITE))
def remember(request: Request, person: Viewer) -> Response:
    form = request.state.form
    person.remember(form.get("text", ""), pin=form.get("pin") == "on")
    return back_to(request, f"{base_of(person)}/memories", "remembered")


@routes.post("/u/{user}/memories/{id}/{action}", **page_needs(Need.WRITE))
def on_memory(request: Request, person: Viewer, id: str, action: str) -> Response:
    done = _run(ON_MEMORY, request, person, id, action)
    return back_to(request, _return(request, person, f"memories/{id}"), done)


@routes.post("/u/{user}/todos/{id}/{action}", **page_needs(Need.WRITE))
def on_todo(request: Request, person: Viewer, id: str, action: str) -> Response:
    return back_to(request, f"{base_of(person)}/promises", _run(ON_TODO, request, person, id, action))


@routes.post("/u/{user}/merges/{id}/{action}", **page_needs(Need.WRITE))
def on_merge(request: Request, person: Viewer, id: str, action: str) -> Response:
    done = _run(ON_MERGE, request, person, id, action)
    return back_to(request, _return(request, person, "people"), done)


@routes.post("/u/{user}/people/{id}/merge", **page_needs(Need.WRITE))
def merge(request: Request, person: Viewer, id: str) -> Response:
    into = request.state.form.get("into", "")
    person.merge(id, into)
    return back_to(request, f"{base_of(person)}/people/{into}", "merged")


@routes.post("/u/{user}/workflows/{id}/{action}", **page_needs(Need.WRITE))
def on_workflow(request: Request, person: Viewer, id: str, action: str) -> Response:
    return back_to(request, f"{base_of(person)}/waiting", _run(ON_WORKFLOW, request, person, id, action))


@routes.post("/u/{user}/companion/{switch}", **page_needs(Need.WRITE))
def switch(request: Request, person: Viewer, switch: str) -> Response:
    if switch not in SWITCHES:
        raise NotFound(f"There is no switch {switch!r}.", code="no_such_route")
    SWITCHES[switch](person, request.state.form.get("on") == "yes")
    where = f"{base_of(person)}/companion"
    return back_to(request, f"{where}?persona={person.scope.persona}" if person.scope.persona else where, "switched")


@routes.post("/u/{user}/privacy/wishes/{id}/lift", **page_needs(Need.WRITE))
def lift(request: Request, person: Viewer, id: str) -> Response:
    person.lift(id)
    return back_to(request, f"{base_of(person)}/privacy", "lifted")


@routes.post("/u/{user}/privacy/retention", **page_needs(Need.WRITE))
def retention(request: Request, person: Viewer) -> Response:
    given = request.state.form.get("days", "").strip()
    try:
        rules = {"purge_text": float(given) * 86400} if given else None
    except ValueError:
        raise InputError("Give a number of days, or nothing to keep everything.", code="retention_invalid") from None
    person.set_retention(rules)
    return back_to(request, f"{base_of(person)}/privacy", "retention")


@routes.post("/u/{user}/privacy/erase", **page_needs(Need.WRITE))
def erase(request: Request, person: Viewer) -> Response:
    if request.state.form.get("confirm", "").strip() != person.id:
        raise InputError("To erase everything, type the user's id exactly as it is shown.", code="erase_unconfirmed")
    proof = person.erase()
    request.app.state.door.forget()
    return show(request, "erased.html", None, "privacy", proof=proof, erased=person.id)


@routes.post("/system/keys", **page_needs(Need.ADMIN, about_user=False))
def create_key(request: Request) -> Response:
    form, store = request.state.form, request.app.state.store
    days = form.get("days", "").strip()
    if days and not (days.isascii() and days.isdigit()):
        raise InputError("A lifetime is a whole number of days.", code="lifetime_invalid")
    lifetime = timedelta(days=int(days)) if days and int(days) < 100_000 else None
    _, secret = store.create_key(
        form.get("name", ""), scope=form.get("scope", "app"), user=form.get("user") or None, lifetime=lifetime
    )
    return system_page(request, secret)


@routes.post("/system/keys/{id}/revoke", **page_needs(Need.ADMIN, about_user=False))
def revoke_key(request: Request, id: str) -> Response:
    store: Tenuto = request.app.state.store
    store.revoke_key(id)
    request.app.state.door.forget()
    return back_to(request, "/system", "revoked")


@routes.post("/system/jobs/{id}/{action}", **page_needs(Need.ADMIN, about_user=False))
def on_job(request: Request, id: str, action: str) -> Response:
    store: Tenuto = request.app.state.store
    user = request.state.form.get("user") or None
    if action == "retry":
        store.retry_job(id, user=user)
    elif action == "cancel":
        store.cancel_job(id, user=user)
    else:
        raise NotFound(f"There is nothing called {action!r} here.", code="no_such_route")
    return back_to(request, "/system", "retried" if action == "retry" else "dropped")


@routes.post("/sign-out", **page_needs(Need.READ, about_user=False))
def sign_out(request: Request) -> Response:
    """The browser's key is taken back, not only its cookie."""
    store: Tenuto = request.app.state.store
    if request.state.key.kind is KeyKind.BROWSER:
        server_keys.revoke(store.deps, request.state.key.id)
        request.app.state.door.forget()
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie("tenuto", httponly=True, samesite="strict")
    return response
