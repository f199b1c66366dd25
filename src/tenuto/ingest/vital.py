"""Life-critical statements, wherever in a sentence they stand: allergies, intolerances, medicines, diagnoses, contacts.

The other rules read clauses of statements. That is too little for what must not be lost: people say it after a colon,
in the middle of a long story, inside a request ("find a restaurant, but mind that Ben is allergic to gluten") or a
question ("what can I cook for my niece, who is allergic to milk?"). So the rules of ``lexicons/vital.toml`` are looked
for in every sentence, and each place is then asked whether it states something: a condition, a doubt, a question about
the very thing, or a tale about invented people states nothing. What would break this: a rule whose words are common
outside its meaning; those check their value against a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenuto.ingest import patterns as p
from tenuto.ingest.checks import known_allergen
from tenuto.ingest.facts import Fact, Rule, compiled, made_of
from tenuto.ingest.lexicon import shipped
from tenuto.ingest.sentences import Sentence, Speech

MOST = 24
"""Facts of one sentence."""
SHORT = 110
"""Characters of a sentence that is kept whole."""
_BREAK = re.compile(r"[,;:()—–]| - |\b(?:and|but|because|so)\b", re.I)
_INVERTED = re.compile(
    r"\b(?:am|is|are|was|were|do|does|did|can|could|should|would|will|may|might|must|shall|has|have|had|isn't|"
    r"aren't|doesn't|don't|didn't|can't|won't|what if|as if|as though)\s+$",
    re.I,
)
_UNREAL = re.compile(
    r"\b(?:if|whether|unless|suppos\w+|imagin\w+|pretend\w*|assum\w+|hypothetical\w*|in case|let's say|say|wonder\w*|"
    r"wish|hop(?:e|ed|ing)|dream\w*|doubt\w*|fear\w*|afraid|worr\w+|thought|joke[ds]?|lie[ds]?|would mean|could mean|"
    r"mean|(?:don't|do not|doesn't|didn't|not) (?:think|believe|know|say)|not (?:true|sure)|unsure|ruled out|"
    r"no longer)\b",
    re.I,
)
_UNREAL_AHEAD = re.compile(
    r"^(?:\w+ ){0,2}(?:imagine|suppose|supposing|assume|assuming|pretend|hypothetically|what if|let's say|say)\b", re.I
)
_TALE = re.compile(
    r"\b(?:stor(?:y|ies)|novel|film|movie|character|book|series|episode|documentary|sitcom|play|game|legend|myth|comic|"
    r"hero|heroine|protagonist|script|screenplay|fairy tale|celebrity|actor|actress|article)\b",
    re.I,
)
_GIVEN = re.compile(
    r"(?:^|[,;:(—–-]|\b(?:who|because|since|as|given|considering|but|although|though|while|and|when|so|"
    r"(?:in mind|knowing|remembering|remember|given|considering|seeing|note|fact|mind|forget|know) that|"
    r"knowing|remember|mind|note|with|for|from|of|about))\s*$",
    re.I,
)
"""What may stand before a statement inside a question."""
_TAKEN_BACK = re.compile(
    r"\b(?:but|though|luckily|fortunately)\b.{0,40}\b(?:negative|false alarm|wasn't|isn't|ruled out|wrong|not true)\b|"
    r"\bfalse alarm\b",
    re.I,
)
_GOES_ON = re.compile(
    r"^(?:it|that|he|she|they|his|her|their|or|otherwise|last time|the last time|one|my|i|even)\b", re.I
)
_OWN = re.compile(r"(?:i|we|my|our|me|us)\b", re.I)
_NOUN = re.compile(r"\{WHOSE\}(?:\{SEVERE\}|\(\?:\w)")
_WHO = {
    "me": "i", "us": "we", "him": "he", "his": "he", "her": "she", "them": "they", "their": "they", "our": "our",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Vital:
    """A fact with the words of the sentence that state it."""

    fact: Fact
    who: str | None
    wording: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a rule fitted: its fact, where the value stands, and whether it is one of a list."""

    rule: Rule
    fact: Fact
    first: int
    last: int
    many: bool
    noun: bool


@lru_cache(maxsize=1)
def _rules() -> dict[str, list[tuple[Rule, re.Pattern[str], bool]]]:
    """The vital rules by their cue, in their order."""
    found: dict[str, list[tuple[Rule, re.Pattern[str], bool]]] = {}
    for rule, pattern in compiled():
        if rule.vital:
            found.setdefault(rule.cue, []).append((rule, pattern, bool(_NOUN.match(rule.pattern))))
    return found


@lru_cache(maxsize=1)
def _cues() -> dict[str, re.Pattern[str]]:
    return {cue: re.compile(cue, re.I) for cue in _rules() if not cue.startswith("@")}


_DOSE = re.compile(r"\d ?(?:mg|mcg|ml|units?|g)\b", re.I)


def _cued(text: str) -> Iterator[tuple[Rule, re.Pattern[str], bool]]:
    """The rules that a text gives any reason to try."""
    lists = shipped()
    for cue, rules in _rules().items():
        if cue == "@medicine":
            wanted = bool(_DOSE.search(text)) or _holds(text, lists.medications)
        elif cue == "@condition":
            wanted = _holds(text, lists.conditions)
        else:
            wanted = bool(_cues()[cue].search(text))
        if wanted:
            yield from rules


def _holds(text: str, names: frozenset[str]) -> bool:
    lowered = text.lower()
    words = re.findall(r"[a-z0-9'-]+", lowered)
    if any(word in names for word in words):
        return True
    return any(name in lowered for name in _phrases(names))


@lru_cache(maxsize=4)
def _phrases(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if " " in name)


def vitals(sentence: Sentence, following: str = "") -> list[Vital]:
    """What a sentence says that must not be lost. ``following`` is the sentence after it, for what came of it."""
    laughed = sentence.speech is Speech.JOKE and sentence.reason in ("ends in laughter", "hyperbole")
    if sentence.speech is Speech.QUOTATION or (sentence.speech is Speech.JOKE and not laughed):
        return []
    text = p.uncontracted(sentence.plain.rstrip(" .!…"))
    whole = f"{text}; {following}" if following and _GOES_ON.match(following) else text
    found: list[Vital] = []
    seen: set[tuple[str, str | None, str]] = set()
    for place in _places(whole, len(text)):
        fact = place.fact
        if not _states(whole, place, sentence) or (laughed and not _known(fact)):
            continue
        mark = (fact.attribute, fact.who, (fact.value or "").lower())
        if mark in seen or len(found) >= MOST:
            continue
        seen.add(mark)
        wording = _wording(whole, place, sentence, len(text))
        if any(wording == one.wording for one in found):
            wording = _part(whole, place, len(text))
        found.append(Vital(fact, _who(fact.who), wording))
    return found


def _places(text: str, end: int) -> Iterator[_Place]:
    taken: list[tuple[int, int]] = []
    for rule, pattern, noun in _cued(text):
        position = 0
        while position < end and (match := pattern.search(text, position)) and match.start() < end:
            made = made_of(rule, match)
            first = match.start("v")
            last = first + len(p.trimmed(match["v"], commas=rule.split or rule.commas))
            position = max(match.start() + 1, last) if made else match.start() + 1
            if not made or any(first < b and a < last for a, b in taken):
                continue
            taken.append((first, last))
            for fact in made:
                yield _Place(rule, fact, first, last, len(made) > 1, noun)


def _known(fact: Fact) -> bool:
    return fact.attribute not in ("allergy", "intolerance") or known_allergen(fact.value or "")


def _states(text: str, place: _Place, sentence: Sentence) -> bool:
    """Does this place state something, or only ask, suppose, doubt or tell a tale?"""
    fact, start = place.fact, place.fact.start
    before = text[:start]
    own = bool(_OWN.match(fact.who or "i"))
    if fact.attribute == "emergency_contact" and sentence.speech is not Speech.QUESTION:
        return not re.search(r"\b(?:don't|do not|never|not)\s+$", before, re.I)
    near = _BREAK.split(before)[-1]
    if _UNREAL_AHEAD.match(text) or _UNREAL.search(near) or _INVERTED.search(before):
        return False
    if _TALE.search(before) and not (own and fact.who):
        return False
    if _TAKEN_BACK.search(text[start:]):
        return False
    if sentence.speech is Speech.QUESTION:
        relative = re.search(r"\bwho\b", text[start : fact.end])
        opens = not before.strip() and "," in text[start:]
        return bool(place.noun or relative or opens or (before.strip() and _GIVEN.search(before)))
    return True


def _who(who: str | None) -> str | None:
    """The subject as the others write it: "her" is "she", "my face" is "my"."""
    word = (who or "").lower()
    first = word.split(" ")[0]
    if re.fullmatch(r"(?:my|his|her) (?:face|lips|throat|skin|eyes|tongue|mouth|body|arms?|hands?)", word):
        return _WHO.get(first, first)
    return _WHO.get(word, who) if who else None


def _wording(text: str, place: _Place, sentence: Sentence, end: int) -> str:
    """The sentence where it is short and says one thing; otherwise the part that does, with one item of a list each."""
    whole = sentence.speech is Speech.STATEMENT and len(sentence.plain) <= SHORT and ":" not in text[: place.fact.start]
    if whole and not place.many:
        return sentence.plain
    return _part(text, place, end)


def _part(text: str, place: _Place, end: int) -> str:
    start = place.fact.start
    if place.many and place.first > start:
        part = text[start : place.first] + (place.fact.value or "")
    elif place.rule.check_name == "reacts":
        part = text[start:][:SHORT]
    elif place.noun:
        part = re.split(r"[,;:()—–]", text[start:end])[0]
    else:
        part = text[start : min(place.fact.end, end) if place.first == start else place.last]
    return re.sub(r",? who (?=(?:is|has|was|can|had)\b(?![^,]*, (?:is|has|was|can|had)\b)|'s)", " ", part).strip(" ,;")
