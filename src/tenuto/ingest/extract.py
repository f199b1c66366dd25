"""A message in, proposals out: the deterministic path.

Only the speaker's own statements are read. Each is cut into clauses; the first attribute rule that fits a clause makes a
fact, a todo pattern makes a todo, and what no rule knows is weighed as a whole. Everything carries the words it came
from, the time it was said, and dates instead of "next Friday". What was not taken is counted with its reason, so that
the receipt can say why a message left nothing. Pure: no store, no clock, no ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from tenuto.ingest import times, todos
from tenuto.ingest.affect import affect, content_words
from tenuto.ingest.candidate import Candidate, normal
from tenuto.ingest.changes import Change, change
from tenuto.ingest.consent import Consent, Wish, wishes
from tenuto.ingest.entities import EMPTY, SELF, Mention, Registry, key, mentions
from tenuto.ingest.facts import Fact, facts
from tenuto.ingest.guidance import taught
from tenuto.ingest.importance import GENERAL, memory_importance
from tenuto.ingest.lexicon import Lexicon, lexicons
from tenuto.ingest.sentences import Sentence, Speech, classify, read
from tenuto.ingest.worth import ELLIPSIS, EXPERT, worth
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Domain, Epistemic, Kind, PinKind, Proactive, Sensitivity, Status, TimeScope, Trust

_CLAUSE = re.compile(
    r"(?:,? (?:and|but|so|then|because|'cause|cuz|although|though|while)|,|;) (?=(?:now |then |also |currently |just |recently )*(?:i|i'm|i've|i'll|i'd|we|we're|we've|my|our|he|she|they|his|her)\b)|"
    r",? and (?:now |then |also |currently )*(?=(?:work|works|live|lives|moved|have|has|love|loves|like|likes|hate|run|study|am|got|started|left|quit|take|speak|want|need|plan|own|play)\b)",
    re.I,
)
_SUBJECT = re.compile(r"^(?:(?:now|then|also|currently|just|recently|still|finally) )*(?:i|i'm|i've|i'll|i'd|we|we're|we've|we'll|my|our|he|she|they|his|her|it|this|that|there|the)\b", re.I)
_PRONOUN = re.compile(r"^(?P<p>he|she|they)\b(?P<is>'s|'re|'ve)?", re.I)
_GERUND = re.compile(r"^been an?\b|^\w+ing\b.*(?:,? (?:we|you|it|they|people)\b|\b(?:yourself|is|are|was|were|helps?|makes?|takes?|can|means|gives?|feels?|matters|keeps?)\b)", re.I)
"""A gerund as the subject ("Working together, we…") leaves no speaker out."""
_FEMALE = frozenset("mother wife girlfriend daughter sister grandmother aunt niece stepmother fiancee ex_wife granddaughter".split())
_MALE = frozenset("father husband boyfriend son brother grandfather uncle nephew stepfather fiance ex_husband grandson".split())


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


def speaker_of(message: Message, own_names: frozenset[str]) -> Speaker:
    """A named speaker who is not known to be the user is a person of their own."""
    if message.speaker and message.speaker.casefold() not in own_names:
        return Speaker(subject=key("person", message.speaker), name=message.speaker)
    return Speaker()


def extract(
    message: Message,
    policy: MemoryPolicy,
    *,
    registry: Registry = EMPTY,
    own_names: frozenset[str] = frozenset(),
    zone: tzinfo | None = None,
) -> Extraction:
    """What a message proposes, by the rules."""
    if message.role is Role.ASSISTANT:
        return _promises(message, zone)
    reading = _Reading(message, policy, registry, speaker_of(message, own_names), zone)
    for sentence in read(message.content):
        reading.take(sentence)
    return reading.result()


def _promises(message: Message, zone: tzinfo | None) -> Extraction:
    """Of an assistant's words only what binds it is read."""
    sentences = read(message.content)
    drafts = [draft for one in sentences if (draft := todos.find(one, message.at, zone=zone, by_assistant=True))]
    return Extraction(todos=tuple(drafts[:8]), sentences=(), skipped={"assistant": len(sentences) - len(drafts)})


class _Reading:
    """One pass over a message. Holds what was found so far, because "he" and "that" refer back."""

    def __init__(self, message: Message, policy: MemoryPolicy, registry: Registry, speaker: Speaker, zone: tzinfo | None) -> None:
        self.message, self.policy, self.registry, self.speaker, self.zone = message, policy, registry, speaker, zone
        self.lexicons: tuple[Lexicon, ...] = lexicons(policy.lexicons)
        asked = wishes(message.content) if message.trust is not Trust.EXTERNAL else []
        self.wishes = tuple(one for one in asked if speaker.subject == SELF or one.wish is Wish.DO_NOT_SAVE)
        self.candidates: list[Candidate] = []
        self.todos: list[todos.Draft] = []
        self.sentences: list[Sentence] = []
        self.mentions: dict[str, Mention] = {}
        self.together: set[tuple[str, str]] = set()
        self.unkept: list[Unkept] = []
        self.skipped: Counter[str] = Counter()
        self.last_person: Mention | None = None

    def take(self, sentence: Sentence) -> None:
        """One sentence: a wish, a todo, facts, or a statement to be weighed."""
        self.sentences.append(sentence)
        if wish := next((one for one in self.wishes if one.quote.strip() == sentence_text(sentence)), None):
            self._wished(wish, sentence)
            return
        if (rule := taught(sentence)) is not None and self.speaker.subject == SELF:
            self._add(self._base(sentence, sentence.plain, rule.kind, 7.0, 0.85, known=True, should_do=rule.should_do, rule="taught", proactive=Proactive.YES, epistemic=Epistemic.EXPLICIT))
            return
        named = mentions(sentence.plain, self.registry, self.policy.entities_per_message)
        if sentence.speech is not Speech.STATEMENT and not (sentence.speech is Speech.REQUEST and self._is_fact(sentence)):
            self._draft(sentence)
            self.skipped[sentence.speech.value] += 1
            self._note_people(named)
            return
        if sentence.reported_by and not EXPERT.match(sentence.reported_by):
            self.skipped["said by others"] += 1
            self._note_people(named)
            return
        self._note(named)
        self._statement(sentence, named)
        self._note_people(named)

    def _wished(self, wish: Consent, sentence: Sentence) -> None:
        self.skipped["wish"] += 1
        if wish.wish is Wish.PRIVATE and len(sentence.plain.split()) > 6:
            rest = re.sub(r"(?i)^.*?(?:between (?:us|you and me|the two of us)|secret|to yourself|private|confidential)[,:.!]? *(?:but |and |that )?", "", sentence.plain)
            self._remembered(classify(rest or sentence.plain), floor=0.0, confidence=0.0)
        elif wish.wish is Wish.REMEMBER and wish.statement:
            self._remembered(classify(wish.statement), floor=7.0, confidence=0.95)

    def _remembered(self, sentence: Sentence, *, floor: float, confidence: float) -> None:
        """What the user asked to keep is kept, whatever its worth."""
        before = len(self.candidates)
        named = mentions(sentence.plain, self.registry, self.policy.entities_per_message)
        self._note(named)
        self._statement(sentence, named)
        if len(self.candidates) == before and confidence and sentence.speech in (Speech.STATEMENT, Speech.REACTION):
            self._add(self._base(sentence, sentence.plain, Kind.FACT, floor, confidence, known=True, rule="asked to remember"))
        for position in range(before, len(self.candidates)):
            one = self.candidates[position]
            self.candidates[position] = replace(one, importance=max(one.importance, floor), confidence=max(one.confidence, confidence))

    def _is_fact(self, sentence: Sentence) -> bool:
        return any(fact.attribute == "name" for fact in facts(sentence.plain))

    def _statement(self, sentence: Sentence, named: Sequence[Mention]) -> None:
        before = len(self.candidates)
        clauses = clauses_of(sentence.plain)
        if ELLIPSIS.match(sentence.plain) and not _SUBJECT.match(sentence.plain) and not _GERUND.match(sentence.plain):
            clauses[0] = with_subject(clauses[0])
            sentence = replace(sentence, plain=with_subject(sentence.plain))
        plans: list[tuple[str, Fact]] = []
        for clause in clauses:
            for fact in facts(clause):
                if fact.attribute == "goal":
                    plans.append((clause, fact))
                else:
                    self._fact(sentence, clause, fact, named, alone=len(clauses) == 1)
        if len(self.candidates) > before:
            return
        if self._draft(sentence):
            return
        for clause, fact in plans[:1]:
            self._fact(sentence, clause, fact, named, alone=True)
        if len(self.candidates) == before:
            self._weigh(sentence, named)

    def _draft(self, sentence: Sentence) -> bool:
        draft = todos.find(sentence, self.message.at, zone=self.zone) if self.speaker.subject == SELF else None
        if draft is not None and len(self.todos) < self.policy.candidates_per_message:
            self.todos.append(draft)
        return draft is not None

    def _fact(self, sentence: Sentence, clause: str, fact: Fact, named: Sequence[Mention], *, alone: bool) -> None:
        who = self._who(fact.who, named)
        if who is None:
            self._refuse(sentence, f"'{fact.who}' is not known here")
            return
        subject, domain, label = who
        rule = fact.rule
        confidence = rule.confidence - (0.15 if sentence.hedged and rule.attribute != "goal" else 0.0) - (0.1 if sentence.reported_by else 0.0)
        if rule.attribute == "goal" and rule.confidence < 0.8:
            confidence += 0.05 * min(5, len(set(content_words(fact.value or "")))) - 0.2
        wording = sentence.plain if alone else clause
        if fact.rule.split and fact.value and fact.who and len(p_list(clause, fact)) > 1:
            wording = f"{clause[: fact.start]}{clause[fact.start : clause.lower().rfind(' to ') + 4]}{fact.value}"
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
            change_found=moved or (Change(None, None, "rule") if rule.change else None),
            named=named,
        )
        if confidence >= self.policy.keep_confidence:
            self._add(candidate)
        else:
            self._refuse(sentence, f"too unsure ({confidence:.2f} < {self.policy.keep_confidence:.2f})")

    def _weigh(self, sentence: Sentence, named: Sequence[Mention]) -> None:
        people = any(one.type == "person" and one.id != self.speaker.subject for one in named)
        moved = change(sentence.plain)
        found = worth(sentence, people=people)
        score = found.score + (0.15 if moved and re.match(r"(?:i|i've|i'm|we|we've|my|our)\b", sentence.plain, re.I) else 0.0)
        if any(lexicon.found(sentence.plain) for lexicon in self.lexicons) and score >= 0.3 and not sentence.plain.endswith("?"):
            score += 0.1
        if score < self.policy.keep_confidence:
            self._refuse(sentence, f"says too little to keep ({score:.2f} < {self.policy.keep_confidence:.2f})")
            return
        recurs = times.recurrence(sentence.plain)
        subject, domain, label = self._about(sentence, named)
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
        epistemic: Epistemic = Epistemic.EXPLICIT,
        change_found: Change | None = None,
        named: Sequence[Mention] = (),
    ) -> Candidate:
        message, at = self.message, self.message.at
        valence, arousal = affect(sentence.text)
        found = times.find(wording, at, self.zone)
        begin, end, happens = span(wording, found, at, ends=ends)
        outside = message.trust is Trust.EXTERNAL or message.role in (Role.TOOL, Role.SYSTEM)
        subject = subject or self.speaker.subject
        refers = [one.id for one in named if one.id != SELF and one.label.casefold() in wording.casefold()]
        entities = tuple(dict.fromkeys([*([subject] if subject != SELF else []), *refers]))[: self.policy.entities_per_message]
        private = any(wish.wish is Wish.PRIVATE for wish in self.wishes)
        if scope is None:
            scope = TimeScope.HISTORICAL if happens and happens < at and kind is Kind.FACT and not known else TimeScope.ONGOING
        return Candidate(
            content=self._content(wording, found, subject, label),
            domain=domain or self.speaker.domain,
            kind=kind,
            at=at,
            subject=subject,
            attribute=attribute,
            value=value,
            single=single,
            ends=ends,
            change=change_found is not None,
            changed_from=change_found.before if change_found else None,
            negated=negated,
            entities=entities,
            label=label or (self.speaker.name if self.speaker.name else None),
            importance=10.0 if pin else memory_importance(importance, wording, arousal, self.lexicons, known=known),
            confidence=round(min(0.97, confidence), 2),
            epistemic=epistemic,
            time_scope=scope,
            sensitivity=sensitivity if sensitivity is not Sensitivity.LOW else _sensitivity(wording, self.lexicons),
            trust=Trust.EXTERNAL if outside else message.trust,
            status=Status.CANDIDATE if outside else Status.ACTIVE,
            source=message.source,
            surface=message.channel,
            rule=rule,
            persona=message.persona if private else None,
            session_id=message.session_id,
            message_id=message.id,
            channel=message.channel,
            quote=sentence.text,
            pin=None if outside else pin,
            proactive=proactive,
            should_do=None if outside else should_do,
            valence=valence,
            arousal=arousal,
            valid_from=begin,
            valid_to=end,
            happens_at=happens,
        )

    def _content(self, wording: str, found: Sequence[times.When], subject: str, label: str | None) -> str:
        text = wording.strip(" ,;").rstrip(".!?… ")
        pronoun = _PRONOUN.match(text)
        if pronoun and label and subject not in (SELF, self.speaker.subject):
            text = label + (pronoun["is"] or "") + text[pronoun.end() :]
        elif not _SUBJECT.match(text) and re.match(r"(?:work|works|live|lives|moved|have|love|like|hate|run|study|am|got|started|left|quit|take|speak|want|need|plan|own|play)\b", text):
            text = f"I {text}"
        dated = dates(text, found)
        text = text[:1].upper() + text[1:] + (f" ({dated})" if dated else "")
        return f"{self.speaker.name}: {text}" if self.speaker.name else text

    def _who(self, who: str | None, named: Sequence[Mention]) -> tuple[str, Domain, str | None] | None:
        """(subject, domain, label) of a fact; ``None`` when a pronoun has nobody to stand for."""
        word = (who or "").lower().split(" and ")[0].strip()
        if word in ("", "i", "we", "my", "our"):
            return self.speaker.subject, self.speaker.domain, self.speaker.name
        if word in ("he", "she", "they"):
            person = self.last_person
            if person is None or (word == "he" and person.relation in _FEMALE) or (word == "she" and person.relation in _MALE):
                return None
            return person.id, Domain.PEOPLE, person.label
        found = mentions(who or "", self.registry)
        if not found:
            found = [one for one in named if (who or "").casefold().startswith(one.label.casefold())]
        if found:
            return found[0].id, Domain.PEOPLE, found[0].label
        if re.match(r"(?:my|our) ", who or "", re.I):
            return self.speaker.subject, Domain.PEOPLE, self.speaker.name
        name = re.sub(r"'s$", "", (who or "").split(",")[0]).strip()
        return key("person", name), Domain.PEOPLE, name

    def _about(self, sentence: Sentence, named: Sequence[Mention]) -> tuple[str, Domain, str | None]:
        """Whom a weighed statement is about: whoever stands first in it, otherwise the speaker."""
        if pronoun := _PRONOUN.match(sentence.plain):
            found = self._who(pronoun["p"], named)
            if found:
                return found
        first = next((one for one in named if one.type == "person" and one.start == 0), None)
        if first and first.id != self.speaker.subject:
            return first.id, Domain.PEOPLE, first.label
        return self.speaker.subject, self.speaker.domain, self.speaker.name

    def _note(self, named: Sequence[Mention]) -> None:
        for one in named:
            known = self.mentions.get(one.id)
            if len(self.mentions) < self.policy.entities_per_message and (known is None or (one.relation and not known.relation)):
                self.mentions[one.id] = one
        ids = sorted({one.id for one in named})
        self.together.update((a, b) for position, a in enumerate(ids) for b in ids[position + 1 :])

    def _note_people(self, named: Sequence[Mention]) -> None:
        person = next((one for one in reversed(named) if one.type == "person"), None)
        self.last_person = person or self.last_person

    def _add(self, candidate: Candidate) -> None:
        words = normal(candidate.content)
        if any(words == normal(other.content) and other.attribute == candidate.attribute and other.value == candidate.value for other in self.candidates):
            return
        self.candidates.append(candidate)

    def _refuse(self, sentence: Sentence, reason: str) -> None:
        self.unkept.append(Unkept(text=sentence.plain, reason=reason))

    def result(self) -> Extraction:
        """The proposals within the cap: the weightiest are kept, in the order in which they were said."""
        cap = self.policy.candidates_per_message
        kept = self.candidates
        if len(kept) > cap:
            best = sorted(range(len(kept)), key=lambda i: (-kept[i].importance, -kept[i].confidence, i))[:cap]
            dropped = [one for i, one in enumerate(kept) if i not in set(best)]
            kept = [kept[i] for i in sorted(best)]
            self.unkept.extend(Unkept(text=one.content, reason=f"more than {cap} from one message") for one in dropped)
        secret = any(wish.wish is Wish.DO_NOT_SAVE and not wish.previous for wish in self.wishes)
        return Extraction(
            candidates=() if secret else tuple(kept),
            todos=() if secret else tuple(self.todos),
            sentences=tuple(self.sentences),
            wishes=self.wishes,
            mentions=() if secret else tuple(self.mentions.values()),
            together=frozenset(self.together),
            unkept=() if secret else tuple(self.unkept),
            skipped=dict(self.skipped),
        )


def sentence_text(sentence: Sentence) -> str:
    """The sentence as :func:`tenuto.ingest.consent.wishes` quotes it."""
    from_quote = sentence.text.replace("’", "'").replace("‘", "'").replace("`", "'").replace("\u00a0", " ")
    return from_quote.strip()


def clauses_of(text: str) -> list[str]:
    """A sentence cut where another subject or another verb of the same subject begins; at most eight pieces."""
    text = text.rstrip(" .!?…")
    pieces = [piece.strip(" ,") for piece in _CLAUSE.split(text) if piece and piece.strip(" ,")]
    whole = [text] if len(pieces) <= 1 else pieces[:8]
    return [piece if _SUBJECT.match(piece) or position == 0 else f"I {piece}" if re.match(r"[a-z]+\b", piece) and _first_person(text) and not re.match(r"(?:because|so|but|and)\b", piece) else piece for position, piece in enumerate(whole)]


def with_subject(text: str) -> str:
    """"Lost my job" is "I lost my job", "Been busy" is "I've been busy", "Working on it" is "I'm working on it"."""
    adverbs = re.match(r"(?:(?:just|recently|finally|also|already|still|even|currently|actually) )*", text, re.I)
    head = adverbs.group() if adverbs else ""
    verb = text[len(head) :].split(" ", 1)[0].lower()
    helper = "I've " if verb == "been" else "I'm " if verb.endswith("ing") or verb == "gonna" else "I "
    return helper + text[:1].lower() + text[1:]


def _first_person(text: str) -> bool:
    return bool(re.match(r"(?:i|i'm|i've|we)\b", text, re.I))


def p_list(clause: str, fact: Fact) -> list[str]:
    """The parts of a listed value, to see whether the clause has to be reworded for each."""
    return re.split(r",| and | or ", clause[fact.start : fact.end])


def dates(text: str, found: Sequence[times.When]) -> str:
    """The dates behind relative expressions, for readers who were not there: "7 May 2023"."""
    shown = []
    for when in found[:2]:
        if re.search(r"\b(?:19|20)\d\d\b", when.text) or when.precision == "part" and "every" in text:
            continue
        shown.append(_shown(when))
    return ", ".join(dict.fromkeys(shown))


def _shown(when: times.When) -> str:
    start = when.start
    day = f"{start.day} {start:%B} {start.year}"
    if when.precision == "hour":
        return f"{day} {start:%H:%M}"
    if when.precision == "week":
        return f"the week of {day}"
    if when.precision == "weekend":
        return f"the weekend of {day}"
    if when.precision in ("month", "season"):
        return f"{start:%B} {start.year}" if when.precision == "month" else f"around {start:%B} {start.year}"
    return str(start.year) if when.precision == "year" else day


def span(text: str, found: Sequence[times.When], at: datetime, *, ends: bool) -> tuple[datetime | None, datetime | None, datetime | None]:
    """(valid from, valid to, happens at) of a statement."""
    begin = times.lasting_since(text, at)
    until = next((when.start for when in found if when.relation == "until"), None)
    happens = next((when.start for when in found if when.relation in ("at", "by")), None)
    if begin is None and until is None and happens is not None and not ends:
        begin = happens if happens <= at else None
    started = next((when.start for when in found if when.relation == "since"), None)
    if (length := times.duration(text)) is not None and (started or (happens and happens > at)):
        first = started or happens
        return first, first + length if first else None, happens
    return begin, until, happens


def _sensitivity(text: str, found: Sequence[Lexicon]) -> Sensitivity:
    return Sensitivity.MEDIUM if any(lexicon.name == "medical" and lexicon.found(text) for lexicon in found) else Sensitivity.LOW
