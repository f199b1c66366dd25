"""What a model says is to be done, and what it says is done, once its quote and its day hold. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from tenuto.ingest.extract.answers import ProposedDone, ProposedTodo, Refused
from tenuto.ingest.extract.claims import Shown, quote_of
from tenuto.ingest.extract.exchange import Finished
from tenuto.ingest.extract.proposals import LONGEST, told
from tenuto.language.claimed_dates import Span, claims, meant
from tenuto.language.detect import language_of
from tenuto.language.times import recurrence
from tenuto.language.todos import Draft
from tenuto.records.memory import TodoKind
from tenuto.text import patterns

_DEADLINE = patterns.compile(
    r"\b(?:by|before|until|till|due|deadline|bis|vor|spätestens|antes|hasta|para (?:el|la|o|a)|avant|d'ici|jusqu\w*|até)\b",
    "i",
)
AHEAD = 400
"""Days in which a deadline lies that only the model could read."""
_TIME = patterns.compile(r"(?P<h>[01]?\d|2[0-3])[:h](?P<m>[0-5]\d)", not_after=r"[\d.,]")


def todo(proposal: ProposedTodo, shown: Shown) -> tuple[Draft, int] | Refused:
    """A todo with its due date, where that follows from the messages; and which message gave it."""
    place, reason = quote_of(proposal.quote, proposal.message or None, shown)
    content = " ".join(proposal.content.split())
    if place is None or not content or len(content) > LONGEST:
        return Refused(content[:120], reason or "its content is empty or too long", proposal.message or None)
    line = shown.lines[place]
    language = language_of(content, line.language)
    kind = TodoKind(proposal.kind) if proposal.kind in set(TodoKind) else TodoKind.TASK
    draft = Draft(
        kind=kind,
        content=told(content, language),
        quote=proposal.quote,
        due=_due(proposal.due, place, shown),
        recurrence=recurrence(content) or recurrence(line.text) if kind is TodoKind.HABIT else None,
        importance=6.5 if kind in (TodoKind.REMINDER, TodoKind.COMMITMENT) else 5.0,
        confidence=0.9,
        rule="has to be done",
    )
    return draft, place


def _due(given: str | None, place: int, shown: Shown) -> datetime | None:
    """The due date that a model gives: the last second of a day, or an instant.

    It follows from the messages up to then or from what is known ("before the move"). Where the message says a deadline
    in words that no rule reads ("by Whitsun"), the model's day stands.
    """
    if not given:
        return None
    line = shown.lines[place]
    found, _ = claims(given.replace("T", " "), "en", line.at)
    said = {
        one: meant(one.text, one.at, language_of(one.text, one.language), shown.zone)
        for one in shown.lines[: place + 1]
    }
    today = Span(_day(line.at), _day(line.at) + timedelta(days=1))
    spans = [today, *(span for each in said.values() for span in each)]
    spans += [span for known in shown.known for span in claims(known, language_of(known), line.at)[0]]
    for span in found:
        heard = any(_day(one.start) <= _day(span.start) <= _day(one.end) for one in spans)
        unread = _DEADLINE.search(line.text) and not said[line] and 0 <= (span.start - today.start).days <= AHEAD
        if span.days == 1 and (heard or unread):
            clock = _TIME.search(given)
            start = span.start.replace(tzinfo=shown.zone or line.at.tzinfo)
            if clock:
                return start.replace(hour=int(clock["h"]), minute=int(clock["m"]))
            return start + timedelta(days=1) - timedelta(seconds=1)
    return None


def _day(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


def finished(proposal: ProposedDone, shown: Shown) -> Finished | Refused:
    """Something that is done."""
    place, reason = quote_of(proposal.quote, proposal.message or None, shown)
    if place is None:
        return Refused(proposal.what[:120] or proposal.quote[:120], reason, proposal.message or None)
    return Finished(text=(proposal.what or proposal.quote).strip()[:LONGEST], cancelled=proposal.cancelled)
