"""Giving vectors to what waits for one: the job behind every write, the backfill after a failure, the change of model.

What has no vector of the current model is found in the store itself, so this can stop anywhere and be taken up again,
by anyone. Nothing is held while the embedder works, and it does not wait for the disk: while the vectors of one batch
are written, it has the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import EmbedderError
from tenuto.ports import Vectors
from tenuto.recall.entry import embedding_texts, record_type
from tenuto.recall.passages import grouped
from tenuto.records.operations import Entry, EntryKind, Job

BATCH = 64
"""Texts that the embedder is given, and vectors that are written, at once."""
AT_ONCE = 4 * BATCH
"""Texts of one job: few enough that a store is closed without a long wait."""

Key = tuple[EntryKind, str]


def embed(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``embed`` jobs: one run serves all of them. What is left is a new job, so that a store with much
    to do can be closed soon."""
    if embed_some(deps, user, AT_ONCE) < AT_ONCE:
        return
    now, one = deps.clock(), jobs[0]
    with deps.store.writing(user) as tx:
        tx.add(Job(id=deps.ids("job", now), kind=one.kind, created_at=now, run_at=now, dedupe=one.dedupe))


def embed_user(deps: Deps, user: str, progress: Callable[[int], None] | None = None) -> int:
    """Give every entry of a user a vector of the current model; how many were done."""
    done = 0
    while step := embed_some(deps, user, AT_ONCE):
        done += step
        if progress is not None:
            progress(step)
    return done


def embed_some(deps: Deps, user: str, limit: int) -> int:
    """The newest few; 0 when none is waiting."""
    with deps.store.reading(user) as reader:
        waiting = reader.unembedded(deps.embedder.model, limit)
        texts = _texts(reader.get_many, waiting, deps.embedder.dimension)
    if not waiting:
        return 0
    gone = [entry for entry in waiting if (entry.kind, entry.id) not in texts]
    if gone:
        with deps.store.writing(user) as tx:
            for entry in gone:
                tx.unindex(entry.kind, entry.id)
    keys = [(entry.kind, entry.id) for entry in waiting if (entry.kind, entry.id) in texts]
    for packed in _ahead(
        deps, [{key: texts[key] for key in keys[at : at + BATCH]} for at in range(0, len(keys), BATCH)]
    ):
        with deps.store.writing(user) as tx:
            tx.embed(deps.embedder.model, packed)
    return len(waiting)


def _ahead(deps: Deps, batches: list[dict[Key, list[str]]]) -> Iterator[dict[Key, bytes]]:
    """The vectors of each batch; while the caller keeps them, the next batch is in work."""
    if len(batches) < 2:
        yield from (_embedded(deps, batch) for batch in batches)
        return
    with ThreadPoolExecutor(1, "tenuto-vectors") as ahead:
        coming = ahead.submit(_embedded, deps, batches[0])
        for batch in batches[1:]:
            packed, coming = coming.result(), ahead.submit(_embedded, deps, batch)
            yield packed
        yield coming.result()


def _embedded(deps: Deps, texts: dict[Key, list[str]]) -> dict[Key, bytes]:
    """The vectors of all passages of each text, one behind the other."""
    vectors = checked(deps, deps.embedder.embed([passage for passages in texts.values() for passage in passages]))
    deps.outage.worked()
    return {key: some.astype("<f2").tobytes() for key, some in grouped(texts, vectors).items()}


def checked(deps: Deps, vectors: Vectors) -> Vectors:
    """Vectors of the size that the embedder promises, finite; anything else is the embedder's failure."""
    if vectors.ndim != 2 or vectors.shape[1] != deps.embedder.dimension or not np.isfinite(vectors).all():
        raise EmbedderError(
            f"The embedder {deps.embedder.model} gave vectors of shape {vectors.shape} where {deps.embedder.dimension} "
            "finite numbers each were promised."
        )
    return vectors


def _texts(get_many: Callable[..., dict[str, object]], waiting: list[Entry], dimension: int) -> dict[Key, list[str]]:
    texts: dict[Key, list[str]] = {}
    for kind in {entry.kind for entry in waiting}:
        ids = [entry.id for entry in waiting if entry.kind is kind]
        for id, record in get_many(record_type(kind), ids).items():
            texts[kind, id] = embedding_texts(record, dimension)  # type: ignore[arg-type]
    return texts
