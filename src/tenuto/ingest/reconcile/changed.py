"""Changes without a word for it: a habit at other times, a plan that came true, an end of what nobody said. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.ingest.candidate import Candidate, numbers
from tenuto.ingest.reconcile.retire import COMMON, Known
from tenuto.ingest.reconcile.same_statement import agree, bare, meaning_words, subject_of
from tenuto.ingest.reconcile.versions import asserted_at
from tenuto.language.lexicon import ordered, word_list
from tenuto.language.mentions import SELF
from tenuto.records.memory import Kind
from tenuto.text import patterns
from tenuto.text.words import tokens

SAME_ACTIVITY = 0.6
"""Share of the shorter habit's words, times left out, that two habits of one activity have in common."""
PLANNED = "planned_"
_ENDS_OF_SOMETHING = frozenset({"home", "employer", "relationship_status", "diet", "like", "dislike", "contact"})
"""What is worth an end only where its beginning is known."""
TIMES = frozenset(stem for word in (*word_list("time_words"), *ordered("numbers")) for stem in (word, *tokens(word)))


def same_activity(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """The habit or fact that a new one takes the place of: the same doing of the same person, other days or numbers."""
    if candidate.kind not in (Kind.HABIT, Kind.FACT) or candidate.attribute or candidate.ends:
        return None
    if candidate.kind is Kind.FACT and not candidate.change:
        return None  # two runs of different length are two runs
    mine, when = _activity(candidate.content)
    for one in sorted(current, key=lambda known: -known.similarity):
        memory = one.memory
        if memory.kind is not candidate.kind or memory.attribute or memory.metadata.get("ends"):
            continue
        if subject_of(memory) != candidate.subject or asserted_at(memory) >= candidate.at:
            continue
        theirs, then = _activity(memory.content)
        if when and then and when != then and _one_doing(candidate, mine, theirs):
            return one
    return None


def _one_doing(candidate: Candidate, mine: set[str], theirs: set[str]) -> bool:
    """Whether two sets of words tell one doing: most are shared, and only one of them says something besides."""
    if not mine or not theirs:
        return candidate.kind is Kind.HABIT and candidate.subject != SELF
    shared = mine & theirs
    if len(shared) < max(1, SAME_ACTIVITY * min(len(mine), len(theirs))):
        return False
    return not (mine - theirs - COMMON and theirs - mine - COMMON) or candidate.change


def _activity(content: str) -> tuple[set[str], set[str]]:
    """What is done, and when."""
    said = meaning_words(bare(content))
    when = {word for word in said if word in TIMES} | set(numbers(content))
    return said - when - set(numbers(content)), when


_LEVEL = patterns.compile(
    r"\b(?:[abc][12]|beginner|intermediate|advanced|fluent|anfänger\w*|fortgeschritten|fließend|principiante|intermedio|avanzado|fluido|"
    r"débutante?|intermédiaire|avancée?|courant|iniciante|intermédio|avançado|fluente)\b",
    "i",
)


def other_level(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """The level of a language that a new one takes the place of: A2, then B1."""
    if candidate.attribute != "language" or candidate.ends or not _LEVEL.search(candidate.content):
        return None
    mine = meaning_words(_LEVEL.sub("", candidate.value or ""))
    for one in current:
        memory = one.memory
        if memory.attribute != "language" or subject_of(memory) != candidate.subject or memory.metadata.get("ends"):
            continue
        if _LEVEL.search(memory.content) and mine & meaning_words(_LEVEL.sub("", memory.value or "")):
            return one
    return None


def came_true(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """The plan that a statement says has come true."""
    wanted = f"{PLANNED}{candidate.attribute}"
    return _of(candidate, current, wanted) if candidate.attribute and not candidate.ends else None


def already_so(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """What holds already, where a statement takes it for a plan."""
    name = candidate.attribute or ""
    return _of(candidate, current, name.removeprefix(PLANNED)) if name.startswith(PLANNED) else None


def _of(candidate: Candidate, current: Sequence[Known], attribute: str) -> Known | None:
    return next(
        (
            one
            for one in current
            if one.memory.attribute == attribute
            and subject_of(one.memory) == candidate.subject
            and candidate.value
            and one.memory.value
            and agree(candidate.value, one.memory.value)
            and not one.memory.metadata.get("ends")
        ),
        None,
    )


def ends_nothing(candidate: Candidate) -> bool:
    """Whether a statement only ends what nobody had said."""
    return candidate.ends and not candidate.negated and candidate.attribute in _ENDS_OF_SOMETHING
