"""What a clause says about someone: attribute rules as a table, ``lexicons/rules.toml``.

A rule is a pattern over one clause with the subject in front: who, (not), says what. The table is the documentation:
each row names the attribute, whether it holds one value or many, how much it matters and what must hold of the value.
The first row that fits a clause wins, so the special ones stand first. What would break this: a rule that fires on
figures of speech; each has a check for that, and what no rule knows is left to the general weighing in ``worth``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tenuto.ingest import patterns as p
from tenuto.ingest.lexicon import packaged, shipped
from tenuto.records.memory import Kind, Sensitivity, TimeScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    attribute: str
    pattern: str
    kind: Kind = Kind.FACT
    single: bool = False
    importance: float = 6.0
    confidence: float = 0.85
    pin: bool = False
    sensitivity: Sensitivity = Sensitivity.LOW
    scope: TimeScope = TimeScope.ONGOING
    ends: bool = False
    change: bool = False
    check: Callable[[re.Match[str]], bool] | None = None
    check_name: str = ""
    split: bool = False
    """The value is a list; each part becomes a memory of its own."""
    commas: bool = False
    """A comma belongs to the value ("Austin, Texas")."""
    vital: bool = False
    """Life-critical: looked for in whole sentences of every kind by :mod:`tenuto.ingest.vital`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One rule that fitted one clause."""

    rule: Rule
    attribute: str
    value: str | None
    who: str | None
    negated: bool
    past: bool
    start: int
    end: int


def facts(clause: str, *, vital: bool = True) -> Iterator[Fact]:
    """The first rule that fits, as one fact (or several, where the value is a list)."""
    clause = p.uncontracted(clause)
    for rule, pattern in compiled():
        if rule.vital and not vital:
            continue
        match = pattern.search(clause)
        if match is None or _LIKENED.search(clause[: match.start()]) or _of_the_moment(rule, clause):
            continue
        if made := made_of(rule, match):
            yield from made
            return


_LIKENED = re.compile(
    r"\b(?:(?:feel|feels|felt|look|looks|sounds?|seems?|act|acting|live|living) (?:like|as if|as though)|as if|"
    r"as though|wish|wished|dream(?:ed|t|ing)?(?: that)?|pretend(?:ed|ing|s)?(?: that)?|jok(?:e|ed|ing)(?: that)?)\s+$",
    re.I,
)
"""Before a subject: what follows is likened, dreamed or played."""
_MOMENT = re.compile(
    r"\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|once|time)|for (?:a change|tonight|today|once|now|"
    r"the (?:day|night|evening|weekend|moment))|right now|at the moment|just this once)\b",
    re.I,
)
_HABITUAL = ("commute", "wake_time", "bed_time", "work_hours", "diet", "job", "favorite_{topic}", "{topic}")


def _of_the_moment(rule: Rule, clause: str) -> bool:
    """ "I wake up at 5 tomorrow" says nothing about the other days. What says that it changed does."""
    return rule.single and not rule.change and rule.attribute in _HABITUAL and bool(_MOMENT.search(clause))


def made_of(rule: Rule, match: re.Match[str]) -> list[Fact]:
    """The facts of one rule at one place of a text; none when its check does not hold."""
    if rule.check is not None and not rule.check(match):
        return []
    groups = match.groupdict()
    attribute = rule.attribute
    if "{topic}" in attribute:
        attribute = attribute.format(topic=_slug(groups.get("topic") or ""))
    value = p.trimmed(groups["v"], commas=rule.split or rule.commas) if groups.get("v") else None
    if groups.get("v") and not value:
        return []
    before = match.string[: match.end()]
    past = bool(re.search(r"\bused to\b|\bback then\b|\bformerly\b|\bpreviously\b", before, re.I))
    parts: list[str | None] = [value]
    if rule.split and value:
        parts = [*(medicines(value) if rule.attribute == "medication" else p.listed(value))]
    return [
        Fact(
            rule=rule,
            attribute=attribute,
            value=part,
            who=next((text for name, text in groups.items() if name.startswith("s") and text), None),
            negated=any(text for name, text in groups.items() if name.startswith("n") and text),
            past=past,
            start=match.start(),
            end=match.end(),
        )
        for part in parts
    ]


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The table: what is vital first."""
    vital = [{**row, "vital": True} for row in packaged("vital")["rule"]]
    return tuple(_rule(row) for row in (*vital, *packaged("rules")["rule"]))


def _rule(row: dict[str, Any]) -> Rule:
    given = dict(row)
    for name, type_ in (("kind", Kind), ("sensitivity", Sensitivity), ("scope", TimeScope)):
        if name in given:
            given[name] = type_(given[name])
    name = given.pop("check", "")
    return Rule(**given, check=CHECKS[name] if name else None, check_name=name)


@lru_cache(maxsize=1)
def compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    return tuple((rule, re.compile(p.expand(rule.pattern), re.IGNORECASE)) for rule in rules())


def _slug(text: str) -> str:
    return "_".join(re.findall(r"[a-z0-9]+", text.lower()))[:60]


# --- what must hold of a value ----------------------------------------------------------------------------------------


def _place(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"], commas=True)
    head = re.sub(
        r"^(?:downtown|central|north|south|east|west|northern|southern|eastern|western|the) ", "", value, flags=re.I
    )
    first = re.split(r",| in | near ", head)[0].strip().lower()
    if first in shipped().places or head.lower() in shipped().places:
        return True
    inner_capital = any(char.isupper() for word in value.split() for char in word[1:])
    return bool(value) and value[0].isupper() and not inner_capital and first not in p.NOT_PLACES


def _settled(match: re.Match[str]) -> bool:
    """ "Moved to Berlin", not "moved my notes to Obsidian"."""
    if not _place(match):
        return False
    known = p.trimmed(match["v"]).split(",")[0].lower() in shipped().places
    return known or not re.search(
        r"\b(?:entirely|completely|over|on|services|projects|framework|editor|app|tool)\b", match.string, re.I
    )


def _role(match: re.Match[str]) -> bool:
    words = re.sub(r"\b(?:at|for|of|in|with|on|who|that)\b.*$", "", p.trimmed(match["v"]).lower()).split()
    if not words or words[-1] in p.NOT_ROLES:
        return False
    if words[-1] == "owner" and re.search(
        r"\bowner of (?:an?|my|the|two|three) (?!.*\b(?:business|company|shop|"
        r"store|firm|studio|agency|restaurant|caf[eé]|bakery|hotel|bar|salon|gym|farm)\b)",
        match["v"],
        re.I,
    ):
        return False
    tail = words[-1].rstrip("s") if words[-1].endswith("ers") else words[-1]
    return (
        tail in shipped().roles
        or " ".join(words[-2:]) in shipped().roles
        or bool(p.ROLE_ENDING.search(tail) and tail not in p.NOT_ROLES)
        or words[0] in ("vp", "ceo", "cto", "cfo", "head")
    )


def _allergen(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    return (
        bool(value)
        and value not in shipped().not_allergens
        and not re.search(r"(?:ism|ness|ship|hood)s?$", value)
        and not re.match(r"(?:the idea|being|having|anything|everything|it|that|this|them|life|doing|getting)\b", value)
    )


def known_allergen(value: str) -> bool:
    """Does it name something that people are known to react to: a food, a medicine, an animal, a material?"""
    lists, words = shipped(), re.findall(r"[a-z'-]+", value.lower())
    singular = [word[:-3] + "y" if word.endswith("ies") else word.rstrip("s") for word in words]
    return any(word in lists.allergens or word in lists.medications for word in (*words, *singular)) or bool(
        re.search(rf"\b{p.FOOD}\b", value, re.I)
    )


def _known_allergen(match: re.Match[str]) -> bool:
    return known_allergen(p.trimmed(match["v"], commas=True))


def _allergen_list(match: re.Match[str]) -> bool:
    """ "Allergies: penicillin, latex", not "my allergies are acting up"."""
    return all(known_allergen(part) for part in p.listed(p.trimmed(match["v"], commas=True))[:1])


_REACTION = re.compile(
    r"\b(?:shock|anaphyla\w+|epi-?pens?|throat|hives|swell\w*|swollen|rash|hospital|breath\w*|wheez\w+|chok\w+|"
    r"(?:could|would|will|might|nearly|almost) (?:kill|die)\w*|deadly|fatal|life-threatening|allerg\w+|ambulance|"
    r"break(?:s)? out|turns? blue|pass(?:es)? out|reactions?|dangerous for)\b",
    re.I,
)


def _reacts(match: re.Match[str]) -> bool:
    """Something must not be eaten or touched, and what would come of it is said beside it."""
    rest = match.string[: match.start()] + match.string[match.end() :]
    return known_allergen(match["v"]) and bool(_REACTION.search(rest))


def _reachable(match: re.Match[str]) -> bool:
    """Someone who can be called: a name, a relation or a number."""
    value = p.trimmed(match["v"], commas=True)
    named = re.search(p.NAME, value)
    related = re.search(r"\b(?:my|our|his|her) (?:\w+ )?(?P<rel>[\w-]+)", value, re.I)
    return bool(
        (named and named.group().split()[0].lower() not in p.NOT_PEOPLE)
        or (related and related["rel"].lower() in shipped().relations)
        or len(re.findall(r"\d", value)) >= 5
    ) and not re.match(r"(?:the )?(?:police|911|999|112)\b", value, re.I)


_TAKEN = re.compile(
    r",? (?:in the (?:morning|evening|afternoon)s?|at (?:night|noon|bedtime|lunch|breakfast|dinner)|with (?:food|"
    r"meals?|breakfast|lunch|dinner)|(?:before|after) (?:every |each |my |his |her )?(?:meals?|food|bed|"
    r"breakfast|dinner|sleep)|(?:once|twice|\w+ times) (?:a|per) (?:day|week)|(?:once |twice )?(?:daily|weekly|"
    r"nightly)|every .*|as needed|again|now)$",
    re.I,
)


def medicines(value: str) -> list[str]:
    """The medicines of a list without their hours; the whole value when it names just one."""
    parts = [part.strip() for part in re.split(r",\s*(?:and )?|\s+(?:and|plus|&)\s+", value) if part.strip()]
    named = [part for part in parts if _names_medicine(part.lower())]
    if len(named) < 2:
        named = [value]
    return [_TAKEN.sub("", _TAKEN.sub("", part)) or part for part in named]


def _names_medicine(value: str) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", value) for name in shipped().medications)


def _medicine(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"], commas=True).lower()
    dosed = re.search(r"\b\d+ ?(?:mg|mcg|ml|units?|g)\b", match.string, re.I)
    return bool(dosed) or _names_medicine(value)


def _condition(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    bare = re.sub(
        r"^(?:a|an|the|mild|severe|chronic|early|stage \d|early-stage|really bad|bad|terrible|type) ", "", value
    )
    head = " ".join(bare.split()[:4])
    return any(head == name or head.startswith(name + " ") or name in (value, bare) for name in shipped().conditions)


def _diagnosed(match: re.Match[str]) -> bool:
    return not re.match(r"(?:it|that|this|something|nothing|anything)\b", p.trimmed(match["v"]).lower())


def _liked(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"])
    if not value or p.VAGUE.match(value.lower()):
        return False
    return not re.match(
        r"(?:i|we|you|he|she|they|when|how|what|that|if|to (?:see|hear|know|say|think|believe|be able))\b",
        value.lower(),
    )


def _someone(match: re.Match[str]) -> bool:
    first = match["v"].split()[0]
    return first.lower() not in p.NOT_PEOPLE and not re.fullmatch(f"{p.DEMONYM}|{p.LANGUAGE}", first)


def _given(match: re.Match[str]) -> bool:
    return match["v"].split()[0].lower() in shipped().given


def _own_attribute(match: re.Match[str]) -> bool:
    topic = match["topic"].lower().strip()
    words = topic.split()
    if not words or words[-1] in p.NOT_ATTRIBUTES or words[0] in p.NOT_ATTRIBUTES or words[-1].endswith("ing"):
        return False
    if (
        topic in shipped().relations
        or words[-1] in shipped().relations
        or words[-1] in shipped().groups
        or re.search(p.PET, topic)
    ):
        return False
    value = p.trimmed(match["v"])
    return bool(value) and not re.match(
        r"(?:a (?:bit|lot|little|mess|disaster|pain|blast|joy|dream|nightmare|blessing)|the (?:best|worst|same))\b",
        value.lower(),
    )


def _grown(match: re.Match[str]) -> bool:
    digits = re.findall(r"\d+", match["v"])
    return 0 < int(digits[0]) < 120 if digits else bool(re.search(r"\bold\b|\bturn", match.group(), re.I))


def _goal(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    return len(value.split()) >= 2 and not p.EMPTY_PLAN.match(value)


def _status(match: re.Match[str]) -> bool:
    return not re.match(r"(?:single (?:day|one|time)|engaged in|separated from (?:the|my luggage))", match["v"].lower())


def _hired_by(match: re.Match[str]) -> bool:
    return p.trimmed(match["v"]).lower() not in p.NOT_EMPLOYERS


def _hired_with(match: re.Match[str]) -> bool:
    """A job at someone's; "joined a church" or "signed up for a class" is none."""
    before = match.string[match.start() : match.start("v")]
    leisure = re.search(
        r"(?i)\b(?:joined|signed).*\b(?:church|gym|club|class|group|library|shelter|choir|band|charity)\b",
        match.group(),
    )
    return bool(re.search(r"(?i)\b(?:at|with|by|for|joined) ?$", before)) and _hired_by(match) and not leisure


def _ended_job(match: re.Match[str]) -> bool:
    value = match["v"].lower()
    if re.match(r"(?:left|quit|lost) work\b", value):
        return bool(re.search(r"\bfor good\b|\bfor ever\b|\bforever\b|\bpermanently\b", value))
    return not re.match(
        r"fired up|fired (?:the|my|our|him|her|them|off)|retired (?:to (?:bed|my|the|our)|the|my|from the)|"
        r"let go of|.*\bjob (?:application|interview|hunt|offer|title|description|ad|advert|search|list|centre|fair)\b",
        value,
    )


def _left_org(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"])
    return (
        match["v"][0].isupper()
        and value.lower() not in shipped().places
        and value.split()[0].lower() not in shipped().given
    )


def _title(match: re.Match[str]) -> bool:
    return not re.match(
        r"(?:killing|so|very|really|great|good|bad|hard|stressful|boring|fun|done|over|at risk|safe|on)\b",
        match["v"].lower(),
    )


def _two_words(match: re.Match[str]) -> bool:
    return len(match["v"].split()) > 1


def _not_vague(match: re.Match[str]) -> bool:
    return not p.VAGUE.match(p.trimmed(match["v"]).lower() or "it")


def _named_favourite(match: re.Match[str]) -> bool:
    return bool(match["topic"]) and match["v"].split()[0].lower() not in p.NOT_PEOPLE


CHECKS: dict[str, Callable[[re.Match[str]], bool]] = {
    check.__name__.strip("_"): check
    for check in (
        _place, _settled, _role, _allergen, _medicine, _condition, _diagnosed, _liked, _someone, _given,
        _own_attribute, _grown, _goal, _status, _hired_by, _hired_with, _ended_job, _left_org, _title, _two_words,
        _not_vague, _named_favourite, _known_allergen, _allergen_list, _reacts, _reachable,
    )
}  # fmt: skip
