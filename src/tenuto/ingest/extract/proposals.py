"""What a model proposed becomes candidates, todos and endings, once :mod:`tenuto.ingest.extract.checks` has let it pass.

The model gains nothing by its word. Trust, status, pins, importance and the key that tells what replaces what are written
by code, by the same tables as for the reader: a model's allergy and the reader's are the same memory.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import NamedTuple

from tenuto.ingest.candidate import Candidate
from tenuto.ingest.extract.answers import KINDS, Proposal, Refused
from tenuto.ingest.extract.attributes import ATTRIBUTES, Attribute, serious
from tenuto.ingest.extract.checks import check
from tenuto.ingest.extract.claims import Claim, Shown, Verdict
from tenuto.ingest.extract.exchange import speaker_of
from tenuto.language.affect import affect
from tenuto.language.claimed_dates import Span, claims
from tenuto.language.detect import language_of
from tenuto.language.mentions import EMPTY, SELF, Mention, Registry, key, slug
from tenuto.language.people import Person, known_id, tidy_name
from tenuto.language.relations import only_one, relation_of
from tenuto.language.render import word
from tenuto.language.support import kin
from tenuto.language.voice import third_person
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Domain, Epistemic, Kind, PinKind, Status, TimeScope, Trust
from tenuto.text import patterns

LONGEST = 400
"""Characters of one proposed memory."""
GRAVE = 9
"""From this importance on a condition is pinned though it is on no list of serious ones."""
FREE = Attribute("", Kind.FACT, 5.5)
_BY_NAME = {one.name: one for one in ATTRIBUTES.values() if one.name}
_OTHER_NAMES = {
    "education": "study",
    "studies": "study",
    "hobby": "like",
    "intolerance": "allergy",
    "diagnosis": "condition",
    "medicine": "medication",
    "phone": "contact",
    "emergency contact": "emergency_contact",
    "appointment": "event",
    "residence": "home",
    "nickname": "name",
    "relationship": "relation",
    "occupation": "job",
    "constraint": "limit",
}
_SELVES = frozenset(["self", "i", "me", "user", "the user", "speaker", "", "myself", "we", "none", "null"])
_FIRST = patterns.compile(
    r"^(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|ich|mein\w*|wir|unser\w*|yo|mi|mis|nosotr\w+|nuestr\w+|je|j'\w+|mon|ma|mes|nous|notre|eu|meus?|"
    r"minhas?|nós|noss\w+)\b",
    "i",
)
_THE_USER = patterns.compile(
    r"^(?:the user|der nutzer|die nutzerin|el usuario|la usuaria|l'utilisat\w+|o utilizador|o usuário|user)\s+",
    "i",
    not_before=r"\W|$",
)
_DOSE = patterns.compile(r"\s\d|\s(?:twice|once|half|one|two|ein|una?|une?|every|weekly|daily)\b", "i")
_FROM = patterns.compile(r"(?:\b(?:since|from|as of|starting|seit|ab|desde|depuis|à partir du|a partir de)\s+)$", "i")
_UNTIL = patterns.compile(r"(?:\b(?:until|till|bis|hasta|jusqu'\w+|até)\s+)$", "i")
_TIME = patterns.compile(r"(?P<h>[01]?\d|2[0-3])[:h](?P<m>[0-5]\d)", not_after=r"[\d.,]")


class Whose(NamedTuple):
    """Whom a memory is about."""

    id: str
    person: Person | None = None

    @property
    def domain(self) -> Domain:
        return Domain.PROFILE if self.id == SELF else Domain.PEOPLE


class Passed(NamedTuple):
    """A proposal that passed, with who was mentioned."""

    candidate: Candidate
    mention: Mention | None


def memory(
    proposal: Proposal,
    shown: Shown,
    messages: dict[str, Message],
    name: str,
    registry: Registry = EMPTY,
    own_names: frozenset[str] = frozenset(),
) -> Passed | Refused:
    """A checked candidate, or why not."""
    content = " ".join(proposal.content.split())
    if not content or len(content) > LONGEST:
        return Refused(content[:120], "its content is empty or too long", proposal.message or None)
    attribute = attribute_name(proposal.attribute)
    claim = Claim(
        quote=proposal.quote,
        content=content,
        message=proposal.message or None,
        about=(proposal.about or "self").strip(),
        attribute=attribute,
        value=proposal.value,
        ended=proposal.state in ("ended", "not"),
    )
    verdict = check(claim, shown)
    if verdict.reason is not None:
        return Refused(content[:200], verdict.reason, proposal.message or None)
    message = messages.get(shown.lines[verdict.line].id)
    if message is None:
        return Refused(content[:200], "its quote is in none of the messages shown", proposal.message or None)
    whose = _whose(proposal, attribute, message, registry, own_names)
    made = _Made(proposal, content, attribute, whose, message, verdict, name, shown.zone)
    mention = whose.person.mention() if whose.person is not None and whose.person.label else None
    return Passed(made.candidate(), mention)


def attribute_name(given: str | None) -> str | None:
    """The attribute that a model means, where there is one."""
    plain = (given or "").strip().casefold().replace("-", "_")
    plain = _OTHER_NAMES.get(plain.replace("_", " "), _OTHER_NAMES.get(plain, plain))
    return plain if plain in _BY_NAME or plain == "relation" else None


def _whose(
    proposal: Proposal, attribute: str | None, message: Message, registry: Registry, own_names: frozenset[str]
) -> Whose:
    speaker = speaker_of(message, own_names)
    about = patterns.sub(r"\s*\(.*?\)\s*$", "", (proposal.about or "").strip())
    low = about.casefold()
    mine = low in _SELVES or low in own_names or attribute in ("project", "pet")
    if mine and speaker.subject == SELF:
        return Whose(SELF)
    if mine or low == (speaker.name or "").casefold():
        return Whose(speaker.subject, Person(id=speaker.subject, label=speaker.name or "", start=0, end=0))
    relation_word = proposal.relation or _relation_in(proposal.about or "")
    relation = relation_of(relation_word) if relation_word else None
    bare = patterns.sub(
        r"^(?:my|our|the|his|her|their|mein\w*|mis?|mon|ma|mes|meus?|minhas?|user's)\s+", "", about, flags="i"
    )
    if kin(bare.casefold()) is not None and not registry.names.get(bare.casefold()):
        return _by_relation(bare, registry)
    label = tidy_name(bare)
    id = known_id(label, relation, registry)
    shown = registry.labels.get(id, label)
    return Whose(
        id,
        Person(
            id=id,
            label=shown if len(shown) >= len(label) else label,
            start=0,
            end=0,
            relation=relation,
            word=relation_word,
        ),
    )


def _relation_in(about: str) -> str | None:
    """The relation word inside "Anna (sister)" or "my sister Anna"."""
    return next(
        (part for part in patterns.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", about) if kin(part.casefold()) is not None),
        None,
    )


def _by_relation(bare: str, registry: Registry) -> Whose:
    relation = relation_of(bare)
    ids = registry.relations.get(relation, ())
    id = ids[-1] if len(ids) == 1 or (ids and only_one(relation)) else key("person", relation)
    label = registry.labels.get(id) or bare[:1].upper() + bare[1:]
    named = bool(ids) and kin(label.casefold()) is None
    return Whose(id, Person(id=id, label=label, start=0, end=0, relation=relation, word=bare.casefold(), named=named))


def told(content: str, language: str) -> str:
    """A note in the third person without a subject where it is about the user: "Lives in Lisbon"."""
    said = content.strip().rstrip(".")
    if _FIRST.match(said):
        said = third_person(said, language)
    said = _THE_USER.sub("", said)
    return said[:1].upper() + said[1:]


class _Made:
    """One candidate under way."""

    def __init__(
        self,
        proposal: Proposal,
        content: str,
        attribute: str | None,
        whose: Whose,
        message: Message,
        verdict: Verdict,
        name: str,
        zone: tzinfo | None,
    ) -> None:
        self.proposal, self.whose, self.message, self.verdict, self.name = proposal, whose, message, verdict, name
        self.language = language_of(content, language_of(message.content))
        self.content = told(content, self.language)
        self.attribute, self.zone = attribute, zone
        self.what = _BY_NAME.get(attribute or "", FREE)
        self.state = proposal.state if proposal.state in ("now", "ended", "planned", "not") else "now"
        self.outside = message.trust is Trust.EXTERNAL or message.role is not Role.USER

    def candidate(self) -> Candidate:
        message, proposal = self.message, self.proposal
        valence, arousal = affect(proposal.quote)
        begins, ends, happens = self._times()
        vital = self._vital()
        unsure = vital and (self.verdict.unconfirmed or (self.verdict.inferred and not self.verdict.named))
        content = f"{self.content} ({word('unconfirmed', self.language)})" if unsure else self.content
        person = self.whose.person
        attribute, value, subject, single = self._key()
        return Candidate(
            content=content,
            domain=Domain.PROJECT
            if self.what.kind is Kind.PROJECT and subject == SELF
            else Domain.PROFILE
            if subject == SELF
            else Domain.PEOPLE,
            kind=self._kind(),
            at=message.at,
            subject=subject,
            attribute=attribute,
            value=value,
            single=single and self.state != "not",
            ends=self.state in ("ended", "not"),
            negated=self.state == "not",
            change=bool(proposal.replaces),
            changed_weakly=bool(proposal.replaces),
            changed_from=(proposal.replaces or None) and str(proposal.replaces)[:200],
            replaces=(proposal.replaces or None) and str(proposal.replaces)[:200],
            entities=tuple(dict.fromkeys(id for id in (subject, self.whose.id) if id != SELF)),
            label=person.label if person is not None else None,
            importance=self._importance(vital),
            confidence=0.6 if self.verdict.inferred or unsure else 0.9,
            epistemic=Epistemic.INFERRED if self.verdict.inferred else Epistemic.EXPLICIT,
            time_scope=TimeScope.HISTORICAL if self.state == "ended" else TimeScope.ONGOING,
            sensitivity=self.what.sensitivity,
            trust=Trust.EXTERNAL if self.outside else message.trust,
            status=Status.CANDIDATE if self.outside else Status.ACTIVE,
            source=message.source,
            surface=message.channel,
            made_by=f"model:{self.name}",
            rule=self.attribute or "proposed",
            session_id=message.session_id,
            message_id=message.id,
            channel=message.channel,
            quote=proposal.quote,
            pin=PinKind.AUTO if vital and not self.outside else None,
            valence=valence,
            arousal=arousal,
            valid_from=begins,
            valid_to=ends,
            happens_at=happens,
            metadata={"certainty": "unconfirmed"} if unsure else {},
        )

    def _kind(self) -> Kind:
        if self.what is not FREE:
            return self.what.kind
        return Kind(self.proposal.kind) if self.proposal.kind in KINDS else Kind.FACT

    def _importance(self, vital: bool) -> float:
        if self.what is not FREE:
            return 10.0 if vital and self.what.importance >= 9 else self.what.importance
        given = self.proposal.importance
        finite = given == given and abs(given) != float("inf")
        return max(1.0, min(7.0, given)) if finite else FREE.importance

    def _vital(self) -> bool:
        """Life-critical things are pinned, whatever the model thinks of them."""
        if self.state in ("ended", "not"):
            return False
        if self.attribute == "condition":
            return serious(f"{self.proposal.value or ''} {self.content}") or self.proposal.importance >= GRAVE
        if self.attribute == "name":
            return self.whose.id == SELF
        if self.attribute == "limit":
            return self.proposal.importance >= 8
        return self.what.vital

    def _key(self) -> tuple[str | None, str | None, str, bool]:
        """Attribute, value, subject and whether it is the only one of its kind, as the reader keeps them."""
        value = " ".join((self.proposal.value or "").split())[:120] or None
        subject = self.whose.id
        if self.attribute == "relation":
            relation = relation_of(self.proposal.relation or value or "")
            only = only_one(relation)
            label = self.whose.person.label if self.whose.person is not None else relation
            if not only:
                return "relation", relation, subject, False
            return f"relation_{relation}", label, SELF, True
        if self.attribute is None:
            return None, value, subject, False
        name, single = self.what.name, self.what.single
        if name == "medication" and value:
            value = _DOSE.split(value.lower())[0].strip()
            return f"medication_{slug(value)}", value, subject, True
        if self.state == "planned" and name != "event":
            name = f"planned_{name}"
        return name, value, subject, single

    def _times(self) -> tuple[datetime | None, datetime | None, datetime | None]:
        """From when, until when, and on which day: by the dates in the content, which follow from what was said."""
        begins = ends = happens = None
        found, _ = claims(self.content, self.language, self.message.at)
        low = self.content.lower()
        for span in found:
            place = low.find(span.text)
            before = self.content[max(0, place - 20) : place] if place >= 0 else ""
            if _FROM.search(before):
                begins = begins or self._aware(span.start)
            elif _UNTIL.search(before):
                ends = ends or self._aware(span.end)
            elif span.days == 1 and self._happens(span):
                happens = happens or self._at(span)
        return begins, ends, happens

    def _happens(self, span: Span) -> bool:
        """Whether a date is one on which something takes place, not one on which something began to hold."""
        ahead = self._aware(span.end) > self.message.at
        return self.attribute == "event" or self.state == "planned" or (self.attribute in (None, "goal") and ahead)

    def _aware(self, day: datetime) -> datetime:
        return day.replace(tzinfo=self.zone or self.message.at.tzinfo)

    def _at(self, span: Span) -> datetime:
        clock = _TIME.search(self.content)
        start = self._aware(span.start)
        return start.replace(hour=int(clock["h"]), minute=int(clock["m"])) if clock else start
