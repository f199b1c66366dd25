"""What must hold of a value before a rule's fact counts: a place, a role, something that people react to, someone.

Figures of speech have the shape of facts ("allergic to Mondays", "I live for coffee", "my boss is Italian"). A rule in
``lexicons/rules.toml`` or ``lexicons/vital.toml`` names its check; each takes the match and says yes or no.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tenuto.ingest import patterns as p
from tenuto.ingest.lexicon import shipped


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


def _starts_at(match: re.Match[str]) -> bool:
    """A job that begins at a named place: not a film, a day or an hour, and not "start Python"."""
    before = match.string[match.start() : match.start("v")].lower().rstrip()
    value = p.trimmed(match["v"])
    return (
        bool(re.search(r"\b(?:at|with|joining)$", before))
        and match["v"][0].isupper()
        and value.split()[0].lower() not in shipped().given
        and not re.match(r"\w+day\b", value, re.I)
        and value.lower() not in shipped().places
        and _hired_by(match)
    )


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
        and value.split()[0].lower() not in (shipped().given | p.NOT_PLACES)
        and not re.match(r"\w+day\b", value, re.I)
    )


def _title(match: re.Match[str]) -> bool:
    return not re.match(
        r"(?:killing|so|very|really|great|good|bad|hard|stressful|boring|fun|done|over|at risk|safe|on)\b",
        match["v"].lower(),
    )


def _schooled(match: re.Match[str]) -> bool:
    """Whose school it is, not who drops by: "I went to school" is none, and "moved to a school" is where one learns."""
    return bool(
        re.search(
            r"\b(?:attend|goes|go to|enrolled|started|transferred|moved|switched|changed|pupil|student)",
            match.group(),
            re.I,
        )
    ) and (len(p.trimmed(match["v"]).split()) > 1)


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
        _own_attribute, _grown, _goal, _status, _hired_by, _hired_with, _starts_at, _ended_job, _left_org, _title,
        _two_words, _not_vague, _named_favourite, _known_allergen, _allergen_list, _reacts, _reachable, _schooled,
    )
}  # fmt: skip
