"""What each kind of value is to memory: its attribute, how much it matters, and whether a new one replaces the old.

Importance follows the rubric: 10 life-critical (allergy, emergency contact, name), 8–9 critical (diagnosis, medicine,
relationship), 6–7 preferences and history, 4–5 routines.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenuto.language.medicines import is_medicine
from tenuto.records.memory import Kind, Sensitivity
from tenuto.text import patterns


@dataclass(frozen=True, slots=True)
class Attribute:
    """How a kind of value is kept. ``single``: one at a time. ``vital``: pinned, and kept also when unsure."""

    name: str
    kind: Kind = Kind.FACT
    importance: float = 6.0
    single: bool = False
    vital: bool = False
    sensitivity: Sensitivity = Sensitivity.LOW


_MEDIUM, _HIGH = Sensitivity.MEDIUM, Sensitivity.HIGH
ATTRIBUTES = {
    "name": Attribute("name", importance=10, single=True),
    "age": Attribute("age", single=True),
    "birthday": Attribute("birthday", importance=7, single=True),
    "home": Attribute("home", importance=7, single=True),
    "origin": Attribute("origin", single=True),
    "job": Attribute("job", importance=7, single=True),
    "employer": Attribute("employer", importance=7, single=True),
    "study": Attribute("study", importance=6.5),
    "lang": Attribute("language", importance=5),
    "status": Attribute("relationship_status", Kind.RELATIONSHIP, 8, single=True),
    "allergy": Attribute("allergy", Kind.CONSTRAINT, 10, vital=True, sensitivity=_HIGH),
    "med": Attribute("medication", Kind.FACT, 9, vital=True, sensitivity=_HIGH),
    "cond": Attribute("condition", Kind.FACT, 8.5, sensitivity=_HIGH),
    "blood": Attribute("blood_type", Kind.FACT, 10, single=True, vital=True, sensitivity=_HIGH),
    "limit": Attribute("limit", Kind.CONSTRAINT, 8, sensitivity=_MEDIUM),
    "contact": Attribute("contact", importance=6.5, single=True, sensitivity=_MEDIUM),
    "sos": Attribute("emergency_contact", Kind.FACT, 10, single=True, vital=True, sensitivity=_MEDIUM),
    "like": Attribute("like", Kind.PREFERENCE, 6),
    "dislike": Attribute("dislike", Kind.PREFERENCE, 6),
    "diet": Attribute("diet", Kind.PREFERENCE, 7, single=True),
    "project": Attribute("project", Kind.PROJECT, 6.5),
    "event": Attribute("event", Kind.TRAJECTORY, 6.5),
    "pet": Attribute("pet", Kind.RELATIONSHIP, 6.5),
    "fact": Attribute("", Kind.FACT, 5.5),
    "habit": Attribute("", Kind.HABIT, 5),
    "goal": Attribute("goal", Kind.TRAJECTORY, 6.5),
}

_SERIOUS = patterns.compile(
    r"diab|zucker|type [12]\b|typ [12]\b|tipo [12]\b|asthm|high pressure|one kidney|epilep|asthma|asma\b|heart|herz|cardi|coraz|coeur|cœur|coração|fibrill|arr?h?[yi]thm|arritm|flimmer|insuffi|insufici|herzschw|pacemaker|schrittmacher|"
    r"marcapasos|kidney|niere|renal|rein|dialys|transplant|liver|leber|hepat|coeliac|celiac|zöliak|cel[ií]ac|cœliaque|"
    r"cancer|krebs|cáncer|tumou?r|leuk|lymphom|chemo|blood pressure|bluthochdruck|hypertens|hipertens|"
    r"migr[aä]i?n|enxaqueca|jaqueca|"
    r"copd|copd|stroke|schlaganfall|ictus|avc\b|derrame|dement|alzheim|cognitive|kognitiv|cognitiv|parkinson|scl[eé]ros|sklerose|"
    r"h(?:ae|e|ä|é)mo(?:ph|f)il|anaphyla|anafil|thyroid|schilddr|tiroid|tireoid|crohn|colitis|kolitis|lupus|sickle|hiv\b|bipolar|"
    r"schizo|seizure|crise convulsive|convuls|thrombo|embol|warfarin|clotting|gerinnung|g6pd|porphyr|addison|"
    r"cystic|mukovis|"
    r"glaucom|insulin|phenylketon|pku\b|long qt|aneurysm|an[eé]vrism|immun|multiple s",
    "i",
)


def serious(condition: str) -> bool:
    """Whether a condition is one that must not be lost: a doctor would ask for it first."""
    return bool(_SERIOUS.search(condition))


_MEASURED = patterns.compile(
    r"lit(?:re|er|ro)s?\b|\bml\b|fluid|flüssigkeit|líquido|liquide|\bsalt|\bsalz|\bsal\b|\bsel\b|sodium|natrium|potassium|kalium|blood.thinner|"
    r"blutverdünner|anticoagul|anaesthe|anesthe|narkose|contrast|kontrastmittel|grapefruit|gluten|\bmri\b|\bmrt\b|magnet",
    "i",
)


def forbids(limit: str) -> bool:
    """Whether a limit names a medicine, or an amount that a doctor set: not "no meetings before ten"."""
    return bool(_MEASURED.search(limit)) or any(
        is_medicine(word) for word in patterns.split(r"[\s/-]+", limit) if len(word) > 4
    )


def attribute(type_: str) -> Attribute:
    return ATTRIBUTES[type_]
