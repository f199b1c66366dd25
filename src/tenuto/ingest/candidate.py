"""What extraction proposes: a value that reconcile compares with what is stored. It is not a memory yet.

``single`` says that a new value replaces the old one; ``ends`` that the statement closes something ("I quit alcohol");
``change`` that it says something changed (``changed_weakly``: only "now" or "instead"), and ``changed_from`` holds the
words for what was true before, where the sentence names it ("from coffee to tea"). ``replaces`` are a model's words for
what the statement takes the place of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b

from tenuto.language.lexicon import word_list
from tenuto.records.memory import (
    Domain,
    Epistemic,
    Kind,
    PinKind,
    Proactive,
    Sensitivity,
    Status,
    TimeScope,
    Trust,
)
from tenuto.text import patterns
from tenuto.text.words import tokens, words

SELF_SLUG = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    content: str
    domain: Domain
    kind: Kind
    at: datetime
    subject: str = "person:user"
    attribute: str | None = None
    value: str | None = None
    single: bool = False
    ends: bool = False
    change: bool = False
    changed_weakly: bool = False
    changed_from: str | None = None
    replaces: str | None = None
    negated: bool = False
    entities: tuple[str, ...] = ()
    label: str | None = None
    importance: float = 5.0
    confidence: float = 0.5
    epistemic: Epistemic = Epistemic.EXPLICIT
    time_scope: TimeScope = TimeScope.ONGOING
    sensitivity: Sensitivity = Sensitivity.LOW
    trust: Trust = Trust.USER_STATED
    status: Status = Status.ACTIVE
    source: str = "conversation"
    surface: str = "api"
    made_by: str = "rules"
    rule: str = ""
    persona: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    channel: str | None = None
    quote: str | None = None
    pin: PinKind | None = None
    pin_session_id: str | None = None
    proactive: Proactive | None = None
    should_do: str | None = None
    valence: float = 0.0
    arousal: float = 0.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    happens_at: datetime | None = None
    keywords: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """``domain|entity_type|slug|kind|attribute``."""
        type_, _, slug = self.subject.partition(":")
        return "|".join((self.domain, type_, slug, self.kind, self.attribute or ""))

    @property
    def slot(self) -> str | None:
        """What the database keeps unique: the key, or the key and the words; a candidate occupies nothing."""
        if self.status is Status.CANDIDATE:
            return None
        return slot_of(self.key, self.persona, self.single, self.value, self.content, self.negated or self.ends)


def slot_of(key: str, persona: str | None, single: bool, value: str | None, content: str, negated: bool = False) -> str:
    """The slot of a current memory. "Not allergic to cats" occupies another one than "allergic to cats"."""
    if single:
        return f"{persona or ''}|{key}"
    words = ("not " if negated else "") + normal(value) if value else normal(content)
    return f"{persona or ''}|{key}|{blake2b(words.encode(), digest_size=12).hexdigest()}"


_NUMBER = patterns.compile(r"\d+(?:[.,]\d+)?")


_SMALL = word_list("small_words")
_NOT = patterns.compile(
    r"\b(?:not|never|no longer|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|can't|cannot|haven't|"
    r"hasn't|without|quit|stopped|"
    r"gave up|hate|hates|dislike|dislikes)\b|n't\b",
    "i",
)


def stems(text: str) -> list[str]:
    """The words that tell two statements apart, stemmed. Unlike search this keeps "won" and drops only small words."""
    return [next(iter(tokens(word)), word) for word in words(text) if word not in _SMALL]


def negative(text: str) -> bool:
    """Does it deny something?"""
    return bool(_NOT.search(text.replace("’", "'")))


def normal(text: str) -> str:
    """Text as its stems and its polarity, for telling whether two wordings are the same words."""
    kept = stems(text)
    return " ".join((["not"] if negative(text) else []) + kept) if kept else " ".join(text.casefold().split())


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text; two texts with different ones never say the same thing."""
    return frozenset(_NUMBER.findall(text))
