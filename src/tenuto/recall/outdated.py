"""What is true now stands before what tells that it was otherwise.

The gate keeps a superseded memory out of a question about the present. The words that it came from are still there: the
message, a key point, a summary that repeats it. They are true as history and stay findable, but where the memory that
took the place of the old one answers too, it goes first: it takes the best place among them, and they follow in their
order. What tells the old and the new alike ("moved from Porto to Lisbon") is not outdated. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tenuto.recall.diverse import Held, held
from tenuto.recall.scoring import Scored
from tenuto.records.memory import Memory
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate
from tenuto.text import words

TOLD = (EntryKind.MESSAGE, EntryKind.KEY_POINT, EntryKind.SUMMARY)
REPEATS = 0.8
"""Share of a memory's words from which a text tells it."""
MENTIONS = 0.5
"""Share of the newer memory's words from which a text knows of it."""
LOOKED_AT = 60
"""How many of the best are compared."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A memory that was superseded, and the one that is true now."""

    old: Memory
    new: Memory


def current_first(
    ranked: Sequence[Scored], replaced: Iterable[Replaced], known: dict[str, Held] | None = None
) -> list[Scored]:
    """The same, with each memory that is true now before all that tells what it replaced.

    ``known`` keeps the words of what was looked at, by id.
    """
    changed, known = list(ranked), {} if known is None else known
    for one in changed[:LOOKED_AT]:
        if one.candidate.id not in known:
            known[one.candidate.id] = held(one.candidate.text)
    for pair in replaced:
        place = next((n for n, one in enumerate(changed) if one.candidate.id == pair.new.id), None)
        if place is None:
            continue
        tells = _Tells.of(pair)
        looked_at = changed[: min(place, LOOKED_AT)]
        before = [
            n for n, one in enumerate(looked_at) if tells(one.candidate, known.get(one.candidate.id, frozenset()))
        ]
        if before:
            _take_the_best_place(changed, [*before, place])
    return changed


def held_until(
    ranked: Sequence[Scored], replaced: Iterable[Replaced], known: dict[str, Held] | None = None
) -> dict[str, datetime]:
    """Of the best, those that tell what is no longer true, by id, and until when it was."""
    known, found = {} if known is None else known, {}
    for pair in replaced:
        tells = _Tells.of(pair)
        for one in ranked[:LOOKED_AT]:
            said = known.get(one.candidate.id) or held(one.candidate.text)
            if pair.old.valid_to is not None and tells(one.candidate, said):
                found[one.candidate.id] = pair.old.valid_to
    return found


def _take_the_best_place(changed: list[Scored], places: list[int]) -> None:
    """The last of some places becomes the first, the others move back by one; each gets the score of its new place."""
    order = [places[-1], *places[:-1]]
    moved = [(changed[taken], changed[place].score) for place, taken in zip(places, order, strict=True)]
    for place, (one, score) in zip(places, moved, strict=True):
        parts = {**one.parts, "current": one.parts.get("current", 0.0) + score - one.score}
        changed[place] = Scored(one.candidate, score, parts, one.formula)


@dataclass(frozen=True, slots=True)
class _Tells:
    """Whether a text tells what was true before and nothing of what is true now: words and sources of both."""

    old: Held
    new: Held
    old_sources: frozenset[str]
    new_sources: frozenset[str]

    @staticmethod
    def of(pair: Replaced) -> _Tells:
        old, new = (frozenset(words.tokens(memory.content)) for memory in (pair.old, pair.new))
        return _Tells(old, new, _evidence(pair.old), _evidence(pair.new))

    def __call__(self, candidate: Candidate, said: Held) -> bool:
        if candidate.kind not in TOLD:
            return False
        rests = candidate.sources or (candidate.id,)
        if not self.new_sources.isdisjoint(rests) or _share(self.new, said) >= MENTIONS:
            return False
        return not self.old_sources.isdisjoint(rests) or _share(self.old, said) >= REPEATS


def _evidence(memory: Memory) -> frozenset[str]:
    return frozenset(one.message_id for one in memory.evidence if one.message_id)


def _share(own: Held, said: Held) -> float:
    return len(own & said) / len(own) if own else 0.0
