"""Which flow carries out which kind of job: the allow-list. A kind that is not here is never run."""

from __future__ import annotations

from tenuto.ingest.embedding import embed
from tenuto.ingest.handed import CANDIDATES, take
from tenuto.ingest.keep import DIGEST, keep
from tenuto.ingest.observe import EMBED
from tenuto.jobs import Handler
from tenuto.lifecycle import care, close, due, purge, running, sweep, upkeep

HANDLERS: dict[str, Handler] = {
    EMBED: embed,
    DIGEST: keep,
    CANDIDATES: take,
    due.CLOSE_SESSION: close.handle,
    due.ROLLING: running.roll,
    due.RANGE: running.ranges,
    due.SPINE: upkeep.make_spine,
    due.PROFILE: upkeep.make_profile,
    due.BRIEF: upkeep.make_brief,
    due.TOPICS: upkeep.make_topics,
    due.CURATE: care.on_curate,
    due.FADE: care.on_fade,
    due.SWEEP: sweep.on_sweep,
    due.PURGE: purge.on_purge,
}
