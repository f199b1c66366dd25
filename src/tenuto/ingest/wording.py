"""How a sentence is cut into clauses, completed and dated: text in, text and times out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from tenuto.ingest import times
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


def sentence_text(sentence: Sentence) -> str:
    """The sentence as :func:`tenuto.ingest.consent.wishes` quotes it."""
    return straighten(sentence.text).strip()


def clauses_of(text: str) -> list[str]:
    """A sentence cut where another subject or another verb of the same subject begins; at most eight pieces."""
    text = text.rstrip(" .!?…")
    pieces = [piece.strip(" ,") for piece in _CLAUSE.split(text) if piece and piece.strip(" ,")]
    whole = [text] if len(pieces) <= 1 else pieces[:8]
    return [
        piece
        if SUBJECT.match(piece) or position == 0
        else f"I {piece}"
        if re.match(r"[a-z]+\b", piece) and _first_person(text) and not re.match(r"(?:because|so|but|and)\b", piece)
        else piece
        for position, piece in enumerate(whole)
    ]


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


_PRONOUN = re.compile(r"^(?:he|she|they)\b(?P<is>'s|'re|'ve)?", re.I)


def worded(wording: str, found: Sequence[times.When], speaker: str | None, label: str | None) -> str:
    """A memory's content: the speaker's words with a subject, a name for the pronoun, and dates for relative times."""
    text = wording.strip(" ,;").rstrip(".!?… ")
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
