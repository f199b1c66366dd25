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
    split: bool = False
    """The value is a list; each part becomes a memory of its own."""
    commas: bool = False
    """A comma belongs to the value ("Austin, Texas")."""


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


def facts(clause: str) -> Iterator[Fact]:
    """The first rule that fits, as one fact (or several, where the value is a list)."""
    clause = p.uncontracted(clause)
    for rule, pattern in _compiled():
        match = pattern.search(clause)
        if match is None or (rule.check is not None and not rule.check(match)):
            continue
        groups = match.groupdict()
        attribute = rule.attribute
        if "{topic}" in attribute:
            attribute = attribute.format(topic=_slug(groups.get("topic") or ""))
        value = p.trimmed(groups["v"], commas=rule.split or rule.commas) if groups.get("v") else None
        if groups.get("v") and not value:
            continue
        past = bool(re.search(r"\bused to\b|\bback then\b|\bformerly\b|\bpreviously\b", clause[: match.end()], re.I))
        made = [
            Fact(
                rule=rule,
                attribute=attribute,
                value=part,
                who=groups.get("s"),
                negated=bool(groups.get("n")),
                past=past,
                start=match.start(),
                end=match.end(),
            )
            for part in (p.listed(value) if rule.split and value else [value])
        ]
        yield from made
        return


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The table."""
    return tuple(_rule(row) for row in packaged("rules")["rule"])


def _rule(row: dict[str, Any]) -> Rule:
    given = dict(row)
    for name, type_ in (("kind", Kind), ("sensitivity", Sensitivity), ("scope", TimeScope)):
        if name in given:
            given[name] = type_(given[name])
    check = CHECKS[given.pop("check")] if "check" in given else None
    return Rule(**given, check=check)


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
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
        and not re.match(r"(?:the idea|being|having|anything|everything|it|that|this|them|life|doing|getting)\b", value)
    )


def _medicine(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    dosed = re.search(r"\b\d+ ?(?:mg|mcg|ml|units?|g)\b", match.string, re.I)
    return bool(dosed) or any(re.search(rf"\b{re.escape(name)}\b", value) for name in shipped().medications)


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
    return match["v"].split()[0].lower() not in p.NOT_PEOPLE


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
    return not re.match(r"fired up", match["v"].lower())


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
        _not_vague, _named_favourite,
    )
}  # fmt: skip
