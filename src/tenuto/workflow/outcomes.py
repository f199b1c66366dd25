"""The flow for outcomes: one row per try, never changed afterwards, and a profile computed from the rows.

Recording an outcome writes that row and its event and nothing else: what was judged (the workflow, the artifact, the
submission) is only named.
"""

from __future__ import annotations

from datetime import datetime

from tenuto.deps import Deps
from tenuto.errors import Conflict, InputError, NotFound
from tenuto.ports import Where
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.workflow import Artifact, Outcome
from tenuto.text import clean
from tenuto.workflow.learner import STYLE, LearnerProfile, profile


def record_outcome(
    deps: Deps,
    scope: Scope,
    track: str,
    skill: str,
    success: bool,
    *,
    at: datetime | None = None,
    style: str | None = None,
    artifact_id: str | None = None,
    id: str | None = None,
) -> Outcome:
    """Add one outcome to the log. The same ``id`` with the same content is the same outcome."""
    limits, now = deps.policy.limits, deps.clock()
    if not isinstance(success, bool):
        raise InputError("'success' takes True or False.", code="outcome_invalid")
    outcome = Outcome(
        id=clean.name(id, limits, what="outcome id") if id is not None else deps.ids("out", now),
        track=clean.name(track, limits, what="track"),
        skill=clean.name(skill, limits, what="skill"),
        success=success,
        at=now if at is None else clean.moment(at),
        artifact_id=clean.optional_name(artifact_id, limits, what="artifact id"),
        detail={} if style is None else {STYLE: clean.name(style, limits, what="style")},
    )
    with deps.store.writing(scope.user) as tx:
        known = tx.get(Outcome, outcome.id)
        if known is not None:
            return _same(known, outcome, named_at=at is not None)
        if outcome.artifact_id is not None and tx.get(Artifact, outcome.artifact_id) is None:
            raise NotFound(f"There is no artifact '{outcome.artifact_id}'.", code="artifact_unknown")
        tx.put(outcome)
        tx.put(
            Event(
                id=deps.ids("evt", now),
                kind="outcome.recorded",
                at=now,
                subject_kind="outcome",
                subject_id=outcome.id,
                channel=scope.channel,
                persona=scope.persona,
            )
        )
        return tx.get(Outcome, outcome.id) or outcome


def learner(deps: Deps, scope: Scope, track: str, *, at: datetime | None = None) -> LearnerProfile:
    """The profile of one track, replayed from the log."""
    now = deps.clock() if at is None else clean.moment(at)
    name = clean.name(track, deps.policy.limits, what="track")
    with deps.store.reading(scope.user) as reader:
        log = reader.find(Outcome, Where("track", "=", name), order="seq")
    return profile(name, log, now, deps.policy.workflow)


def _same(known: Outcome, given: Outcome, *, named_at: bool) -> Outcome:
    if (known.track, known.skill, known.success, known.detail, known.artifact_id) != (
        given.track,
        given.skill,
        given.success,
        given.detail,
        given.artifact_id,
    ) or (named_at and known.at != given.at):
        raise Conflict(f"The outcome '{given.id}' was recorded with other content; outcomes are never edited.")
    return known
