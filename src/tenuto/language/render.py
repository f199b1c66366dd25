"""A proposition as one sentence that a stranger can read: third person, named, dated, in the language of the talk."""

from __future__ import annotations

from tenuto.language.dates import Moment
from tenuto.language.lexicon import packaged
from tenuto.language.people import Person
from tenuto.language.relations import is_kin_word, relation_of
from tenuto.language.voice import LANGUAGES, third_person
from tenuto.text import patterns


def template(name: str, state: str, language: str) -> str | None:
    """The predicate for a kind of proposition in a state; ``None`` where there is none for that state."""
    table = packaged("render")[language if language in LANGUAGES else "en"]
    found = table.get(name if state == "now" else f"{name}_{state}")
    return None if found is None else str(found)


def word(name: str, language: str) -> str:
    """One of the small words of the table."""
    return str(packaged("render")[language if language in LANGUAGES else "en"][name])


def subject(person: Person | None) -> str:
    """ "Chidi (friend)"; nothing where the proposition is about the user."""
    if person is None:
        return ""
    relation = person.relation
    if relation in (None, "pet") or not person.named or is_kin_word(person.label):
        return person.label
    shown = person.word if person.word and relation_of(person.word) == relation else relation
    if str(shown).casefold() in person.label.casefold():
        return person.label
    return f"{person.label} ({str(shown).replace('_', ' ')})"


def related(who: str, relation: str, owner: str | None, language: str, *, former: bool = False) -> str:
    """ "Tom is Maya's husband"; without a name it is the user's."""
    name = ("former" if former else "relation") + ("" if owner else "_user")
    return word(name, language).format(who=who, rel=relation, user=owner)


def sentence(person: Person | None, predicate: str) -> str:
    """Subject and predicate; without a subject the predicate begins the sentence."""
    said = patterns.sub(r"\s{2,}", " ", f"{subject(person)} {predicate}".strip())
    return said[:1].upper() + said[1:]


def dated(predicate: str, moment: Moment | None, language: str) -> str:
    """The predicate with its time, unless it says it already."""
    if moment is None or moment.text in predicate:
        return predicate
    relation = moment.relation if moment.relation in ("since", "until", "by") else "at"
    return predicate + word(relation, language).format(d=moment.text)


def clause(text: str, person: Person | None, language: str, *, own: bool) -> str:
    """A clause as it was said, told in the third person; somebody else's begins with their name."""
    told = third_person(text, language) if own or person is None else _named(text, person, language)
    told = told.strip(" ,;:.!-–")
    return told[:1].upper() + told[1:]


_LEADING = patterns.compile(r"^(?:he|she|they|er|sie|él|ella|il|elle|ele|ela)(?P<is>['’]s|['’]re|['’]ve)?\s+", "i")


def _named(text: str, person: Person, language: str) -> str:
    told = third_person(text, language)
    match = _LEADING.match(told)
    if match:
        verb = {"'s": "is ", "’s": "is ", "'re": "are ", "’re": "are ", "'ve": "have ", "’ve": "have "}.get(
            match["is"] or "", ""
        )
        return f"{subject(person)} {verb}{told[match.end() :]}"
    if person.label.casefold() in told.casefold() or (person.word and person.word.casefold() in told.casefold()):
        if person.label.casefold() not in told.casefold() and person.word:
            told = patterns.sub(
                rf"\b(?:their |his |her |seine?r? |su |son |sa |seu |sua )?{patterns.escape(person.word)}\b",
                subject(person),
                told,
                count=1,
                flags="i",
            )
        return told
    return f"{subject(person)}: {told}"


_PLANS = ("work", "job", "employer", "home", "study")


def as_now(content: str) -> str | None:
    """A sentence of :func:`template` in the state *plan*, told as what is so since its day; ``None`` if it is none."""
    body, _, date = content.removesuffix(")").rpartition(" (") if content.endswith(")") else (content, "", "")
    for language in LANGUAGES:
        for name in _PLANS:
            plan, now = template(name, "plan", language), template(name, "now", language)
            if plan is not None and now is not None and (found := _filled(body, plan)) is not None:
                start, values = found
                told = body[:start] + now.format(v=values[0], w=values[-1])
                told += word("since", language).format(d=date) if date else ""
                return told[:1].upper() + told[1:]
    return None


def _filled(text: str, form: str) -> tuple[int, list[str]] | None:
    """Where a template begins in a text, and what fills its places there."""
    pieces = form.replace("{w}", "{v}").split("{v}")
    start = text.casefold().find(pieces[0])
    if start < 0 or (start and text[start - 1] != " ") or not text.endswith(pieces[-1]):
        return None
    inner = text[start + len(pieces[0]) : len(text) - len(pieces[-1])]
    values = inner.split(pieces[1], 1) if len(pieces) > 2 else [inner]
    return (start, values) if len(values) == len(pieces) - 1 and all(values) else None
