"""What is read, and what reading gives: an exchange in, proposals out.

An exchange is a message with what stands before it: the assistant's turn that it answers, the people of the talk, and
what is known of names. The reader on the device and a language model get the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from tenuto.ingest.candidate import Candidate
from tenuto.language.mentions import EMPTY, SELF, Mention, Registry, key
from tenuto.language.people import Person
from tenuto.language.todos import Draft
from tenuto.language.wishes import Consent
from tenuto.records.conversation import Message
from tenuto.records.memory import Domain, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """``message.content`` holds the speaker's own words; ``people`` who were spoken of before, the latest last."""

    message: Message
    before: str | None = None
    turns: tuple[Message, ...] = ()
    """The messages before it, the latest last."""
    known: tuple[str, ...] = ()
    """What is known of the user and of those who are mentioned."""
    people: tuple[Person, ...] = ()
    registry: Registry = EMPTY
    own_names: frozenset[str] = frozenset()
    user_name: str | None = None
    language: str = "en"
    zone: tzinfo | None = None
    health: Mapping[str, Person] = field(default_factory=dict)
    """Whose a medicine, an allergy or a condition is known to be, by the first word of its name."""
    emergency: frozenset[str] = frozenset()
    """Who is known to be an emergency contact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unkept:
    """A statement that was not taken, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Words that say that something is done, or need not be done any more."""

    text: str
    cancelled: bool = False
    told: bool = False
    """Only told as past ("I called my mom"): it closes a todo whose doing it says."""
    reported: bool = False
    """Told as a result ("the book went back"): it closes a todo that is about those things."""
    moved_to: datetime | None = None
    """Not done, but put off until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Something is said to be over: what kind of thing, its words, and whose it was."""

    kind: str
    what: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything that one message proposes."""

    candidates: tuple[Candidate, ...] = ()
    todos: tuple[Draft, ...] = ()
    finished: tuple[Finished, ...] = ()
    endings: tuple[Ending, ...] = ()
    wishes: tuple[Consent, ...] = ()
    mentions: tuple[Mention, ...] = ()
    together: frozenset[tuple[str, str]] = frozenset()
    unkept: tuple[Unkept, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    language: str = "en"
    made_by: str = "reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whose words they are: the user's, or those of someone named."""

    subject: str = SELF
    name: str | None = None

    @property
    def domain(self) -> Domain:
        return Domain.PROFILE if self.subject == SELF else Domain.PEOPLE


def speaker_of(message: Message, own_names: frozenset[str]) -> Speaker:
    """A named speaker who is not known to be the user is a person of their own; whoever imports a chat said who they are."""
    if message.source.startswith("import:") and message.trust is Trust.USER_STATED:
        return Speaker()
    if message.speaker and message.speaker.casefold() not in own_names:
        return Speaker(subject=key("person", message.speaker), name=message.speaker)
    return Speaker()


def capped(found: Sequence[Candidate], most: int) -> tuple[Sequence[Candidate], list[Unkept]]:
    """The weightiest, in the order in which they were said, and those that were too many."""
    if len(found) <= most:
        return found, []
    best = set(sorted(range(len(found)), key=lambda i: (-found[i].importance, -found[i].confidence, i))[:most])
    reason = f"more than {most} from one message"
    dropped = [Unkept(text=one.content, reason=reason) for i, one in enumerate(found) if i not in best]
    return [one for i, one in enumerate(found) if i in best], dropped
