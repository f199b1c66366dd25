"""What a message says is done, dropped or put off: what the reader marked, what is told, and answers to "did you …?". Pure.

Which todo such words close is decided beside the open ones (:mod:`tenuto.language.completion`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from tenuto.ingest.extract.exchange import Finished
from tenuto.ingest.extract.marked import Marked
from tenuto.ingest.extract.obligations import CUT_SHORT, last_moment, obligations
from tenuto.language import times
from tenuto.language.asked import asked_whether_done, says_yes
from tenuto.language.dates import in_english, resolve
from tenuto.language.doings import stems
from tenuto.language.plain_todos import plain_todos
from tenuto.language.reports import Report, is_done, is_moved, reports


def finished_in(message: Marked) -> Iterator[Finished]:
    """What a message says is done, dropped or put off, with the sentence around short words such as "done" or a mark
    that breaks off; and what it merely tells as past."""
    text, spans = message.text, message.spans
    wanted = [(one.start, one.end) for one in obligations(message) if one.type == "todo"]
    plain = list(plain_todos(text, spans, message.language))
    heard: list[tuple[int, int]] = []
    if (answered := _answer(message)) is not None:
        heard.append(spans[0])
        yield answered
    for mark in message.marks:
        if mark.layer != "clause" or mark.type not in ("done", "cancel") or _inside(heard, mark.start, mark.end):
            continue
        if _inside(plain, mark.start, mark.end):
            continue
        start, end = message.span(mark.start)
        said = text[mark.start : mark.end].strip()
        if len(said.split()) < 3 or CUT_SHORT.search(said):
            said = text[start:end].strip()
        heard.append((mark.start, mark.end))
        moved, cancelled = is_moved(said), mark.type == "cancel" and not is_done(said)
        later = _later(message, (start, end)) if mark.type == "cancel" and (moved or cancelled) else None
        if moved and cancelled and later is None:
            continue
        yield Finished(text=said, cancelled=cancelled, moved_to=later)
    before = ""
    marked = list(heard)
    for report in reports(text, spans, message.language):
        blocked = _inside(heard, report.start, report.end) or _inside(wanted, report.start, report.end)
        if (
            not blocked
            and not (marked and not stems(report.text))
            and (found := _reported(message, report, before)) is not None
        ):
            yield found
        before = report.text


def _inside(places: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in places)


def _reported(message: Marked, report: Report, before: str) -> Finished | None:
    later = _later(message, (report.start, report.end)) if report.kind == "moved" else None
    if report.kind == "moved" and later is None:
        return None
    told = report.kind == "told"
    said = report.text
    if not stems(said) and not before:
        return None
    if len(stems(said)) <= 1 and before:
        said = f"{before}, {said}"  # "tidied the lot" after what "the lot" is
    return Finished(text=said, cancelled=report.kind == "dropped", told=told, reported=not told, moved_to=later)


def _answer(message: Marked) -> Finished | None:
    """ "Did you pay the cleaner?" — "Yep, yesterday" says that it is paid."""
    asked = asked_whether_done(message.question() or "", message.language)
    if asked is None or not message.own:
        return None
    if says_yes(message.text):
        return Finished(text=asked, reported=True)
    return None


def _later(message: Marked, span: tuple[int, int]) -> datetime | None:
    """When something was put off to: the last time that is named there and is still to come."""
    text, at, zone, language = message.text, message.message.at, message.exchange.zone, message.language
    whens = [
        text[one.start : one.end] for one in message.marks if one.type == "when" and span[0] <= one.start < span[1]
    ]
    for said in whens[::-1]:
        moment = resolve(said, text[span[0] : span[1]], at, zone, language, ahead=True)
        if moment is not None and moment.end > at:
            return last_moment(moment, "")
    plain = times.find("will " + in_english(text[span[0] : span[1]], language), at, zone)
    coming = [one for one in plain if one.end > at and one.precision in ("day", "hour", "part")]
    return (
        (coming[-1].end - timedelta(seconds=1) if coming[-1].precision == "day" else coming[-1].start)
        if coming
        else None
    )
