"""How a sentence is cut into clauses, completed and dated: text in, text and times out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from tenuto.ingest import times
from tenuto.ingest.lexicon import shipped
from tenuto.ingest.sentences import Sentence, straighten

_CLAUSE = re.compile(
    r"(?:,? (?:and|but|so|then|because|'cause|cuz|although|though|while)|,|;) (?=(?:now |then |also |currently "
    r"|just |recently )*(?:i|i'm|i've|i'll|i'd|we|we're|we've|my|our|he|she|they|his|her)\b)|"
    r",? and (?:now |then |also |currently )*(?=(?:work|works|live|lives|moved|have|has|love|loves|like|likes|"
    r"hate|run|study|am|got|started|left|quit|take|speak|want|need|plan|own|play)\b)",
    re.I,
)
SUBJECT = re.compile(
    r"^(?:(?:now|then|also|currently|just|recently|still|finally) )*(?:i|i'm|i've|i'll|i'd|we|we're|we've|"
    r"we'll|my|our|he|she|they|his|her|it|this|that|there|the)\b",
    re.I,
)
FIRST_PERSON = re.compile(r"(?:i|i'm|i've|i'd|i'll|we|we're|we've|my|our)\b", re.I)
GERUND = re.compile(
    r"^been an?\b|^\w+ing\b.*(?:,? (?:we|you|it|they|people)\b|\b(?:yourself|is|are|was|were|helps?|makes?|"
    r"takes?|can|means|gives?|feels?|matters|keeps?)\b)",
    re.I,
)
"""A gerund as the subject ("Working together, we…") leaves no speaker out."""


_NAMED = r"(?!(?:I|We|He|She|They|It|Yes|No|Ok|Okay|Well|And|But|So|Also|Then|Thanks)\b)[A-Z][\w'-]+"


@lru_cache(maxsize=1)
def _company() -> re.Pattern[str]:
    """Who did something together with the speaker: "Lea and I got engaged" is about both."""
    kin = "|".join(sorted((re.escape(word) for word in shipped().relations), key=len, reverse=True))
    return re.compile(rf"(?i:(?:my|our) (?:[a-z-]+ )?(?:{kin}))(?: {_NAMED})?|{_NAMED}(?: {_NAMED})?")


_VERB_FIRST = re.compile(r"(?!(?:because|so|but|and)\b)[a-z]+\b")


def sentence_text(sentence: Sentence) -> str:
    """The sentence as :func:`tenuto.ingest.consent.wishes` quotes it."""
    return straighten(sentence.text).strip()


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence: as the rules read it, and as it is kept."""

    text: str
    wording: str


def clauses_of(text: str) -> list[Clause]:
    """A sentence cut where another subject or another verb of the same subject begins; at most eight pieces."""
    text = text.rstrip(" .!?…")
    found: list[Clause] = []
    company = ""
    for piece, joint in _pieces(text)[:8] or [(text, "")]:
        if joint == "and" and _company().fullmatch(piece):
            company = f"{piece} and "
            continue
        if found and not SUBJECT.match(piece) and _first_person(text) and _VERB_FIRST.match(piece):
            piece = f"I {piece}"
        found.append(Clause(piece, company + piece))
        company = ""
    return found


def _pieces(text: str) -> list[tuple[str, str]]:
    """Each piece with the word that joins the next one to it."""
    start = 0
    found = []
    for cut in _CLAUSE.finditer(text):
        found.append((text[start : cut.start()].strip(" ,"), cut.group().strip(" ,;").split(" ")[0].lower()))
        start = cut.end()
    found.append((text[start:].strip(" ,"), ""))
    return [(piece, joint) for piece, joint in found if piece]


def with_subject(text: str) -> str:
    """ "Lost my job" is "I lost my job", "Been busy" is "I've been busy", "Working on it" is "I'm working on it"."""
    adverbs = re.match(r"(?:(?:just|recently|finally|also|already|still|even|currently|actually) )*", text, re.I)
    head = adverbs.group() if adverbs else ""
    verb = text[len(head) :].split(" ", 1)[0].lower()
    helper = "I've " if verb == "been" else "I'm " if verb.endswith("ing") or verb == "gonna" else "I "
    return helper + text[:1].lower() + text[1:]


def _first_person(text: str) -> bool:
    return bool(re.match(r"(?:i|i'm|i've|we)\b", text, re.I))


def dates(text: str, found: Sequence[times.When]) -> str:
    """The dates behind relative expressions, for readers who were not there: "7 May 2023"."""
    shown = []
    for when in found[:2]:
        if re.search(r"\b(?:19|20)\d\d\b", when.text) or (when.precision == "part" and "every" in text):
            continue
        shown.append(_shown(when))
    return ", ".join(dict.fromkeys(shown))


def _shown(when: times.When) -> str:
    start = when.start
    day = f"{start.day} {start:%B} {start.year}"
    if when.precision == "hour":
        return f"{day} {start:%H:%M}"
    if when.precision == "week":
        return f"the week of {day}"
    if when.precision == "weekend":
        return f"the weekend of {day}"
    if when.precision in ("month", "season"):
        return f"{start:%B} {start.year}" if when.precision == "month" else f"around {start:%B} {start.year}"
    return str(start.year) if when.precision == "year" else day


def span(
    text: str, found: Sequence[times.When], at: datetime, *, ends: bool
) -> tuple[datetime | None, datetime | None, datetime | None]:
    """(valid from, valid to, happens at) of a statement."""
    begin = times.lasting_since(text, at)
    until = next((when.start for when in found if when.relation == "until"), None)
    happens = next((when.start for when in found if when.relation in ("at", "by")), None)
    if begin is None and until is None and happens is not None and not ends:
        begin = happens if happens <= at else None
    started = next((when.start for when in found if when.relation == "since"), None)
    if (length := times.duration(text)) is not None and (started or (happens and happens > at)):
        first = started or happens
        return first, first + length if first else None, happens
    return begin, until, happens


_JOINED = re.compile(r"^(?:and|but|plus),? (?=\w)", re.I)
"""What joined a clause to the one before, which a memory does not have."""
_PRONOUN = re.compile(r"^(?:he|she|they)\b(?P<is>'s|'re|'ve)?", re.I)


def worded(wording: str, found: Sequence[times.When], speaker: str | None, label: str | None) -> str:
    """A memory's content: the speaker's words with a subject, a name for the pronoun, and dates for relative times."""
    text = _JOINED.sub("", wording.strip(" ,;").rstrip(".!?… "))
    pronoun = _PRONOUN.match(text)
    if pronoun and label:
        text = label + (pronoun["is"] or "") + text[pronoun.end() :]
    elif not SUBJECT.match(text) and re.match(
        r"(?:work|works|live|lives|moved|have|love|like|hate|run|study|am|got|started|left|quit|take|speak|"
        r"want|need|plan|own|play)\b",
        text,
    ):
        text = f"I {text}"
    dated = dates(text, found)
    text = text[:1].upper() + text[1:] + (f" ({dated})" if dated else "")
    return f"{speaker}: {text}" if speaker else text
