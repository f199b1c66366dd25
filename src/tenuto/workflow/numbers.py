"""Numbers as people write them: in digits and in words, with what the words around them make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenuto.language.lexicon import packaged
from tenuto.text import patterns
from tenuto.workflow import stance
from tenuto.workflow.reading import MOST_FOUND, Span, Word, clause_at, fold, texts, words

_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "dozen": 12}
_MEANS_SOMETHING_ELSE = frozenset(
    "once par pair half quarter double twins null seize cent halb medio media meio meia mil hundert tausend".split()  # noqa: SIM905
)
_ALSO = {"single": 1, "ein": 1, "eine": 1, "einen": 1, "un": 1, "une": 1, "una": 1, "uma": 1}
_ARTICLES = ("a", "an")
_POINTS_AT_ONE = frozenset(
    """
    the that this another which each every any no last next other same good hard easy medium new old big small first
    """.split()  # noqa: SIM905 - a word list
)
"""Words after which "one" stands for a thing and counts nothing."""
_BETWEEN = frozenset({"or", "to", "oder", "bis", "ou", "o", "till", "until"})
_AMERICAN = patterns.compile(r"\d{1,3}(?:[,']\d{3})+(?:\.\d+)?")
_EUROPEAN = patterns.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_DECIMAL = patterns.compile(r"\d+[.,]\d+")
_WHOLE = patterns.compile(r"\d{1,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One number. ``first`` to ``last`` are the places of its words, the second one exclusive."""

    value: float
    first: int
    last: int
    span: Span
    about: bool = False
    limit: bool = False
    away: bool = False


@lru_cache(maxsize=1)
def number_words() -> dict[str, float]:
    """Every number word that is read, in the five languages."""
    found: dict[str, float] = dict(_ALSO)
    for pairs in packaged("quantities")["numbers"].values():
        for word, _, value in (pair.partition("=") for pair in str(pairs).split()):
            if word not in _MEANS_SOMETHING_ELSE and float(value).is_integer():
                found.setdefault(fold(word), float(value))
    return found


def amounts(text: str, besides: Sequence[Span] = ()) -> list[Amount]:
    """The numbers of a text in order; ``besides`` are stretches that are something else, such as dates."""
    found = words(text)
    read: list[Amount] = []
    place = 0
    while place < len(found) and len(read) < MOST_FOUND:
        value, last, rough = _at(text, found, place)
        span = (found[place].start, found[last - 1].end)
        if value is None or any(start < span[1] and span[0] < end for start, end in besides):
            place += 1
            continue
        read.append(_weighed(text, found, Amount(value=value, first=place, last=last, span=span, about=rough)))
        place = last
    return _ranges(text, read)


def counts(value: float, *, whole: bool) -> float | None:
    """The number as its field takes it: whole numbers as such, nothing for a fraction where a whole one is wanted."""
    if value == int(value):
        return int(value)
    return None if whole else value


def _at(text: str, found: Sequence[Word], place: int) -> tuple[float | None, int, bool]:
    """(value, the place behind it, roughly) of the number that begins here; ``None`` where none does."""
    word = found[place]
    if word.text[0].isdigit():
        return _digits(text, word), place + 1, False
    if word.text == "half" and texts(found[place + 1 : place + 3]) == ["a", "dozen"]:
        return 6, place + 3, False
    at = place + 1 if word.text in _ARTICLES else place
    if at >= len(found):
        return None, place + 1, False
    if found[at].text == "couple":
        behind = at + 1 < len(found) and found[at + 1].text == "of"
        return 2, at + 1 + behind, True
    if at > place and found[at].text not in _SCALES:
        return None, place + 1, False
    if word.text == "one" and place and found[place - 1].text in _POINTS_AT_ONE:
        return None, place + 1, False
    return _spelled(text, found, at)


def _spelled(text: str, found: Sequence[Word], place: int) -> tuple[float | None, int, bool]:
    """ "Twenty-one", "one thousand five hundred", "a dozen"."""
    known = number_words()
    total, current, at, end = 0.0, -1.0, place, place
    while at < len(found):
        word = found[at].text
        gap = text[found[at - 1].end : found[at].start].strip() if at > place else ""
        if gap not in ("", "-"):
            break
        if word == "and" and current >= 100 and at + 1 < len(found) and found[at + 1].text in known:
            at += 1
            continue
        if word in _SCALES:
            current = max(current, 1.0 if current < 0 else current) * _SCALES[word]
            if _SCALES[word] >= 1000:
                total, current = total + current, 0.0
        elif word in known and _fits(current, known[word]):
            current = max(current, 0.0) + known[word]
        else:
            break
        at += 1
        end = at
    return (total + max(current, 0.0), end, False) if end > place else (None, place + 1, False)


def _fits(current: float, value: float) -> bool:
    """May this number word follow? "Twenty" takes "one", "hundred" takes "five", "two" takes nothing."""
    if current < 0:
        return True
    rest = current % 100
    return (
        (rest == 0 and current != 0 and value < 100)
        or (current == 0 and value < 1000)
        or (rest >= 20 and rest % 10 == 0 and value < 10)
    )


def _digits(text: str, word: Word) -> float | None:
    before, behind = text[max(word.start - 2, 0) : word.start], text[word.end : word.end + 2]
    if behind[:1].isalnum() or behind[:1] == "_" or (behind[:1] in ("/", ":") and behind[1:].isdigit()):
        return None
    if before[-1:].isalnum() or before[-1:] == "_" or (before[-1:] in ("/", ":", ".") and before[:-1].isdigit()):
        return None
    said = word.text
    if _WHOLE.fullmatch(said):
        value = float(said)
    elif _AMERICAN.fullmatch(said):
        value = float(said.replace(",", "").replace("'", ""))
    elif _EUROPEAN.fullmatch(said):
        value = float(said.replace(".", "").replace(",", "."))
    elif _DECIMAL.fullmatch(said):
        value = float(said.replace(",", "."))
    else:
        return None
    negative = before[-1:] in ("-", "−") and not before[:-1].strip().isalnum()
    return -value if negative else value


def _weighed(text: str, found: Sequence[Word], amount: Amount) -> Amount:
    clause = clause_at(text, amount.first)
    before = texts(found[clause.first : amount.first])
    behind = texts(found[amount.last : clause.last])
    limit = stance.limit(before, behind) or text[amount.span[1] :].startswith("+")
    return Amount(
        value=amount.value,
        first=amount.first,
        last=amount.last,
        span=amount.span,
        about=amount.about or stance.about(before, behind),
        limit=limit,
        away=not limit and stance.away(before),
    )


def _ranges(text: str, read: Sequence[Amount]) -> list[Amount]:
    """Two numbers with "or", "to" or a dash between them are limits, unless something changes from the first."""
    found = words(text)
    open_ended: set[int] = set()
    for place in range(1, len(read)):
        one, other = read[place - 1], read[place]
        between = texts(found[one.last : other.first])
        gap = text[one.span[1] : other.span[0]].strip()
        bounded = one.limit and between == ["and"]
        if gap in ("-", "–", "—") or bounded or (len(between) == 1 and between[0] in _BETWEEN and not one.away):
            open_ended |= {place - 1, place}
    return [
        amount
        if place not in open_ended
        else Amount(value=amount.value, first=amount.first, last=amount.last, span=amount.span, limit=True)
        for place, amount in enumerate(read)
    ]
