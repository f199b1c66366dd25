"""Which flow carries out which kind of job: the allow-list. A kind that is not here is never run."""

from __future__ import annotations

from tenuto.deps import Deps
from tenuto.facade.jobs import Handler
from tenuto.ingest.digest import DIGEST, keep
from tenuto.ingest.embedding import embed
from tenuto.ingest.extract.session_proposals import CANDIDATES, take
from tenuto.ingest.model_costs import counted
from tenuto.ingest.observe import EMBED
from tenuto.lifecycle import close, curation, due, purge, rolling, sweep, upkeep
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
    due.ROLLING: paid(rolling.roll),
    due.RANGE: paid(rolling.ranges),
    due.SPINE: upkeep.make_spine,
    due.PROFILE: paid(upkeep.make_profile),
    due.BRIEF: upkeep.make_brief,
    due.TOPICS: paid(upkeep.make_topics),
    due.CURATE: curation.on_curate,
    due.FADE: curation.on_fade,
    due.SWEEP: sweep.on_sweep,
    due.PURGE: purge.on_purge,
}
