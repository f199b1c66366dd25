"""What an import would bring, before anything is written: counts, dates, and what it would cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tenuto.records.transfer import Noted, Parsed, Said, Skipped

SAMPLE = 48
"""Texts, up to twice as many, whose embedding is timed."""
BYTES_PER_MESSAGE = 1500
"""Kept per message beside its text: columns, indexes, words and vector; measured, see bench/import."""


@dataclass(slots=True)
class Estimate:
    """What an import would bring; nothing was written.

    ``embedding_seconds`` is measured on a sample of the texts with this machine's own embedder (``None`` for a remote
    one, which is not asked), ``model_tokens`` what a configured model would read, ``price`` what that would cost:
    nothing without a model, ``None`` while nobody said what a million tokens cost.
    """

    format: str
    name: str
    messages: int = 0
    mine: int = 0
    memories: int = 0
    skipped: int = 0
    threads: int = 0
    characters: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    speakers: dict[str, int] = field(default_factory=dict)
    skips: list[Skipped] = field(default_factory=list)
    tokens: int = 0
    disk_bytes: int = 0
    embedding_seconds: float | None = None
    model_tokens: int = 0
    price: float | None = None


def estimate(
    parsed: Iterable[Parsed], format: str, name: str, *, skips_kept: int = 200, sample: list[str] | None = None
) -> Estimate:
    """Count everything once. ``sample`` is filled with texts from the whole length of it."""
    found, threads, every = Estimate(format, name), set[int](), 1
    for item in parsed:
        if isinstance(item, Skipped):
            found.skipped += 1
            if len(found.skips) < skips_kept:
                found.skips.append(item)
            continue
        if sample is not None and (found.messages + found.memories) % every == 0:
            sample.append(item.content)
            if len(sample) >= 2 * SAMPLE:
                every, sample[:] = every * 2, sample[::2]
        found.characters += len(item.content)
        found.oldest = min(found.oldest or item.at, item.at)
        found.newest = max(found.newest or item.at, item.at)
        if isinstance(item, Noted):
            found.memories += 1
            continue
        found.messages += 1
        found.mine += item.mine
        threads.add(hash(item.thread))
        _count_speaker(found, item)
    found.threads = len(threads)
    found.tokens = found.characters // 4
    found.disk_bytes = found.characters + BYTES_PER_MESSAGE * (found.messages + found.memories)
    return found


def _count_speaker(found: Estimate, item: Said) -> None:
    name = item.speaker or ("(you)" if item.mine else str(item.role))
    if name in found.speakers or len(found.speakers) < 200:
        found.speakers[name] = found.speakers.get(name, 0) + 1
