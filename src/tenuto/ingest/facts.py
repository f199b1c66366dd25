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
from tenuto.ingest.checks import CHECKS, medicines
from tenuto.ingest.lexicon import packaged
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
    cue: str = ""
    """What must occur in a sentence for a vital rule to be tried."""
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
