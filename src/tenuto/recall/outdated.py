"""What is true now stands before what tells that it was otherwise.

The gate keeps a superseded memory out of a question about the present. The words that it came from are still there: the
message, a key point, a summary that repeats it. They are true as history and stay findable, but where the memory that
took the place of the old one answers too, it goes first: it takes the best place among them, and they follow in their
order. What tells the old and the new alike ("moved from Porto to Lisbon") is not outdated. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


def current_first(ranked: Sequence[Scored], replaced: Iterable[Replaced]) -> list[Scored]:
    """The same, with each memory that is true now before all that tells what it replaced."""
    changed = list(ranked)
    held = {one.candidate.id: frozenset(words.tokens(one.candidate.text)) for one in changed[:LOOKED_AT]}
    for pair in replaced:
        place = next((n for n, one in enumerate(changed) if one.candidate.id == pair.new.id), None)
        if place is None:
            continue
        before = [n for n, one in enumerate(changed[: min(place, LOOKED_AT)]) if _tells(one.candidate, held, pair)]
        if before:
            _take_the_best_place(changed, [*before, place])
    return changed


def _take_the_best_place(changed: list[Scored], places: list[int]) -> None:
    """The last of some places becomes the first, the others move back by one; each gets the score of its new place."""
    order = [places[-1], *places[:-1]]
    moved = [(changed[taken], changed[place].score) for place, taken in zip(places, order, strict=True)]
    for place, (one, score) in zip(places, moved, strict=True):
        parts = {**one.parts, "current": one.parts.get("current", 0.0) + score - one.score}
        changed[place] = Scored(one.candidate, score, parts, one.formula)


def _tells(candidate: Candidate, held: dict[str, frozenset[str]], pair: Replaced) -> bool:
    """Whether a text tells what was true before and nothing of what is true now."""
    if candidate.kind not in TOLD:
        return False
    rests = set(candidate.sources or (candidate.id,))
    if rests & _evidence(pair.new):
        return False
    said = held.get(candidate.id, frozenset())
    if _share(pair.new, said) >= MENTIONS:
        return False
    return bool(rests & _evidence(pair.old)) or _share(pair.old, said) >= REPEATS


def _evidence(memory: Memory) -> set[str]:
    return {one.message_id for one in memory.evidence if one.message_id}


def _share(memory: Memory, said: frozenset[str]) -> float:
    own = frozenset(words.tokens(memory.content))
    return len(own & said) / len(own) if own else 0.0
