"""Which older statements a change retires: what it names, or the closest thing that was said about the same. Pure.

Only a statement that says that something changed comes here. Likeness alone is not enough to end what is firm (a name,
a home, an employer): that takes the attribute's own rule or the old value by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenuto.ingest.candidate import Candidate, stems
from tenuto.ingest.reconcile.same_statement import bare, meaning_words, subject_of
from tenuto.ingest.reconcile.versions import asserted_at
from tenuto.language.lexicon import ordered, packaged
from tenuto.policy import Calibration
from tenuto.records.memory import Kind, Memory
from tenuto.text import patterns
from tenuto.text.words import tokens

UNNAMED = 0.1
"""A statement that names what it ends must be this much closer to something that does not hold those words."""


@dataclass(frozen=True, slots=True)
class Known:
    """A stored memory beside the candidate, with the cosine where there is one."""

    memory: Memory
    similarity: float = 0.0


def replaced_by(candidate: Candidate, current: Sequence[Known], calibration: Calibration) -> list[Known]:
    """What a statement with a marker of change retires: what it names, or the closest thing said about the same."""
    if not (candidate.change or candidate.ends) or (candidate.negated and not candidate.change):
        return []
    able = [one for one in current if subject_of(one.memory) == candidate.subject and _retirable(candidate, one.memory)]
    named = candidate.changed_from or (candidate.value if candidate.ends else None)
    found = [
        one
        for one in able
        if named and mentions_words(named, one.memory.content) and one.similarity >= 0.5 * calibration.related
    ]
    if found:
        return sorted(found, key=lambda one: -one.similarity)[: 1 if candidate.changed_weakly else 4]
    if named and candidate.changed_weakly:
        return []
    spoken = candidate.subject != "person:user" and candidate.content != bare(candidate.content)
    least = calibration.related + (UNNAMED if named else 0.0) + (UNNAMED if spoken else 0.0)
    near = [
        one
        for one in able
        if one.similarity >= least and _same_doing(candidate, one.memory) and not _firm(candidate, one.memory)
    ]
    return sorted(near, key=lambda one: -one.similarity)[:1]


NAMED = 0.75
"""Share of a model's words for what is replaced that a memory holds."""
WHOLE = 0.6
"""Share of a memory's words that name it, where it is about somebody else than what replaces it."""


def named_by(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """The memory that a model names as replaced: the one that holds its words, and most of whose words they are.

    What is pinned or firm gives way only to a statement of the same kind, and what holds now never to a plan.
    """
    wanted = meaning_words(candidate.replaces or "")
    if not wanted:
        return None
    best: tuple[bool, float, Known] | None = None
    for one in current:
        memory = one.memory
        if asserted_at(memory) >= candidate.at or memory.metadata.get("ends") or not _gives_way(candidate, memory):
            continue
        said, value = meaning_words(memory.content), meaning_words(memory.value or "")
        named = wanted & (said | value)
        if len(named) < NAMED * len(wanted):
            continue
        whole = max(len(named) / max(1, len(said)), len(named & value) / max(1, len(value)) if value else 0.0)
        own = subject_of(memory) == candidate.subject
        if not own and whole < WHOLE:
            continue
        rank = (own, whole, one)
        if best is None or rank[:2] > best[:2]:
            best = rank
    return best[2] if best is not None else None


def _gives_way(candidate: Candidate, memory: Memory) -> bool:
    if memory.kind in (Kind.CONTRADICTION, Kind.BOUNDARY, Kind.STYLE_ADJUSTMENT):
        return False
    planned = (candidate.attribute or "").startswith("planned_")
    if planned and _group(memory.attribute) in _FIRM_GROUPS and not (memory.attribute or "").startswith("planned_"):
        return False
    alike = _group(memory.attribute) == _group(candidate.attribute)
    return alike or not (memory.pinned or _group(memory.attribute) in _FIRM_GROUPS)


def _group(attribute: str | None) -> str:
    """Attributes that one statement may end for another: a partner for being single, an employer for a job."""
    base = (attribute or "").removeprefix("planned_").partition("_")[0]
    return {"employer": "job", "relationship": "relation", "blood": "blood_type"}.get(base, base)


COMMON = frozenset(stem for word in ordered("common_words") for stem in (*stems(word), *meaning_words(word)))
"""Words that say nothing about what a statement is about."""
_DOING = patterns.compile(
    r"^(?:i|we|he|she|they|my \w+)(?:'ve|'m|'re|'s| have| has| am| is| are)? ?(?:(?:now|only|just|also|still|"
    r"always|usually|been|mostly|mainly|exclusively|entirely|"
    r"\w+ly|switched to|started|moved to) )*(?P<verb>[a-z-]+)",
    "i",
)


FIRM = (
    "name", "home", "employer", "job", "age", "birthday", "origin", "nationality", "native_language", "religion",
    "orientation", "relationship_status", "medication", "intolerance", "diet", "wife", "husband", "partner", "boss",
    "manager", "mother", "mom", "mum", "father", "dad", "son", "daughter", "family",
)  # fmt: skip
"""Attributes that only their own rule, or a change that names the old value, may retire; never likeness alone."""


_FIRM_GROUPS = frozenset(_group(name) for name in FIRM)


def _firm(candidate: Candidate, memory: Memory) -> bool:
    return memory.attribute in FIRM and memory.attribute != candidate.attribute


def _same_doing(candidate: Candidate, memory: Memory) -> bool:
    """A weak marker needs the same verb, a strong one a word in common."""
    shared = (meaning_words(candidate.content) & meaning_words(memory.content)) - COMMON
    if not candidate.changed_weakly:
        return bool(shared)
    mine, theirs = _DOING.match(bare(candidate.content)), _DOING.match(bare(memory.content))
    if not mine or not theirs or _NO_DEED.match(mine["verb"]):
        return False
    return _deed(mine["verb"]) == _deed(theirs["verb"])


_NO_DEED = patterns.compile(
    r"(?:feel|felt|think|know|guess|believe|hope|wish|mean|see|say|need|want|can|could)s?$", "i"
)
"""Verbs that say nothing about what is done."""


_DEEDS = {
    word: group[0]
    for group in (
        ("eat", "drink", "have", "cook", "order"),
        ("drive", "cycle", "bike", "ride", "walk", "commute"),
        ("read", "watch", "follow"),
        ("use", "run", "code", "write"),
    )
    for word in group
}
"""Verbs that stand for one doing: porridge is eaten where smoothies were drunk."""


def _deed(verb: str) -> str:
    base = next(iter(tokens(verb)), verb.lower())
    return _DEEDS.get(verb.lower(), _DEEDS.get(base, base))


def _retirable(candidate: Candidate, memory: Memory) -> bool:
    if asserted_at(memory) >= candidate.at or memory.metadata.get("ends"):
        return False
    if memory.happens_at is not None and memory.attribute is None:
        return False
    if (
        memory.attribute in ("allergy", "intolerance", "condition", "name", "emergency_contact", "birthday", "origin")
        and memory.attribute != candidate.attribute
    ):
        return False
    return memory.kind not in (Kind.CONTRADICTION, Kind.BOUNDARY, Kind.STYLE_ADJUSTMENT)


def mentions_words(words: str, content: str) -> bool:
    """Are all the words in the content, or what they stand for: "FT" the Financial Times, "alcohol" beer?"""
    wanted, said = set(tokens(words)), set(tokens(content))
    if not wanted:
        return False
    if wanted <= said or (len(wanted) == 1 and said & _kinds().get(next(iter(wanted)), frozenset())):
        return True
    initials = "".join(word[0] for word in patterns.findall(r"\b[A-Z][a-z]+", content))
    return bool(patterns.fullmatch(r"[A-Z]{2,5}", words)) and words in initials


@lru_cache(maxsize=1)
def _kinds() -> dict[str, frozenset[str]]:
    """What belongs to what: whoever quits alcohol no longer drinks beer."""
    groups = (line.partition(":") for line in packaged("words")["kinds"].strip().splitlines())
    return {
        stem: frozenset(one for word in members.split() for one in tokens(word))
        for name, _, members in groups
        for stem in tokens(name)
    }
