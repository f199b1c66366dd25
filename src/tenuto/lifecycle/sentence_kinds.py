"""What a sentence is, by its words: a commitment, an open question, a decision, a feeling, a name-bearing fact.

Rules, not meaning: each is a pattern that a reader can check, and a sentence that matches none is a ``note``. They feed
the extractive summaries, the key points and the trajectory; what they miss is still in the text and found by recall.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tenuto.lifecycle.session_affect import feel
from tenuto.text import patterns

_END = patterns.compile(r"[.!?…](?P<gap>[\"'”’)\]]*\s+)(?:[\"'“‘(\[]?\w|[\"“])|(?P<lines>\n+)")
_STAGE = patterns.compile(r"\[[^\[\]]{3,}\]")
_ABBREVIATION = patterns.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|dept|jr|sr)|\b[A-Z])\.$", "i"
)
_COMMITMENT = patterns.compile(
    r"\b(?:i(?:'ll| will| shall| promise| am going to|'m going to|'m gonna)|let'?s|we(?:'ll| will)"
    r"|i plan to|i(?:'ve| have) decided to"
    r"|remind me|i need to|i have to|i must|i should)\b",
    "i",
    not_before=r" not\b",
)
_OPEN = patterns.compile(
    r"\b(?:not sure|don'?t know|undecided|still (?:need|have|waiting|thinking|looking)|figure out"
    r"|waiting (?:for|to hear)|can'?t decide"
    r"|wonder(?:ing)? (?:if|whether|how)|haven'?t (?:yet|decided|heard|finished)|to be (?:decided"
    r"|continued)|pending|tbd)\b",
    "i",
)
_DECISION = patterns.compile(
    r"\b(?:decided|chose|settled on|made up my mind|going with|agreed (?:to|on)|picked|signed)\b", "i"
)
_PREFERENCE = patterns.compile(
    r"\b(?:i (?:really |always |usually )?(?:like|love|prefer|enjoy|hate|can'?t stand|dislike|avoid)"
    r"|my fav(?:ou?rite)?|i'?d rather)\b",
    "i",
)
_BOUNDARY = patterns.compile(
    r"\b(?:please don'?t|don'?t (?:ever |bring|mention|call|ask)|never (?:mention|bring|call|ask)"
    r"|i'?d rather not talk)\b",
    "i",
)
_DONE = patterns.compile(
    r"\b(?:i|we|it'?s|that'?s|all)(?:'ve| have|'m| am)?\s+(?:just |finally |already |now )?(?:did|done"
    r"|finished|completed|called|sent|booked|bought|paid"
    r"|submitted|returned|cancelled|canceled|fixed|went|visited|wrote|met|handed|signed|scheduled|picked)\b",
    "i",
)
_FACT = patterns.compile(
    r"\b(?:i(?:'m| am| was|'ve| have| had| live| work| study| moved| started| got| take| use)|my \w+"
    r"|our \w+|(?:he|she|they)(?:'s| is| are| has| have| was)"
    r"|is allergic|diagnosed|born|birthday|lives? in|works? (?:at|for|as)|called|named)\b",
    "i",
)
_SMALL_TALK = patterns.compile(
    r"^(?:hi|hey|hello|good (?:morning|evening|afternoon|night)|how are you|thanks?(?: you)?|ok(?:ay)?"
    r"|sure|yes|yeah|no|nope|great|cool|nice|bye|see you"
    r"|take care|lol|haha|wow|awesome|sounds good|yep|exactly|(?:i )?(?:totally|completely)? ?agree"
    r"|so true|definitely|absolutely|talk (?:soon|later)|you'?re welcome|no problem|that'?s (?:great"
    r"|awesome|nice|cool|amazing|so cool)|i see|got it|noted|understood|alright|all right|of course|makes sense"
    r"|fair enough|good to know|will do|hm+|mm+|interesting|right)\b",
    "i",
)
_NAME = patterns.compile(r"(?:[A-Z][a-z]+|[A-Z]{2,6})(?:[ -](?:[A-Z][a-z]+))*", not_after=r"[\w’']")
_WHERE = patterns.compile(
    r"\b(?:in|at|near|from|(?:moved?|went|go|going|back|trip|fly|flew|drive|drove|travel\w*|comes?|came|welcome)"
    r" to)\s+$",
    "i",
)
_VOCATIVE = patterns.compile(r",\s+[A-Z][a-z]+\s*[.!?,…]*$")
_RELATION = patterns.compile(
    r"\bmy (mom|mum|mother|dad|father|sister|brother|wife|husband|partner|boyfriend|girlfriend|son"
    r"|daughter|boss|manager|friend|aunt|uncle"
    r"|cousin|grandma|grandmother|grandpa|grandfather|roommate|therapist|doctor|neighbou?r|colleague|dog|cat)\b",
    "i",
)
_CAPITALISED = """
I I'm I'll I've Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June
July August September October November December The A An And But So It He She They We You My Your His Her Their
Our This That These Those What When Where Why How Who Which If Then There Here Yes No Not Oh Ok OK Okay Hey Hi
Hello Thanks Thank Wow Yeah Sure Great Good Well Also Just Now Today Tomorrow Yesterday Tonight Maybe Please
Sorry Let Can Could Would Should Do Did Does Is Are Was Were Have Has Had Will To In On At For From With As By
Of Or Be Been Being Some Any All Most More Much Many Every Each Both Either Neither One Two First Last Next
After Before During While Since Until Although Though Because However Anyway Actually Honestly Really Still Even
Only Never Always Sometimes Often Once Again Too Very Quite Rather Such Than LOL OMG FYI ASAP BTW TBH IMO AM PM
User Assistant Mr Mrs Ms Dr Prof
"""
_NOT_NAMES = frozenset(_CAPITALISED.split())


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, white space folded. Abbreviations and single initials do not end one.

    Stage notes in square brackets ("[shares a photo: …]") are not sentences.
    """
    found: list[str] = []
    for part in _parts(_STAGE.sub("\n", text) if "[" in text else text):
        part = " ".join(part.split())
        if not part:
            continue
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found


def _parts(text: str) -> list[str]:
    """What stands between the ends of sentences and lines."""
    found, start, at = [], 0, 0
    while (end := _END.search(text, at)) is not None:
        first, at = end.span("lines" if end["lines"] else "gap")
        found.append(text[start:first])
        start = at
    return [*found, text[start:]]


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith("?")


def is_small_talk(sentence: str) -> bool:
    """Greetings and acknowledgements that are not followed by much."""
    return len(sentence) < 60 and bool(_SMALL_TALK.search(sentence))


def is_commitment(sentence: str) -> bool:
    return not is_question(sentence) and bool(_COMMITMENT.search(sentence))


def is_open(sentence: str) -> bool:
    """Something left open, said as such."""
    return bool(_OPEN.search(sentence))


def says_done(sentence: str) -> bool:
    """Something that was carried out."""
    return not is_question(sentence) and bool(_DONE.search(sentence))


def sort_of(sentence: str) -> str:
    """The type of key point that a sentence makes."""
    if is_question(sentence):
        return "question"
    if _BOUNDARY.search(sentence):
        return "boundary"
    if _DECISION.search(sentence):
        return "decision"
    if _COMMITMENT.search(sentence):
        return "commitment"
    if _OPEN.search(sentence):
        return "open_loop"
    if abs(feel(sentence).valence) >= 0.4:
        return "feeling"
    if _PREFERENCE.search(sentence):
        return "preference"
    return "fact" if _FACT.search(sentence) or names(sentence) else "note"


def names(sentence: str) -> list[str]:
    """Names as written, in order. The first word of a sentence counts only as part of a longer name."""
    found: list[str] = []
    for match in _NAME.finditer(_VOCATIVE.sub(_blank, sentence)):
        parts = [part for part in match.group().split(" ") if part not in _NOT_NAMES]
        starts = match.start() == 0 or sentence[: match.start()].rstrip()[-1:] in (".", "!", "?", ":", '"', "“")
        if not parts or (starts and len(parts) == 1 and len(match.group().split(" ")) == 1):
            continue
        name = " ".join(parts)
        if name not in found:
            found.append(name)
    return found


def person_names(sentence: str) -> list[str]:
    """Names that do not stand where a place stands ("in Austin", "moved to Lisbon") and are not abbreviations."""
    found = []
    for name in names(sentence):
        before = sentence[: max(0, sentence.find(name))]
        if not name.isupper() and not _WHERE.search(before):
            found.append(name)
    return found


def _blank(match: patterns.Match) -> str:
    return " " * len(match.group())


@lru_cache(maxsize=1024)
def _whole(name: str) -> patterns.Pattern:
    return patterns.compile(patterns.escape(name), "i", not_after=r"\w", not_before=r"\w")


def people(texts: Iterable[str], known: Iterable[str] = (), most: int = 8) -> list[str]:
    """Who is mentioned: known names and relations ("my dad"), most often first."""
    counts: dict[str, int] = {}
    listed = [name for name in dict.fromkeys(known) if len(name) > 1]
    wanted = [(name, _whole(name)) for name in listed]
    for text in texts:
        for name, pattern in wanted:
            if pattern.search(text):
                counts[name] = counts.get(name, 0) + 1
        for relation in _RELATION.findall(text):
            label = f"{relation.lower()}"
            counts[label] = counts.get(label, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]
