"""Do two statements say the same? The guards that stand beside the cosine.

Vectors put "allergic to peanuts" beside "allergic to penicillin" and "won the game" beside "lost the game". So subject,
attribute, value, polarity, numbers, names, dates and wording are compared as well, and any clear difference keeps two
statements apart. ``bench/extraction`` prints what each guard costs and saves.
"""

from __future__ import annotations

from datetime import timedelta

from tenuto.ingest.candidate import Candidate, negative, normal, numbers, stems
from tenuto.records.memory import TRUST_ORDER, Memory
from tenuto.text import patterns
from tenuto.text.words import tokens

LOOSE = (None, "goal", "like", "hobby", "project")
"""Attributes whose value is free text: their wording is compared, not their value."""
OVERLAP = 0.5
"""Share of the shorter statement's words that two wordings of one thing have in common."""
SAME_DAY = timedelta(hours=36)
_PROPER = patterns.compile(r"\b[A-Z][\w-]+", not_after=r"^|[.!?:] ")
_SYNONYM = {
    stem: group.split()[0]
    for group in (
        "start begin began",
        "quit stop gave",
        "move relocate",
        "bike bicycle",
        "dad father",
        "mom mother mum",
        "home house",
        "online internet",
        "kid child children",
        "job work career",
        "buy bought got",
        "doctor physician",
        "photo picture pic",
        "film movie",
        "begin start",
    )
    for word in group.split()
    for stem in (tokens(word) or [word])
}


def agree(one: str, other: str) -> bool:
    """Are two values the same: equal words, or one a fuller form of the other ("Austin" and "Austin, Texas")?"""
    a, b = set(normal(one).split()), set(normal(other).split())
    return bool(a and b) and (a <= b or b <= a) and numbers(one) == numbers(other)


def says_the_same(candidate: Candidate, memory: Memory) -> bool:
    """The guards beside the cosine: subject, attribute, value, polarity, numbers, names and dates must not differ."""
    if subject_of(memory) != candidate.subject:
        return False
    loose = candidate.attribute in LOOSE and memory.attribute in LOOSE
    if memory.attribute != candidate.attribute and not loose:
        return False
    exact = candidate.attribute and candidate.value and memory.value and not loose
    if exact and not agree(str(candidate.value), str(memory.value)):
        return False
    if negative(candidate.content) != negative(memory.content) or candidate.ends != bool(memory.metadata.get("ends")):
        return False
    if numbers(undated(candidate.content)) != numbers(undated(memory.content)) or candidate.change:
        return False
    if candidate.happens_at and memory.happens_at and abs(candidate.happens_at - memory.happens_at) > SAME_DAY:
        return False
    mine, theirs = set(_PROPER.findall(bare(candidate.content))), set(_PROPER.findall(bare(memory.content)))
    if mine and theirs and not (mine <= theirs or theirs <= mine):
        return False
    return bool(exact) or wording_agrees(candidate.content, memory.content)


def fuller(candidate: Candidate, memory: Memory) -> bool:
    """Does the candidate say all of the old wording and clearly more?"""
    old, new = meaning_words(memory.content), meaning_words(candidate.content)
    trusted = TRUST_ORDER.index(candidate.trust) >= TRUST_ORDER.index(memory.trust)
    return (
        trusted
        and len(new) >= len(old) + 1
        and len(old & new) >= 0.7 * len(old)
        and len(candidate.content) <= 2.5 * len(memory.content) + 80
    )


def wording_agrees(one: str, other: str) -> bool:
    """Do two statements share their words? Two that differ by one word each ("won the game", "lost the game") never
    count as the same, whatever their vectors say; half of the shorter one's words must be in the longer."""
    a, b = meaning_words(one), meaning_words(other)
    if not a or not b:
        return normal(one) == normal(other)
    if len(a - b) == len(b - a) == 1 and len(a) < 8:
        return False
    return len(a & b) >= OVERLAP * min(len(a), len(b))


def meaning_words(content: str) -> set[str]:
    return {_SYNONYM.get(word, word) for word in stems(bare(content))}


def bare(content: str) -> str:
    """Without the speaker's name in front and the date behind."""
    return patterns.sub(r"^[^\s:]{1,40}(?: [^\s:]{1,40})?: (\S)", lambda match: match[1], undated(content))


def undated(content: str) -> str:
    """Without the date that extraction appended."""
    return patterns.sub(r" \([^()]{4,60}\d{4}[^()]*\)$", "", content)


def subject_of(memory: Memory) -> str:
    """``type:slug`` out of the key."""
    parts = memory.key.split("|")
    return f"{parts[1]}:{parts[2]}" if len(parts) >= 3 else "person:user"
