"""What a person may do with everything that is kept of them."""

from __future__ import annotations

from fastapi import Request, Response

from tenuto.access.decide import Need
from tenuto.errors import InputError
from tenuto.privacy.erase import Proof
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.routing import Person, needs, router

routes = router("/api/users/{user}", "privacy")


@routes.post("/erase", response_model=Proof, **needs(Need.WRITE))
def erase(request: Request, person: Person, body: bodies.Erase) -> Response:
    """Erase everything of this user, for good. `user` must repeat the user's id; the answer proves what is gone."""
    if body.user != person.id:
        raise InputError("To erase a user, repeat the user's id in the body.", code="erase_unconfirmed")
    proof = person.erase()
    request.app.state.door.forget()
    return answer(proof)


@routes.post("/erase/verify", response_model=list[str], **needs(Need.READ))
def verify_erasure(person: Person, body: bodies.ErasureProof) -> Response:
    """What is wrong with a proof of erasure, in words; empty when nothing of this user is left."""
    return answer(person.verify_erasure(body.record()))
