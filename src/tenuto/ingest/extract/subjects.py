"""Of whom is it? What was said of one person is not told of another. Pure.

The subject of a clause is the first of: the speaker, a name, a relation word, a pronoun. A word of a proposal that stands
only in clauses about somebody else than the proposal is about, and whom the proposal does not mention, was moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenuto.language import stance
from tenuto.language.lexicon import shipped
from tenuto.language.people import Person, treats
from tenuto.language.quantities import numbers
from tenuto.language.support import TITLES, Word, folded, kin, same_form, same_word, words
from tenuto.text import patterns

if TYPE_CHECKING:
    from tenuto.ingest.extract.claims import View

SELF = frozenset(["self", "i", "me", "user", "the user", "speaker", "", "myself", "we"])
_POSSESSOR = patterns.compile(
    r"(?:\b(?P<who>[^\W\d_]+)['’]s|\b(?:of|de|von|du|do|da) (?:my |mein\w* |mi |mon |ma |meu |minha )?(?P<who2>[^\W\d_]+))\s*$"
)
_POSSESSIVE = patterns.compile(r"my|our|mein\w*|unser\w*|mis?|nuestr\w+|mon|ma|mes|notre|nos|meus?|minhas?|noss\w+")
_NO_SUBJECT = frozenset(
    """
    the a an this that these those it there here what who when where why how yes no yeah ok okay so and but or if then well also just
    now today tomorrow yesterday tonight last next every some any all most many our your der die das ein eine el la los las un una le les
    une o os as um uma ja nein sí no oui non sim não guess let please thanks thank hi hey hello good great nice not only never always
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november
    december back got been still maybe both either neither after before since because while although though each everyone everybody
    you your i'm i've first second third last new old home dinner work job rent lunch breakfast someone nobody can could would should will is are was were do does did have has had dr mr mrs ms prof
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a clause is about: ``kind`` is self, name, title (a name with "Dr"), kin or he."""

    kind: str
    word: str


def subject_of(clause: str, language: str, people: frozenset[str], *, noted: bool = False) -> Subject | None:
    """The first one that a clause names. A note (``noted``) that begins with a verb is about the user."""
    found = words(clause)
    for place, one in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else None
        related = kin(one.plain)
        if related is not None and _means_kin(clause, one, place, found, language):
            return Subject("kin", related)
        if _is_self(one, language):
            if not _owns_kin(one, found[place + 1 : place + 4]):
                return Subject("self", one.plain)
            continue
        if stance.pattern("he", language).fullmatch(one.said.replace("’", "'")):
            doing = stance.pattern("he_does", language).fullmatch(one.said.replace("’", "'"))
            if doing and not _article(one, following, language):
                return Subject("he", one.plain)
        elif one.plain in people or (not (noted and place == 0) and _looks_named(clause, one, place, found, language)):
            return Subject("title" if place and found[place - 1].plain in TITLES else "name", one.plain)
    return None


def _is_self(one: Word, language: str) -> bool:
    return bool(stance.pattern("self", language).fullmatch(one.said.replace("’", "'")))


def _owns_kin(one: Word, behind: Sequence[Word]) -> bool:
    """ "My boss", "my new boss": the speaker is named only to say whose boss."""
    return _POSSESSIVE.fullmatch(one.plain) is not None and any(kin(other.plain) is not None for other in behind)


def _speaks_of_self(text: str, language: str) -> bool:
    found = words(text)
    return any(
        _is_self(one, language) and not _owns_kin(one, found[place + 1 : place + 4]) for place, one in enumerate(found)
    )


def _means_kin(clause: str, one: Word, place: int, found: Sequence[Word], language: str) -> bool:
    """ "My boss", "Mum": not "the boss level", not "son" as Spanish for "are"."""
    before = found[place - 1] if place else None
    if before is not None and (
        _is_self(before, language) or before.plain in ("the", "die", "der", "meine", "el", "la", "le", "o", "a")
    ):
        return _is_self(before, language) or len(one.plain) > 3
    return (
        place == 0
        and len(one.plain) > 2
        and one.plain not in ("son", "kind", "baby", "boy", "chef", "mate", "mari", "fille", "patron")
    )


def _article(one: Word, following: Word | None, language: str) -> bool:
    """Spanish and French "la", "le" stand for "the" before a noun."""
    return (
        language in ("es", "fr", "pt", "de")
        and one.plain in ("la", "le", "lo", "les", "sie", "ihr", "sa", "su", "son", "seu", "sua", "ses")
        and following is not None
    )


def _looks_named(clause: str, one: Word, place: int, found: Sequence[Word], language: str) -> bool:
    """A capitalised word with a verb behind it."""
    if (
        not one.said[:1].isupper()
        or len(one.plain) < 3
        or one.plain in _NO_SUBJECT
        or one.said.isupper()
        or numbers(one.said)
    ):
        return False
    if language == "en" and place == 0 and len(one.plain) > 5 and one.plain.endswith("ing"):
        return False
    before = found[place - 1] if place else None
    if (
        language == "de"
        and before is not None
        and patterns.fullmatch(
            r"der|die|das|den|dem|ein\w*|mein\w*|dein\w*|sein\w*|ihr\w*|unser\w*|zum|zur|im|am|beim|kein\w*|\w+e[nmrs]",
            before.plain,
        )
    ):
        return False
    if before is not None and before.plain in (
        "in",
        "at",
        "to",
        "from",
        "nach",
        "aus",
        "bei",
        "en",
        "a",
        "de",
        "em",
        "à",
        "chez",
        "of",
        "near",
        "for",
        "with",
        "on",
    ):
        return language == "pt" and before.plain == "a" and place == 1
    behind = clause[one.start + len(one.said) :]
    if language == "en":
        return bool(_DOES.match(behind)) or _nominal(place, found, behind)
    return bool(patterns.match(r"(?:['’]s)?,? [a-z]", behind) or behind.startswith(("'s", "’s")))


_DOES = patterns.compile(
    r"(?:['’]s|['’]ll|['’]d)\b|,? (?:who )?(?:is|was|has|had|does|did|can|can't|could|will|won't|would|may|must|got|went|told|made|came|took|gave|left|"
    r"put|saw|said|and i|and me|isn't|wasn't|doesn't|didn't|only|just|still|never|always|also|takes|lives|works|likes|loves|plays|sings|runs|goes|wants|"
    r"needs|knows|says|thinks|hates|eats|drinks|drives|teaches|studies|makes|comes|gets|keeps|sells|speaks|visits|calls|moves|starts|turns|carries|wears|"
    r"owns|leads|leaves|stays|helps|uses|brings|gives|[a-z]{3,}ed)\b",
    "i",
)


def _nominal(place: int, found: Sequence[Word], behind: str) -> bool:
    """ "…and Dr Falkner the heart": a title makes the name, the verb may be left out."""
    return bool(place) and found[place - 1].plain in TITLES and bool(patterns.match(r" [a-z]", behind))


def wrong_person(
    about: str, value: str | None, content: str, text: str, clauses: Sequence[stance.Clause], view: View
) -> str | None:
    """Whether the quote speaks of somebody else than the proposal does."""
    language, people = view.language, view.shown.people | _names_in(view)
    subjects = [subject_of(one.text, language, people) for one in clauses]
    if about.casefold().strip() in SELF:
        mine = any(_speaks_of_self(one.text, language) for one in clauses)
        others = [one for one in subjects if one is not None and _somebody_else(one, view) and not _helps(one)]
        if not mine and others and not any(_mentions(content, one) for one in others) and not _verb_self(view):
            return f"the quote speaks of {others[0].word}, not of the user"
        return None
    return _pronoun(about, subjects, view) or _possessed(about, view)


def _somebody_else(subject: Subject, view: View) -> bool:
    """Whether a subject is surely another person; of a doctor's "she" what is told is the patient's."""
    if subject.kind == "he":
        return not (
            view.critical and any(treats(_called(one)) for line in view.shown.lines for one in words(line.text))
        )
    return subject.kind == "kin" or (subject.kind == "name" and _surely_named(subject.word, view))


def _called(one: Word) -> Person:
    return Person(id="", label=one.said, start=0, end=0, relation=kin(one.plain))


def _surely_named(word: str, view: View) -> bool:
    """A word that is known as a name, or written like one inside a sentence."""
    if word in view.shown.people or word in shipped().given:
        return True
    texts = [*(line.text for line in view.shown.lines), *view.shown.known]
    return any(one.plain == word and one.said[:1].isupper() and one.start > 0 for text in texts for one in words(text))


def _helps(subject: Subject) -> bool:
    """A doctor or a nurse: what they say, they say of their patient."""
    return treats(Person(id="", label=subject.word, start=0, end=0, relation=subject.word))


def _verb_self(view: View) -> bool:
    """Spanish and Portuguese say "I" by the verb alone."""
    if view.language not in ("es", "pt"):
        return False
    return bool(
        patterns.search(
            r"\b(?:soy|estoy|tengo|voy|hago|puedo|quiero|sé|sou|estou|tenho|vou|faço|posso|quero|\w{3,}(?:o|é|ei|amos|emos|imos))\b",
            view.text[view.start : view.end].lower(),
        )
    )


def _names_in(view: View) -> frozenset[str]:
    """Names in the proposal that are people's: whom it is about."""
    about = view.claim.about
    return frozenset(
        one.plain for one in words(about) if one.said[:1].isupper() and kin(one.plain) is None and len(one.plain) > 2
    )


def _mentions(content: str, subject: Subject) -> bool:
    if subject.kind == "he":
        return False
    return any(one.plain == subject.word or kin(one.plain) == subject.word for one in words(content))


def _pronoun(about: str, subjects: Sequence[Subject | None], view: View) -> str | None:
    """ "She" after "Dr. Amsel saw Mum" is whom the doctor saw, where it is about health or what is allowed."""
    if not subjects or not all(one is None or one.kind == "he" for one in subjects) or not any(subjects):
        return None
    person = Person(id="", label=about, start=0, end=0)
    if not treats(person):
        return None
    name = folded(about.split()[-1])
    if any(one.plain == name for one in words(view.text[: view.end])):
        return None
    earlier = [line.text for line in view.shown.lines[: view.place]]
    others = [
        one
        for text in earlier
        for one in words(text)
        if one.plain != name and ((kin(one.plain) is not None and len(one.plain) > 2) or one.plain in view.shown.people)
    ]
    return f"the doctor is not whom it is about, but {others[-1].said}" if others else None


def _possessed(about: str, view: View) -> str | None:
    """ "My colleague's brother" is not "my brother"."""
    relations = {related for one in [*words(about), *words(view.content)] if (related := kin(one.plain)) is not None}
    if not relations:
        return None
    said = words(view.text)
    found = [one for one in said if kin(one.plain) in relations]
    if not found:
        return None
    owners = [_POSSESSOR.search(view.text[: one.start]) for one in found]
    if not all(owners):
        return None
    owner = owners[0]
    assert owner is not None
    who = folded(owner["who"] or owner["who2"] or "")
    if (
        any(same_word(one.plain, who) for one in words(view.content))
        or not who
        or stance.pattern("self", view.language).fullmatch(who)
    ):
        return None
    return f"it is {owner['who'] or owner['who2']}'s, not the user's"


def foreign_word(view: View) -> str | None:
    """A word of the content that stands only where somebody else is spoken of."""
    people = view.shown.people | _names_in(view) | frozenset(one.plain for one in view.names)
    about = view.claim.about
    lines = [line.text for line in view.shown.lines if line.own]
    told = any(view.quoted.has(one.plain) for one in words(view.claim.value or "") if len(one.plain) > 2)
    recalled = view.shown.known if view.critical and not told else ()
    known = [patterns.sub(r"\([^()]*\)", " ", text) for text in recalled]
    for one in [*view.keywords, *view.names]:
        if _is_about(one, about) or kin(one.plain) is not None:
            continue
        homes = [
            (clause, subject_of(clause.text, view.language, people, noted=noted))
            for text, noted in [*((text, False) for text in lines), *((text, True) for text in known)]
            for clause in stance.clauses(" ".join(text.split()))
            if any(same_form(one.plain, word.plain) for word in words(clause.text))
        ]
        if homes and all(_foreign(subject, clause.text, about, view) for clause, subject in homes):
            return f"{one.said} was said of {homes[0][1].word if homes[0][1] else 'somebody else'}"
    return None


def _is_about(one: Word, about: str) -> bool:
    return any(one.plain == part.plain for part in words(about) if part.plain not in TITLES)


def _foreign(subject: Subject | None, clause: str, about: str, view: View) -> bool:
    """Whether a clause is about somebody whom the proposal neither is about nor mentions."""
    if subject is None or subject.kind == "he":
        return False
    own = about.casefold().strip() in SELF
    here = words(clause)
    if own:
        if subject.kind == "self" or _speaks_of_self(clause, view.language):
            return False
        return (
            subject.kind == "name"
            and not _helps(subject)
            and not _mentions(view.content, subject)
            and subject.word in view.shown.people | _speaking(view)
        )
    if any(_is_about(one, about) for one in here) and subject.kind not in ("name", "title"):
        return False
    if subject.kind == "self":
        third = any(stance.pattern("he", view.language).fullmatch(one.said) for one in here)
        related = any(kin(one.plain) is not None for one in here)
        named = any(one.said[:1].isupper() and place > 0 for place, one in enumerate(here))
        return view.critical and not (third or related or named) and bool(_named_elsewhere(about, view))
    titled = subject.kind == "title" and not any(one.plain in TITLES for one in words(about))
    if subject.kind == "kin" or titled:
        return False
    return (
        not _mentions(view.content, subject)
        and not _is_about(Word(subject.word, subject.word, 0), about)
        and not _alias(subject.word, about, view)
    )


def _speaking(view: View) -> frozenset[str]:
    return frozenset(
        subject.word
        for clause in view.clauses
        if (subject := subject_of(clause.text, view.language, view.shown.people)) is not None and subject.kind == "name"
    )


def _named_elsewhere(about: str, view: View) -> bool:
    """Whether the message names whom it is about in another clause."""
    return any(_is_about(one, about) for one in words(view.text))


def _alias(word: str, about: str, view: View) -> bool:
    """Whether something known tells that both are one person."""
    parts = {one.plain for one in words(about)}
    return any(
        {one.plain for one in words(known)} >= {word} and parts & {one.plain for one in words(known)}
        for known in view.shown.known
    )
