"""Changes without a word for it: a habit at other times, a plan that came true, an end of what nobody said. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.ingest.candidate import Candidate, numbers
from tenuto.ingest.reconcile.retire import Known
from tenuto.ingest.reconcile.same_statement import agree, bare, meaning_words, subject_of
from tenuto.ingest.reconcile.versions import asserted_at
from tenuto.language.lexicon import word_list
from tenuto.records.memory import Kind
from tenuto.text.words import tokens

SAME_ACTIVITY = 0.6
"""Share of the shorter habit's words, times left out, that two habits of one activity have in common."""
PLANNED = "planned_"
_ENDS_OF_SOMETHING = frozenset({"home", "employer", "relationship_status", "diet", "like", "dislike", "contact"})
"""What is worth an end only where its beginning is known."""
_TIMES = frozenset(stem for word in word_list("time_words") for stem in (word, *tokens(word)))


def same_activity(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """The habit that a new one takes the place of: the same activity of the same person on other days or hours."""
    if candidate.kind is not Kind.HABIT or candidate.ends:
        return None
    mine, when = _activity(candidate.content)
    for one in sorted(current, key=lambda known: -known.similarity):
        memory = one.memory
        if memory.kind is not Kind.HABIT or subject_of(memory) != candidate.subject or memory.metadata.get("ends"):
            continue
        theirs, then = _activity(memory.content)
        alike = mine and theirs and len(mine & theirs) >= SAME_ACTIVITY * min(len(mine), len(theirs))
        if alike and when and then and when != then and asserted_at(memory) < candidate.at:
            return one
    return None


def _activity(content: str) -> tuple[set[str], set[str]]:
    """What is done, and when."""
    said = meaning_words(bare(content))
    when = {word for word in said if word in _TIMES} | set(numbers(content))
    return said - when - set(numbers(content)), when


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
