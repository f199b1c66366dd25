"""Who and what is spoken of: mentions in a sentence and their ``type:slug`` keys.

A mention is found by possessives ("my dad", "my sister Anna"), by apposition ("John, my cofounder"), by names that are
known or common, and by capital letters with a preposition or a title that tells the type. What is not told by any of
these is no entity: a wrong one costs more than a missing one. Names that may be one are compared in ``likeness``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from tenuto.ingest.lexicon import shipped, word_list
from tenuto.records.memory import Entity

SELF = "person:user"
"""The key of the user in memory keys. It has no card: the profile domain is the user's card."""

_SMALL = word_list("name_particles")
_TITLE = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|Professor|Uncle|Aunt|Auntie|Grandma|Grandpa|Coach|Sir|Father|Sister)\.? "
    r"(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"
)
_CAPS = re.compile(
    r"(?<![\w'@#/.-])(?:[A-Z][\w&]*(?:[-'][A-Z]\w+)*)(?:(?: (?:of|of the|de|la|van|von|der|da|del|di))?(?: | & "
    r")[A-Z][\w&]*(?:[-'][A-Z]\w+)*){0,4}"
)
_CITY = re.compile(r"(?P<city>[A-Z]\w+(?: [A-Z]\w+){0,2}), (?P<state>[A-Z]\w+(?: [A-Z]\w+){0,2})")
_NOT_NAMES = word_list("not_names")
_ORG = re.compile(
    r"\b(?:Inc|Corp|Corporation|Ltd|LLC|GmbH|Company|University|College|School|Academy|Institute|Hospital|"
    r"Clinic|Bank|Foundation|Church|Club|Labs?|Studio|Studios|Group|Agency|Council|Museum|Airlines|FC|Partners)\b\.?$"
)
_PLACE_TAIL = re.compile(
    r"\b(?:Street|Avenue|Road|Park|Beach|Lake|River|Mountains?|Island|Valley|City|County|Bay|Hills|Square|"
    r"Airport|Station|Village|Springs|Falls|Canyon|Forest)$"
)
_WORK_CUE = re.compile(
    r"\b(?:work(?:s|ed|ing)?|job|position|role|intern(?:s|ed|ing|ship)?|employed|interview(?:ed|ing)?|hired|"
    r"offer|joined|left|quit|founded|startup called|company called|cto|ceo|vp|engineer|manager|designer|"
    r"analyst)\b[^.]{0,24}$",
    re.I,
)
_PERSON_CUE = re.compile(
    r"\b(?:with|and|met|meet|meeting|told|called|named|texted|emailed|asked|visit(?:ed|ing)?|miss|date|dating|"
    r"married|marry|named|see|saw|friend|boss|friends|know|thanks to|hug|love|invited|from)\s*$",
    re.I,
)
_WITH = re.compile(r"\b(?:with|met|told|texted|called|emailed|asked|visited|hugged|married|named)\s*$", re.I)
_PLACE_CUE = re.compile(
    r"\b(?:in|to|from|near|around|visit(?:ed|ing)?|toward|towards|outside|downtown|across|through|of|for|at|"
    r"leaving|left|see|explore|love)\s*$",
    re.I,
)
_PLACE_VERB = re.compile(
    r"\b(?:live[sd]?|living|move[sd]?|moving|based|grew up|born|raised|flew|fly|flying|travel\w*|trip|went|"
    r"going|go|drove|from|"
    r"vacation|holiday|settled|relocat\w+|stay(?:ed|ing)?|hiked?|visit\w*)(?: (?!my|our|his|her|their|it|"
    r"the)\w+){0,2} (?:in|to|from|near|at)\s*$",
    re.I,
)
_PROJECT = re.compile(
    r"\b(?:project|app|product|startup|repo|repository|codebase|library|novel|book|album|podcast|blog|game) "
    r"(?:called |named |titled )?(?P<name>[A-Z][\w.-]+(?: [A-Z][\w.-]+){0,3})|\b[Pp]roject "
    r"(?P<name2>[A-Z][\w-]+)|\b(?:working on|building|launching|shipping) (?:a |an |the |my |our "
    r")?(?P<name3>[A-Z][\w.-]+(?: [A-Z][\w-]+){0,2})(?! (?:in|at)\b)"
)
_VERB_AFTER = re.compile(
    r"^(?:'s|,? who| (?:is|was|has|had|said|says|told|loves|likes|lives|works|moved|called|wants|went|got|can|"
    r"will|and i|just|never|always|also|thinks|asked|gave|helped|came|needs|plays|started|makes|made|turned|"
    r"visited)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One entity as it was named in a sentence."""

    id: str
    type: str
    label: str
    start: int
    end: int
    relation: str | None = None
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """The user's entities, looked up by any of their names or by their relation to the user."""

    names: dict[str, str]
    relations: dict[str, tuple[str, ...]]
    labels: dict[str, str]

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> Registry:
        names: dict[str, str] = {}
        relations: dict[str, tuple[str, ...]] = {}
        labels: dict[str, str] = {}
        alive = {entity.id: entity for entity in entities}
        for entity in alive.values():
            target = resolve(entity.id, alive)
            for name in (entity.label, *entity.aliases):
                names.setdefault(name.casefold(), target)
            if entity.relation and not entity.merged_into:
                known = relations.get(entity.relation, ())
                relations[entity.relation] = (*known, target) if target not in known else known
            labels[entity.id] = entity.label
        return cls(names, relations, labels)


EMPTY = Registry({}, {}, {})


def resolve(id: str, entities: dict[str, Entity]) -> str:
    """Follow merges to the entity that stands; a loop stops where it began."""
    seen = {id}
    while id in entities and entities[id].merged_into and entities[id].merged_into not in seen:
        id = str(entities[id].merged_into)
        seen.add(id)
    return id


def slug(label: str) -> str:
    """Lower case, punctuation removed, spaces and hyphens as underscores."""
    folded = unicodedata.normalize("NFKC", label).casefold()
    kept = "".join(char if char.isalnum() else "_" if char in " -_–\t" else "" for char in folded)
    return re.sub(r"_+", "_", kept).strip("_")[:80]


def key(type_: str, label: str) -> str:
    """``type:slug``."""
    return f"{type_}:{slug(label)}"


def _relation_words() -> str:
    return "|".join(sorted((re.escape(word) for word in shipped().relations), key=len, reverse=True))


_ADJECTIVE = (
    r"(?:(?:dear|new|old|late|lovely|beloved|current|former|eldest|oldest|youngest|younger|older|little|big|"
    r"only|good|close|other|own|great|middle|second|first|ex) ){0,2}"
)
_NAME = r"[A-Z][a-zé]+(?: [A-Z][a-zé]+)?"
_BARE = re.compile(
    r"(?<![\w'])(?P<rel>Mom|Mum|Dad|Mama|Papa|Mommy|Mummy|Daddy|Grandma|Grandpa|Granny|Nana|Grandad|"
    r"Granddad)(?= (?!(?:and) you)|'s|[.,!?]|$)"
)


@lru_cache(maxsize=1)
def _own() -> re.Pattern[str]:
    """ "My sister", "our friend Bob"."""
    relation = _relation_words()
    return re.compile(
        rf"\b(?:my|our|My|Our|MY) {_ADJECTIVE}(?P<rel>{relation}|{relation.title()})\b(?! (?:of the|day|"
        rf"card|s\b))(?:,? (?P<name>(?!(?:I|He|She|We|They|The)\b){_NAME}))?(?:'s)?"
    )


@lru_cache(maxsize=1)
def _apposition() -> re.Pattern[str]:
    """ "John, my cofounder"."""
    return re.compile(rf"(?P<name>{_NAME})(?:,| is| was|'s| \() (?:my|our) {_ADJECTIVE}(?P<rel>{_relation_words()})\b")


def mentions(text: str, registry: Registry = EMPTY, limit: int = 50) -> list[Mention]:
    """The entities that one sentence names, in order, each once."""
    found: list[Mention] = []
    taken: list[tuple[int, int]] = []

    def add(mention: Mention) -> None:
        if len(found) >= limit or any(mention.start < end and start < mention.end for start, end in taken):
            return
        taken.append((mention.start, mention.end))
        if all(mention.id != other.id for other in found):
            found.append(mention)

    for match in _apposition().finditer(text):
        if _could_be_name(match["name"]):
            add(_named_relation(match["name"], match["rel"], match.start(), match.end(), registry))
    for match in _own().finditer(text):
        name = match["name"]
        if name and _could_be_name(name):
            add(_named_relation(name, match["rel"], match.start(), match.end(), registry))
        else:
            add(_relation(match["rel"], match.start(), match.end("rel"), registry))
    for match in _BARE.finditer(text):
        add(_relation(match["rel"], match.start(), match.end(), registry))
    for match in _PROJECT.finditer(text):
        name = match["name"] or match["name2"] or match["name3"]
        if name.split()[0].lower() not in _NOT_NAMES and name.lower() not in shipped().places:
            add(_known(name, "project", match.start(), match.end(), registry))
    for match in _TITLE.finditer(text):
        add(_known(match.group(), "person", match.start(), match.end(), registry))
    for match in _CITY.finditer(text):
        if match["city"].lower() in shipped().places and match["state"].lower() in shipped().places:
            add(_known(match.group(), "place", match.start(), match.end(), registry))
    for match in _CAPS.finditer(text):
        mention = _proper(text, match, registry)
        if mention:
            add(mention)
        if len(found) >= limit:
            break
    found.sort(key=lambda mention: mention.start)
    return found


def _could_be_name(name: str) -> bool:
    return name.split()[0].lower() not in _NOT_NAMES


def _known(label: str, type_: str, start: int, end: int, registry: Registry, relation: str | None = None) -> Mention:
    id = registry.names.get(label.casefold()) or key(type_, label)
    return Mention(id=id, type=id.partition(":")[0], label=label, start=start, end=end, relation=relation)


def _named_relation(name: str, word: str, start: int, end: int, registry: Registry) -> Mention:
    relation = shipped().relations[word.lower()]
    mention = _known(name, "person", start, end, registry, relation)
    return Mention(
        id=mention.id, type="person", label=name, start=start, end=end, relation=relation, alias=word.lower()
    )


def _relation(word: str, start: int, end: int, registry: Registry) -> Mention:
    relation = shipped().relations.get(word.lower(), word.lower())
    known = registry.relations.get(relation, ())
    id = known[0] if len(known) == 1 else key("person", word)
    label = registry.labels.get(id, word[0].upper() + word[1:])
    return Mention(id=id, type="person", label=label, start=start, end=end, relation=relation, alias=word.lower())


def _proper(text: str, match: re.Match[str], registry: Registry) -> Mention | None:
    """A capitalised run with its type, or ``None`` when nothing tells it."""
    label, start = match.group(), match.start()
    words = label.split()
    while words and (words[0].lower() in _NOT_NAMES or words[0].lower() in _SMALL):
        start += len(words.pop(0)) + 1
    if not words:
        return None
    label = " ".join(words)
    end = match.end()
    label = re.sub(r"'s$", "", label)
    lowered = label.lower()
    if lowered in _NOT_NAMES or len(label) < 2:
        return None
    if lowered in registry.names:
        return _known(label, "person", start, end, registry)
    type_ = _type_of(text, label, start, end)
    return _known(label, type_, start, end, registry) if type_ else None


def _type_of(text: str, label: str, start: int, end: int) -> str | None:
    lists, lowered = shipped(), label.lower()
    before, after = text[max(0, start - 40) : start], text[end : end + 14]
    given = label.split()[0].lower() in lists.given
    if _ORG.search(label):
        return "org"
    if lowered in lists.places and not (
        given and (_VERB_AFTER.match(after) or _PERSON_CUE.search(before)) and not _PLACE_VERB.search(before)
    ):
        return "place"
    if given and label.split()[0][1:].islower():
        return "person"
    if not label[0].isupper() or (label.isupper() and len(label) < 3):
        return None
    if _WORK_CUE.search(before) and re.search(r"\b(?:at|for|with|by|called|joined|left|quit|founded)\s*$", before):
        return "org"
    if _PLACE_TAIL.search(label) or (_PLACE_VERB.search(before) and re.search(r"\b(?:in|to|from|near|at)\s*$", before)):
        return "place"
    if " " in label or not label.isalpha() or not label[1:].islower():
        return None
    if re.match(r" and (?:i|my|me)\b", after, re.I) or re.search(r"\b(?:me|i) and $", before, re.I):
        return "person"
    if _WITH.search(before) and not re.match(
        r" [a-z]+s?\b(?<! and)(?<! yesterday)(?<! today)(?<! last)(?<! at)(?<! in)(?<! on)(?<! for)(?<! "
        r"about)(?<! to)(?<! who)(?<! is)",
        after,
    ):
        return "person"
    return "person" if _PERSON_CUE.search(before) and _VERB_AFTER.match(after) else None
