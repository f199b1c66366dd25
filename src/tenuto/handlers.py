"""Which flow carries out which kind of job: the allow-list. A kind that is not here is never run."""

from __future__ import annotations

from tenuto.deps import Deps
from tenuto.ingest.asked import counted
from tenuto.ingest.embedding import embed
from tenuto.ingest.handed import CANDIDATES, take
from tenuto.ingest.keep import DIGEST, keep
from tenuto.ingest.observe import EMBED
from tenuto.jobs import Handler
from tenuto.lifecycle import care, close, due, purge, running, sweep, upkeep
from tenuto.privacy.model_keys import with_own_key
from tenuto.records.operations import Job


def paid(handler: Handler, *, counts: bool = False) -> Handler:
    """A handler that may ask a model: with the person's own key where they keep one for it.

    ``counts``: it writes down itself what that cost.
    """

    def run(deps: Deps, user: str, jobs: list[Job]) -> None:
        own = with_own_key(deps, user)
        handler(own if counts else counted(own, user), user, jobs)

    return run


HANDLERS: dict[str, Handler] = {
    EMBED: embed,
    DIGEST: paid(keep, counts=True),
    CANDIDATES: take,
    due.CLOSE_SESSION: paid(close.handle),
    due.ROLLING: paid(running.roll),
    due.RANGE: paid(running.ranges),
    due.SPINE: upkeep.make_spine,
    due.PROFILE: paid(upkeep.make_profile),
    due.BRIEF: upkeep.make_brief,
    due.TOPICS: paid(upkeep.make_topics),
    due.CURATE: care.on_curate,
    due.FADE: care.on_fade,
    due.SWEEP: sweep.on_sweep,
    due.PURGE: purge.on_purge,
}
