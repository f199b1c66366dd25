"""The views: each reads with the library's verbs and hands plain values to a template."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.responses import RedirectResponse

from tenuto.access import keys as server_keys
from tenuto.access.decide import Need, usable
from tenuto.errors import BudgetTooSmall, TenutoError
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.ports import Where
from tenuto.records.access import KeyKind
from tenuto.records.conversation import Message, Session, Summary
from tenuto.records.memory import Domain, Kind, Memory, Status, Todo, TodoStatus
from tenuto.records.operations import JobStatus
from tenuto.records.recall import Hit
from tenuto.surfaces.http import names
from tenuto.surfaces.http.verbs.transfer import exported
from tenuto.surfaces.web import charts, diff, graph, removal
from tenuto.surfaces.web.rendering import page, static
from tenuto.surfaces.web.routing import Viewer, page_needs, router, show

routes = router()
SIZE = 24
Text = Annotated[str, Query(max_length=1000)]


@routes.get("/static/{name}", **page_needs(Need.PUBLIC))
def static_file(name: str) -> Response:
    found = static(name)
    if found is None:
        return Response(status_code=404)
    return Response(found[0], media_type=found[1], headers={"Cache-Control": "public, max-age=31536000, immutable"})


@routes.get("/", **page_needs(Need.READ, about_user=False))
def home(request: Request) -> Response:
    """The key's own user at once; for keys of many users, the choice."""
    key, store = request.state.key, request.app.state.store
    if key.subject is not None:
        return RedirectResponse(f"/u/{names.write(key.subject)}/memories", 303)
    users = [{"id": user, **store.user(user).stats()} for user in store.deps.store.users(limit=200)]
    return show(request, "home.html", None, "home", users=users)


@routes.get("/u/{user}/memories", **page_needs(Need.READ))
def memories(
    request: Request,
    person: Viewer,
    q: Text = "",
    domain: Text = "",
    kind: Text = "",
    status: Text = "",
    cursor: str | None = None,
) -> Response:
    """Search, or everything that is known."""
    hits: list[Hit] = []
    pins = [] if q or cursor else person.memories(pinned=True, persona=None if person.scope.persona else "*")
    if q.strip():
        hits = person.recall(
            q, limit=SIZE, kinds=["memory"], domain=domain or None, kind=kind or None, status=status or None, held=True
        )
        by_id = {id: person.memory(id) for id in (hit.id for hit in hits)}
        found, following = [by_id[hit.id] for hit in hits], None
    else:
        wanted: dict[str, Any] = {"domain": domain or None, "kind": kind or None}
        wanted["status"] = status or ["confirmed", "active", "reinforced", "revised"]
        listed = person.page("memories", limit=SIZE, cursor=cursor, order="-updated_at", **wanted)
        found, following = listed.items, listed.next
    return show(
        request,
        "memories.html",
        person,
        "memories",
        found=found,
        why={hit.id: hit for hit in hits},
        next=following,
        q=q,
        domain=domain,
        kind=kind,
        status=status,
        domains=list(Domain),
        kinds=list(Kind),
        statuses=list(Status),
        pins=pins,
        stats=person.stats(),
    )


@routes.get("/u/{user}/memories/{id}", **page_needs(Need.READ))
def memory(request: Request, person: Viewer, id: str) -> Response:
    """One memory: its words, why it is believed, how it changed."""
    found = person.memory(id)
    with person._deps.store.reading(person.id) as reader:
        said = reader.get_many(Message, [one.message_id for one in found.evidence if one.message_id])
    return show(
        request,
        "memory.html",
        person,
        "memories",
        memory=found,
        said=said,
        steps=diff.steps(person.history(id)),
        kinds=list(Kind),
    )


@routes.get("/u/{user}/timeline", **page_needs(Need.READ))
def timeline(request: Request, person: Viewer, channel: Text = "", cursor: str | None = None) -> Response:
    """Sessions, newest first, with what stands for them."""
    listed = person.page("sessions", limit=6, cursor=cursor, channel=channel or None)
    rows = [_session(person, one) for one in listed.items]
    channels = sorted(
        {name for one in person.page("sessions", limit=200).items for name in (one.channel, *one.channels)}
    )
    return show(
        request, "timeline.html", person, "timeline", rows=rows, next=listed.next, channel=channel, channels=channels
    )


def _session(person: UserMemory, session: Session) -> dict[str, Any]:
    of_session = Where("session_id", "=", session.id)
    with person._deps.store.reading(person.id) as reader:
        messages = reader.find(Message, of_session, order="at", limit=200)
        summaries = reader.find(Summary, of_session, Where("current", "=", True), order="-created_at", limit=8)
    return {
        "session": session,
        "messages": messages,
        "summaries": summaries,
        "points": person.key_points(session_id=session.id, limit=8),
    }


@routes.get("/u/{user}/people", **page_needs(Need.READ))
def people(request: Request, person: Viewer) -> Response:
    """Cards, merges to confirm, and the picture."""
    known = person.entities(limit=60)
    shared = person.memories(limit=1000)
    proposed = person.merges()
    labels = {one.id: one.label for one in person.page("entities", limit=200).items}
    facts = {one.id: [m for m in shared if one.id in m.entities][:3] for one in known}
    picture = graph.picture(known, shared, f"/u/{names.write(person.id)}/people")
    return show(
        request,
        "people.html",
        person,
        "people",
        known=known,
        facts=facts,
        merges=proposed,
        labels=labels,
        picture=picture,
    )


@routes.get("/u/{user}/people/{id}", **page_needs(Need.READ))
def entity(request: Request, person: Viewer, id: str) -> Response:
    card = person.entity(id)
    done = [one for one in person.merges(status="applied") if card.entity.id in (one.into, one.duplicate)]
    others = [one for one in person.entities(type=card.entity.type, limit=60) if one.id != card.entity.id]
    return show(request, "entity.html", person, "people", card=card, merges=done, others=others)


@routes.get("/u/{user}/promises", **page_needs(Need.READ))
def promises(request: Request, person: Viewer) -> Response:
    """What is open, what is overdue, what was done."""
    now = person._deps.clock()
    listed: list[Todo] = person.page("todos", limit=200, status="*").items
    groups = {
        "Overdue": [one for one in listed if one.status is TodoStatus.OPEN and one.due and one.due < now],
        "Open": [one for one in listed if one.status is TodoStatus.OPEN and not (one.due and one.due < now)],
        "Done": [one for one in listed if one.status is TodoStatus.DONE][:40],
        "Dropped or past": [one for one in listed if one.status in (TodoStatus.CANCELLED, TodoStatus.EXPIRED)][:40],
    }
    return show(request, "promises.html", person, "promises", groups=groups)


@routes.get("/u/{user}/companion", **page_needs(Need.READ))
def companion(request: Request, person: Viewer) -> Response:
    """The persona's state and where the talk has been going."""
    changes = person.state_history(limit=200)[::-1]
    state = person.state()
    series = [
        charts.Series(
            axis, [*((one.at, one.axes[axis]) for one in changes if axis in one.axes), (state.updated_at, value)]
        )
        for axis, value in state.axes.items()
    ]
    chart = charts.lines(series, "The companion's axes over time") if changes else ""
    trajectory = person.trajectory()
    sparks = {
        one.name: charts.spark(one.values, f"{one.name.replace('_', ' ')}, session by session")
        for one in trajectory.metrics
    }
    return show(
        request,
        "companion.html",
        person,
        "companion",
        state=state,
        changes=changes[::-1][:12],
        chart=chart,
        trajectory=trajectory,
        sparks=sparks,
        outreach=person.outreach(),
    )


@routes.get("/u/{user}/context", **page_needs(Need.READ))
def context(request: Request, person: Viewer, message: Text = "", budget: int = 8000) -> Response:
    """What the model would get for a message, block by block."""
    built, bar, problem = None, "", None
    if message.strip():
        try:
            built = person.context(message, budget=budget)
            parts = [(block.label, block.tokens) for block in built.blocks if block.tokens]
            bar = charts.stack(parts, built.budget, f"{built.tokens} of {built.budget} tokens, by block")
        except BudgetTooSmall as error:
            problem = f"{error.message} At least {error.needed:,} tokens are needed."
        except TenutoError as error:
            problem = error.message
    return show(
        request,
        "context.html",
        person,
        "context",
        message=message,
        budget=budget,
        built=built,
        bar=bar,
        problem=problem,
    )


@routes.get("/u/{user}/waiting", **page_needs(Need.READ))
def waiting(request: Request, person: Viewer) -> Response:
    """Everything that needs the user's word before it counts."""
    now = person._deps.clock()
    candidates: list[Memory] = person.page("memories", limit=100, status="candidate").items
    staged = [one for one in person.page("workflows", limit=100).items if one.pending and one.pending.expires_at > now]
    labels = {one.id: one.label for one in person.page("entities", limit=200).items}
    return show(
        request,
        "waiting.html",
        person,
        "waiting",
        candidates=candidates,
        staged=staged,
        merges=person.merges(),
        labels=labels,
    )


@routes.get("/u/{user}/privacy", **page_needs(Need.READ))
def privacy(
    request: Request, person: Viewer, before: Annotated[int | None, Query(ge=1, le=2**53)] = None, verify: Text = ""
) -> Response:
    """What is kept, for how long, and who changed or read what."""
    log = person.audit(before=before, limit=40)
    rules = person.retention()
    days = None if rules.purge_text is None else rules.purge_text / timedelta(days=1)
    return show(
        request,
        "privacy.html",
        person,
        "privacy",
        stats=person.stats(),
        rules=rules,
        days=days,
        log=log,
        next=log[-1].n if len(log) == 40 and log[-1].n > 1 else None,
        report=person.verify_audit() if verify else None,
        plan=person.purge(dry_run=True),
        wishes=person.wishes(),
        sources=removal.sources(person),
    )


@routes.get("/u/{user}/privacy/export", **page_needs(Need.READ))
def export(request: Request, person: Viewer) -> Response:
    """Everything as one file."""
    return exported(person, "jsonl")


@routes.get("/system", **page_needs(Need.ADMIN, about_user=False))
def system(request: Request) -> Response:
    return system_page(request)


def system_page(request: Request, secret: str | None = None) -> Response:
    """Jobs, failures, parts and keys: for operators."""
    store: Tenuto = request.app.state.store
    now: datetime = store.deps.clock()
    counts = {status.value: len(store.jobs(status.value, limit=1000)) for status in JobStatus}
    made = server_keys.listing(store.deps, kinds=(KeyKind.KEY, KeyKind.BROWSER))
    return show(
        request,
        "system.html",
        None,
        "system",
        counts=counts,
        failed=store.jobs("failed", limit=20),
        jobs=store.jobs(limit=12),
        parts=store.examine(),
        **_costs(store),
        made=made,
        usable={key.id: usable(key, now) for key in made},
        secret=secret,
        own=request.state.key.id,
    )


COSTED = 1000
"""Users whose costs the page adds up; ``store.costs()`` adds up everybody's."""


def _costs(store: Tenuto) -> dict[str, Any]:
    """Tokens and money of the model, day by day."""
    days = store.costs(most=COSTED)
    bars = [(datetime.fromisoformat(day).replace(tzinfo=UTC), spent["tokens"]) for day, spent in days.items()]
    today = days.get(f"{store.deps.clock():%Y-%m-%d}", {"tokens": 0, "money": 0.0})
    priced = bool(store.deps.policy.memory.model_input_price or store.deps.policy.memory.model_output_price)
    return {
        "model": store.deps.model.name if store.deps.model is not None else None,
        "cost_chart": charts.bars(bars[-30:], "Tokens of the model, day by day"),
        "spent": {"today": today, "all": {name: sum(day[name] for day in days.values()) for name in today}},
        "priced": priced,
        "costed": COSTED if len(store.deps.store.users(limit=COSTED + 1)) > COSTED else None,
    }


@routes.get("/sign-in", **page_needs(Need.PUBLIC))
def sign_in(request: Request, link: Text = "") -> Response:
    """A one-time link becomes a signed-in browser."""
    store: Tenuto = request.app.state.store
    valid = store.deps.policy.server.browser_valid
    exchanged = server_keys.exchange(store.deps, link, valid) if link else None
    if exchanged is None:
        detail = "This link was used already, or is too old." if link else "Sign in with a link from the command line."
        return page("signin.html", 401 if link else 200, detail=detail, code="link_invalid", status=401, back="/")
    response = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(
        "tenuto", exchanged[1], max_age=int(valid.total_seconds()), httponly=True, samesite="strict", secure=secure
    )
    return response
