"""Shorthand replies, read without a model.

A parser takes what a person wrote and returns the value of one field, or ``None``. It is what makes a statement
*explicit*: a value counts as stated by the person only when code reads it out of their own words. A parser therefore
prefers silence to a guess: two candidates, a negation before the value or a question give nothing or an inference.

Three ways to say a value: as the answer to the question that was just asked ("5"), with its label ("count: 5",
"difficulty = hard"), or beside a word that stands for the field ("5 problems"). Any field may bring its own parser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tenuto.workflow.phrases import Consent, consent

STATED = 1.0
"""Confidence of a value that was stated."""
HINTED = 0.6
"""Confidence of a value in a question or beside a hedge: an inference, not a statement."""
LONGEST_ANSWER = 500
"""Characters of a free text that is taken as the answer to a question."""
SHORT = 6
"""Words: in a longer sentence a choice that is merely mentioned, without a wish, is an inference."""
TERSE = 4
"""Words: a free answer of more words is a sentence, and taking it as the value is an inference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a parser sees: the text, the words for the field, its schema, and whether it was just asked."""

    text: str
    names: tuple[str, ...]
    schema: Mapping[str, Any]
    asked: bool
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A value read from a text. ``explicit``: the person said so, in words that mean it."""

    value: Any
    confidence: float = STATED
    explicit: bool = True


Parser = Callable[[Said], Reading | None]

_NUMBERS: dict[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "a": 1, "an": 1, "single": 1, "couple": 2, "dozen": 12, "twenty": 20,
    "eins": 1, "ein": 1, "eine": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8,
    "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8,
    "uno": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8,
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")
_AWAY = re.compile(
    r"(?:\b(?:not|no|never|without|from|than|instead of|except|isn't|don't|dont|no longer|drop|skip|hate)\W+"
    r"(?:\w+\W+)?)$"
)
_CLAUSE = re.compile(r"[,;]|\bbut\b|\band then\b")
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|not sure|i guess|could be|probably|thinking (?:about|of)|what if|vielleicht|"
    r"peut-être|quizás)\b"
)
_TAKING_OVER = frozenset(
    {"fine", "good", "great", "sounds", "right", "correct", "sure", "yeah", "yep", "perfect", "ahead"}
)
_INTENT = re.compile(
    r"\b(?:use|using|want|would like|i'd like|let's|lets|change|switch|make|prefer|choose|pick|go with|going with|"
    r"give me|set|plan|please|need|take|instead)\b"
)
_AROUND_A_NUMBER = frozenset(
    """
    a about an and are at be do exactly for give go have i i'd i'll i'm in is it it's just let's like make me my need of
    only please say so some take thanks that the them then there they think those to total us want we we'll will with
    would yes ok okay well hm um
    """.split()  # noqa: SIM905 - a word list
)
_NOT_KNOWN = re.compile(
    r"^\W*(?:i\s+(?:don'?t|do not)\s+(?:know|care|mind)|no idea|not sure|dunno|skip|next|pass|whatever|later|help|what|"
    r"why|how|when|where|who|hm+|wait|hold on|one moment|let me|tell me|show me|explain|can you|could you|would you|"
    r"do you|weiß nicht|keine ahnung|je ne sais pas|no s[eé])\b"
)
_LEAD_IN = re.compile(r"^(?:it'?s|it is|that'?s|i'?m|i am|my name is|call me|to|in|on|for)\s+", re.IGNORECASE)
_TAIL = re.compile(
    r"[\s,]+(?:it is|please|then|thanks|thank you|(?:would be|sounds) (?:good|great|nice|fine|right))\W*$",
    re.IGNORECASE,
)
_NONE = re.compile(r"^\W*(?:none|nothing|no|nope|n/a|na|keine|aucun|aucune|ninguno|ninguna|nessuno)\b[\s\w]{0,24}\W*$")
_ISO_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


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


def fold(text: str) -> str:
    """Text as parsers compare it."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def weigh(said: Said, value: Any, around: str | None = None) -> Reading:
    """A statement, or an inference when the sentence around it asks or hedges."""
    sentence = fold(said.text if around is None else around)
    doubtful = "?" in sentence or bool(_HEDGE.search(sentence))
    return Reading(value=value, confidence=HINTED if doubtful else STATED, explicit=not doubtful)


def hint(reading: Reading) -> Reading:
    """The same value as an inference."""
    return replace(reading, confidence=HINTED, explicit=False)


def labelled(said: Said) -> str | None:
    """What stands after ``name:`` or ``name =``, up to the end of its line or the next ``;``."""
    for name in sorted(said.names, key=len, reverse=True):
        pattern = (
            rf"(?:^|[\n;,.!?]\s*|\b(?:the|my|set|change)\s+){re.escape(name)}\s*(?:[:=]|\bis\b|\bto\b)\s*([^\n;]+)"
        )
        if found := re.search(pattern, said.text, re.IGNORECASE):
            return found.group(1).strip()
    return None


def read_nothing(said: Said) -> Reading | None:
    return None


def read_choice(said: Said) -> Reading | None:
    """One of the schema's words, said once and not negated."""
    label = labelled(said)
    text = fold(label if label is not None else said.text)
    found: list[tuple[str, str]] = []
    for sentence in _sentences(text):
        for option in sorted(choices_of(said.schema), key=len, reverse=True):
            word = re.escape(fold(option).replace("_", " "))
            for match in re.finditer(rf"(?<![\w]){word}(?![\w+#])", sentence.replace("_", " ")):
                before = _CLAUSE.split(sentence[: match.start()])[-1]
                if not _AWAY.search(before):
                    found.append((option, sentence))
    if len({option for option, _ in found}) != 1:
        return None
    option, sentence = found[-1]
    reading = weigh(said, option, sentence)
    meant = label is not None or said.asked or len(sentence.split()) <= SHORT or bool(_INTENT.search(sentence))
    if meant or any(fold(name) in sentence for name in said.names):
        return reading
    return hint(reading)


def read_boolean(said: Said) -> Reading | None:
    """A plain yes or no to the question, or after the label."""
    text = labelled(said)
    if text is None and not said.asked:
        return None
    answer = {"true": Consent.YES, "false": Consent.NO, "none": Consent.NO}.get(
        fold(text or said.text).strip(" .!"), consent(text or said.text)
    )
    return None if answer is Consent.UNCLEAR else weigh(said, answer is Consent.YES, text or said.text)


def read_number(said: Said) -> Reading | None:
    """The one number in the answer, or the one beside a word for the field."""
    whole = said.schema.get("type") == "integer"
    label = labelled(said)
    if label is not None or said.asked:
        numbers = numbers_in(label if label is not None else said.text, whole=whole)
        if len(numbers) == 1:
            reading = weigh(said, numbers[0], label)
            return reading if label is not None or _nothing_but(said) else hint(reading)
        if label is not None:
            return None
    for sentence in _sentences(fold(said.text)):
        beside = {value for name in said.names for value in _numbers_beside(sentence, name, whole=whole)}
        if len(beside) == 1:
            return weigh(said, beside.pop(), sentence)
    return None


def read_counts(said: Said) -> Reading | None:
    """Counts by name, such as "2 easy, 1 medium, 2 hard", or "2/1/2" in the schema's order when it was asked."""
    names = count_names(said.schema)
    label = labelled(said)
    text = fold(label if label is not None else said.text)
    counts: dict[str, int] = {}
    for name in names:
        word = name.replace("_", " ")
        beside = set(_numbers_beside(text, word, whole=True, after=False))
        beside |= {int(value) for value in re.findall(rf"\b{re.escape(word)}\s*[:=]\s*(\d{{1,6}})\b", text)}
        if len(beside) > 1:
            return None
        if beside:
            counts[name] = int(beside.pop())
    if not counts and (said.asked or label is not None):
        parts = re.fullmatch(r"\W*(\d{1,6}(?:\s*[/,+-]\s*\d{1,6})+)\W*", text)
        values = [int(part) for part in re.findall(r"\d+", parts.group(1))] if parts else []
        counts = dict(zip(names, values, strict=True)) if len(values) == len(names) else {}
    if not counts:
        return None
    return weigh(said, {name: counts.get(name, 0) for name in names})


def read_date(said: Said) -> Reading | None:
    """An ISO date, or a date in words against the time of the message."""
    label = labelled(said)
    if (label is not None or said.asked) and (day := _day(label if label is not None else said.text, said.now)):
        return weigh(said, day, label)
    for name in said.names:
        if found := re.search(rf"\b{re.escape(name)}\b\s*(?:on|at|is|the)?\s*([^\n;,.?!]{{3,40}})", fold(said.text)):
            words = found.group(1).split()
            for length in range(min(len(words), 5), 0, -1):
                if day := _day(" ".join(words[:length]), said.now):
                    return weigh(said, day)
    return None


def read_text(said: Said) -> Reading | None:
    """The labelled text, or the whole answer to the question."""
    label = labelled(said)
    text = (label if label is not None else said.text).strip()
    if label is None and (not said.asked or _no_answer(text)):
        return None
    if label is None:
        text = _TAIL.sub("", _LEAD_IN.sub("", text))
    text = text.strip(" \t.!\"'")
    if not 0 < len(text) <= min(LONGEST_ANSWER, said.schema.get("maxLength", LONGEST_ANSWER)):
        return None
    reading = weigh(said, text, label)
    return reading if label is not None or len(text.split()) <= TERSE else hint(reading)


def read_list(said: Said) -> Reading | None:
    """Words of the schema wherever they stand, or the parts of the answer."""
    label = labelled(said)
    text = label if label is not None else said.text
    items = said.schema.get("items") or {}
    if label is None and not said.asked:
        return None
    if _NONE.match(fold(text)):
        return weigh(said, [], text)
    if _no_answer(text):
        return None
    parts = [part.strip(" .!\"'") for part in re.split(r"[,;\n]|\band\b|\bund\b|\bet\b|\by\b", text)]
    parts = [_LEAD_IN.sub("", part) for part in parts if part]
    if options := choices_of(items):
        by_word = {fold(option).replace("_", " "): option for option in options}
        chosen = [by_word.get(fold(part).replace("_", " ")) for part in parts]
        if not chosen or None in chosen:
            return None
        return weigh(said, list(dict.fromkeys(chosen)), text)
    if items.get("type", "string") != "string" or not parts or any(len(part) > LONGEST_ANSWER for part in parts):
        return None
    reading = weigh(said, list(dict.fromkeys(parts)), text)
    return reading if label is not None or all(len(part.split()) <= TERSE for part in parts) else hint(reading)


def numbers_in(text: str, *, whole: bool) -> list[float]:
    """Every number in digits or words; none at all if a whole number is wanted and there is a decimal."""
    found: list[float] = [float(match.group().replace(",", "")) for match in _NUMBER.finditer(text)]
    words = [word for word in re.findall(r"[^\W\d_]+", fold(text)) if word in _NUMBERS and word not in ("a", "an")]
    found += [float(_NUMBERS[word]) for word in words]
    if whole and any(not value.is_integer() for value in found):
        return []
    return [int(value) if value.is_integer() else value for value in found]


def stated(value: Any, text: str) -> bool:
    """Does the text itself say this value? Every part of it, in words, not negated and not asked."""
    said = fold(text)
    if "?" in said or _HEDGE.search(said):
        return False
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, (int, float)):
        return float(value) in [float(number) for number in numbers_in(text, whole=False)]
    if isinstance(value, str):
        found = re.search(rf"(?<!\w){re.escape(fold(value).replace('_', ' '))}(?![\w+#])", said.replace("_", " "))
        return bool(value.strip()) and found is not None and not _AWAY.search(_CLAUSE.split(said[: found.start()])[-1])
    if isinstance(value, Mapping):
        return bool(value) and all(stated(part, text) for part in value.values())
    return isinstance(value, list) and bool(value) and all(stated(part, text) for part in value)


def _no_answer(text: str) -> bool:
    """Not a free answer: a question, a request, a shrug, or something that begins with yes or no."""
    first = re.match(r"\W*([^\W\d_]+)", text)
    if any(consent(part) is not Consent.UNCLEAR for part in (text, first.group(1) if first else "")):
        return True
    return "?" in text or "\n" in text or bool(_NOT_KNOWN.match(fold(text)))


def _nothing_but(said: Said) -> bool:
    """Is the number all that the answer says? "five, please" is; "enough for one lesson" is about something else."""
    known = _AROUND_A_NUMBER | {word for name in said.names for word in name.split()} | set(_NUMBERS)
    return all(word in known for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", fold(said.text)))


def restated(value: Any, said: Said) -> bool:
    """Does the person take this value over in their own words, and say nothing else with it?

    Words and lists of words may stand anywhere in a wish or between fillers ("Lisbon it is"); everything else has to be
    what the field's own reading gives.
    """
    parts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if not parts or not all(isinstance(part, str) and stated(part, said.text) for part in parts):
        return False
    rest = fold(said.text).replace("_", " ")
    for part in sorted(parts, key=len, reverse=True):
        rest = rest.replace(fold(part).replace("_", " "), " ")
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", rest)
    known = _AROUND_A_NUMBER | _TAKING_OVER | {word for name in said.names for word in name.split()}
    return not re.search(r"\d", rest) and (bool(_INTENT.search(rest)) or all(word in known for word in words))


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def _numbers_beside(text: str, name: str, *, whole: bool, after: bool = True) -> list[float]:
    number = rf"(-?\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    word = re.escape(fold(name))
    patterns = [rf"(?<![\w.,/-]){number}\s+(?:\w+\s+)?{word}\b", rf"(?<![\w.,/-]){number}\s+{word}\b"]
    if after:
        patterns.append(rf"\b{word}\s+(?:of|to|is|at|by)\s+{number}(?![\w.,/-]*\d)")
    found = [match.group(1) for match in re.finditer(patterns[1], text)]
    if not found:
        found = [match.group(1) for pattern in (patterns[0], *patterns[2:]) for match in re.finditer(pattern, text)]
    values = [float(_NUMBERS[part]) if part in _NUMBERS else float(part) for part in found]
    return [int(value) for value in values if value.is_integer()] if whole else values


def count_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The properties of an object that holds whole numbers and nothing else."""
    properties = schema.get("properties") or {}
    whole = [name for name, part in properties.items() if isinstance(part, Mapping) and part.get("type") == "integer"]
    return tuple(whole) if whole and len(whole) == len(properties) else ()


def _day(text: str, now: datetime) -> str | None:
    found = _ISO_DATE.findall(text)
    if len(set(found)) == 1:
        return str(found[0])
    if found or len(text) > 60 or not re.search(r"\d|day|week|month|tomorrow|today|next", fold(text)):
        return None
    import dateparser  # slow to import, and only dates in words need it

    relative = re.search(r"[a-z]+day\b|tomorrow|week|month", fold(text))
    parsed = dateparser.parse(
        re.sub(r"^(?:on|the|from|until|by)\s+|\bnext\s+(?=[a-z]+day\b)", "", text.strip(), flags=re.IGNORECASE),
        languages=["en"],
        settings={
            "RELATIVE_BASE": now.replace(tzinfo=None),
            "PREFER_DATES_FROM": "future",
            "REQUIRE_PARTS": [] if relative else ["day", "month"],
        },
    )
    return parsed.date().isoformat() if parsed else None
