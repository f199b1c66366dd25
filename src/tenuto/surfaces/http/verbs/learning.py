"""Outcomes and what a learner masters."""

from __future__ import annotations

from fastapi import Response
from pydantic import AwareDatetime

from tenuto.access.decide import Need
from tenuto.records.workflow import Outcome
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.routing import Person, needs, router
from tenuto.workflow.learner import LearnerProfile

routes = router("/api/users/{user}", "learning")


@routes.post("/outcomes", status_code=201, response_model=Outcome, **needs(Need.WRITE, repeatable=True))
def record_outcome(person: Person, body: bodies.OutcomeTried) -> Response:
    """One try at one skill; the learner profile follows from these alone."""
    return answer(person.record_outcome(**body.model_dump()), 201)


@routes.get("/learner/{track}", response_model=LearnerProfile, **needs(Need.READ))
def learner(person: Person, track: str, at: AwareDatetime | None = None) -> Response:
    """What the person masters in one track, now or at another time, replayed from the outcomes."""
    return answer(person.learner(track, at=at))
