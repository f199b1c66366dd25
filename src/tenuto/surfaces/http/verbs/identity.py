"""The addresses that lead to a user, and accounts that turned out to be one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import Request, Response

from tenuto.access.decide import Need, permit
from tenuto.errors import InputError
from tenuto.records.identity import Delivery, MergePlan, UserMerge
from tenuto.records.scope import Identity
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.routing import Person, needs, router

routes = router("/api/users/{user}", "identity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A code that is on its way. ``code``, ``token`` and ``text`` only for an app that carries it itself."""

    id: str
    channel: str
    address: str
    purpose: str
    created_at: datetime
    expires_at: datetime
    code: str | None = None
    token: str | None = None
    text: str | None = None


@routes.get("/identities", response_model=list[Identity], **needs(Need.READ))
def identities(person: Person) -> Response:
    """The addresses that lead to this user."""
    return answer(person.identities())


@routes.post("/identities/link", status_code=201, response_model=Sent, **needs(Need.WRITE, more=(502,)))
def link(request: Request, person: Person, body: bodies.Link) -> Response:
    """Send a code to another address, to add it, or with `merge` to join the account that it belongs to.

    The server's own courier carries it. An app may carry it itself (`by_caller`): then the answer holds the code.
    """
    carried: list[Delivery] = []
    if body.by_caller:
        permit(request.state.key, Need.APP)
    courier = carried.append if body.by_caller else request.app.state.courier
    if courier is None:
        raise InputError(
            "This server cannot send codes: the operator sets TENUTO_SMTP, or an app carries them (by_caller).",
            code="no_courier",
        )
    made = person.link(body.channel, body.address, courier, merge=body.merge, region=body.region)
    names = ("id", "channel", "address", "purpose", "created_at", "expires_at")
    by_hand = {name: getattr(carried[0], name) for name in ("code", "token", "text")} if carried else {}
    return answer({**{name: getattr(made, name) for name in names}, **by_hand}, 201)


@routes.post("/identities/confirm", status_code=201, response_model=Identity, **needs(Need.WRITE))
def confirm_link(person: Person, body: bodies.ConfirmLink) -> Response:
    """Add the address that a code was sent to."""
    return answer(person.confirm_link(body.channel, body.address, body.code, region=body.region), 201)


@routes.post("/identities/unlink", response_model=Identity, **needs(Need.WRITE))
def unlink(person: Person, body: bodies.Unlink) -> Response:
    """Take an address away; whoever writes from it next is somebody new."""
    return answer(person.unlink(body.channel, body.address, region=body.region))


@routes.post("/user-merges/plan", response_model=MergePlan, **needs(Need.WRITE))
def merge_plan(person: Person, body: bodies.ConfirmLink) -> Response:
    """With the code of a `link` with `merge`: what joining that address's account into this one would do."""
    return answer(person.merge_plan(body.channel, body.address, body.code, region=body.region))


@routes.post("/user-merges", status_code=201, response_model=UserMerge, **needs(Need.WRITE))
def merge_user(person: Person, body: bodies.ShownPlan) -> Response:
    """Do what the plan showed; one that no longer holds, or whose proof is spent, is refused. Can be taken back."""
    return answer(person.merge_user(body.record()), 201)


@routes.get("/user-merges", response_model=list[UserMerge], **needs(Need.READ))
def user_merges(person: Person) -> Response:
    """Accounts that were joined into this one, newest first."""
    return answer(person.user_merges())


@routes.post("/user-merges/{id}/undo", response_model=UserMerge, **needs(Need.WRITE))
def unmerge_user(person: Person, id: str) -> Response:
    """Give both accounts back as they were, plus what came since."""
    return answer(person.unmerge_user(id))
