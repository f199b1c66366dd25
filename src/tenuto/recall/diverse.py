"""One thing once: what says the same, or comes from the same message, collapses into the better-placed one.

A memory and the message it was taken from are two doors to one room: whichever ranks higher stays. What only quotes its
message (a key point, a memory in the same words, or in a few of them) gives way to it, so that people find their own
words and all of them; a pin never does. A memory with several sources does not push those messages out, because each
may hold more. Texts that are the same word for word, or nearly (nine tenths of their words shared), collapse whatever
they come from. A summary repeats what was said: it is left out where what stands before it holds most of its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from tenuto.recall.scoring import Scored
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate
from tenuto.text import words

Held = frozenset[str]
"""The words of a text, in no order."""
ALIKE = 0.9
"""Share of common words from which two texts say the same."""
WITHIN, PART = 0.9, 0.5
"""A text nearly all of whose words are the message's, and that has at most half of them, is a fragment of it."""
REPEATED = 0.6
"""Share of a summary's words from which it only repeats what stands before it."""


def distinct(ranked: Sequence[Scored], limit: int, known: dict[str, Held] | None = None) -> list[Scored]:
    """The first ``limit`` that say something new, in order. ``known`` keeps the words of what was looked at, by id."""
    known = {} if known is None else known
    said_first: dict[str, Scored] | None = None
    kept: list[Scored] = []
    messages: set[str] = set()
    single: set[str] = set()
    said: dict[str, list[Held]] = {}
    told: set[str] = set()
    for one in ranked:
        if len(kept) == limit:
            break
        if len(one.candidate.sources) == 1 and not one.candidate.pinned:
            if said_first is None:
                said_first = {one.candidate.id: one for one in ranked if one.candidate.kind is EntryKind.MESSAGE}
            one = _in_its_own_words(one, said_first.get(one.candidate.sources[0]), known)
        candidate = one.candidate
        spoken, sources = candidate.kind is EntryKind.MESSAGE, candidate.sources
        if spoken:
            if candidate.id in single or candidate.id in messages:
                continue
        elif sources and (messages.issuperset(sources) or single.issuperset(sources)):
            continue
        own = _words(candidate, known)
        if candidate.kind is EntryKind.SUMMARY and len(own & told) >= REPEATED * len(own):
            continue
        if _said_before(own, said):
            continue
        told |= own
        kept.append(one)
        if spoken:
            messages.add(candidate.id)
        elif len(sources) == 1:
            single.add(sources[0])
    return kept


def _words(candidate: Candidate, known: dict[str, Held]) -> Held:
    found = known.get(candidate.id)
    if found is None:
        found = known[candidate.id] = held(candidate.text)
    return found


def _in_its_own_words(one: Scored, message: Scored | None, known: dict[str, Held]) -> Scored:
    """The message that a key point or a memory only quotes, at its place."""
    if message is None:
        return one
    own, whole = _words(one.candidate, known), _words(message.candidate, known)
    if one.candidate.kind is not EntryKind.KEY_POINT and not (
        _alike(own, whole) or (one.candidate.kind is EntryKind.MEMORY and _fragment(own, whole))
    ):
        return one
    parts = {**message.parts, "quoted": one.score - message.score}
    return Scored(message.candidate, one.score, parts, message.formula)


def _fragment(own: Held, whole: Held) -> bool:
    """Whether a text says in its message's words a small part of what the message says."""
    return len(own & whole) >= WITHIN * len(own) and len(own) <= PART * len(whole)


def _said_before(own: Held, said: dict[str, list[Held]]) -> bool:
    """Whether something alike is among what was said; if not, it is now.

    Alike texts meet at a few words: two that share nine tenths of their words share one of the first tenth. Which words
    are first does not matter, only that it is the same order for all.
    """
    marks = sorted(own)
    del marks[len(own) - ceil(ALIKE * len(own)) + 1 :]
    for mark in marks:
        for other in said.get(mark, ()):
            if _alike(own, other):
                return True
    for mark in marks:
        said.setdefault(mark, []).append(own)
    return False


def held(text: str) -> Held:
    """The words of a text; of one without words, the text itself, marked so that it is no word."""
    return words.distinct_tokens(text) or frozenset((f"\x00{text}",))


def _alike(one: Held, other: Held) -> bool:
    common = len(one & other)
    return common >= ALIKE * (len(one) + len(other) - common)
