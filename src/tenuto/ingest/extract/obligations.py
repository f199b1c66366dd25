"""What is to be done and what is done, out of the reader's marks. Pure.

A marked obligation becomes a todo with its due date; how it was introduced ("remind me", "I promised") tells its kind.
Words that say that something is done are handed on: which todo they close is decided beside the open ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo

from tenuto.ingest.extract.exchange import Exchange, Finished
from tenuto.language.dates import Moment, in_english, resolve
from tenuto.language.reports import reports
from tenuto.language.times import recurrence
from tenuto.language.todos import Draft
from tenuto.language.voice import third_person
from tenuto.records.memory import TodoKind
from tenuto.records.reading import Mark

_REMIND = re.compile(r"remind|forget|erinner|vergess|recuérd|recuerd|record|olvid|rappel|oubli|lembr|esque[cç]", re.I)
_PROMISE = re.compile(
    r"promis|swore|said i'?d|told .{1,20} i'?d|versproch|prometí|fiquei de|quedé|me comprometí|prometi", re.I
)
_ASKING = re.compile(
    r"^(?:(?:please|bitte|por favor|can you|could you|kannst du|puedes|tu peux|podes),? )*(?:remind me|(?:don't|do "
    r"not) let me forget|erinner\w* mich|vergiss nicht|recuérda(?:me|le)|rappelle(?:z)?-moi|n'oublie pas|lembra-me|"
    r"me lembr[ae]|não te esqueças|forget)(?: daran)?(?:,? (?:to|about|an|de|que|dass ich|zu))?(?:[\s,:]+|$)",
    re.I,
)
"""The asking to be reminded, which is not what is to be done."""
_LEAD = re.compile(
    r"^(?:to|i need to|i have to|i must|i gotta|gotta|need to|have to|please|zu|dass ich|que|de|d'|à|a)\s+", re.I
)
_BEFORE_A_TIME = re.compile(
    r"(?:^|\s)(?:by|on|at|before|until|till|for|in|from|am|bis|vor|zum|um|ab|el|para(?: el)?|antes del?|hasta(?: el)?|"
    r"le|avant(?: le)?|d'ici|pour(?: le)?|jusqu'au|até(?: ao?)?|antes d[eoa]|n[oa]|em|dia|às|a)\s*$",
    re.I,
)


def todos_in(
    text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]], at: datetime, zone: tzinfo | None, language: str
) -> Iterator[Draft]:
    """The todos of a message."""
    for mark in marks:
        if mark.layer != "clause" or mark.type not in ("todo", "bad"):
            continue
        start, end = next(((a, b) for a, b in spans if a <= mark.start < b), (0, len(text)))
        again = recurrence(in_english(text[mark.start : mark.end], language)) if mark.type == "todo" else None
        when, due = _due(text, mark, marks, (start, end), at, zone, language) if mark.type == "todo" else (None, None)
        said = _words(text, mark, None if again else when)
        if not _says_something(said):
            continue
        content = third_person(said, language, verbs=language == "en")
        kind = _kind(mark, text[start : mark.start + 24], again)
        assigned = mark.owner == "other" and mark.type == "todo" and kind is TodoKind.COMMITMENT
        yield Draft(
            kind=kind,
            content=content[:1].upper() + content[1:],
            quote=text[start:end].strip(),
            by="assistant" if assigned else "user",
            due=due,
            recurrence=again,
            importance=6.5 if kind in (TodoKind.REMINDER, TodoKind.COMMITMENT) else 5.0,
            confidence=round(mark.score, 2),
            rule={"bad": "something that keeps coming back"}.get(mark.type, "has to be done"),
        )


def _words(text: str, mark: Mark, when: Mark | None) -> str:
    """What is to be done, without the asking for it and without the time that is its due date: "tomorrow" would be
    wrong tomorrow."""
    said = text[mark.start : mark.end]
    if when is not None and mark.start <= when.start < when.end <= mark.end:
        head = _BEFORE_A_TIME.sub("", said[: when.start - mark.start].rstrip())
        rest = _bare(f"{head} {said[when.end - mark.start :].strip()}")
        if _says_something(rest):
            return rest
    return _bare(said)


def _bare(said: str) -> str:
    return _LEAD.sub("", _ASKING.sub("", said.strip(" ,.;:!?")))


def _says_something(said: str) -> bool:
    return len(said.split()) >= 2 or len(said) >= 6


def _kind(mark: Mark, before: str, again: str | None) -> TodoKind:
    if mark.type == "bad":
        return TodoKind.FRICTION
    if _REMIND.search(before[-84:]):
        return TodoKind.REMINDER
    if _PROMISE.search(before[-84:]) or mark.owner == "other":
        return TodoKind.COMMITMENT
    return TodoKind.HABIT if again else TodoKind.TASK


def _due(
    text: str,
    mark: Mark,
    marks: Sequence[Mark],
    span: tuple[int, int],
    at: datetime,
    zone: tzinfo | None,
    language: str,
) -> tuple[Mark | None, datetime | None]:
    """The time marked inside the obligation, or else the nearest one in its sentence, and when that is."""
    others = [one for one in marks if one.type == "todo" and one.start < mark.start]
    able = [
        one
        for one in marks
        if one.type == "when"
        and span[0] <= one.start < span[1]
        and not any(other.start <= one.start < other.end for other in others)
    ]
    able.sort(key=lambda one: (not mark.start <= one.start < mark.end, abs(one.start - mark.end)))
    for one in able[:2]:
        moment = resolve(text[one.start : one.end], text[span[0] : span[1]], at, zone, language, ahead=True)
        if moment is not None and moment.end > at:
            return one, _last_moment(moment, text[max(span[0], one.start - 12) : one.start])
    return None, None


def _last_moment(moment: Moment, before: str) -> datetime:
    """An instant as it is; otherwise the last second of it. "Before July" is due on its first day."""
    if moment.precision in ("hour", "minute", "part"):
        return moment.start
    if moment.precision in ("month", "year") and re.search(r"\b(?:before|vor|antes|avant)\b", before, re.I):
        return moment.start
    return moment.end - timedelta(seconds=1)


_CUT_SHORT = re.compile(
    r"\b(?:the|an?|my|our|to|for|with|of|der|die|das|den|dem|eine?n?|al|el|l[aeo]s?|una?|une|os?|as|uma?|ao|d[aou]|au)$",
    re.I,
)
"""Words at which nothing ends."""

_PROMISES = re.compile(
    r"\b(?:i(?:'ll| will|’ll)|ich werde|ich erinnere dich|voy a|te recordaré|je vais|je te|vou|eu vou)\s+(?:definitely |make sure to |be sure to )?"
    r"(?P<what>(?:remind|check|follow up|send|get back|look into|ask you|prepare|draft|let you know|bring|ping|message|update you|write|"
    r"put together|find out|erinnern|nachsehen|schicken|melden|recordar\w*|enviar\w*|preguntar\w*|rappeler\w*|envoyer|demander|"
    r"lembrar\w*|mandar|perguntar)\b[^.!?\n]{2,160})",
    re.I,
)
MOST_PROMISES = 8


def promises_in(exchange: Exchange) -> Iterator[Draft]:
    """Of an assistant's words only what binds it is kept: what it says it will do."""
    text = exchange.message.content
    for match in list(_PROMISES.finditer(text))[:MOST_PROMISES]:
        said = match["what"].strip(" ,.;:")
        at, zone = exchange.message.at, exchange.zone
        moment = resolve(said, said, at, zone, exchange.language, ahead=True)
        due = _last_moment(moment, "") if moment is not None and moment.end > at else None
        yield Draft(
            kind=TodoKind.COMMITMENT,
            content=said[:1].upper() + said[1:],
            quote=match[0].strip(),
            by="assistant",
            due=due,
            importance=5.0,
            confidence=0.8,
            rule="assistant promise",
        )


def finished_in(
    text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]], at: datetime, zone: tzinfo | None, language: str
) -> Iterator[Finished]:
    """What a message says is done, dropped or put off, with the sentence around short words such as "done" or a mark
    that breaks off; and what it merely tells as past."""
    heard: list[tuple[int, int]] = []
    for mark in marks:
        if mark.layer != "clause" or mark.type not in ("done", "cancel"):
            continue
        start, end = next(((a, b) for a, b in spans if a <= mark.start < b), (0, len(text)))
        said = text[mark.start : mark.end].strip()
        if len(said.split()) < 3 or _CUT_SHORT.search(said):
            said = text[start:end].strip()
        heard.append((mark.start, mark.end))
        later = _later(marks, text, (start, end), at, zone, language) if mark.type == "cancel" else None
        yield Finished(text=said, cancelled=mark.type == "cancel", moved_to=later)
    wanted = [one for one in marks if one.layer == "clause" and one.type == "todo"]
    for report in reports(text, spans, language):
        if any(start < report.end and report.start < end for start, end in heard):
            continue
        if any(one.start < report.end and report.start < one.end for one in wanted):
            continue
        later = _later(marks, text, (report.start, report.end), at, zone, language) if report.kind == "moved" else None
        if report.kind == "moved" and later is None:
            continue
        told = report.kind == "told"
        yield Finished(
            text=report.text, cancelled=report.kind == "dropped", told=told, reported=not told, moved_to=later
        )


def _later(
    marks: Sequence[Mark], text: str, span: tuple[int, int], at: datetime, zone: tzinfo | None, language: str
) -> datetime | None:
    """When something was put off to: the last time that is named there and is still to come."""
    whens = [text[one.start : one.end] for one in marks if one.type == "when" and span[0] <= one.start < span[1]]
    for said in whens[::-1]:
        moment = resolve(said, text[span[0] : span[1]], at, zone, language, ahead=True)
        if moment is not None and moment.end > at:
            return _last_moment(moment, "")
    return None
