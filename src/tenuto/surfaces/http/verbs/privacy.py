"""What a person may do with everything that is kept of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from tenuto.access.decide import Need
from tenuto.errors import InputError
from tenuto.privacy.erase import Proof
from tenuto.privacy.parts import Undone
from tenuto.records.audit import AuditEntry, AuditHead, AuditReport
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import Listed, answer
from tenuto.surfaces.http.routing import Person, Store, needs, router

routes = router("/api/users/{user}", "privacy")
operator = router("/api", "privacy")
Before = Annotated[int | None, Query(ge=1, le=2**53, description="Only entries with a smaller number.")]
Limit = Annotated[int, Query(ge=1, le=1000)]


@routes.post("/erase", response_model=Proof, **needs(Need.WRITE))
def erase(request: Request, person: Person, body: bodies.Erase) -> Response:
    """Erase everything of this user, or one part, for good. `user` repeats the id; the answer proves what is gone."""
    if body.user != person.id:
        raise InputError("To erase a user, repeat the user's id in the body.", code="erase_unconfirmed")
    proof = person.erase(**body.part())
    request.app.state.door.forget()
    return answer(proof)


@routes.post("/erase/verify", response_model=list[str], **needs(Need.READ))
def verify_erasure(person: Person, body: bodies.ErasureProof) -> Response:
    """What is wrong with a proof of erasure, in words; empty when nothing of this user is left."""
    return answer(person.verify_erasure(body.record()))


@routes.post("/undo", response_model=Undone, **needs(Need.WRITE))
def undo(person: Person, body: bodies.Undo) -> Response:
    """Take back everything that a source brought in, and what came of it; `preview` only tells what would go."""
    return answer(person.undo(body.source, body.since, preview=body.preview))


@routes.get("/audit", response_model=Listed[AuditEntry], **needs(Need.READ))
def audit(person: Person, before: Before = None, limit: Limit = 100) -> Response:
    """Who changed or read what of this user, newest first. No content."""
    found = person.audit(before=before, limit=limit)
    return answer({"items": found, "next": str(found[-1].n) if len(found) == limit and found[-1].n > 1 else None})


@routes.get("/audit/verify", response_model=AuditReport, **needs(Need.READ))
def verify_audit(person: Person) -> Response:
    """Check every entry of this user's audit log."""
    return answer(person.verify_audit())


@operator.get("/audit", response_model=Listed[AuditEntry], **needs(Need.ADMIN, about_user=False))
def operator_audit(store: Store, before: Before = None, limit: Limit = 100) -> Response:
    """The operator's own log, newest first: keys made and revoked, users erased."""
    found = store.audit(before=before, limit=limit)
    return answer({"items": found, "next": str(found[-1].n) if len(found) == limit and found[-1].n > 1 else None})


@operator.get("/audit/head", response_model=AuditHead, **needs(Need.ADMIN, about_user=False))
def audit_head(store: Store) -> Response:
    """Where every audit log stands now: keep it where whoever can write to the store cannot."""
    return answer(store.audit_head())


@operator.post("/audit/verify", response_model=AuditReport, **needs(Need.ADMIN, about_user=False))
def verify_all(store: Store, body: bodies.VerifyAudit) -> Response:
    """Check every entry of every audit log, against a head that was kept where one is given."""
    return answer(store.verify_audit(body.head.record() if body.head is not None else None))
