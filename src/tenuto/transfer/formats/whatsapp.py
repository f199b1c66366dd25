"""A WhatsApp chat exported as text: one message per line, further lines belong to the message before.

The date's form depends on the phone's language. Whether the day or the month comes first is decided by the file itself:
a first number above 12 is a day, a second number above 12 a day as well; where no line tells, the order in which time
never runs backwards wins, and failing that the day comes first (unless the clock has 12 hours).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import pairwise

from tenuto.errors import InputError
from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.text import patterns
from tenuto.transfer.parsing import Format, Made, Options, tidy
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import decoded, text_lines

_MARKS = "[\u200e\u200f\u202a\u202b\u202c]*"
"""Signs that only turn the direction of writing; Arabic phones put them between the parts of a date."""
STAMP = patterns.compile(
    rf"^{_MARKS}\[?{_MARKS}(\d{{1,4}}){_MARKS}[./年-]{_MARKS}(\d{{1,2}}){_MARKS}[./月-]{_MARKS}(\d{{1,4}}){_MARKS}日?[,،]?"
    r"\s+(上午|下午|凌晨|早上|中午|晚上)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?"
    r"\s*([ap]\.?\s?m\.?|ص|م)?\]?(?:\s*[-–]\s|\s)(.*)$",
    "is",
)
"""A letter of another script is any such letter here: :func:`_stamp` looks at what it is."""
PARTS = frozenset(("上午", "下午", "凌晨", "早上", "中午", "晚上"))
HALVES = ("a", "p", "ص", "م")
AFTERNOON = ("p", "م", "下午", "晚上", "中午")
DELETED = frozenset(
    (
        "this message was deleted", "you deleted this message", "diese nachricht wurde gelöscht",
        "du hast diese nachricht gelöscht", "questo messaggio è stato eliminato", "hai eliminato questo messaggio",
        "se eliminó este mensaje", "eliminaste este mensaje", "ce message a été supprimé",
        "vous avez supprimé ce message", "mensagem apagada", "esta mensagem foi apagada", "você apagou esta mensagem",
        "此消息已删除", "您删除了此消息", "تم حذف هذه الرسالة",
    )
)  # fmt: skip
"""What a phone writes in the place of a message that was taken back."""
EDITED = ("edited", "bearbeitet", "modificat", "editado", "editada", "modifié", "编辑", "تعديل")
"""Words of the note that a phone puts behind a message that was changed."""
QUOTES = frozenset('"“”„«»')
"""Signs that no name holds: a colon behind one stands within a notice, such as a new subject."""
MEDIA = patterns.compile(
    "^\u200e?"
    r"(?:<[^<>]{3,40}>|(?:image|video|audio|sticker|gif|document|contact card|foto|immagine) omitted|"
    r"<attached: [^<>]+>)$",
    "i",
)
SAMPLE = 5000
"""Stamps that are looked at to find the order of day and month."""
NAME = patterns.compile(r"^([^:\n]{1,64}?): (.*)$", "s")


@dataclass(frozen=True, slots=True)
class Line:
    where: str
    numbers: tuple[int, int, int]
    clock: tuple[int, int, int]
    rest: str
    twelve: bool


def _members(source: Source) -> list[Member]:
    return [member for member in source.members if member.base.lower().endswith(".txt")]


def recognise(source: Source) -> bool:
    for member in _members(source)[:8]:
        head = decoded(member.head(8192)[: 8192 - 3]).splitlines()[:12]
        if sum(bool(_stamp(line)) for line in head) >= 2 or (len(head) == 1 and _stamp(head[0])):
            return True
    return False


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        day_first = _day_first(source, member, options)
        yield from _chat(source, member, options, day_first)


def _chat(source: Source, member: Member, options: Options, day_first: bool) -> Iterator[Parsed]:
    made, thread = Made(), patterns.sub(r"^WhatsApp Chat (with|-)\s*|\.txt$", "", member.base).strip() or member.name
    for line in _lines(source, member, options.policy.line_bytes):
        if isinstance(line, Skipped):
            yield line
            continue
        named = NAME.match(line.rest)
        if named is None:
            continue
        speaker, text = tidy(named[1].strip("\u200e\u200f\u202a\u202c ")), tidy(_as_written(named[2].strip("\u200e")))
        if not QUOTES.isdisjoint(speaker):
            continue
        at = _moment(line, day_first, options.zone)
        if at is None or not text or not speaker:
            yield Skipped(where=line.where, why="no date" if at is None else "no text")
            continue
        if text.casefold().strip(" .") in DELETED:
            yield Skipped(where=line.where, why="a message that was deleted")
            continue
        if MEDIA.match(text):
            yield Skipped(where=line.where, why="media without text")
            continue
        mine = options.is_me(speaker)
        stamp = at.isoformat()
        yield Said(
            id=made.id(stamp, thread, speaker, text),
            content=text,
            role=Role.USER,
            at=at,
            thread=thread,
            title=thread,
            speaker=speaker,
            mine=mine,
        )


def _as_written(text: str) -> str:
    """The words without the note that they were edited."""
    body, opened, note = text.rstrip().rpartition("<")
    edited = opened and body and note.endswith(">") and any(word in note.casefold() for word in EDITED)
    return body.rstrip(" \u200e") if edited else text


def _lines(source: Source, member: Member, limit: int) -> Iterator[Line | Skipped]:
    """Messages with their further lines joined."""
    current: Line | None = None
    more: list[str] = []
    size = 0
    for number, text in text_lines(source, member, limit):
        if isinstance(text, Skipped):
            yield text
            continue
        match = _stamp(text)
        if match is None:
            if current is not None and size < limit:
                more.append(text)
                size += len(text)
            continue
        if current is not None:
            yield _joined(current, more)
        current, more, size = _line(match, f"{member.name}:{number}"), [], 0
    if current is not None:
        yield _joined(current, more)


def _joined(line: Line, more: list[str]) -> Line:
    return line if not more else Line(line.where, line.numbers, line.clock, "\n".join([line.rest, *more]), line.twelve)


def _stamp(text: str) -> patterns.Match | None:
    """The date and time that a line begins with, if it does."""
    match = STAMP.match(text)
    if match is None or any(sign.isascii() and sign.isalpha() for sign in text[: match.start(5)]):
        return None
    known = (not match[4] or match[4] in PARTS) and (not match[8] or match[8].lower().startswith(HALVES))
    return match if known else None


def _line(match: patterns.Match, where: str) -> Line:
    first, second, third, before, hour, minute, seconds, behind, rest = match.groups()
    clock, half = int(hour), (before or behind or "").lower()
    if half:
        clock = clock % 12 + (12 if half.startswith(AFTERNOON) else 0)
    numbers = (int(first), int(second), int(third))
    return Line(where, numbers, (clock, int(minute), int(seconds or 0)), rest, bool(half))


def _moment(line: Line, day_first: bool, zone: tzinfo) -> datetime | None:
    first, second, third = line.numbers
    if first > 31:
        year, month, day = first, second, third
    else:
        year = third if third > 99 else 2000 + third
        day, month = (first, second) if day_first else (second, first)
    try:
        return datetime(year, month, day, *line.clock, tzinfo=zone)
    except ValueError:
        return None


def _day_first(source: Source, member: Member, options: Options) -> bool:
    sample: list[Line] = []
    read = source.read
    for line in _lines(source, member, options.policy.line_bytes):
        if isinstance(line, Line):
            sample.append(line)
        if len(sample) >= SAMPLE:
            break
    source.read = read
    if not sample:
        raise InputError(f"{member.name} holds no line with a date.", code="import_empty")
    if any(line.numbers[0] > 12 for line in sample):
        return True
    if any(line.numbers[1] > 12 for line in sample):
        return False
    backward = {order: _steps_back(sample, order, options.zone) for order in (True, False)}
    if backward[True] != backward[False]:
        return backward[True] < backward[False]
    return not sample[0].twelve


def _steps_back(sample: list[Line], day_first: bool, zone: tzinfo) -> int:
    times = [at for at in (_moment(line, day_first, zone) for line in sample) if at is not None]
    return sum(later < earlier for earlier, later in pairwise(times))


FORMAT = Format("whatsapp", "WhatsApp chat", recognise, parse, people=True)
