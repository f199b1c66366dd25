"""Whom a message speaks of: the names and relation words that the reader marked, and those of a turn before it.

"My husband Tom" and "Tom, my husband" are one person with a relation; a relation word alone is whoever is known to be
it. Whom a pronoun means is decided in :mod:`tenuto.language.pronouns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tenuto.language.lexicon import packaged, word_list
from tenuto.language.mentions import Mention, Registry, key
from tenuto.language.relations import is_kin_word, is_relation_word, kin_words, only_one, relation_of
from tenuto.records.reading import Mark
from tenuto.text import patterns

_GAP = patterns.compile(
    r"^[\s,:(–—-]*(?:(?:is|was|are|called|named|who is|he's|she's|also|the|a|my|our|me|dear|heißt|heisst|ist|"
    r"namens|es|se llama|llamado|llamada|"
    r"mi|meine?|s'appelle|est|mon|ma|é|chama-se|se chama|chamado|chamada|minha|meu|o|a)[\s,:]*){0,3}$",
    "i",
)
_NEAR = 28
"""Characters between a name and the word for who they are."""
_WORD = patterns.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody (or a pet) as a message names them. ``relation`` is who they are to the user, or "Zoë's brother"."""

    id: str
    label: str
    start: int
    end: int
    relation: str | None = None
    word: str | None = None
    named: bool = True
    over: bool = False
    type: str = "person"
    aside: bool = False
    """Only somebody's company ("with her husband"): what follows is not about them."""

    def mention(self) -> Mention:
        alias = self.word if self.word and self.word.casefold() != self.label.casefold() else None
        return Mention(
            id=self.id,
            type=self.type,
            label=self.label,
            start=self.start,
            end=self.end,
            relation=self.relation,
            alias=alias,
        )


_PROFESSIONAL = frozenset({"gp", "dentist", "therapist", "neurologist", "cardiologist", "nurse", "carer"})
_TITLE = patterns.compile(
    r"^(?:dr|prof|nurse|doctor|professor|frau dr|herr dr|dra|doctora|docteur|doutora?|doktor)\b|"
    r"(?:nurse|doctor|pharmacist|physio\w*|consultant|surgeon|midwife|paramedic|locum|ärztin|arzt|apotheker\w*|médic\w+|enfermer\w+|"
    r"farmac\w+|infirm\w+|pharmacien\w*|neurolog\w+|cardiolog\w+|dermatolog\w+|specialist|therapist|psychiatrist|"
    r"matron|doctor|vet|tierarzt|tierärztin|veterinari\w+|vétérinaire|hebamme|pfleger\w*|médecin|matrone|paediatrician|pediatrician|dietitian|dietician)\b",
    "i",
)


def treats(person: Person) -> bool:
    """Whether somebody is spoken of as the one who treats or helps: what they prescribe is not their own."""
    return (
        (person.relation or "").rpartition("'s ")[2] in _PROFESSIONAL
        or bool(_TITLE.search((person.relation or "").partition("'s ")[0]))
        or bool(_TITLE.search(person.label))
        or bool(_TITLE.search(person.word or ""))
    )


def names_treater(sentence: str) -> bool:
    """Whether a sentence speaks of somebody who treats: a doctor, a nurse, a specialist."""
    return bool(_TITLE.search(sentence))


def people_in(text: str, marks: Sequence[Mark], registry: Registry, earlier: Sequence[Person] = ()) -> list[Person]:
    """The people that the marks of one message name, in order; ``earlier`` are those of the talk before."""
    found: list[Person] = []
    relevant = _as_people(text, marks)
    index = 0
    while index < len(relevant):
        mark, following = relevant[index], relevant[index + 1] if index + 1 < len(relevant) else None
        if following is not None and _joined(text, mark, following):
            found.append(_pair(text, mark, following, registry, [*earlier, *found]))
            index += 2
            continue
        if (
            mark.type == "rel"
            and found
            and found[-1].relation is None
            and _OF_PRONOUN.search(text[max(0, mark.start - 28) : mark.start])
        ):
            word = text[mark.start : mark.end].strip()
            found[-1] = replace(found[-1], relation=_relation(text, mark, word, found[:-1]), word=word)
            index += 1
            continue
        if mark.type == "rel" and found and found[-1].relation is None and found[-1].named and _alone(text, mark):
            word = text[mark.start : mark.end].strip()
            found[-1] = replace(found[-1], relation=relation_of(word), word=word, over=mark.state == "end")
            index += 1
            continue
        single = _single(text, mark, registry, [*earlier, *found])
        if found and mark.type == "person" and _other_form(text, found[-1], single):
            single = replace(
                found[-1],
                start=single.start,
                end=single.end,
                word=single.label if found[-1].word is None else found[-1].word,
            )
        found.append(single)
        index += 1
    return found


def _as_people(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks of people in order; a "pet" beside a relation word is a person: "my twin Ruby"."""
    people = (one for one in marks if one.type in ("person", "pet") or (one.type == "rel" and _says_who(text, one)))
    found = sorted(people, key=lambda one: one.start)
    return [
        replace(one, type="person")
        if one.type == "pet"
        and index
        and found[index - 1].type == "rel"
        and is_relation_word(text[found[index - 1].start : found[index - 1].end])
        and text[found[index - 1].end : one.start].strip(" ,") == ""
        else one
        for index, one in enumerate(found)
    ]


def _says_who(text: str, mark: Mark) -> bool:
    """Whether a word that was marked as a relation is one: not "own", "lady" or "home"."""
    said = text[mark.start : mark.end]
    return is_relation_word(said) or bool(_TITLE.search(said))


_OF_PRONOUN = patterns.compile(
    r"\b(?:he|she|er|sie|él|ella|il|elle|ele|ela)(?:['’]s| is| was| ist| war| es| est| é)\s+(?:(?:my|our|"
    r"mein\w*|unser\w*|mi|nuestr\w|mon|ma|notre|"
    r"meu|minha|o meu|a minha|noss\w) )(?:\w+ )?$",
    "i",
)
""" "He is our …": the relation of whoever was named last."""


def _alone(text: str, mark: Mark) -> bool:
    """ "My husband." as a sentence of its own says who was just named."""
    before = patterns.split(r"[.!?\n]", text[: mark.start])[-1].strip().lower()
    after = text[mark.end : mark.end + 2]
    return before in _MINE and (not after.strip() or after[:1] in ".!?\n")


_MINE = frozenset(["", "my", "our", "the", "mein", "meine", "mi", "mon", "ma", "meu", "minha", "o meu", "a minha"])


def _other_form(text: str, one: Person, other: Person) -> bool:
    """ "Phil, Philomena," is one person by two names."""
    a, b = sorted((one.label.casefold(), other.label.casefold()), key=len)
    return text[one.end : other.start].strip(" (") in ("", ",") and len(a) >= 3 and b.startswith(a[:3]) and a != b


_CALLED = patterns.compile(
    r"^\s+(?:is|was|will be|ist|war|wird|heißt|es|era|será|est|sera|é|'s|’s)\b[^.,;!?]{0,36}$", "i"
)
_INSERTED = patterns.compile(r"^[^.;!?]{0,40}, $")


def _joined(text: str, one: Mark, other: Mark) -> bool:
    if {one.type, other.type} != {"person", "rel"}:
        return False
    gap = text[one.end : other.start]
    if one.type == "rel" and (_CALLED.match(gap) or (_INSERTED.match(gap) and text[other.end : other.end + 1] == ",")):
        return True
    if other.start - one.end > _NEAR:
        return False
    if one.type == "person" and gap.lstrip().startswith(("'s", "’s")):
        return False
    return bool(_GAP.match(gap))


def _pair(text: str, one: Mark, other: Mark, registry: Registry, before: Sequence[Person]) -> Person:
    name, rel = (one, other) if one.type == "person" else (other, one)
    label, word = _known_form(tidy_name(text[name.start : name.end]), registry), text[rel.start : rel.end].strip()
    relation = _relation(text, rel, word, before)
    return Person(
        id=known_id(label, relation, registry),
        label=label,
        start=one.start,
        end=other.end,
        relation=relation,
        word=word,
        over=rel.state == "end" or name.state == "end",
    )


def _single(text: str, mark: Mark, registry: Registry, before: Sequence[Person]) -> Person:
    said = text[mark.start : mark.end].strip()
    if mark.type in ("person", "pet"):
        label = _known_form(tidy_name(said), registry)
        relation = "pet" if mark.type == "pet" else None
        id = known_id(label, relation, registry)
        return Person(
            id=id,
            label=registry.labels.get(id, label),
            start=mark.start,
            end=mark.end,
            over=mark.state == "end",
            relation=relation or relation_in(registry, id),
        )
    said = _one_of(said)
    relation = _relation(text, mark, said, before)
    if "'s " in relation:
        owner = relation.partition("'s ")[0]
        label = f"{owner}'s {said}"
        return Person(
            id=registry.names.get(label.casefold(), key("person", label)),
            label=label,
            start=mark.start,
            end=mark.end,
            relation=relation,
            word=said,
            named=False,
            over=mark.state == "end",
        )
    ids = registry.relations.get(relation, ())
    if not ids and relation not in kin_words()[0].values():
        ids = ()
    id = ids[-1] if len(ids) == 1 or (ids and only_one(relation)) else key("person", said)
    label = registry.labels.get(id) or said[:1].upper() + said[1:]
    return Person(
        id=id,
        label=label,
        start=mark.start,
        end=mark.end,
        relation=relation,
        word=said,
        named=bool(ids) and not is_kin_word(label),
        over=mark.state == "end",
    )


_HIS = patterns.compile(
    r"\b(?:(?P<m>his|sein\w{0,2})|(?P<f>her|ihr\w{0,2})|(?P<x>su|son|sa|seu|sua|their))\s+(?:(?:little|big|older|younger|old|new|own) )?$",
    "i",
)
_OF_HIM = patterns.compile(r"^\s+(?:(?P<m>dele)|(?P<f>dela))\b", "i")


def _relation(text: str, rel: Mark, word: str, before: Sequence[Person]) -> str:
    """Who somebody is to the user, or to whom they belong: "Zoë's brother", "her husband"."""
    relation = relation_of(word)
    near = [one for one in before if one.end <= rel.start and one.start != one.end]
    if near and text[near[-1].end : rel.start].strip() in ("'s", "’s", "'", "’"):
        return f"{near[-1].label}'s {relation.replace('_', ' ')}"
    his = _HIS.search(text[max(0, rel.start - 24) : rel.start]) or _OF_HIM.match(text[rel.end : rel.end + 8])
    if his is None or (his.groupdict().get("x") and rel.owner != "other"):
        return relation
    gender = "m" if his["m"] else "f" if his["f"] else None
    owner = next((one for one in reversed(before) if gender is None or gender_of(one) in (None, gender)), None)
    return relation if owner is None else f"{owner.label}'s {relation.replace('_', ' ')}"


def _one_of(said: str) -> str:
    """ "Mums" as people type "mum's"."""
    words, low = kin_words()[0], said.casefold()
    return said[:-1] if low.endswith("s") and low not in words and low[:-1] in words else said


def _known_form(label: str, registry: Registry) -> str:
    """A name with a plural or possessive "s" too many is the known one: "Idriss" is Idris."""
    low = label.casefold()
    if low in registry.names or not low.endswith("s"):
        return label
    return label[:-1] if known_person(low[:-1], registry) is not None else label


_HONOURED = patterns.compile(
    r"^(?:(?P<f>mrs|ms|miss|frau|auntie|aunt|sra|señora|mme|madame|dona|dra)|(?P<m>mr|herr|uncle|sr|señor|monsieur|don))\b",
    "i",
)


@lru_cache(maxsize=1)
def _given() -> tuple[frozenset[str], frozenset[str]]:
    names = packaged("pronouns")["names"]
    return frozenset(names["female"].split()), frozenset(names["male"].split())


def gender_of(person: Person) -> str | None:
    """ "m" or "f" where a relation, a title or a given name tells it."""
    _, _, female, male = kin_words()
    relation = (person.relation or "").rpartition("'s ")[2].replace(" ", "_")
    if relation in female or relation in male:
        return "f" if relation in female else "m"
    if (title := _HONOURED.match(person.label)) is not None:
        return "f" if title["f"] else "m"
    first = person.label.split()[0].casefold() if person.named and person.label.split() else ""
    women, men = _given()
    return "f" if first in women else "m" if first in men else None


_HONORIFIC = patterns.compile(
    r"^(?:(?:dr|mr|mrs|ms|prof|frau|herr|sr|sra|dra|dña|don|doña|mme|m|dona|auntie|aunt|uncle)\b\.?\s*)+", "i"
)


def known_id(label: str, relation: str | None, registry: Registry) -> str:
    """The entity of a name: one that is known by it, or by its first name where only one is."""
    folded = label.casefold()
    if (known := known_person(folded, registry)) is not None:
        return known
    unnamed = [id for id in registry.relations.get(relation or "", ()) if is_kin_word(registry.labels.get(id, ""))]
    if len(unnamed) == 1 and not is_kin_word(label):
        return unnamed[0]
    folded = _HONORIFIC.sub("", folded)
    if (known := known_person(folded, registry)) is not None:
        return known
    first = folded.split()[0] if folded.split() else folded
    fits = {
        id
        for name, id in registry.names.items()
        if id.startswith("person:") and _HONORIFIC.sub("", name).split()[:1] == [first]
    }
    if len(fits) == 1 and (len(folded.split()) == 1 or first in registry.names):
        return next(iter(fits))
    return key("person", label)


def known_person(name: str, registry: Registry) -> str | None:
    """Not the town of that name."""
    id = registry.names.get(name)
    return id if id is not None and id.startswith("person:") else None


def tidy_name(said: str) -> str:
    """A name without "'s" and with capitals where somebody types without."""
    name = patterns.sub(r"['’]s?$", "", said.strip(' .,;:!?"“”()'))
    return " ".join(part[:1].upper() + part[1:] if part.islower() and len(part) > 1 else part for part in name.split())


_NAMELIKE = patterns.compile(r"[A-Z][\w'’-]+(?: [A-Z][\w-]+)?", not_after=r"^ ?|[^ ]|[^a-z,:] | (?:in|at|to) |from ")
_NO_NAME = word_list("no_person")


def in_turn(text: str, registry: Registry, *, names: bool = False) -> list[Person]:
    """People whom a turn before names: by known names and relation words; ``names`` also by what looks like one."""
    found: list[Person] = []
    words = kin_words()[0]
    text = text[:2000]
    for match in _WORD.finditer(text):
        said = patterns.sub(r"['’]s$", "", match[0])
        low = said.casefold()
        if (
            (id := registry.names.get(low)) is not None
            and id.startswith("person:")
            and (said[0].isupper() or low not in words)
        ):
            found.append(
                Person(
                    id=id,
                    label=registry.labels.get(id, said),
                    start=match.start(),
                    end=match.end(),
                    relation=relation_in(registry, id),
                )
            )
        elif low in words and len(low) > 2:
            relation = words[low]
            ids = registry.relations.get(relation, ())
            id = ids[-1] if len(ids) == 1 or (ids and only_one(relation)) else key("person", low)
            label = registry.labels.get(id, said[:1].upper() + said[1:])
            found.append(
                Person(
                    id=id,
                    label=label,
                    start=match.start(),
                    end=match.end(),
                    relation=relation,
                    word=low,
                    named=bool(ids) and not is_kin_word(label),
                )
            )
    for match in _NAMELIKE.finditer(text) if names else ():
        name = patterns.sub(r"['’]s$", "", match[0])
        if name.casefold() not in _NO_NAME and not any(one.start <= match.start() < one.end for one in found):
            found.append(Person(id=known_id(name, None, registry), label=name, start=match.start(), end=match.end()))
    return sorted(found, key=lambda one: one.start)


def relation_in(registry: Registry, id: str) -> str | None:
    """Who somebody is known to be to the user."""
    return next((relation for relation, ids in registry.relations.items() if id in ids), None)
