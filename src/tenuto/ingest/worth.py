"""Is a statement that no attribute rule knows worth keeping? A score 0–1 with its reasons.

It adds up what makes a sentence a lasting thing: someone known did or lives something, with enough substance, and it is
tied to a time, a name or a number. It takes off for hedging, for talk about the listener, and for sentences whose
subject is only "it" or "that". The weights are set by hand from reading conversations; the threshold is
``memory.keep_confidence`` and ``bench/extraction`` prints the whole curve.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenuto.ingest.affect import content_words
from tenuto.ingest.sentences import Sentence

_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|we|we're|we've|me|my|our|us|myself|mine)\b", re.I)
_SELF_SUBJECT = re.compile(r"^(?:[\w' ]{0,40}?,? )?(?:i|i'm|i've|i'd|we|we're|we've|me and my|my|our)\b", re.I)
ELLIPSIS = re.compile(
    r"^(?:just |recently |finally |also |already |still |even |currently |been |actually |yesterday |today |last \w+ )*"
    r"(?:been|got|went|started|took|had|made|visited|met|saw|found|won|bought|moved|tried|lost|finished|joined|"
    r"spent|came|attended|"
    r"working|planning|thinking|heading|getting|gonna|trying|learning|reading|looking|taking|doing|"
    r"volunteering|training|"
    r"preparing|signed|decided|passed|graduated|began|completed|launched|hosted|organized|adopted|ran|wrote|"
    r"made|played|watched)\b",
    re.I,
)
_OTHERS = re.compile(r"^(?:my|our) \w+|^(?:she|he|they)\b|^(?:me|[A-Z][a-z]+) and (?:i|my|[A-Z])", re.I)
_EVENT = re.compile(
    r"\b(?:went|got|had|took|made|visited|met|saw|found|won|bought|moved|tried|lost|started|began|finished|"
    r"joined|spent|came|"
    r"attended|signed|decided|passed|graduated|completed|launched|hosted|organized|adopted|ran|wrote|played|"
    r"watched|read|built|"
    r"created|painted|taught|learned|learnt|gave|received|helped|celebrated|travell?ed|hiked|cooked|baked|"
    r"planted|opened|"
    r"quit|broke|hurt|fell|cried|married|died|sold|drove|flew|camped|volunteered|performed|recorded|published|"
    r"reached|earned|"
    r"applied|interviewed|scored|competed|discovered|explored|enrolled|donated|raised|collected|designed|set "
    r"up|hit|beat|became|grew)\b",
    re.I,
)
_STATE = re.compile(
    r"\b(?:i|we|he|she|they)(?:'ve| have| has) been\b|\b(?:have|has|own|owns|use|uses|live|lives|work|works|"
    r"study|studies|play|plays|practice|practise|"
    r"run|runs|teach|teaches|believe|feel|feels|felt|helps? me|makes? me|made me|keeps? me|gives? me|gave me|"
    r"means? (?:a lot|so much|the world)|remember|reminds? me|"
    r"need|needs|prefer|collect|drink|eat|cook|write|paint|read|watch|listen|go|take|do|spend|volunteer|grow|"
    r"keep|wear|drive|want|struggle|miss)\b",
    re.I,
)
_HABIT = re.compile(
    r"\b(?:every|usually|always|often|each|daily|weekly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|"
    r"sometimes|never|normally|regularly|mornings|evenings)\b",
    re.I,
)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this (?:week|month|year|weekend|morning|summer|"
    r"spring|fall|winter)|since|recently|lately|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|"
    r"december|when i was|years?|months?|weeks?|weekend|first time|back in)\b",
    re.I,
)
_STANDING = re.compile(
    r"^(?:(?:these days|nowadays|currently|now|usually|at work|at home|after [\w ]{3,30}),? )?(?:i|we)(?: "
    r"(?:only|mainly|mostly|usually|always|now|still|"
    r"currently|primarily|never|exclusively|often|regularly|generally|also|both|have never|don't|do not|no "
    r"longer|haven't|rarely|just))* "
    r"(?!(?:am|are|was|were|have|had|do|did|can|could|will|would|should|may|might|must|think|guess|mean|know|"
    r"hope|feel|see|agree|hear|heard|wonder|bet|"
    r"love|like|want|need|believe|suppose|understand|appreciate|thank|wish|said|told|say|tell|promise|swear|"
    r"doubt|imagine|remember|forgot|forget|notice|"
    r"look|sound|try|get|got|keep (?:on|going|telling|trying|saying|doing|thinking|hearing)|let|figured|"
    r"thought|felt|knew|saw|said|really|totally|so|too|to|just|"
    r"never)\b)[a-z]+(?<!ed)\b .{3,}",
    re.I,
)
_UNDER_WAY = re.compile(
    r"^(?:i'm|i am|we're|we are|i've been|i have been|we've been)(?: \w+ly| currently| also| still| now)* "
    r"(?:learning|training|preparing|studying|writing|"
    r"reading|saving|working|taking|living|dealing|recovering|raising|teaching|coaching|building|starting|"
    r"seeing|dating|expecting|growing|renovating|"
    r"practi[cs]ing|volunteering|collecting|organi[sz]ing|running|restoring|moving|applying|undergoing|"
    r"struggling|suffering)\b.{4,}|"
    r"^(?:i|we)(?:'ve got| have| own) (?:a|an|two|three|four|five|\d+|my own) (?!(?:lot|bit|few|great|good|"
    r"nice|question|feeling|blast|idea|point|minute|second|moment|day|long|hard)\b)\w+|"
    r"^i get [\w ]{3,30}? (?:when|every|if|from|before|after)\b",
    re.I,
)
_NEVER = re.compile(
    r"^(?:i|we)(?:'ve| have)? (?:never|don't (?:own|have|use|drink|eat|smoke|drive)|haven't|no longer)\b", re.I
)
_OWN = re.compile(
    r"^(?:my|our) (?:[\w'-]+ ){1,4}?(?:is|are|has|have|attends?|works?|lives?|charges?|goes|costs?|takes?|"
    r"runs?|plays?|starts?|ends?|was|were|went|got|just)\b",
    re.I,
)
_YOU = re.compile(r"\b(?:you|your|you're|you've|you'll|yours)\b", re.I)
_DEICTIC = re.compile(
    r"^(?:it|it's|that|that's|this|these|those|there|there's|here|here's|they|they're|the|such|what)\b", re.I
)
_LINKED = re.compile(r"\b(?:me|my|us|our)\b", re.I)
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_NUMBER = re.compile(r"\b\d+\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred)\b", re.I)
_MOMENT = re.compile(
    r"\b(?:right now|at the moment|brb|gotta go|just a sec|be right back|in a bit|on my way|about to (?:eat|"
    r"sleep|go)|making (?:dinner|lunch|coffee|tea)|so (?:tired|hungry|sleepy|bored) (?:right now|today)|talk "
    r"(?:to|with) you|chatting)\b",
    re.I,
)
_OPINION = re.compile(
    r"^(?:i (?:think|guess|feel like|believe|suppose|agree|mean)|honestly|personally|in my opinion|imo)\b", re.I
)
_WISHFUL = re.compile(
    r"\b(?:can't wait|looking forward|hope|hopefully|fingers crossed|someday|one day|i'd love|would love)\b", re.I
)
EXPERT = re.compile(
    r"^(?:my |our |the )?(?:\w+ )?(?:doctor|dr\.? \w+|therapist|dentist|nurse|\w+ologist|psychiatrist|"
    r"p(?:a)?ediatrician|surgeon|specialist|gp|physio|hospital|clinic|lab|paramedics?|midwife|pharmacist|allergist|"
    r"physiotherapist|nutritionist|dietitian|lawyer|accountant|vet)s?$",
    re.I,
)
"""Whose word is worth keeping when it is passed on."""


@dataclass(frozen=True, slots=True)
class Worth:
    score: float
    reasons: tuple[str, ...]


def worth(sentence: Sentence, *, people: bool, changed: bool = False) -> Worth:
    """The score of one statement. ``people``: it names someone else. ``changed``: it says that something changed."""
    text = sentence.plain
    substance = len(set(content_words(text)))
    parts: list[tuple[float, str]] = [(0.0, "")]
    if _SELF_SUBJECT.match(text):
        parts.append((0.22, "the speaker is the subject"))
    elif ELLIPSIS.match(text):
        parts.append((0.2, "the speaker is left out"))
    elif _OTHERS.match(text) or people:
        parts.append((0.14, "someone in their life"))
    elif _LINKED.search(text):
        parts.append((0.06, "touches the speaker"))
    else:
        parts.append((-0.2, "not about anyone known"))
    if _EVENT.search(text):
        parts.append((0.16, "something happened"))
    elif _STATE.search(text):
        parts.append((0.08, "something lasts"))
    own = False
    standing = bool(_STANDING.match(text) or _NEVER.match(text) or _UNDER_WAY.match(text))
    if standing:
        parts.append((0.16, "it says how things are"))
    elif own := bool(_OWN.match(text)):
        parts.append((0.18, "it says how something of theirs is"))
    if _HABIT.search(text):
        parts.append((0.06, "it recurs"))
    if _TIME.search(text):
        parts.append((0.12, "it has a time"))
    if _PROPER.search(text):
        parts.append((0.08, "it names something"))
    if _NUMBER.search(text):
        parts.append((0.05, "it has a number"))
    parts.append((min(0.2, 0.035 * max(0, substance - 2)), f"{substance} words of substance"))
    parts.extend(_against(sentence, text, substance + (standing or changed or own)))
    score = 0.12 + sum(part for part, _ in parts)
    return Worth(round(max(0.0, min(0.9, score)), 3), tuple(reason for part, reason in parts if part and reason))


def _against(sentence: Sentence, text: str, substance: int) -> list[tuple[float, str]]:
    found: list[tuple[float, str]] = []
    if substance < 3:
        found.append((-0.2 if substance < 2 else -0.1, "few words"))
    if _YOU.search(text):
        found.append((-0.14, "about the listener"))
    if sentence.hedged:
        found.append((-0.1, "hedged"))
    if _DEICTIC.match(text):
        found.append((-0.12, "about 'it' or 'that'"))
    if _MOMENT.search(text):
        found.append((-0.25, "of the moment"))
    if _OPINION.match(text):
        found.append((-0.12, "an opinion"))
    if _WISHFUL.search(text):
        found.append((-0.06, "a hope"))
    if sentence.reported_by:
        found.append(
            (-0.3, f"said by {sentence.reported_by}")
            if not EXPERT.match(sentence.reported_by)
            else (0.25, "expert advice")
        )
    return found
