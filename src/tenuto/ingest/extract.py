"""A message in, proposals out: the deterministic path.

Only the speaker's own statements are read. Each is cut into clauses; the first attribute rule that fits a clause makes
a fact, a todo pattern makes a todo, and what no rule knows is weighed as a whole. Everything carries the words it came
from, the time it was said, and dates instead of "next Friday". What was not taken is counted with its reason, so that
the receipt can say why a message left nothing. Pure: no store, no clock, no ids.
"""
# Over 400 lines: one message's way from clauses to proposals, whose steps only make sense in order.

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import NamedTuple

from tenuto.ingest import times, todos
from tenuto.ingest.affect import affect, content_words
from tenuto.ingest.candidate import Candidate, normal
from tenuto.ingest.changes import Change, change
from tenuto.ingest.consent import Consent, Wish, wishes, without_privacy
from tenuto.ingest.entities import EMPTY, SELF, Mention, Registry, mentions, slug
from tenuto.ingest.extraction import (
    Extraction,
    Unkept,
    capped,
    looks_pasted,
    promises,
    speaker_of,
    who_is_meant,
    who_stands_first,
)
from tenuto.ingest.facts import Fact, facts
from tenuto.ingest.guidance import taught
from tenuto.ingest.importance import GENERAL, memory_importance, sensitivity_of
from tenuto.ingest.lexicon import Lexicon, lexicons
from tenuto.ingest.relatives import relatives
from tenuto.ingest.sentences import Sentence, Speech, classify, read
from tenuto.ingest.vital import vitals
from tenuto.ingest.wording import (
    FIRST_PERSON,
    GERUND,
    SUBJECT,
    Clause,
    clauses_of,
    sentence_text,
    span,
    with_subject,
    worded,
)
from tenuto.ingest.worth import ELLIPSIS, EXPERT, worth
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Domain, Epistemic, Kind, PinKind, Proactive, Sensitivity, Status, TimeScope, Trust

LIVE = "conversation"
"""The source of what is said now; an import or a quoted mail has another, and teaches no rule."""


_AGAIN = re.compile(
    r"\b(?:every|each|most) \w+|\b(?:on |in the )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?:'s)? (?:nights|"
    r"mornings|evenings|afternoons)\b|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|"
    r"\b(?:mornings|evenings|weekends)\b|"
    r"\b(?:usually|normally|typically|generally|always|often|mostly) .{0,60}\bon "
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    re.I,
)
"""What comes back has no date of its own."""


_NAMING = re.compile(r"\b(?:i'?m|i am|my name|name's|call me)\b", re.I)


def extract(
    message: Message,
    policy: MemoryPolicy,
    *,
    registry: Registry = EMPTY,
    own_names: frozenset[str] = frozenset(),
    zone: tzinfo | None = None,
    before: Mention | None = None,
) -> Extraction:
    """What a message proposes, by the rules. ``before`` is the person whom the message before spoke of last."""
    if message.role is Role.ASSISTANT:
        return promises(message, zone)
    reading = _Reading(message, policy, registry, own_names, zone, before)
    sentences = read(message.content)
    reading.pasted = looks_pasted(sentences)
    for position, sentence in enumerate(sentences):
        reading.following = sentences[position + 1].plain if position + 1 < len(sentences) else ""
        reading.take(sentence)
    return reading.result()


class _When(NamedTuple):
    """The times that a statement names, and what follows from them."""

    found: list[times.When]
    begin: datetime | None
    end: datetime | None
    happens: datetime | None


class _Reading:
    """One pass over a message. Holds what was found so far, because "he" and "that" refer back."""

    def __init__(
        self,
        message: Message,
        policy: MemoryPolicy,
        registry: Registry,
        own_names: frozenset[str],
        zone: tzinfo | None,
        before: Mention | None,
    ) -> None:
        speaker = speaker_of(message, own_names)
        self.message, self.policy, self.registry, self.speaker, self.zone = message, policy, registry, speaker, zone
        self.own_names = own_names
        self.lexicons: tuple[Lexicon, ...] = lexicons(policy.lexicons)
        own = message.role is Role.USER and message.trust is not Trust.EXTERNAL
        asked = wishes(message.content) if own else []
        self.wishes = tuple(one for one in asked if speaker.subject == SELF or one.wish is Wish.DO_NOT_SAVE)
        self.candidates: list[Candidate] = []
        self.seen: set[tuple[str, str | None, str | None]] = set()
        self.todos: list[todos.Draft] = []
        self.sentences: list[Sentence] = []
        self.mentions: dict[str, Mention] = {}
        self.together: set[tuple[str, str]] = set()
        self.unkept: list[Unkept] = []
        self.skipped: Counter[str] = Counter()
        self.last_person = before
        self.following = ""
        self.pasted = False

    def take(self, sentence: Sentence) -> None:
        """One sentence: a wish, a todo, facts, or a statement to be weighed."""
        self.sentences.append(sentence)
        if wish := next((one for one in self.wishes if one.quote.strip() == sentence_text(sentence)), None):
            self._wished(wish, sentence)
            return
        if (rule := taught(sentence)) is not None and self.speaker.subject == SELF:
            self._add(
                self._base(
                    sentence,
                    sentence.plain,
                    rule.kind,
                    7.0,
                    0.85,
                    known=True,
                    should_do=rule.should_do,
                    rule="taught",
                    proactive=Proactive.YES,
                )
            )
            return
        named = self._named(sentence)
        if sentence.speech is not Speech.STATEMENT and not (
            sentence.speech in (Speech.REQUEST, Speech.REACTION)
            and any(fact.attribute == "name" for fact in facts(sentence.plain))
        ):
            if not self._vitals(sentence, named):
                self._draft(sentence)
                self.skipped[sentence.speech.value] += 1
            self._note_people(named)
            return
        if sentence.reported_by and not EXPERT.match(sentence.reported_by):
            if not self._vitals(sentence, named):
                self.skipped["said by others"] += 1
            self._note_people(named)
            return
        self._note(named)
        self._statement(sentence, named)
        self._note_people(named)

    def _wished(self, wish: Consent, sentence: Sentence) -> None:
        self.skipped["wish"] += 1
        if wish.wish is Wish.PRIVATE and len(rest := without_privacy(sentence.plain)) > 8:
            self._remembered(classify(rest), floor=5.0, confidence=0.6)
        elif wish.wish is Wish.REMEMBER and wish.statement:
            self._remembered(classify(wish.statement), floor=7.0, confidence=0.95)

    def _remembered(self, sentence: Sentence, *, floor: float, confidence: float) -> None:
        """What the user asked to keep is kept, whatever its worth."""
        before, planned = len(self.candidates), len(self.todos)
        named = self._named(sentence)
        self._note(named)
        self._statement(sentence, named)
        nothing = (len(self.candidates), len(self.todos)) == (before, planned)
        if nothing and sentence.speech in (Speech.STATEMENT, Speech.REACTION):
            self._add(
                self._base(sentence, sentence.plain, Kind.FACT, floor, confidence, known=True, rule="asked to remember")
            )
        for position in range(before, len(self.candidates)):
            one = self.candidates[position]
            self.candidates[position] = replace(
                one, importance=max(one.importance, floor), confidence=max(one.confidence, confidence)
            )

    def _vitals(self, sentence: Sentence, named: Sequence[Mention]) -> list[str]:
        """What must not be lost, whatever kind of sentence says it; the values that were found."""
        found = vitals(sentence, self.following)
        if found:
            self._note(named)
        for one in found:
            self._fact(sentence, one.wording, replace(one.fact, who=one.who), named, alone=False)
        return [(one.fact.value or "").casefold() for one in found]

    def _statement(self, sentence: Sentence, named: Sequence[Mention]) -> None:
        before = len(self.candidates)
        said = self._vitals(sentence, named)
        clauses = clauses_of(sentence.plain)
        if ELLIPSIS.match(sentence.plain) and not SUBJECT.match(sentence.plain) and not GERUND.match(sentence.plain):
            clauses[0] = Clause(with_subject(clauses[0].text), with_subject(clauses[0].wording))
            sentence = replace(sentence, plain=with_subject(sentence.plain))
        plans: list[tuple[str, Fact]] = []
        for clause in clauses:
            if any(value in clause.text.casefold() for value in said):
                continue
            for fact in facts(clause.text, vital=False):
                if fact.attribute == "goal":
                    plans.append((clause.wording, fact))
                else:
                    self._fact(sentence, clause.wording, fact, named, alone=len(clauses) == 1)
        if len(self.candidates) == before and len(clauses) > 1 and not plans:
            for fact in facts(sentence.plain.rstrip(" .!…"), vital=False):
                self._fact(sentence, sentence.plain, fact, named, alone=True)
        if len(self.candidates) == before and not self._draft(sentence):
            for wording, fact in plans[:1]:
                self._fact(sentence, wording, fact, named, alone=True)
            if len(self.candidates) == before:
                self._weigh(sentence, named)
        self._relatives(sentence, named)

    def _relatives(self, sentence: Sentence, named: Sequence[Mention]) -> None:
        """Who is close to the speaker, unless this very sentence was kept as something about them."""
        said = {one.subject for one in self.candidates if one.quote == sentence.text}
        said |= {one.value for one in self.candidates if one.quote == sentence.text and one.value}
        for wording, fact in relatives(sentence.plain, self.registry):
            if fact.value and not said & {fact.value, f"person:{slug(fact.value)}"}:
                self._fact(sentence, wording, fact, named, alone=False)

    def _draft(self, sentence: Sentence) -> bool:
        found = todos.find_all(sentence, self.message.at, zone=self.zone) if self.speaker.subject == SELF else []
        self.todos += found[: max(0, self.policy.candidates_per_message - len(self.todos))]
        return bool(found)

    def _fact(self, sentence: Sentence, clause: str, fact: Fact, named: Sequence[Mention], *, alone: bool) -> None:
        here = [one for one in named if one.type == "person" and one.id != self.speaker.subject]
        last = here[0] if len(here) == 1 else self.last_person
        who = who_is_meant(fact.who, named, self.speaker, self.registry, last)
        if who is None or (self.pasted and who[0] not in (SELF, self.speaker.subject, *self.registry.labels)):
            self._refuse(sentence, f"'{fact.who}' is not known here")
            return
        subject, domain, label = who
        rule = fact.rule
        confidence = (
            rule.confidence
            - (0.15 if sentence.hedged and rule.attribute != "goal" else 0.0)
            - (0.1 if sentence.reported_by else 0.0)
        )
        if rule.attribute == "goal" and rule.confidence < 0.8:
            confidence += 0.05 * min(5, len(set(content_words(fact.value or "")))) - 0.2
        wording = sentence.plain if alone else clause
        attribute, single, scope, ends = fact.attribute, rule.single, rule.scope, rule.ends
        if fact.past and not attribute.startswith("past_"):
            attribute, single, scope = f"past_{attribute}", False, TimeScope.HISTORICAL
        moved = change(sentence.plain)
        if fact.negated and not ends:
            single, attribute, ends = False, attribute, True
        if attribute in ("dislike", "like") and fact.negated:
            attribute = "dislike" if attribute == "like" else "like"
            ends = False
        candidate = self._base(
            sentence,
            wording,
            rule.kind,
            rule.importance,
            confidence,
            known=True,
            rule=rule.attribute,
            subject=subject,
            domain=Domain.PROJECT if rule.kind is Kind.PROJECT and domain is Domain.PROFILE else domain,
            label=label,
            attribute=attribute,
            value=fact.value,
            single=single,
            ends=ends,
            negated=fact.negated,
            scope=scope,
            sensitivity=rule.sensitivity,
            pin=PinKind.AUTO if rule.pin and not ends and not (rule.attribute == "name" and subject != SELF) else None,
            change_found=moved if not single or (moved and not moved.weak) else None,
            named=named,
        )
        if confidence >= self.policy.keep_confidence:
            self._add(candidate)
        else:
            self._refuse(sentence, f"too unsure ({confidence:.2f} < {self.policy.keep_confidence:.2f})")

    def _weigh(self, sentence: Sentence, named: Sequence[Mention]) -> None:
        people = any(one.type == "person" and one.id != self.speaker.subject for one in named)
        moved = change(sentence.plain)
        found = worth(sentence, people=people, changed=bool(moved and not moved.weak))
        score = found.score - (0.25 if self.pasted and not FIRST_PERSON.match(sentence.plain) else 0.0)
        if moved and FIRST_PERSON.match(sentence.plain):
            score += 0.15 if moved.weak else 0.25
        if (
            any(lexicon.found(sentence.plain) for lexicon in self.lexicons)
            and score >= 0.3
            and not sentence.plain.endswith("?")
        ):
            score += 0.1
        if score < self.policy.keep_confidence:
            self._refuse(sentence, f"says too little to keep ({score:.2f} < {self.policy.keep_confidence:.2f})")
            return
        recurs = times.recurrence(sentence.plain)
        subject, domain, label = who_stands_first(sentence, named, self.speaker, self.registry, self.last_person)
        base = 4.5 if recurs else min(7.0, GENERAL - 1.5 + 3 * score)
        self._add(
            self._base(
                sentence,
                sentence.plain,
                Kind.HABIT if recurs else Kind.FACT,
                base,
                min(0.9, score),
                known=False,
                rule="weighed: " + "; ".join(found.reasons),
                subject=subject,
                domain=domain,
                label=label,
                change_found=moved,
                negated=sentence.negated,
                named=named,
            )
        )

    def _base(
        self,
        sentence: Sentence,
        wording: str,
        kind: Kind,
        importance: float,
        confidence: float,
        *,
        known: bool,
        rule: str = "",
        subject: str | None = None,
        domain: Domain | None = None,
        label: str | None = None,
        attribute: str | None = None,
        value: str | None = None,
        single: bool = False,
        ends: bool = False,
        negated: bool = False,
        scope: TimeScope | None = None,
        sensitivity: Sensitivity = Sensitivity.LOW,
        pin: PinKind | None = None,
        should_do: str | None = None,
        proactive: Proactive | None = None,
        change_found: Change | None = None,
        named: Sequence[Mention] = (),
    ) -> Candidate:
        when = self._when(wording, kind, ends=ends)
        valence, arousal = affect(sentence.text)
        subject = subject or self.speaker.subject
        other = label if subject not in (SELF, self.speaker.subject) else None
        past = when.happens is not None and when.happens < self.message.at and kind is Kind.FACT and not known
        return self._heard(sentence)(
            content=worded(wording, when.found, self.speaker.name, other),
            domain=domain or self.speaker.domain,
            kind=kind,
            subject=subject,
            attribute=attribute,
            value=value,
            single=single,
            ends=ends,
            change=change_found is not None,
            changed_weakly=bool(change_found and change_found.weak),
            changed_from=change_found.before if change_found else None,
            negated=negated,
            entities=self._entities(subject, named, wording),
            label=label or (self.speaker.name if self.speaker.name else None),
            importance=10.0 if pin else memory_importance(importance, wording, arousal, self.lexicons, known=known),
            confidence=round(min(0.97, confidence), 2),
            time_scope=scope or (TimeScope.HISTORICAL if past else TimeScope.ONGOING),
            sensitivity=sensitivity if sensitivity is not Sensitivity.LOW else sensitivity_of(wording, self.lexicons),
            rule=rule,
            pin=None if self.outside else pin,
            proactive=proactive,
            should_do=should_do if self.message.source == LIVE and not self.outside else None,
            valence=valence,
            arousal=arousal,
            valid_from=when.begin,
            valid_to=when.end,
            happens_at=when.happens,
        )

    @property
    def outside(self) -> bool:
        """Whether these are not the person's own words."""
        return self.message.trust is Trust.EXTERNAL or self.message.role in (Role.TOOL, Role.SYSTEM)

    def _heard(self, sentence: Sentence) -> Callable[..., Candidate]:
        """A candidate with all that follows from whose message it is, before what it says."""
        message = self.message
        private = any(wish.wish is Wish.PRIVATE for wish in self.wishes)
        return partial(
            Candidate,
            at=message.at,
            epistemic=Epistemic.EXPLICIT,
            trust=Trust.EXTERNAL if self.outside else message.trust,
            status=Status.CANDIDATE if self.outside else Status.ACTIVE,
            source=message.source,
            surface=message.channel,
            persona=message.persona if private else None,
            session_id=message.session_id,
            message_id=message.id,
            channel=message.channel,
            quote=sentence.text,
        )

    def _when(self, wording: str, kind: Kind, *, ends: bool) -> _When:
        """From when to when it holds, and when it happens; what comes again and again happens at no one time."""
        found = times.find(wording, self.message.at, self.zone)
        begin, end, happens = span(wording, found, self.message.at, ends=ends)
        if kind is Kind.HABIT or _AGAIN.search(wording):
            begin = begin if begin != happens else None
            found, happens = [one for one in found if one.relation in ("since", "until")], None
        return _When(found, begin, end, happens)

    def _entities(self, subject: str, named: Sequence[Mention], wording: str) -> tuple[str, ...]:
        """Whom and what it is about: its subject first, then whom the words name."""
        refers = [one.id for one in named if one.id != SELF and one.label.casefold() in wording.casefold()]
        found = dict.fromkeys([*([subject] if subject != SELF else []), *refers])
        return tuple(found)[: self.policy.entities_per_message]

    def _named(self, sentence: Sentence) -> list[Mention]:
        """Who and what is named, besides the user, who may say who they are in this very sentence."""
        if self.speaker.subject == SELF and _NAMING.search(sentence.plain):
            told = (one.value for one in facts(sentence.plain) if one.attribute == "name" and one.value)
            self.own_names |= {part.casefold() for name in told for part in (name, *name.split()[:1])}
        found = mentions(sentence.plain, self.registry, self.policy.entities_per_message)
        return [one for one in found if one.type != "person" or one.label.casefold() not in self.own_names]

    def _note(self, named: Sequence[Mention]) -> None:
        for one in named:
            known = self.mentions.get(one.id)
            if len(self.mentions) < self.policy.entities_per_message and (
                known is None or (one.relation and not known.relation)
            ):
                self.mentions[one.id] = one
        ids = sorted({one.id for one in named})
        self.together.update((a, b) for position, a in enumerate(ids) for b in ids[position + 1 :])

    def _note_people(self, named: Sequence[Mention]) -> None:
        person = next((one for one in reversed(named) if one.type == "person"), None)
        self.last_person = person or self.last_person

    def _add(self, candidate: Candidate) -> None:
        mark = (normal(candidate.content), candidate.attribute, candidate.value)
        if mark not in self.seen:
            self.seen.add(mark)
            self.candidates.append(candidate)

    def _refuse(self, sentence: Sentence, reason: str) -> None:
        self.unkept.append(Unkept(text=sentence.plain, reason=reason))

    def result(self) -> Extraction:
        """The proposals within the cap: the weightiest are kept, in the order in which they were said."""
        if not self.sentences:
            self.skipped["without words of the speaker's own"] += 1
        kept, dropped = capped(self.candidates, self.policy.candidates_per_message)
        secret = any(wish.wish is Wish.DO_NOT_SAVE and not wish.previous for wish in self.wishes)
        return Extraction(
            candidates=() if secret else tuple(kept),
            todos=() if secret else tuple(self.todos),
            sentences=tuple(self.sentences),
            wishes=self.wishes,
            mentions=() if secret else tuple(self.mentions.values()),
            together=frozenset(self.together),
            unkept=() if secret else (*self.unkept, *dropped),
            skipped=dict(self.skipped),
        )
