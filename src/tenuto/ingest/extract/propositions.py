"""From marks to propositions: who, what, since when, and is it still so. Pure.

The reader marks stretches of a message (:mod:`tenuto.records.reading`); :mod:`.marked` tells which belong together, and
:mod:`.wording` how they are said. Each statement becomes one candidate whose content is a sentence of its own; what
cannot be put into that form stays a message.

Life-critical values are kept also where the reader was unsure: then they say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenuto.ingest.candidate import Candidate, normal
from tenuto.ingest.extract.attributes import Attribute, attribute, forbids, serious
from tenuto.ingest.extract.candidates import Told, candidate_of
from tenuto.ingest.extract.corrections import TAKES, begun, guessed, plausible, supported
from tenuto.ingest.extract.endings import endings_in
from tenuto.ingest.extract.exchange import Exchange, Extraction, Unkept, capped
from tenuto.ingest.extract.finished import finished_in
from tenuto.ingest.extract.marked import VALUELESS, Marked
from tenuto.ingest.extract.obligations import promises_in, todos_in
from tenuto.ingest.extract.wish_marks import naming, privately, rules_in, unsaved, wishes_in
from tenuto.ingest.extract.wording import LISTED, around, statement, told_clause, with_article, with_dates, worded
from tenuto.language.dates import Moment, since
from tenuto.language.fragments import is_fragment
from tenuto.language.mentions import SELF, Mention
from tenuto.language.people import Person, tidy_name
from tenuto.language.relations import is_relation_word, only_one, relation_of
from tenuto.language.render import clause, dated, related, sentence, template, word
from tenuto.language.voice import third_person
from tenuto.language.wishes import Wish
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Role
from tenuto.records.memory import Kind
from tenuto.records.reading import Mark
from tenuto.text import patterns

SURE = 0.5
"""How sure a statement is that nobody marked and the person asked to be kept."""
VITAL_SURE = 0.6
"""Below this a life-critical value is kept with the word that it is not confirmed."""
ASKED = 7.0
"""What the person asked to be remembered weighs at least so much."""
SHORTEST = 3
"""Words of a clause that may be kept."""
FRAGMENT = 7
"""Words below which an answer is kept with its question."""
_TOLD = frozenset({"event", "project", "status", "limit"})
"""Values that say little by themselves: the words around them are kept."""
_LIFE = frozenset({"age", "origin", "study", "lang", "job", "employer"})
_WITH_ARTICLE = frozenset({"job", "employer", "cond"})
_CLAUSES = frozenset({"fact", "habit", "goal"})
_PARTNERS = ("boyfriend", "girlfriend", "partner", "husband", "wife", "fiance", "fiancee")
_PARTED = patterns.compile(
    r"broke up|break ?up|split up|separat|divorc|single again|dumped|getrennt|schluss gemacht|geschieden|"
    r"rompimos|terminamos|lo dejamos|séparé|rompu|quitté|terminei|acabou|separei|terminou",
    "i",
)
_URGENT = patterns.compile(
    r"emergenc|notfall|urgenc|in case of|(?:any|some)thing (?:happens|goes wrong|should happen)|was passiert|me pasa algo|m'arrive|acontecer alg|spare key",
    "i",
)


def propositions(exchange: Exchange, marks: Sequence[Mark], policy: MemoryPolicy) -> Extraction:
    """What a message proposes, by what the reader marked in it."""
    if exchange.message.role is Role.ASSISTANT:
        return Extraction(todos=tuple(promises_in(exchange)), language=exchange.language)
    reading = _Reading(exchange, marks, policy)
    reading.values()
    reading.clauses()
    reading.relations()
    return reading.result()


class _Reading(Marked):
    """One message under way, with what was found so far."""

    def __init__(self, exchange: Exchange, marks: Sequence[Mark], policy: MemoryPolicy) -> None:
        super().__init__(exchange, marks, policy)
        self.wishes = naming(wishes_in(self.text, self.marks, self.spans), exchange.people) if self.own else ()
        self.private = privately(self.wishes, self.marks)
        self.candidates: list[Candidate] = []
        self.unkept: list[Unkept] = []
        self.seen: set[tuple[str, str | None, str | None, str]] = set()
        self.spoken_of: dict[str, Person] = {}
        """Whom something was said of, also where only the question named them."""

    def values(self) -> None:
        listed: set[tuple[str, str, str]] = set()
        for mark in self.marks:
            if mark.layer != "value" or mark.type in VALUELESS or self.withheld(mark):
                continue
            if mark.type in LISTED and mark.state == "now":
                if (mark.type, mark.owner, mark.state) not in listed:
                    self._value(mark)
                listed.add((mark.type, mark.owner, mark.state))
                continue
            if mark.type == "name":
                self._name(mark)
            elif mark.type == "employer" and self.near(mark, "job") is not None:
                continue
            elif mark.type in ("contact", "sos"):
                self._contact(mark)
            else:
                self._value(mark)
        for mark in self.marks:
            if mark.type == "pet" and not self.withheld(mark):
                self._pet(mark)

    def _value(self, mark: Mark) -> None:
        what = attribute(mark.type)
        known = (name for name, id in self.exchange.registry.names.items() if id.startswith("person:"))
        people = frozenset([*known, *(one.label.casefold() for one in self.people if one.named)])
        asked = mark.type == "med" and bool(TAKES.search(self.question() or ""))
        if not plausible(self.text, mark, self.marks, self.span(mark.start), people, asked=asked):
            self._refuse(mark, "it is a person, an age of then, or nothing that anybody takes")
            return
        answers = self.question() is not None and len(self.sentence(mark).split()) < FRAGMENT
        if not answers and not supported(self.text, mark, self.span(mark.start)):
            self._refuse(mark, "nothing in the sentence says so")
            return
        person = self.whose(mark)
        if not self.knows(mark, person):
            self._refuse(mark, "nobody is known whom it could be about")
            return
        moment = self.when(mark)
        if mark.state == "plan" and moment is not None and moment.end <= self.message.at:
            mark = replace(mark, state="now")  # what was planned for then is so
        value, template_name, more = worded(self, mark)
        if not value:
            return
        state = mark.state
        plain = "now" if state == "plan" else state  # what is over or denied is never said as if it were so
        said = template(template_name, state, self.language) or template(template_name, plain, self.language)
        if said is None:
            return self._refuse(mark, "it is over or denied, and nothing else is known of it")
        if mark.type in _TOLD:
            if mark.type == "event" and (self.in_todo(mark) or (moment is None and state != "end")):
                self._refuse(mark, "an event without a date" if moment is None else "a todo says it")
                return
            told = around(self, mark, person)
            vital = self._vital(mark, what, value, person)
            if person is None and not vital and is_fragment(told, self.language):
                return self._refuse(mark, "too short to say something by itself")
            self._add(mark, what, person, told, value=value, moment=moment, vital=vital, whole=True)
            return
        shown = with_article(self, mark, value) if mark.type in _WITH_ARTICLE and template_name != "cond_is" else value
        predicate = said.format(v=shown, w=more)
        if mark.type == "allergy" and (reaction := self.near(mark, "reaction")) is not None and state == "now":
            predicate += f": {third_person(self.said(reaction), self.language)}"
        if mark.type == "age" or mark.type == "birthday":
            moment = None
        if moment is not None and moment.relation == "at" and begun(self.text, mark, self.span(mark.start)):
            moment = since(moment, self.language)
        predicate = dated(predicate, moment, self.language)
        vital = self._vital(mark, what, value, person)
        value = f"{value}, {more}" if template_name == "work" else value  # the same job elsewhere is another one
        self._add(mark, what, person, predicate, value=value, moment=moment, vital=vital)

    def _name(self, mark: Mark) -> None:
        if self.speaker.subject != SELF or not self.own_name(mark):
            return
        names = [tidy_name(self.said(one)) for one in self.marks if one.type == "name" and self.own_name(one)]
        value = names[0] + (f" ({', '.join(dict.fromkeys(names[1:]))})" if len(set(names)) > 1 else "")
        said = template("name", "now", self.language) or "{v}"
        self._add(mark, attribute("name"), None, said.format(v=value), value=value, vital=True)

    def _contact(self, mark: Mark) -> None:
        others = mark.owner == "other" or mark.type == "sos" or self.subjects.anybody_here(mark.start)
        person = self.subjects.of(mark.start) if others else self.speaking()
        known = person is not None and person.id in self.exchange.emergency
        urgent = known or mark.type == "sos" or self.near(mark, "sos", reach=400) is not None or self._asked_urgent()
        number = mark if mark.type == "contact" else self.near(mark, "contact", reach=200)
        if mark.type == "sos" and number is not None:
            return
        if person is None and (number is None or (others and not urgent)):
            return
        if urgent and person is None and not _URGENT.search(f"{self.exchange.before or ''} {self.sentence(mark)}"):
            self._refuse(mark, "nobody is known who could be called")
            return
        what = attribute("sos" if urgent else "contact")
        shown = self.said(number) if number is not None else ""
        if urgent and number is None:
            told = clause(self.sentence(mark), person, self.language, own=False)
            self._add(mark, what, person, told, value=shown or None, vital=True, whole=True)
            return
        said = template("sos" if urgent else "contact", mark.state, self.language) or "{v}"
        self._add(mark, what, person, said.format(v=shown), value=shown, vital=urgent)

    def _asked_urgent(self) -> bool:
        return bool(_URGENT.search(self.exchange.before or ""))

    def _pet(self, mark: Mark) -> None:
        name = tidy_name(self.said(mark))
        if name.casefold() in self.exchange.registry.names and mark.state == "now":
            return
        species = self.species(mark)
        key = "pet" if species is not None else "pet_plain"
        said = (
            template(key, mark.state if key == "pet" else "now", self.language)
            or template(key, "now", self.language)
            or "{v}"
        )
        predicate = dated(said.format(v=name, w=self.said(species) if species else ""), self.when(mark), self.language)
        self._add(mark, attribute("pet"), None, predicate, value=name)

    def clauses(self) -> None:
        for mark in self.marks:
            if mark.layer != "clause" or mark.type not in _CLAUSES or self.withheld(mark):
                continue
            what = attribute(mark.type)
            person = self.whose(mark) if mark.owner == "other" else self.inside(mark)
            whole = statement(self, mark)
            if whole is None:
                self._refuse(mark, "it points at something that was said before")
                continue
            text, moment = with_dates(self, whole, recurring=mark.type == "habit")
            answers = len(text.split()) < FRAGMENT and self.span(mark.start) == self.spans[0]
            question = self.asked_of_them() if answers else None
            if len(text.split()) < SHORTEST or (person is None and not question and is_fragment(text, self.language)):
                self._refuse(mark, "too short to say something by itself")
                continue
            told = told_clause(self, mark, text, person, question)
            self._add(mark, what, person, told, moment=moment, whole=True)
        self._parted()

    def _parted(self) -> None:
        """A break-up ends the relation, too: whoever was the partner is not any more."""
        mark = next((one for one in self.marks if one.type == "status" and one.owner == "self"), None)
        if (
            mark is None
            or self.speaker.subject != SELF
            or not (mark.state == "end" or _PARTED.search(self.sentence(mark)))
        ):
            return
        registry = self.exchange.registry
        for relation in _PARTNERS:
            for id in registry.relations.get(relation, ())[-1:]:
                person = Person(
                    id=id, label=registry.labels.get(id, relation), start=mark.start, end=mark.end, relation=relation
                )
                said = related(person.label, relation, self.exchange.user_name, self.language, former=True)
                over = replace(mark, type="rel", state="end")
                what = Attribute(f"relation_{relation}", Kind.RELATIONSHIP, 8, single=True)
                self._add(over, what, person, said, value=relation, whole=True, subject=SELF)

    def relations(self) -> None:
        """Who is who: each named person with their relation, once."""
        said = {(one.subject, one.attribute) for one in self.candidates}
        told = {one.subject for one in self.candidates if one.attribute}
        for person in self.people:
            if not person.named or not person.relation or not person.word or not is_relation_word(person.word):
                continue
            if not person.label or (person.id, "relation") in said or self._known_relation(person):
                continue
            if person.id in told and not only_one(person.relation):
                continue
            said.add((person.id, "relation"))
            owner = self.exchange.user_name
            rel = person.word if self.language == "de" or person.word.isupper() else person.word.lower()
            if "'s " in person.relation:
                owner, _, rel = person.relation.partition("'s ")
            former = person.over and relation_of(rel) != "ex"
            mark = Mark("value", "rel", person.start, person.end, "other", "end" if person.over else "now", 0.9)
            name = "relation" if not only_one(person.relation) else f"relation_{person.relation}"
            what = Attribute(name, Kind.RELATIONSHIP, 8, single=only_one(person.relation))
            self._add(
                mark,
                what,
                person,
                related(person.label, rel, owner, self.language, former=former),
                value=person.label if only_one(person.relation) else person.relation,
                whole=True,
                subject=SELF if only_one(person.relation) else person.id,
            )

    def _known_relation(self, person: Person) -> bool:
        ids = self.exchange.registry.relations.get(person.relation or "", ())
        return person.id in ids and person.id in self.exchange.registry.labels

    def _vital(self, mark: Mark, what: Attribute, value: str, person: Person | None) -> bool:
        if mark.state in ("end", "neg") or (person is not None and person.relation == "pet"):
            return False
        if mark.type == "cond":
            return serious(value)
        if mark.type == "limit":
            return forbids(value)
        return what.vital

    def _add(
        self,
        mark: Mark,
        what: Attribute,
        person: Person | None,
        predicate: str,
        *,
        value: str | None = None,
        moment: Moment | None = None,
        vital: bool = False,
        whole: bool = False,
        subject: str | None = None,
    ) -> None:
        content = predicate if whole else sentence(person, predicate)
        unsure = vital and (mark.score < VITAL_SURE or guessed(self.text, mark, self.span(mark.start)))
        if unsure:
            content += f" ({word('unconfirmed', self.language)})"
        about = subject or (person.id if person is not None else self.speaker.subject)
        entities = tuple(
            dict.fromkeys(
                [
                    *([about] if about != SELF else []),
                    *([person.id] if person is not None else []),
                    *self._mentioned(content),
                ]
            )
        )
        seen = (normal(content), what.name, value, about)
        if seen in self.seen:
            return
        self.seen.add(seen)
        if person is not None and person.id != self.speaker.subject:
            self.spoken_of[person.id] = person
        if self._joins(mark, person, predicate):
            return
        told = Told(mark, what, content, about, person, value, moment, vital=vital, unsure=unsure, entities=entities)
        self.candidates.append(candidate_of(self, told, private=self.private))

    def _joins(self, mark: Mark, person: Person | None, predicate: str) -> bool:
        """What a sentence says of somebody's life besides goes into one memory: "comes from Namur and studies law"."""
        if person is None or mark.type not in _LIFE or mark.state != "now" or not self.candidates:
            return False
        last = self.candidates[-1]
        joined = last.rule in _LIFE and last.subject == person.id and last.quote == self.sentence(mark)
        if joined and last.pin is None and not last.ends:
            self.candidates[-1] = replace(last, content=f"{last.content}{word('and', self.language)}{predicate}")
        return joined

    def _remember(self) -> None:
        """What the person asks to be remembered weighs more, and is kept also where nothing in it is marked."""
        asked = next((one for one in self.wishes if one.wish is Wish.REMEMBER), None)
        if asked is None:
            return
        if (
            not self.candidates
            and len(asked.statement.split()) > 1
            and not any(one.type == "todo" for one in self.marks)
        ):
            start = max(0, self.text.find(asked.statement))
            mark = Mark("clause", "fact", start, start + len(asked.statement), "self", "now", SURE)
            person = self.inside(mark)
            told = clause(with_dates(self, mark, recurring=False)[0], person, self.language, own=person is None)
            self._add(mark, attribute("fact"), person, told, whole=True)
        self.candidates = [replace(one, importance=max(one.importance, ASKED)) for one in self.candidates]

    def _mentioned(self, content: str) -> Iterable[str]:
        low = content.casefold()
        named = [(one.id, one.label) for one in self.people] + [(one.id, one.label) for one in self.things]
        return (id for id, label in named if label.casefold() in low)

    def _refuse(self, mark: Mark, reason: str) -> None:
        self.unkept.append(Unkept(text=self.said(mark), reason=reason))

    def result(self) -> Extraction:
        secret = unsaved(self.wishes)
        rules = rules_in(self) if self.own else []
        self._remember()
        kept, dropped = capped([*self.candidates, *rules], self.policy.candidates_per_message)
        mentions: dict[str, Mention] = {}
        for person in (*self.people, *self.spoken_of.values()):
            known = mentions.get(person.id)
            if known is None or (person.relation and not known.relation):
                mentions[person.id] = person.mention()
        ids = sorted(mentions)
        mentions |= {one.id: one for one in self.things}
        together = frozenset((a, b) for place, a in enumerate(ids) for b in ids[place + 1 :])
        if secret:
            return Extraction(wishes=self.wishes, language=self.language)
        return Extraction(
            candidates=tuple(kept),
            todos=tuple(todos_in(self)) if self.own else (),
            finished=tuple(finished_in(self)),
            endings=tuple(endings_in(self)),
            wishes=self.wishes,
            mentions=tuple(mentions.values())[: self.policy.entities_per_message],
            together=together,
            unkept=(*self.unkept, *dropped),
            language=self.language,
        )
