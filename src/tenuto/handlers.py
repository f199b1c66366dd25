"""Which flow carries out which kind of job: the allow-list. A kind that is not here is never run."""

from __future__ import annotations

from tenuto.ingest.embedding import embed
from tenuto.ingest.observe import EMBED
from tenuto.jobs import Handler

HANDLERS: dict[str, Handler] = {
    EMBED: embed,
}
