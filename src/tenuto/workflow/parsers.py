"""Shorthand replies, read without a model.

A parser takes what a person wrote and returns the value of one field, a reason why it stays open, or nothing. It is
what makes a statement *explicit*: a value counts as stated by the person only when code reads it out of their own
words, and every word around it is known to leave it as it is. A parser therefore prefers a question to a guess.

Three ways to say a value: as the answer to the question that was just asked ("5"), with its label ("count: 5",
"difficulty = hard"), or beside a word that stands for the field ("5 problems"). Any field may bring its own parser.
Free text and lists are read by :mod:`tenuto.workflow.free_text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenuto.language.consent import Consent, consent
from tenuto.workflow import stance
from tenuto.workflow.dates import Day, days
from tenuto.workflow.free_text import read_list, read_text
from tenuto.workflow.numbers import amounts
from tenuto.workflow.read_numbers import count_names, read_counts, read_number
from tenuto.workflow.reading import (
    Parser,
    Reading,
    Said,
    Span,
    Unclear,
    clause_at,
    clauses_over,
    fold,
    hint,
    label_start,
    labelled,
    places_of,
    sentence_words,
    texts,
    words,
)
from tenuto.workflow.weigh import LINKS, around, options_in, turned_away, weigh, words_in, words_of

ONE_CHOICE = "it needs one of its choices"
WHICH_DAY = "it needs one day"
_BIRTH = ("born", "birth", "birthday")


def parser_for(schema: Mapping[str, Any]) -> Parser:
    """The parser that fits a field's schema."""
    kind = schema.get("type")
    if choices_of(schema):
        return read_choice
    if kind == "boolean":
        return read_boolean
    if kind in ("integer", "number"):
        return read_number
    if kind == "string":
        return read_date if schema.get("format") == "date" else read_text
    if kind == "array":
        return read_list
    if kind == "object" and count_names(schema):
        return read_counts
    return read_nothing


def choices_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    options = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return tuple(option for option in options if isinstance(option, str))


def read_nothing(said: Said) -> None:
    return None


def read_choice(said: Said) -> Reading | Unclear | None:
    """One of the schema's words, said once and not turned away."""
    label = labelled(said)
    found = options_in(said.text, choices_of(said.schema))
    if label is not None:
        found = [one for one in found if label[0] <= one[1][0] < label[1]]
    meant = [(option, span) for option, span in found if not turned_away(said.text, span)]
    touched = around(span for _, span in found)
    if len({option for option, _ in meant}) != 1:
        open_ended = found and (said.asked or label is not None or len(meant) > 1)
        return Unclear(why=ONE_CHOICE, span=touched) if open_ended else None
    option, span = meant[-1]
    digits = [word.text for word in words(said.text) if word.text[0].isdigit()]
    reading = weigh(said, option, span, label, also=digits)
    return reading if span[1] - span[0] == len(option) else hint(reading)


def read_boolean(said: Said) -> Reading | Unclear | None:
    """A plain yes or no to the question, after the label, or as "I don't" with a word for the field."""
    label = labelled(said)
    if label is None and not said.asked:
        return None
    text = said.text[slice(*label)] if label is not None else said.text
    span = (label_start(said, label), label[1]) if label is not None else (0, len(said.text))
    known = {"true": Consent.YES, "false": Consent.NO, "none": Consent.NO}
    answer = known.get(fold(text).strip(" .,!;"), consent(text.strip(" ,;")))
    if answer is not Consent.UNCLEAR:
        return Reading(value=answer is Consent.YES, span=span)
    if (own := _own_words(text, said.names)) is not None:
        return Reading(value=own, span=span)
    found = words(text)
    first = text[: found[clause_at(text, 0).last - 1].end] if found else ""
    answer = consent(first)
    return None if answer is Consent.UNCLEAR else hint(Reading(value=answer is Consent.YES, span=span))


def read_date(said: Said) -> Reading | Unclear | None:
    """A day in figures or words, behind a word for the field or as the answer."""
    past = any(word in _BIRTH for name in said.names for word in name.split())
    found = days(said.text, said.now, past=past)
    label = labelled(said)
    chosen = [day for day in found if label is not None and label[0] <= day.span[0] < label[1]]
    if not chosen:
        chosen = [day for day in found if _behind_name(said, day)]
    bare = not chosen
    if bare and said.asked:
        chosen = [day for day in found if not _behind_name(said, day, said.others)]
    if not chosen:
        return None
    span = around(day.span for day in chosen)
    meant = [day for day in chosen if not turned_away(said.text, day.span, said.names)]
    open_ended = len({day.value for day in meant}) != 1 or any(_one_of_two(said.text, day.span) for day in meant)
    if why := next((day.why for day in meant if day.why), WHICH_DAY if open_ended else ""):
        return Unclear(why=why, span=span)
    named = _name_before(said, meant[-1].span)
    other = [word for day in found if _behind_name(said, day, said.others) for word in words_in(said.text, day.span)]
    if past and words(said.text)[0].text == "i":
        other.append("was")
    reading = weigh(said, meant[-1].value, (named, meant[-1].span[1]), label, also=other, bare=bare)
    return hint(reading) if any(day.about for day in meant) else reading


def stated(value: Any, text: str) -> bool:
    """Does the text itself say this value? Every part of it, in words, not turned away and not asked."""
    whole = (0, len(text))
    if "?" in text or stance.hedged(sentence_words(text, whole)):
        return False
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, (int, float)):
        return float(value) in [one.value for one in amounts(text)]
    if isinstance(value, str):
        found = options_in(text, (value,))
        return bool(value.strip()) and bool(found) and not turned_away(text, found[0][1])
    parts = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return bool(parts) and all(stated(part, text) for part in parts)


def restated(value: Any, said: Said) -> bool:
    """Does the person take this value over in their own words, and say nothing else with it?

    Words and lists of words may stand anywhere in a wish or between fillers ("Lisbon it is"); everything else has to be
    what the field's own reading gives.
    """
    parts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if not parts or not all(isinstance(part, str) and stated(part, said.text) for part in parts):
        return False
    spans = [span for part in parts for _, span in options_in(said.text, (part,))]
    rest = [word.text for word in words(said.text) if not any(start <= word.start < end for start, end in spans)]
    return stance.plain(rest, words_of(said.names))


def _behind_name(said: Said, day: Day, names: Iterable[str] | None = None) -> bool:
    found = words(said.text)
    for _, last in places_of(said.names if names is None else names, said.text):
        between = [word.text for word in found[last:] if word.start < day.span[0]]
        if found[last - 1].end <= day.span[0] and all(word in LINKS for word in between):
            return True
    return False


def _name_before(said: Said, span: Span) -> int:
    found = words(said.text)
    names = [found[first].start for first, last in places_of(said.names, said.text) if found[last - 1].end <= span[0]]
    day = [
        one
        for one in names
        if clauses_over(said.text, (one, one + 1)) == clauses_over(said.text, (span[0], span[0] + 1))
    ]
    return day[-1] if day else span[0]


def _one_of_two(text: str, span: Span) -> bool:
    """ "3 or 4 May", "May 3 or 4", "3 to 10 May"."""
    found = words(text)
    before = [word.text for word in found if word.end <= span[0]][-2:]
    behind = [word.text for word in found if word.start >= span[1]][:2]
    links = ("or", "oder", "ou", "o", "to", "and")
    first = len(before) == 2 and before[1] in links and before[0][0].isdigit()
    dash = text[: span[0]].rstrip().endswith(("-", "–"))
    return first or dash or (len(behind) == 2 and behind[0] in links and behind[1][0].isdigit())


def _own_words(text: str, names: Iterable[str]) -> bool | None:
    """ "I don't smoke" for a field called smoker: a verb that begins like the name, and nothing else."""
    said = texts(words(text))
    stems = {word for name in names for word in name.split() if len(word) >= 4}
    verbs = [word for word in said if len(word) >= 4 and any(stem.startswith(word) for stem in stems)]
    rest = [word for word in said if word not in verbs]
    if not verbs or not all(word in ("i", "i'm", "do", "am", "a", "never", "not") or word == "don't" for word in rest):
        return None
    return not any(stance.negation(word) for word in rest)
