"""Sessions, summaries, the companion's state and its trajectory, outreach, retention, curating."""

from __future__ import annotations

from fastapi import Response

from tenuto.access.decide import Need
from tenuto.lifecycle.curation import CurateReport
from tenuto.lifecycle.outreach import Outreach
from tenuto.lifecycle.purge import PurgeReport
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.trajectory import Trajectory
from tenuto.records.conversation import Session, SessionState, Summary
from tenuto.records.memory import AgentState
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.routing import Person, needs, router

routes = router("/api/users/{user}", "time")


@routes.post("/sessions/close", response_model=Session | None, **needs(Need.WRITE, repeatable=True))
def close_session(person: Person, body: bodies.CloseSession) -> Response:
    """End a session: the one named, or the open one; `null` if there is none to end."""
    return answer(person.close_session(body.session_id, end_type=body.end_type))


@routes.put("/sessions/{id}/name", response_model=Session, **needs(Need.WRITE))
def name_session(person: Person, id: str, body: bodies.SessionName) -> Response:
    """What a session is called, from now on; `null` takes the name away. By our id of it or yours."""
    return answer(person.name_session(id, body.name))


@routes.post("/summaries", status_code=201, response_model=Summary, **needs(Need.WRITE, repeatable=True))
def summarise(person: Person, body: bodies.Summarise) -> Response:
    """One summary of everything from `start` to `end`, both included: two message ids, or two times."""
    return answer(person.summarise(body.start, body.end, session_id=body.session_id), 201)


@routes.get("/state", response_model=AgentState, **needs(Need.READ))
def state(person: Person) -> Response:
    """The persona's axes towards the user, now."""
    return answer(person.state())


@routes.get("/session-state", response_model=SessionState, **needs(Need.READ))
def session_state(person: Person) -> Response:
    """What survives sessions: message count, last interaction, how summaries and the curator fare."""
    return answer(person.session_state())


@routes.get("/trajectory", response_model=Trajectory, **needs(Need.READ))
def trajectory(person: Person) -> Response:
    """Where the talk has been going, with the formula of every number."""
    return answer(person.trajectory())


@routes.put("/trajectory", response_model=Trajectory, **needs(Need.WRITE))
def set_trajectory(person: Person, body: bodies.Switch) -> Response:
    """The user's switch for the trajectory."""
    return answer(person.trajectory(on=body.on))


@routes.get("/outreach", response_model=Outreach, **needs(Need.READ))
def outreach(person: Person) -> Response:
    """May the persona make contact now?"""
    return answer(person.outreach())


@routes.put("/outreach", response_model=Outreach, **needs(Need.WRITE))
def set_outreach(person: Person, body: bodies.OutreachChange) -> Response:
    """The user's switch and time zone, and a note that contact was made."""
    return answer(person.outreach(on=body.on, made=body.made, timezone=body.timezone))


@routes.get("/retention", response_model=Rules, **needs(Need.READ))
def retention(person: Person) -> Response:
    """The rules of how long each kind of thing is kept."""
    return answer(person.retention())


@routes.put("/retention", response_model=Rules, **needs(Need.WRITE))
def set_retention(person: Person, body: bodies.Retention) -> Response:
    """The user's own rules over the operator's; `null` takes them back."""
    return answer(person.set_retention(body.rules))


@routes.post("/purge", response_model=PurgeReport, **needs(Need.WRITE))
def purge(person: Person, body: bodies.Trial) -> Response:
    """Take what has had its time, now; or only tell what would go."""
    return answer(person.purge(dry_run=body.dry_run))


@routes.post("/curate", response_model=CurateReport, **needs(Need.WRITE))
def curate(person: Person, body: bodies.Trial) -> Response:
    """Fold near-duplicates, archive what has faded, look after todos; or only show the plan."""
    return answer(person.curate(dry_run=body.dry_run))
