"""How a value or a clause is worded: which template says it, with which dates, and how much of its sentence. Pure."""

from __future__ import annotations

from dataclasses import replace

from tenuto.ingest.extract.marked import YEAR, Marked, gap
from tenuto.language.dates import Moment, day_of_year, resolve
from tenuto.language.doses import dose_of
from tenuto.language.lexicon import word_list
from tenuto.language.people import Person
from tenuto.language.render import clause, sentence, template
from tenuto.language.voice import third_person
from tenuto.records.reading import Mark
from tenuto.text import patterns

LISTED = frozenset({"lang", "like", "dislike"})
"""Values that are told together where one message names several."""
_IS = patterns.compile(
    r"(?:\b(?:is|am|are|was|be|im|been|being|ist|bin|bist|war|sind|es|soy|son|era|est|suis|é|sou|está|estou|estoy|i'm|she's|he's|who's|i’m|she’s|he’s))\s+"
    r"(?:(?:a|an|the|also|now|really|severely|very|ein|eine|auch|jetzt|ya|muy|aussi|très|muito|mildly|slightly|"
    r"totally|still|stone) ){0,2}$",
    "i",
)
_ADJECTIVE = patterns.compile(
    r"(?:\bdeaf|\bblind|pregnant|diabetic|asthmatic|epileptic|coeliac|celiac|dyslexic|autistic|schwanger|taub|blind|diabetiker\w*|embarazada|sord[oa]|"
    r"cieg[oa]|diabétic[oa]|celíac[oa]|enceinte|sourde?|aveugle|diabétique|grávida|surd[oa]|ceg[oa]|in "
    r"remission)\b[^,]{0,24}$",
    "i",
)
_INTOLERANT = patterns.compile(
    r"intoleran|unverträg|verträgt|vertrage|lactose|laktose|lactosa|can't have|can’t have|cannot have|doesn't "
    r"agree|upset",
    "i",
)
_YOUNG = patterns.compile(
    r"^(?P<n>[\w½¼-]*)[\s-]*(?P<unit>days?|weeks?|months?|tage?n?|wochen?|monaten?|días?|semanas?|mes|meses|jours?|semaines?|mois|dias?|mês)\b",
    "i",
)
"""An age that is not in years: "9 months"."""
_LEARNS = patterns.compile(
    r"\b(?:learn|lern|aprend|appren|estud|study|practis|practic|level|niveau|nivel|nível|class|course|kurs|curso)", "i"
)
_SENTENCE = patterns.compile(r"\b(?:is|are|was|were|i|ist|sind|está|es|est|estão)\b", "i")
_ARTICLE = patterns.compile(
    r"^(?:the|a|an|my|our|some|der|die|das|ein|eine|el|la|los|las|un|una|le|les|une|o|os|as|um|uma)\s+", "i"
)
_CUT = patterns.compile(
    r"[;:]\s+|[—–()]\s*|,\s+(?:and|but|so|because|which|und|aber|weil|y|pero|porque|et|mais|parce|e|mas)\b\s*|,\s+|"
    r"\s(?:and|but|so|because|und|aber|weil|pero|porque|mais|mas)\s",
    "i",
)
"""Where a long sentence may be cut."""
_STRONG_CUT = patterns.compile(
    r"[;:]\s+|[—–()\n]\s*|,?\s+(?:but|so|because|cause|cuz|bc|although|though|otherwise|aber|weil|obwohl|denn|pero|porque|aunque|así que|"
    r"mais|parce que|donc|mas|então|embora)\s+|,\s+(?:and|und|y|et|e)\s+",
    "i",
)
"""Where what is said of one thing ends."""
_OPENER = patterns.compile(
    r"^(?:(?:and|but|so|oh|ok|okay|well|also|then|anyway|btw|fyi|heads up|by the way|omg|yeah|yes|no|right|und|aber|ja|y|pero|ah|bueno|et|"
    r"mais|bon|e|mas|olha)\b[,:!]*\s+)+",
    "i",
)
_LEADING = patterns.compile(
    r"\b(?:on|by|since|from|until|till|in|at|am|bis|seit|ab|vor|el|le|em|até|desde|depuis|a|de|no|dia|para|to|for|of)\s*$",
    "i",
)
_KEPT_BEFORE = frozenset(
    ["on", "by", "since", "from", "until", "till", "in", "am", "im", "bis", "seit", "ab", "desde", "hasta", "en", "el",
     "le", "depuis", "em", "até"]
)  # fmt: skip
"""Words that begin a time and stay before its date."""
_DANGLING = patterns.compile(
    r"(?:it|which|that|this|these|those|das|dies|eso|esto|ça|cela|c'|isso|isto)(?:'s|’s|'ll|’ll|s)?\b", "i"
)
LONG = 22
"""Words of a sentence from which only a part of it is kept."""


def _in_place(moment: Moment, before: str, said: str, language: str) -> str:
    """The date with the word that belongs before it: "in March" becomes "in March 2026", "in two weeks" a day."""
    day = moment.precision in ("day", "hour")
    first = said.split(" ")[0].lower()
    if first == "for" and moment.relation == "since":
        return f"since {moment.text}"
    if first in _KEPT_BEFORE and not (first == "in" and day):
        return f"{first} {moment.text}"
    lead = "on " if language == "en" and day and not _LEADING.search(before) else ""
    return lead + moment.text


_OWN_ARTICLE = patterns.compile(r"(?:^|\s)(?P<article>an?|the|une?|una|uma?|eine[rmn]?)\s+$", "i")


def with_article(message: Marked, mark: Mark, value: str) -> str:
    """The value with the article that the person put before it: "a small bakery"."""
    found = _OWN_ARTICLE.search(message.text[max(0, mark.start - 8) : mark.start])
    return value if found is None else f"{found['article'].lower()} {value}"


def worded(message: Marked, mark: Mark) -> tuple[str, str, str]:
    """The value, the template that says it, and what else the template takes."""
    value, before = message.said(mark), message.text[max(0, mark.start - 24) : mark.start]
    if _SENTENCE.search(value) and mark.type in ("cond", "like", "dislike", "limit", "diet"):
        told = clause(value, None, message.language, own=True)
        return told[:1].lower() + told[1:], "diet_does", ""
    if mark.type == "med":
        dose = (
            dose_of(message.text, mark, message.span(mark.start), message.marks)
            if mark.state in ("now", "plan")
            else ""
        )
        return f"{value} {third_person(dose, message.language, verbs=False)}".strip(), "med", ""
    if mark.type == "job":
        place = message.near(mark, "employer")
        if place is not None and mark.state in ("now", "plan"):
            return value, "work", with_article(message, place, message.said(place))
    if mark.type == "cond":
        adjective = _ADJECTIVE.search(value) or (
            _IS.search(before) and not value[:1].isupper() and len(value.split()) <= 4
        )
        return value, "cond_is" if adjective else "cond", ""
    if mark.type == "allergy" and any(part in value.lower() for part in ("allerg", "alerg")):
        return value, "cond", ""
    if mark.type == "allergy":
        here = message.sentence(mark)
        return value, "intolerance" if _INTOLERANT.search(here) and "allerg" not in here.lower() else "allergy", ""
    if mark.type in LISTED and mark.state == "now":
        same = [one for one in message.marks if (one.type, one.owner, one.state) == (mark.type, mark.owner, "now")]
        value = ", ".join(dict.fromkeys(message.said(one) for one in same))
        learns = all(_LEARNS.search(message.text[max(0, one.start - 24) : one.start]) for one in same)
        return value, "learn" if mark.type == "lang" and learns else mark.type, ""
    if mark.type == "diet" and len(value.split()) > 2:
        told = clause(value, None, message.language, own=True)
        return told[:1].lower() + told[1:], "diet_does", ""
    if mark.type == "age" and (young := _YOUNG.match(f"{value}{message.text[mark.end : mark.end + 12]}")) is not None:
        return young["n"].strip("- ") or value, "age_young", young["unit"]
    if mark.type == "birthday":
        moment = resolve(value, value, message.message.at, message.exchange.zone, message.language)
        return (
            (day_of_year(moment.start, message.language) if moment and moment.precision == "day" else value),
            "birthday",
            "",
        )
    if mark.type == "event":
        return _ARTICLE.sub("", value) if message.language != "en" else value, "event", ""
    return value, mark.type, ""


def without_loose_end(text: str) -> str:
    """A clause without the words behind it that begin something else: "tahini and"."""
    words = text.split()
    while words and words[-1].strip(",;:").casefold() in word_list("loose_ends"):
        words.pop()
    return " ".join(words)


def with_dates(message: Marked, mark: Mark, *, recurring: bool) -> tuple[str, Moment | None]:
    """The words of a clause with the dates in place of "next Friday", and the first of those times."""
    inner = [one for one in message.marks if one.type == "when" and mark.start <= one.start and one.end <= mark.end]
    text, first = message.text[mark.start : mark.end], None
    for one in reversed(inner):
        moment = None if recurring else message.resolved(one)
        if moment is None or YEAR.search(message.said(one)):
            first = moment or first
            continue
        first = moment
        cut = one.start - mark.start
        text = (
            text[:cut]
            + _in_place(moment, text[:cut], message.said(one), message.language)
            + text[one.end - mark.start :]
        )
    return without_loose_end(text).strip(" ,;:"), first


_DENIED = patterns.compile(r",?\s*(?:and |und |y |et |e )?(?:not|no|nicht|pas|não)(?: on| am| el| le| a)?\s*$", "i")
"""The "not" before a day that was wrong."""


def around(message: Marked, mark: Mark, person: Person | None) -> str:
    """The words around a mark in the third person: its sentence, or the part of a long one that holds it."""
    start, end = message.span(mark.start)
    whens = [one for one in message.marks if one.type == "when" and start <= one.start < end and gap(mark, one) <= 80]
    first, last = min([mark.start, *(one.start for one in whens)]), max([mark.end, *(one.end for one in whens)])
    if len(message.text[start:end].split()) > LONG:
        cuts = [start, *(start + one.end() for one in _CUT.finditer(message.text[start:end])), end]
        start = max(cut for cut in cuts if cut <= first)
        end = min(cut for cut in cuts if cut >= last)
    text = message.text[start:end]
    for one in sorted(whens, key=lambda one: -one.start):
        if one.state == "neg" and start <= one.start and one.end <= end:
            text = _DENIED.sub("", text[: one.start - start]) + text[one.end - start :]
            continue
        moment = message.resolved(one, ahead=mark.state == "plan")
        if moment is not None and start <= one.start and one.end <= end and not YEAR.search(message.said(one)):
            head = text[: one.start - start]
            text = head + _in_place(moment, head, message.said(one), message.language) + text[one.end - start :]
    plain = _OPENER.sub("", " ".join(text.split()).strip())
    return clause(plain, person, message.language, own=person is None)


def statement(message: Marked, mark: Mark) -> Mark | None:
    """The part of a sentence that holds a clause, whole: the reader cuts borders a word or two short.

    ``None`` where it begins with a word that points at something said before ("it runs out in May"), and so says
    nothing to a stranger.
    """
    first, last = message.span(mark.start)
    inner = [one for one in message.marks if one.type == "when" and one.start < mark.end <= one.end]
    reach = max([mark.end, *(one.end for one in inner)])
    for pattern in (_STRONG_CUT, _CUT):
        here = message.text[first:last]
        cuts = [first, *(first + one.end() for one in pattern.finditer(here))]
        start = max(cut for cut in cuts if cut <= mark.start)
        end = min([last, *(first + one.start() for one in pattern.finditer(here) if first + one.start() >= reach)])
        if len(message.text[start:end].split()) <= LONG:
            break
    opener = _OPENER.match(message.text[start:end])
    start += opener.end() if opener is not None and start + opener.end() <= mark.start else 0
    return None if _DANGLING.match(message.text[start:end]) else replace(mark, start=start, end=end)


def told_clause(message: Marked, mark: Mark, text: str, person: Person | None, question: str | None) -> str:
    """A clause in the third person, behind the question that it answers; a goal and what is over say so."""
    language = message.language
    told = clause(text, person, language, own=person is None)
    if question:
        told = f"{question} {told}"
    if mark.type == "goal" and not told.lower().startswith(("goal", "ziel", "meta", "objetivo", "but ")):
        told = sentence(person, (template("goal", "now", language) or "{v}").format(v=told[:1].lower() + told[1:]))
    if mark.state == "end":
        told = (template("clause", "end", language) or "{v}").format(v=told)
    return told[:1].upper() + told[1:]
