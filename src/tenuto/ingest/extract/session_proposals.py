"""Candidates that another room hands over by a job: memories that a model proposed when it read a whole session.

They take the same way in as any proposal of a model: checked against the message that they quote, reconciled with what
is known, written in one transaction. A job that runs twice finds its evidence there already.
"""

from __future__ import annotations

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import EmbedderError
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.embedding import checked
from tenuto.ingest.extract.answers import Proposal
from tenuto.ingest.extract.claims import Line, Shown
from tenuto.ingest.extract.proposals import Passed, memory
from tenuto.ingest.write import Writing, settle
from tenuto.ports import Vectors
from tenuto.records.conversation import Message, Role
from tenuto.records.operations import Job

CANDIDATES = "candidates"


def take(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``candidates`` jobs."""
    found = [one for job in jobs for one in _checked(deps, user, job)]
    if not found:
        return
    vectors = _vectors(deps, [one.content for one in found])
    with deps.store.writing(user) as tx:
        for one in found:
            writing = Writing(deps, tx, deps.clock(), channel=one.channel, persona=one.persona)
            settle(writing, one, vectors.get(one.content), guard_echo=True)
            writing.finish()


def _checked(deps: Deps, user: str, job: Job) -> list[Candidate]:
    """The proposals of one job that pass, each bound to the user's message that it quotes."""
    given = [one for one in job.payload.get("candidates", ()) if isinstance(one, dict)]
    with deps.store.reading(user) as reader:
        messages = reader.get_many(Message, [str(one.get("message_id", "")) for one in given])
        known = deps.names.fresh(reader).registry
    ordered = sorted((one for one in messages.values() if one.role is Role.USER), key=lambda one: one.seq)
    shown = Shown(tuple(Line(text=one.content, at=one.at, id=one.id, speaker=one.speaker) for one in ordered))
    places = {one.id: place for place, one in enumerate(ordered, 1)}
    found = []
    for one in given:
        if str(one.get("message_id", "")) not in places:
            continue
        proposal = Proposal(
            quote=str(one.get("quote", "")),
            content=str(one.get("content", "")),
            message=places[str(one["message_id"])],
            kind=str(one.get("kind", "fact")),
        )
        made = memory(proposal, shown, messages, str(job.payload.get("made_by", "")), known)
        if isinstance(made, Passed):
            found.append(made.candidate)
    return found


def _vectors(deps: Deps, texts: list[str]) -> dict[str, Vectors]:
    try:
        vectors = checked(deps, deps.embedder.embed(texts))
    except EmbedderError:
        return {}
    return {text: np.asarray(vector, dtype=np.float32) for text, vector in zip(texts, vectors, strict=True)}
