"""What is to be done and what is done, out of the reader's marks. Pure.

A marked obligation becomes a todo with its due date; how it was introduced ("remind me", "I promised") tells its kind.
Words that say that something is done are handed on: which todo they close is decided beside the open ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from tenuto.ingest.extract.exchange import Exchange
from tenuto.ingest.extract.marked import Marked
from tenuto.language.dates import Moment, in_english, resolve
from tenuto.language.doings import parts, stems
from tenuto.language.lexicon import ordered
from tenuto.language.mentions import SELF
from tenuto.language.plain_todos import plain_todos
from tenuto.language.times import recurrence
from tenuto.language.todos import Draft
from tenuto.language.voice import third_person
from tenuto.records.memory import TodoKind
from tenuto.records.reading import Mark
from tenuto.text import patterns

_REMIND = patterns.compile(
    r"remind|forget|erinner|vergess|recuérd|recuerd|record|olvid|rappel|oubli|lembr|esque[cç]", "i"
)
_PROMISE = patterns.compile(
    r"promis|swore|said i'?d|told .{1,20} i'?d|versproch|prometí|fiquei de|quedé|me comprometí|prometi", "i"
)
_ASKING = patterns.compile(
    r"^(?:(?:please|bitte|por favor|can you|could you|kannst du|puedes|tu peux|podes),? )*(?:remind me|(?:don't|do "
    r"not) let me forget|erinner\w* mich|vergiss nicht|recuérda(?:me|le)|rappelle(?:z)?-moi|n'oublie pas|lembra-me|"
    r"me lembr[ae]|não te esqueças|forget)(?: daran)?(?:,? (?:to|about|an|de|que|dass ich|zu))?(?:[\s,:]+|$)",
    "i",
)
"""The asking to be reminded, which is not what is to be done."""
_LEAD = patterns.compile(
    r"^(?:to|i need to|i have to|i must|i gotta|gotta|need to|have to|please|zu|dass ich|que|de|d'|à|a)\s+", "i"
)
_BEFORE_A_TIME = patterns.compile(
    r"(?:^|\s)(?:by|on|at|before|until|till|for|in|from|am|bis|vor|zum|um|ab|el|para(?: el)?|antes del?|hasta(?: el)?|"
    r"le|avant(?: le)?|d'ici|pour(?: le)?|jusqu'au|até(?: ao?)?|antes d[eoa]|n[oa]|em|dia|às|a)\s*$",
    "i",
)


CUT_SHORT = patterns.compile(
    r"\b(?:the|an?|my|our|to|for|with|of|der|die|das|den|dem|eine?n?|al|el|l[aeo]s?|una?|une|os?|as|uma?|ao|d[aou]|au)$",
    "i",
)
"""Words at which nothing ends."""


def todos_in(message: Marked) -> Iterator[Draft]:
    """The todos of a message."""
    text, language = message.text, message.language
    for mark in obligations(message):
        start, end = message.span(mark.start)
        again = recurrence(in_english(text[mark.start : mark.end], language)) if mark.type == "todo" else None
        when, due = _due(message, mark) if mark.type == "todo" else (None, None)
        said = _words(text, mark, None if again else when)
        if not _says_something(said):
            continue
        content = _standing_alone(
            message, mark, third_person(_with_names(message, mark, said), language, verbs=language == "en")
        )
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


PLAIN = 0.6
"""How sure an obligation is that is said in so many words and that the reader did not mark."""


def obligations(message: Marked) -> list[Mark]:
    """What the reader marked as to be done, up to where it ends, and what is said to be in so many words."""
    marked = [_whole(message, one) for one in message.marks if one.layer == "clause" and one.type in ("todo", "bad")]
    found = [one for one in marked if one.type == "bad" or not _already_past(message.said(one), message.language)]
    for start, end in plain_todos(message.text, message.spans, message.language):
        if not any(one.start < end and start < one.end for one in found):
            found.append(Mark("clause", "todo", start, end, "self", "now", PLAIN))
    return sorted(found, key=lambda one: one.start)


def _whole(message: Marked, mark: Mark) -> Mark:
    """A mark that breaks off at a word at which nothing ends reaches to the end of its clause."""
    _, end = message.span(mark.start)
    end = min([end, *(one.start for one in message.marks if one.type == mark.type and one.start >= mark.end)])
    said = message.text[mark.start : mark.end].rstrip()
    if not CUT_SHORT.search(said) or mark.end >= end:
        return mark
    cut = _CLAUSE_END.search(message.text, mark.end, end)
    return replace(mark, end=cut.start() if cut else end)


_CLAUSE_END = patterns.compile(
    r"[,;:()!?]|\.(?:\s|$)|\s(?:and|but|so|because|und|aber|weil|y|pero|et|mais|e|mas)\s", "i"
)
_PAST_FORMS = frozenset(pair.split(":")[0] for pair in ordered("irregular")) - {
    "read",
    "set",
    "put",
    "cut",
    "shut",
    "left",
    "found",
}
_NO_DOING = patterns.compile(
    r"^(?:the|my|his|her|their|our|a|an)\s.{0,60}\b(?:will|is|are|was|were|has|had)\b|^(?:is|are|was|were|has|had)\b",
    "i",
)


def _already_past(said: str, language: str) -> bool:
    """Whether the words tell what was done or what will be so, not what is to be done: "rang the pharmacy"."""
    if language != "en":
        return False
    first = next(iter(said.casefold().split()), "")
    return first in _PAST_FORMS or bool(_NO_DOING.match(said))


_HIM_HER = patterns.compile(r"\b(?:him|her)\b", "i")


def _with_names(message: Marked, mark: Mark, said: str) -> str:
    """The words with the name of whom "him" or "her" means: "ask her" says nothing next month."""
    match = _HIM_HER.search(said) if message.language == "en" else None
    if match is None:
        return said
    here = message.text.find(match[0], mark.start, mark.end)
    person = message.subjects.of(here) if here >= 0 else None
    if person is None or not person.label or person.id == SELF:
        return said
    after = said[match.end() :].lstrip()
    owned = match[0].casefold() == "her" and after[:1].isalpha() and not _NO_OWNED.match(after)
    return said[: match.start()] + (f"{person.label}'s" if owned else person.label) + said[match.end() :]


_NO_OWNED = patterns.compile(
    r"(?:to|about|for|on|in|at|by|before|that|the|a|an|when|if|whether|and|or|back|up|out|over|tomorrow|today|tonight|this|next|again|with|from|not|some|my|how|what)\b",
    "i",
)
_IT = patterns.compile(r"\b(?:it|that|this|them|those|these|es|das|lo|la|ça|isso|isto)\b", "i")
FEW = 12
"""Words of what stood before that tell what "it" is."""


def _standing_alone(message: Marked, mark: Mark, content: str) -> str:
    """What is to be done with what "it" means, where nothing else says it: the words that stand before."""
    what = parts(content)
    if (
        not _IT.search(content)
        or what.thing
        or what.rest - {stem for one in message.people for stem in stems(one.label)}
    ):
        return content
    start, _ = message.span(mark.start)
    before = [message.text[first:last] for first, last in message.spans if last <= start]
    told = " ".join((before[-1] if before else "").split()[-FEW:]).strip(" ,.;:!?")
    return f"{content}: {third_person(told, message.language)}" if len(stems(told)) >= 2 else content


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
    return _LOOSE_TIME.sub("", _LEAD.sub("", _ASKING.sub("", said.strip(" ,.;:!?"))))


_LOOSE_TIME = patterns.compile(r"\s(?:by|on|at|before|until|till|bis|am|hasta|antes de|avant|até)$", "i")
"""A word that led to the time which was taken away."""


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


def _due(message: Marked, mark: Mark) -> tuple[Mark | None, datetime | None]:
    """The time marked inside the obligation, or else the nearest one in its sentence, and when that is."""
    text, at, span = message.text, message.message.at, message.span(mark.start)
    others = [one for one in message.marks if one.type == "todo" and one.start < mark.start]
    able = [
        one
        for one in message.marks
        if one.type == "when"
        and span[0] <= one.start < span[1]
        and not any(other.start <= one.start < other.end for other in others)
    ]
    able.sort(key=lambda one: (not mark.start <= one.start < mark.end, abs(one.start - mark.end)))
    for one in able[:2]:
        moment = resolve(
            text[one.start : one.end], text[span[0] : span[1]], at, message.exchange.zone, message.language, ahead=True
        )
        if moment is not None and moment.end > at:
            return one, last_moment(moment, text[max(span[0], one.start - 12) : one.start + 12])
    return None, None


def last_moment(moment: Moment, before: str) -> datetime:
    """An instant as it is; otherwise the last second of it. "Before July" is due on its first day."""
    if moment.precision in ("hour", "minute", "part"):
        return moment.start
    if moment.precision in ("month", "year") and patterns.search(r"\b(?:before|vor|antes|avant)\b", before, "i"):
        return moment.start
    return moment.end - timedelta(seconds=1)


_PROMISES = patterns.compile(
    r"\b(?:i(?:'ll| will|’ll)|ich werde|ich erinnere dich|voy a|te recordaré|je vais|je te|vou|eu vou)\s+(?:definitely |make sure to |be sure to )?"
    r"(?P<what>(?:remind|check|follow up|send|get back|look into|ask you|prepare|draft|let you know|bring|ping|message|update you|write|"
    r"put together|find out|erinnern|nachsehen|schicken|melden|recordar\w*|enviar\w*|preguntar\w*|rappeler\w*|envoyer|demander|"
    r"lembrar\w*|mandar|perguntar)\b[^.!?\n]{2,160})",
    "i",
)
MOST_PROMISES = 8


def promises_in(exchange: Exchange) -> Iterator[Draft]:
    """Of an assistant's words only what binds it is kept: what it says it will do."""
    text = exchange.message.content
    for match in list(_PROMISES.finditer(text))[:MOST_PROMISES]:
        said = match["what"].strip(" ,.;:")
        at, zone = exchange.message.at, exchange.zone
        moment = resolve(said, said, at, zone, exchange.language, ahead=True)
        due = last_moment(moment, "") if moment is not None and moment.end > at else None
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
