"""What extraction returns, whose words they are, and whom they are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from tenuto.ingest import todos
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.consent import Consent
from tenuto.ingest.entities import SELF, Mention, Registry, key, mentions
from tenuto.ingest.lexicon import word_list
from tenuto.ingest.sentences import Sentence, read
from tenuto.records.conversation import Message
from tenuto.records.memory import Domain

FIRST_PRONOUN = re.compile(r"^(?P<p>he|she|they)\b(?P<is>'s|'re|'ve)?", re.I)
PRONOUN = re.compile(r"\b(?:he|she|his|her|him)\b", re.I)
_FEMALE = word_list("female_relations")
_MALE = word_list("male_relations")
About = tuple[str, Domain, str | None]
"""The subject's key, the domain and the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unkept:
    """A statement that was not taken, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything that one message proposes."""

    candidates: tuple[Candidate, ...] = ()
    todos: tuple[todos.Draft, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    wishes: tuple[Consent, ...] = ()
    mentions: tuple[Mention, ...] = ()
    together: frozenset[tuple[str, str]] = frozenset()
    unkept: tuple[Unkept, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    made_by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whose words they are: the user's, or those of someone named."""

    subject: str = SELF
    name: str | None = None

    @property
    def domain(self) -> Domain:
        return Domain.PROFILE if self.subject == SELF else Domain.PEOPLE


PASTED = 12
"""From so many sentences on a message may be a pasted text."""


def looks_pasted(sentences: Sequence[Sentence]) -> bool:
    """A long text in which the speaker hardly occurs is someone else's."""
    if len(sentences) < PASTED:
        return False
    own = sum(bool(re.search(r"\b(?:i|i'm|i've|my|me|we|our)\b", one.plain, re.I)) for one in sentences)
    return own < 0.4 * len(sentences)


def speaker_of(message: Message, own_names: frozenset[str]) -> Speaker:
    """A named speaker who is not known to be the user is a person of their own."""
    if message.speaker and message.speaker.casefold() not in own_names:
        return Speaker(subject=key("person", message.speaker), name=message.speaker)
    return Speaker()


def who_is_meant(
    who: str | None, named: Sequence[Mention], speaker: Speaker, registry: Registry, last_person: Mention | None
) -> About | None:
    """(subject, domain, label) of a fact; ``None`` when a pronoun has nobody to stand for."""
    word = (who or "").lower().split(" and ")[0].strip()
    if word in ("", "i", "we", "my", "our"):
        return speaker.subject, speaker.domain, speaker.name
    if word in ("he", "she", "they"):
        person = last_person
        if (
            person is None
            or (word == "he" and person.relation in _FEMALE)
            or (word == "she" and person.relation in _MALE)
        ):
            return None
        return person.id, Domain.PEOPLE, person.label
    found = mentions(who or "", registry)
    if not found:
        found = [one for one in named if (who or "").casefold().startswith(one.label.casefold())]
    if found:
        return found[0].id, Domain.PEOPLE, found[0].label
    if re.match(r"(?:my|our) ", who or "", re.I):
        return speaker.subject, Domain.PEOPLE, speaker.name
    name = re.sub(r"'s$", "", (who or "").split(",")[0]).strip()
    return key("person", name), Domain.PEOPLE, name


def spoken_of(message: Message, earlier: Message | None, registry: Registry) -> Mention | None:
    """The person whom the message before spoke of, where it was only one: "she" may go on about them."""
    if earlier is None:
        return None
    people = {
        one.id: one
        for part in read(earlier.content)[-8:]
        for one in mentions(part.plain, registry)
        if one.type == "person"
    }
    return next(iter(people.values())) if len(people) == 1 else None


def who_stands_first(
    sentence: Sentence, named: Sequence[Mention], speaker: Speaker, registry: Registry, last_person: Mention | None
) -> About:
    """Whom a weighed statement is about: whoever stands first in it, otherwise the speaker."""
    if pronoun := FIRST_PRONOUN.match(sentence.plain):
        found = who_is_meant(pronoun["p"], named, speaker, registry, last_person)
        if found:
            return found
    first = next((one for one in named if one.type == "person" and one.start == 0), None)
    if first and first.id != speaker.subject:
        return first.id, Domain.PEOPLE, first.label
    return speaker.subject, speaker.domain, speaker.name


def promises(message: Message, zone: tzinfo | None) -> Extraction:
    """Of an assistant's words only what binds it is read."""
    sentences = read(message.content)
    drafts = [draft for one in sentences if (draft := todos.find(one, message.at, zone=zone, by_assistant=True))]
    return Extraction(todos=tuple(drafts[:8]), sentences=(), skipped={"assistant": len(sentences) - len(drafts)})


def capped(found: Sequence[Candidate], most: int) -> tuple[Sequence[Candidate], list[Unkept]]:
    """The weightiest, in the order in which they were said, and those that were too many."""
    if len(found) <= most:
        return found, []
    best = set(sorted(range(len(found)), key=lambda i: (-found[i].importance, -found[i].confidence, i))[:most])
    reason = f"more than {most} from one message"
    dropped = [Unkept(text=one.content, reason=reason) for i, one in enumerate(found) if i not in best]
    return [one for i, one in enumerate(found) if i in best], dropped
