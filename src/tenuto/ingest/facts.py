"""What a clause says about someone: attribute rules as a table.

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

from tenuto.ingest import patterns as p
from tenuto.ingest.lexicon import shipped
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
def _compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    return tuple((rule, re.compile(p.expand(rule.pattern), re.IGNORECASE)) for rule in RULES)


def _slug(text: str) -> str:
    return "_".join(re.findall(r"[a-z0-9]+", text.lower()))[:60]


# --- what must hold of a value ----------------------------------------------------------------------------------------


def _place(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"], commas=True)
    head = re.sub(r"^(?:downtown|central|north|south|east|west|northern|southern|eastern|western|the) ", "", value, flags=re.I)
    first = re.split(r",| in | near ", head)[0].strip().lower()
    if first in shipped().places or head.lower() in shipped().places:
        return True
    inner_capital = any(char.isupper() for word in value.split() for char in word[1:])
    return bool(value) and value[0].isupper() and not inner_capital and first not in p.NOT_PLACES


def _settled(match: re.Match[str]) -> bool:
    """"Moved to Berlin", not "moved my notes to Obsidian"."""
    if not _place(match):
        return False
    known = p.trimmed(match["v"]).split(",")[0].lower() in shipped().places
    return known or not re.search(r"\b(?:entirely|completely|over|on|services|projects|framework|editor|app|tool)\b", match.string, re.I)


def _role(match: re.Match[str]) -> bool:
    words = re.sub(r"\b(?:at|for|of|in|with|on|who|that)\b.*$", "", p.trimmed(match["v"]).lower()).split()
    if not words or words[-1] in p.NOT_ROLES:
        return False
    tail = words[-1].rstrip("s") if words[-1].endswith("ers") else words[-1]
    return tail in shipped().roles or " ".join(words[-2:]) in shipped().roles or bool(p.ROLE_ENDING.search(tail) and tail not in p.NOT_ROLES) or words[0] in ("vp", "ceo", "cto", "cfo", "head")


def _allergen(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    return bool(value) and value not in shipped().not_allergens and not re.match(r"(?:the idea|being|having|anything|everything|it|that|this|them|life|doing|getting)\b", value)


def _medicine(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    dosed = re.search(r"\b\d+ ?(?:mg|mcg|ml|units?|g)\b", match.string, re.I)
    return bool(dosed) or any(re.search(rf"\b{re.escape(name)}\b", value) for name in shipped().medications)


def _condition(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    bare = re.sub(r"^(?:a|an|the|mild|severe|chronic|early|stage \d|early-stage|really bad|bad|terrible|type) ", "", value)
    head = " ".join(bare.split()[:4])
    return any(head == name or head.startswith(name + " ") or name in (value, bare) for name in shipped().conditions)


def _diagnosed(match: re.Match[str]) -> bool:
    return not re.match(r"(?:it|that|this|something|nothing|anything)\b", p.trimmed(match["v"]).lower())


def _liked(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"])
    if not value or p.VAGUE.match(value.lower()):
        return False
    return not re.match(r"(?:i|we|you|he|she|they|when|how|what|that|if|to (?:see|hear|know|say|think|believe|be able))\b", value.lower())


def _someone(match: re.Match[str]) -> bool:
    return match["v"].split()[0].lower() not in p.NOT_PEOPLE


def _given(match: re.Match[str]) -> bool:
    return match["v"].split()[0].lower() in shipped().given


def _own_attribute(match: re.Match[str]) -> bool:
    topic = match["topic"].lower().strip()
    words = topic.split()
    if not words or words[-1] in p.NOT_ATTRIBUTES or words[0] in p.NOT_ATTRIBUTES or words[-1].endswith("ing"):
        return False
    if topic in shipped().relations or words[-1] in shipped().relations or words[-1] in shipped().groups or re.search(p.PET, topic):
        return False
    value = p.trimmed(match["v"])
    return bool(value) and not re.match(r"(?:a (?:bit|lot|little|mess|disaster|pain|blast|joy|dream|nightmare|blessing)|the (?:best|worst|same))\b", value.lower())


def _grown(match: re.Match[str]) -> bool:
    return 0 < int(re.findall(r"\d+", match["v"])[0]) < 120


def _goal(match: re.Match[str]) -> bool:
    value = p.trimmed(match["v"]).lower()
    return len(value.split()) >= 2 and not p.EMPTY_PLAN.match(value)


_SINGLE_RELATION = r"wife|husband|hubby|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|boss|manager|supervisor|landlord|landlady|best friend|doctor|gp|dentist|therapist|cardiologist|psychiatrist|accountant|lawyer|mentor|coach|trainer|vet|mom|mum|mother|dad|father|line manager|pediatrician|oncologist|dermatologist|neurologist|physio|physiotherapist|hairdresser|tutor|advisor"
_RELATION = r"friend|brother|sister|son|daughter|cousin|uncle|aunt|nephew|niece|colleague|coworker|co-worker|cofounder|co-founder|business partner|roommate|flatmate|neighbou?r|classmate|student|client|grandmother|grandma|grandfather|grandpa|stepmother|stepfather|stepson|stepdaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|assistant|teacher|professor|nanny|babysitter|caregiver|ex|ex-wife|ex-husband|investor|agent|godson|goddaughter|child|kid|baby|twin"

RULES: tuple[Rule, ...] = (
    # --- life-critical -----------------------------------------------------------------------------------------------
    Rule(attribute="allergy", pattern=r"{S}{A}(?:{BE}|{HAVE})?{N}{A} (?:(?:been |become |became )?(?:\w+ )?allergic) to (?P<v>.+)", importance=10, confidence=0.95, pin=True, sensitivity=Sensitivity.HIGH, check=_allergen, split=True),
    Rule(attribute="allergy", pattern=r"{S}{A}{N} (?:(?:have|has|had|'ve got|got|developed|suffer from|suffers from)) (?:(?:a |an |any )?(?:\w+ )?allerg(?:y|ies)) to (?P<v>.+)", importance=10, confidence=0.95, pin=True, sensitivity=Sensitivity.HIGH, check=_allergen, split=True),
    Rule(attribute="allergy", pattern=r"{S}{A}{N} (?:(?:have|has|'ve got|got|developed)) (?:a |an |any )?(?:(?:severe|bad|mild|serious|deadly|slight|life-threatening|terrible|strong) )?(?P<v>(?!(?:no|any|food|skin|known)\b)[\w-]+(?: (?!allerg)[\w-]+)?) (?:allergy|allergies)\b", importance=10, confidence=0.93, pin=True, sensitivity=Sensitivity.HIGH, check=_allergen),
    Rule(attribute="allergy", pattern=r"\b(?P<s>my) (?P<v>[\w-]+) allergy (?:is|has|was|got|means)\b", importance=10, confidence=0.9, pin=True, sensitivity=Sensitivity.HIGH, check=_allergen),
    Rule(attribute="emergency_contact", pattern=r"\bmy (?:new )?emergency contact(?: person)? (?:is|:|should be|will be) (?P<v>.+)", kind=Kind.RELATIONSHIP, single=True, importance=10, confidence=0.95, pin=True),
    Rule(attribute="emergency_contact", pattern=r"(?P<v>{NAME}[^.]*?) (?:is my (?:new )?emergency contact)", kind=Kind.RELATIONSHIP, single=True, importance=10, confidence=0.95, pin=True),
    Rule(attribute="blood_type", pattern=r"\bmy blood type is (?P<v>.+)", single=True, importance=10, pin=True, sensitivity=Sensitivity.HIGH),
    Rule(attribute="name", pattern=r"\bmy (?:full |first |real |legal |actual )?name(?: is|'s)(?: actually| really)? (?P<v>{NAME})", single=True, importance=10, confidence=0.97, pin=True, check=_someone),
    Rule(attribute="name", pattern=r"(?:\b(?:you can |please |just |everyone |people |friends |my friends |everybody |they )(?:just |all )?calls? me|^call me|\bi go by|\bi'?m called|\bi am called) (?P<v>{NAME})", single=True, importance=10, confidence=0.93, pin=True, check=_someone),
    Rule(attribute="name", pattern=r"^(?:i'm|i am|this is) (?P<v>{NAME})(?=[.,!]|$| (?:and|from|by the way|btw|here)\b)", single=True, importance=10, confidence=0.85, pin=True, check=_given),
    # --- health ------------------------------------------------------------------------------------------------------
    Rule(attribute="medication", pattern=r"{S}{A}(?:{HAVE})? (?:stopped taking|stopped|quit|came off|went off|am off|'m off|is off|no longer takes?|don't take|doesn't take|do not take|came off of|been taken off|discontinued) (?P<v>.+)", importance=9, confidence=0.88, sensitivity=Sensitivity.HIGH, ends=True, change=True, check=_medicine),
    Rule(attribute="medication", pattern=r"{S}{A}(?:{BE}|{HAVE})?{N}{A} (?:(?:started |been |now |back |just |was |were |am |'m |is |currently )*(?:take|takes|taking|took|on|started|start|starting|prescribed|put on|using|use|uses|given|switched to|need|needs)) (?P<v>.+)", importance=9, confidence=0.88, sensitivity=Sensitivity.HIGH, check=_medicine),
    Rule(attribute="condition", pattern=r"{S}{A}(?:{BE}|{HAVE})?{N}{A} (?:(?:been |just |was |were |got |recently )*diagnosed (?:with|as having)) (?P<v>.+)", importance=9, confidence=0.93, pin=True, sensitivity=Sensitivity.HIGH, check=_diagnosed),
    Rule(attribute="condition", pattern=r"{S}{A}{N}{A} (?:(?:have|has|'ve got|'ve|suffers? from|suffering from|live with|lives with|living with|struggles? with|developed|has got|have got|dealing with|battling)) (?P<v>.+)", importance=9, confidence=0.88, pin=True, sensitivity=Sensitivity.HIGH, check=_condition),
    Rule(attribute="condition", pattern=r"{S}{BE}{N}{A} (?:(?:a |an )?)(?P<v>diabetic|asthmatic|epileptic|autistic|bipolar|deaf|blind|colou?r[- ]?blind|anemic|anaemic|hemophiliac|dyslexic|immunocompromised|hiv positive|hypertensive|in a wheelchair|paralyzed)\b", importance=9, confidence=0.9, pin=True, sensitivity=Sensitivity.HIGH),
    Rule(attribute="pregnancy", pattern=r"{S}{BE}{N}{A} (?P<v>(?:\w+ (?:weeks|months) )?pregnant\b.*)", single=True, importance=9, confidence=0.9, sensitivity=Sensitivity.HIGH),
    # --- who is who --------------------------------------------------------------------------------------------------
    Rule(attribute="{topic}", pattern=r"(?:\bmy|our) (?:(?:new|current) )?(?P<topic>" + _SINGLE_RELATION + r")(?: is| is called| is named|'s name is| is now|'s called)(?: now)? (?P<v>(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?{NAME})", kind=Kind.RELATIONSHIP, single=True, importance=8, confidence=0.9, check=_someone),
    Rule(attribute="{topic}", pattern=r"(?P<v>(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?{NAME})(?:,| is| is now|'s| became| will be) (?:my|our) (?:(?:new|current|amazing|lovely|wonderful|dear) )?(?P<topic>" + _SINGLE_RELATION + r")\b(?!'s)", kind=Kind.RELATIONSHIP, single=True, importance=8, confidence=0.9, check=_someone),
    Rule(attribute="{topic}", pattern=r"{S}{A}(?:{HAVE})?{A} (?:switched|changed|moved) (?P<topic>cardiologist|dentist|doctor|therapist|gp|lawyer|accountant|gym|bank|phone carrier|insurance|school|landlord|trainer|vet|psychiatrist)s? to (?P<v>.+)", kind=Kind.RELATIONSHIP, single=True, importance=7, confidence=0.85, change=True),
    Rule(attribute="{topic}", pattern=r"(?:\bmy|our) (?:(?:new|little|big|older|younger|twin|youngest|oldest|eldest|best|old|good|close|childhood) ){{0,2}}(?P<topic>" + _RELATION + r")(?:(?: is|,)? (?:called|named)|'s name is| is) (?P<v>{NAME})", kind=Kind.RELATIONSHIP, importance=8, confidence=0.9, check=_someone),
    Rule(attribute="{topic}", pattern=r"(?P<v>{NAME})(?:,| is| was|'s) (?:my|our) (?:(?:new|little|big|older|younger|twin|youngest|oldest|eldest|best|old|good|close|childhood|dear|former) ){{0,2}}(?P<topic>" + _RELATION + r")\b(?!'s)", kind=Kind.RELATIONSHIP, importance=8, confidence=0.9, check=_someone),
    Rule(attribute="relationship_status", pattern=r"{S}(?:{BE}|{HAVE}| (?:just )?(?:got|became)){N}{A}(?: been)? (?P<v>(?:happily |newly |recently |now )*(?:married|engaged|single|divorced|separated|widowed|a widow|a widower|in a relationship|seeing someone|dating)\b.*)", kind=Kind.RELATIONSHIP, single=True, importance=8, confidence=0.88, check=lambda m: not re.match(r"(?:single (?:day|one|time)|engaged in|separated from (?:the|my luggage))", m["v"].lower())),
    Rule(attribute="relationship_status", pattern=r"{S}(?:{HAVE})?{A} (?P<v>(?:broke up|split up|got divorced|separated|tied the knot|called off (?:the|our) (?:wedding|engagement))\b.*)", kind=Kind.RELATIONSHIP, single=True, importance=8, confidence=0.85, change=True),
    Rule(attribute="family", pattern=r"{S}{A}{N} (?:have|has|'ve got|had|'ve) (?P<v>(?:an? |one |two |three |four |five |six |\d |no |a few |twin )(?:[\w-]+ ){{0,3}}?(?:kids?|children|sons?|daughters?|brothers?|sisters?|siblings?|twins|grandkids|grandchildren|bab(?:y|ies)|wife|husband|boyfriend|girlfriend|stepson|stepdaughter|nieces?|nephews?|cousins?|roommates?)\b.*)", kind=Kind.RELATIONSHIP, importance=8, confidence=0.86),
    # --- pets --------------------------------------------------------------------------------------------------------
    Rule(attribute="pet", pattern=r"{S}{A}(?:{HAVE})?{N}{A} (?:have|has|had|got|adopted|own|owns|rescued|bought|'ve got|'ve had|fostered|fostering|getting|welcomed) (?P<v>(?:an? |one |two |three |four |five |\d+ |our |my |the )?(?:[\w-]+ ){{0,3}}?{PET}\b.*)", importance=7, confidence=0.85),
    Rule(attribute="pet", pattern=r"(?:\bmy|our) (?:(?:[a-z-]+ ){{0,2}})(?P<topic>{PET})(?:(?: is|,)? (?:called|named)|'s name is| is|,|s are(?: called| named)?|s' names are)? (?P<v>{NAME}(?:,? and {NAME})?)", importance=7, confidence=0.86, check=_someone),
    Rule(attribute="pet", pattern=r"(?P<v>{NAME})(?:,| is| was) (?:my|our) (?:(?:[a-z-]+ ){{0,2}})(?P<topic>{PET})\b", importance=7, confidence=0.86, check=_someone),
    # --- where and what work -----------------------------------------------------------------------------------------
    Rule(attribute="past_home", pattern=r"{S}{A}(?:{HAVE})?{A} (?:used to live|lived|was living|were living|was based) (?:in|near|at) (?P<v>{PLACE})", importance=6, confidence=0.82, scope=TimeScope.HISTORICAL, commas=True, check=_place),
    Rule(attribute="home", pattern=r"{S}(?:{BE}|{HAVE})?{N}{A} (?:live|lives|living|been living|lived|reside|resides|based|settled|staying permanently) (?:now |currently |right )?(?:in|near|at|out of|outside) (?P<v>{PLACE})", single=True, importance=8, confidence=0.93, commas=True, check=_place),
    Rule(attribute="home", pattern=r"{S}(?:{HAVE})?{A}{N} (?:moved|relocated|resettled|emigrated|immigrated|moved back|moved out|moved here)(?: back| over| permanently| house)?(?: from [\w ,]+?)? (?:to|into) (?P<v>{PLACE})", single=True, importance=8, confidence=0.9, change=True, commas=True, check=_settled),
    Rule(attribute="home", pattern=r"\b(?P<s>my|our) (?:new |current )?(?:home|house|apartment|flat|place|home address|address) is (?:now )?(?:in|at|on|near)? ?(?-i:(?P<v>[A-Z0-9].+))", single=True, importance=8, confidence=0.88),
    Rule(attribute="origin", pattern=r"{S}(?:{BE}|{HAVE})?{A} (?:(?:originally )?from|come from|comes from|originally come from|was born in|were born in|born in|born and raised in|grew up in|was raised in|raised in) (?P<v>{PLACE})", single=True, importance=7, confidence=0.9, commas=True, check=_place),
    Rule(attribute="employer", pattern=r"{S}(?:{BE}|{HAVE})?{N}{A} (?:(?:used to |previously |formerly )?(?:work|works|working|been working|worked|employed|interning|teaching|teach|teaches)) (?:(?:full[- ]time|part[- ]time|remotely|now|currently|there|as an? [\w ]+?|in [\w ]+?) )?(?:at|for|with) (?P<v>{ORG})", single=True, importance=8, confidence=0.9, check=lambda m: p.trimmed(m["v"]).lower() not in p.NOT_EMPLOYERS),
    Rule(attribute="employer", pattern=r"{S}(?:{HAVE})?{A} (?:(?:(?:got|took|accepted|landed|started|starting|found|have|has|'ve got) (?:an? |my |the )?(?:[\w-]+ ){{0,4}}?(?:job|position|role|internship|gig|offer))|started(?: working)?|joined|hired|signed|signed a contract|been hired|got hired|work) (?:(?:at|with|by|for) )?(?P<v>{ORG})", single=True, importance=8, confidence=0.84, change=True, check=lambda m: bool(re.search(r"(?i)\b(?:at|with|by|for|joined) ?$", m.string[m.start() : m.start("v")])) and p.trimmed(m["v"]).lower() not in p.NOT_EMPLOYERS),
    Rule(attribute="employer", pattern=r"{S}(?:{HAVE})?{A} (?:run|runs|own|owns|founded|started|opened|launched|set up|co-founded|started up|running|am running|'m running) (?P<v>(?:my own|our own|his own|her own|their own|a|an) (?:[\w-]+ ){{0,3}}?(?:business|company|studio|startup|shop|store|agency|consultancy|firm|practice|restaurant|cafe|café|bakery|brand|bookstore|salon|gym|nonprofit)\b.*)", single=True, importance=8, confidence=0.85, change=True),
    Rule(attribute="employer", pattern=r"{S}(?:{HAVE})?{A}(?:{BE})?{A} (?P<v>(?:(?:left|quit|resigned from|resigned|lost|walked away from) (?:my (?:\w+ )?job|my (?:\w+ )?position|my role|the company|work|the firm)|got (?:fired|laid off|let go|sacked)|(?:been |was |were )?(?:laid off|fired|let go|made redundant)|retired|unemployed|between jobs|out of work|out of a job|lost (?:my|the) job)\b.*)", single=True, importance=8, confidence=0.86, ends=True, change=True, check=lambda m: not re.match(r"fired up", m["v"].lower())),
    Rule(attribute="employer", pattern=r"{S}(?:{HAVE})?{A} (?:left|quit|resigned from|departed) (?P<v>{ORG})", single=True, importance=8, confidence=0.75, ends=True, change=True, check=lambda m: m["v"][0].isupper() and p.trimmed(m["v"]).lower() not in shipped().places and p.trimmed(m["v"]).split()[0].lower() not in shipped().given),
    Rule(attribute="job", pattern=r"{S}(?:{HAVE})?{A}(?:{BE})?{A} (?:(?:been |was |were |got |just )*promoted to) (?:a |an |the )?(?P<v>.+)", single=True, importance=8, confidence=0.9, change=True),
    Rule(attribute="job", pattern=r"{S}(?:{BE}|{HAVE})?{N}{A} (?:(?:used to )?(?:work|works|working|worked|employed|freelance|freelances|freelancing|moonlight|started(?: a (?:new )?job)?|been working|took a job|got a job|hired)) as (?:a |an |the )?(?P<v>.+)", single=True, importance=8, confidence=0.9, check=_role),
    Rule(attribute="job", pattern=r"{S}{BE}{N}{A} (?:a|an|the|now a|now an) (?P<v>(?:[\w'-]+ ){{0,4}}?[\w-]+(?: (?:of|at|for|in|with) .+)?)$", single=True, importance=7.5, confidence=0.82, check=_role),
    Rule(attribute="job", pattern=r"{S}(?:{HAVE})?{A} (?:became|become|'ve become|retrained as|qualified as) (?:a |an |the )?(?P<v>.+)", single=True, importance=7.5, confidence=0.8, change=True, check=_role),
    Rule(attribute="job", pattern=r"\bmy (?:current |new |day |linkedin )?(?:job|title|job title|role|position|profession|occupation|linkedin title) is (?:now )?(?:as )?(?:a |an |the )?(?P<v>.+)", single=True, importance=8, confidence=0.88, check=lambda m: not re.match(r"(?:killing|so|very|really|great|good|bad|hard|stressful|boring|fun|done|over|at risk|safe|on)\b", m["v"].lower())),
    Rule(attribute="education", pattern=r"{S}(?:{BE}|{HAVE})?{N}{A} (?P<v>(?:study|studies|studying|studied|been studying|majoring|majored|graduated|graduating|enrolled|attending|attend|attends|attended|doing a (?:phd|master's|masters|degree)|got (?:my|a|an|his|her) (?:degree|phd|master's|masters|diploma|ged|bachelor's|mba)|finished (?:my|a) (?:degree|phd|master's|masters|studies|thesis)|went to (?:college|university|law school|med school|school))\b.*)", importance=7, confidence=0.82, check=lambda m: len(m["v"].split()) > 1),
    # --- who one is --------------------------------------------------------------------------------------------------
    Rule(attribute="age", pattern=r"{S}{BE}{A} (?P<v>\d{{1,3}})(?:(?: |-)years?(?: |-)old| yo\b| y/o|(?=[.,!;]|$| and\b| now\b))", single=True, importance=7.5, confidence=0.9, check=_grown),
    Rule(attribute="age", pattern=r"{S}{A}(?:{HAVE})?{A} (?:turned|turn) (?P<v>\d{{1,3}})\b(?!:|%| degrees)", single=True, importance=7.5, confidence=0.86, change=True, check=_grown),
    Rule(attribute="birthday", pattern=r"(?P<s>\bmy|our|[\w']+'s|\bmy [\w]+'s) (?:birthday|b-day|bday|birth date|date of birth) (?:is|falls)(?: on| in)? (?P<v>.*?(?:\d|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|christmas|halloween|today|tomorrow|next|this).*)", single=True, importance=8, confidence=0.9),
    Rule(attribute="birthday", pattern=r"{S}{BE}? ?(?:was|were)? ?(?:born) (?:on|in) (?P<v>(?:the )?(?:\d|january|february|march|april|may|june|july|august|september|october|november|december).*)", single=True, importance=8, confidence=0.88),
    Rule(attribute="nationality", pattern=r"{S}{BE}{N}{A} (?:half |originally |a |an )?(?P<v>{DEMONYM})\b(?! (?:food|music|restaurant|class|teacher))", importance=7, confidence=0.85),
    Rule(attribute="language", pattern=r"{S}{A}{N} (?:speaks?|am fluent in|'m fluent in|is fluent in|know) (?:fluent |some |a little |a bit of |basic |only )?(?P<v>{LANGUAGE}\b.*)", importance=6.5, confidence=0.88),
    Rule(attribute="language", pattern=r"{S}(?:{BE}|{HAVE}){A} (?:been )?(?P<v>(?:learning|studying|practicing|practising|fluent in|teaching myself|trying to learn) {LANGUAGE}\b.*)", importance=6.5, confidence=0.86),
    Rule(attribute="native_language", pattern=r"\bmy (?:native|first|mother) (?:language|tongue) is (?P<v>.+)", single=True, importance=7, confidence=0.9),
    Rule(attribute="religion", pattern=r"{S}{BE}{N}{A} (?:a |an )?(?P<v>(?:practicing |devout )?(?:christian|catholic|muslim|jewish|hindu|buddhist|atheist|agnostic|mormon|sikh|protestant|orthodox)\b)", single=True, importance=7, confidence=0.85, sensitivity=Sensitivity.MEDIUM),
    Rule(attribute="orientation", pattern=r"{S}{BE}{A} (?:a |an )?(?P<v>(?:gay|lesbian|bisexual|queer|transgender|trans|non-?binary|asexual)\b.*)", single=True, importance=7, confidence=0.82, sensitivity=Sensitivity.MEDIUM),
    # --- food --------------------------------------------------------------------------------------------------------
    Rule(attribute="diet", pattern=r"{S}(?:{BE}|{HAVE}| (?:went|go|became|turned|eat|eats|follow|follows|started)){N}{A} (?:been |gone |going |on )?(?:a |an |strictly |fully |the |mostly )*(?P<v>(?:vegan|vegetarian|pescatarian|flexitarian|gluten[- ]free|dairy[- ]free|keto|paleo|halal|kosher|lactose[- ]intolerant|carnivore|plant[- ]based|low[- ]carb|sugar[- ]free|mediterranean)\b(?: diet)?(?! (?:restaurant|food|recipes?|place|options?|cookbook))(?: (?:again|now|any ?more|since .+))?)", kind=Kind.CONSTRAINT, single=True, importance=8, confidence=0.9),
    Rule(attribute="diet", pattern=r"{S}(?:{HAVE})?{A} (?:started eating|started to eat|eat|went back to eating|began eating) (?P<v>(?:meat|fish|dairy|eggs|gluten|chicken|pork|beef|seafood)\b[^.]*?\bagain\b.*)", kind=Kind.CONSTRAINT, single=True, importance=7.5, confidence=0.86, change=True),
    Rule(attribute="avoids", pattern=r"{S}(?:{BE}|{HAVE})?{A} (?:(?:do not|don't|doesn't|does not|can't|cannot|never|no longer|can not) (?:eat|drink|consume|have|touch)|avoid|avoids|avoiding|been avoiding|stay away from|stays away from) (?:any )?(?P<v>{FOOD}\b.*)", kind=Kind.CONSTRAINT, importance=7.5, confidence=0.86),
    # --- habits with one current value -------------------------------------------------------------------------------
    Rule(attribute="commute", pattern=r"{S}{A}{N} (?P<v>(?:drive|drives|cycle|cycles|bike|bikes|walk|walks|commute|commutes|run|take the (?:bus|train|metro|subway|tube|tram|ferry)|takes the \w+|ride (?:the|my) \w+|rides (?:the|my|his|her) \w+|carpool)(?: \w+){{0,2}}? to (?:work|the office|school|campus|uni)\b.*)", kind=Kind.HABIT, single=True, importance=5.5, confidence=0.84),
    Rule(attribute="wake_time", pattern=r"{S}{A}{N} (?:wakes? up|gets? up|rise|am up|'m up) (?:every \w+ |daily )?(?:at|around|about|by|before) (?P<v>\d.*)", kind=Kind.HABIT, single=True, importance=5, confidence=0.82),
    Rule(attribute="bed_time", pattern=r"{S}{A}{N} (?:go to bed|go to sleep|goes to bed|am in bed) (?:every \w+ )?(?:at|around|about|by|before) (?P<v>\d.*)", kind=Kind.HABIT, single=True, importance=5, confidence=0.82),
    Rule(attribute="work_hours", pattern=r"{S}{A}(?:{HAVE})?{A} (?:work|works|working|switched to|changed to|moved to|am on|'m on)(?: from)? (?P<v>(?:an? )?\d{{1,2}}(?::\d\d)? ?(?:[ap]m)? ?(?:to|-|–|until) ?\d{{1,2}}.*)", kind=Kind.HABIT, single=True, importance=5.5, confidence=0.82),
    Rule(attribute="work_hours", pattern=r"\bmy (?:\w+ )?(?:office|work|working|shift) (?:hours|schedule|times?)(?: is| are)(?: now)? (?P<v>.+)", kind=Kind.HABIT, single=True, importance=5.5, confidence=0.85),
    # --- likes -------------------------------------------------------------------------------------------------------
    Rule(attribute="favorite_{topic}", pattern=r"(?P<s>\bmy|our|\b[\w']+'s) (?:all[- ]time |absolute |new |current |personal )*(?:favou?rite|fave|fav) (?P<topic>[\w ]+?) (?:is|are|was|has to be|would be|is definitely|is probably|are definitely|is still|is now) (?P<v>.+)", kind=Kind.PREFERENCE, single=True, importance=6.5, confidence=0.9, check=lambda m: not p.VAGUE.match(p.trimmed(m["v"]).lower() or "it")),
    Rule(attribute="favorite_{topic}", pattern=r"(?P<v>(?-i:[A-Z])[\w' ]{{1,40}}) (?:is|are|has to be) (?P<s>my|our) (?:all[- ]time |absolute |new |current |personal )*(?:favou?rite|fave|fav|go-to|top pick)(?: (?P<topic>[\w ]+))?", kind=Kind.PREFERENCE, single=True, importance=6.5, confidence=0.86, check=lambda m: bool(m["topic"]) and m["v"].split()[0].lower() not in p.NOT_PEOPLE),
    Rule(attribute="dislike", pattern=r"{S}{A} (?:(?:really |absolutely |totally |just )*(?:hate|hates|dislike|dislikes|can't stand|cannot stand|cant stand|detest|detests|despise|loathe|loathes|can't bear|don't like|doesn't like|do not like|don't enjoy|doesn't enjoy|didn't like|never liked|am not a (?:big |huge )?fan of|'m not a (?:big |huge )?fan of|is not a (?:big |huge )?fan of|isn't a (?:big |huge )?fan of|'m not (?:really )?into|don't care for|am sick of|'m sick of|can't tolerate|'m tired of)) (?P<v>.+)", kind=Kind.PREFERENCE, importance=6, confidence=0.83, check=_liked),
    Rule(attribute="fear", pattern=r"{S}{BE}{N}{A} (?:(?:really |so |absolutely |very |quite )*(?:afraid|scared|terrified|frightened)) of (?P<v>.+)", kind=Kind.SOMATIC_AFFECTIVE, importance=6.5, confidence=0.84, check=_liked),
    Rule(attribute="like", pattern=r"{S}{A}(?:{HAVE})?{A} (?:(?:really |absolutely |totally |just |also |still |always |truly |both |all )*(?:love|loves|loved|adore|adores|enjoy|enjoys|enjoyed|like|likes|liked|prefer|prefers)) (?P<v>.+)", kind=Kind.PREFERENCE, importance=6, confidence=0.8, check=_liked),
    Rule(attribute="like", pattern=r"{S}{BE}{A} (?:(?:a (?:big |huge |massive |real |total )*(?:fan|lover) of|really into|totally into|so into|very into|into|passionate about|obsessed with|crazy about|keen on|fond of|addicted to|hooked on|mad about|big on)) (?P<v>.+)", kind=Kind.PREFERENCE, importance=6, confidence=0.82, check=_liked),
    Rule(attribute="hobby", pattern=r"\b(?P<s>my|our) (?:main |other |favou?rite |biggest |new )*(?:hobby|hobbies|passions?|interests?|pastimes?) (?:is|are|include|includes) (?P<v>.+)", kind=Kind.PREFERENCE, importance=6, confidence=0.86),
    Rule(attribute="plays", pattern=r"{S}(?:{HAVE})?{A}{N} (?:play|plays|been playing|played|coach|coaches) (?P<v>(?:the )?(?:guitar|piano|violin|drums|bass|cello|flute|saxophone|clarinet|trumpet|ukulele|harp|football|soccer|basketball|tennis|golf|chess|hockey|cricket|rugby|volleyball|baseball|badminton|video games|poker|squash)\b.*)", kind=Kind.PREFERENCE, importance=6, confidence=0.84),
    # --- one value each, by the user's own word for it ---------------------------------------------------------------
    Rule(attribute="{topic}", pattern=r"(?:\bmy|our) (?:(?:new|current|latest|main|primary) )?(?P<topic>(?:[a-z][\w'-]* ){{0,3}}?[a-z][\w-]*)(?: is| are)(?: now| currently| still)? (?P<v>(?:(?:set to|at|in|on|around|about|called|named|due(?: on| by)?) )?(?:(?-i:[A-Z0-9$€£@])|\S+@\S|(?:an?|the) (?=\w)).*)", single=True, importance=6, confidence=0.76, check=_own_attribute),
    # --- what is wanted and under way --------------------------------------------------------------------------------
    Rule(attribute="goal", pattern=r"\b(?P<s>my|our) (?:main |big |biggest |ultimate |new |next |long-term |current |life |number one )*(?:goals?|dreams?|plans?|aims?|ambitions?|resolutions?)(?: for [\w ]+?| this year| right now| now)? (?:is|are) (?:to )?(?P<v>.+)", kind=Kind.TRAJECTORY, importance=6.5, confidence=0.85, scope=TimeScope.ACTIVE_PROJECT, check=lambda m: len(m["v"].split()) > 1),
    Rule(attribute="goal", pattern=r"{S}(?:{BE}|{HAVE})?{A} (?:(?:been |also |really |still |always |now |just )*(?:want to|wants to|wanna|plan to|plans to|planning to|planning on|planning|hope to|hoping to|hopes to|aim to|aiming to|aiming for|dream of|dreams of|dreaming of|intend to|intends to|looking to|trying to|tries to|try to|decided to|determined to|working towards?|saving up? for|saving for|training for|preparing for|thinking of|thinking about|considering|hoping for|set on|would like to|'d like to|'d love to|would love to|can't wait to|excited to|going to|gonna|am about to|'m about to|will be|'ll be|will|'ll|signed up for|signed up to|applied to|applied for|applying to|applying for|moving to|committed to|ready to)) (?P<v>.+)", kind=Kind.TRAJECTORY, importance=5.5, confidence=0.7, scope=TimeScope.ACTIVE_PROJECT, check=_goal),
    Rule(attribute="project", pattern=r"{S}(?:{BE}|{HAVE}){A} (?:(?:been |currently |now |also |still )*(?:working on|building|developing|writing|creating|designing|launching|organizing|organising|renovating|remodeling|composing|recording|researching|painting|producing|putting together)) (?P<v>.+)", kind=Kind.PROJECT, importance=6, confidence=0.8, scope=TimeScope.ACTIVE_PROJECT, check=_liked),
)
