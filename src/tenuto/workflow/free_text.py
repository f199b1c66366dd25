"""Free answers: a text or a list in the person's own words.

A short answer is taken at its word. One that is a sentence, or vague, is an inference; one that turns something away,
leaves a choice or begs off is none. A list grows with "also" and with what the person is, beside a word for it
("allergic to latex"); it shrinks when they say that an item of it is not so any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.text import patterns
from tenuto.workflow import stance
from tenuto.workflow.reading import (
    Reading,
    Said,
    Span,
    Unclear,
    clause_at,
    fold,
    hint,
    label_start,
    labelled,
    places_of,
    rest_of,
    texts,
    words,
)  # fmt: skip

LONGEST_ANSWER = 500
"""Characters of a free text that is taken as the answer to a question."""
TERSE = 4
"""Words: a free answer of more words is a sentence, and taking it as the value is an inference."""
ONE_ANSWER = "say the one that you want"
OWN = "it is about you alone"
_LEAD_IN = patterns.compile(
    r"^(?:[\s,;.]+|(?:it'?s|it is|that'?s|i'?m|i am|we'?re|we are|my name(?: is|'s)|the name(?: is|'s)|call me|"
    r"um+|uh+|well|oh|so|the|to|in|on|for|about|also|and|(?:i|we)'?d like(?: to)?|(?:i|we) want(?: to)?|i take|"
    r"i use|just|only|mainly|(?:go|travel|fly|drive|head)(?:ing)?(?: to)?|visit|let'?s (?:do|say|go with|take)|"
    r"please|make it)\s+)",
    "i",
)
_HEDGE_IN = patterns.compile(
    r"^\W*(?:maybe|perhaps|probably|possibly|i think|i guess|how about|what about|vielleicht|peut-être|quizás)\s+", "i"
)
_TAIL = patterns.compile(
    r"(?:[\s,;]+(?:it is|please|then|thanks|thank you|and|und|bitte|too|as well|again|(?:and )?i'?(?: wa| a)?[ms]|"
    r"(?:would be|sounds) (?:good|great|nice|fine|right|perfect)))+\W*$",
    "i",
)
_NONE = frozenset(
    {"none", "nothing", "no", "nope", "na", "nil", "keine", "aucun", "aucune", "ninguno", "ninguna", "nessuno"}
)
_AFTER_NONE = frozenset(
    """
    that i i'm know known of at all the moment so far as really thanks thank you please currently any to aware am right
    now a
    """.split()  # noqa: SIM905 - a word list
)
_SPLIT = patterns.compile(r"[,;\n]+|\band\b|\bund\b|\bet\b|\by\b|\bplus\b|&", "i")
_ADD = patterns.compile(r"\b(?:add|include|put)\s+(.{1,200}?)\s+(?:to|on|in)\s+(?:my|the|our)?\s*$", "i")
_REMOVE = patterns.compile(r"\b(?:remove|delete|take|drop)\s+(.{1,200}?)\s+(?:from|off)\s+(?:my|the|our)?\s*$", "i")
_RELATIONS = frozenset({"to", "of", "from", "at", "in", "on", "with", "by"})
_IN_NAMES = frozenset(
    "de del der den di da do dos das du des la le les van von zu zur am an of the and y e i ter bin al el".split()  # noqa: SIM905
)
_STRIPPED = " \t.!,;:\"'"


def read_text(said: Said) -> Reading | Unclear | None:
    """The labelled text, what stands behind a relation ("going to"), or the whole answer to the question."""
    found = _place(said)
    if found is None or isinstance(found, Unclear):
        return found
    span, named = found
    text = said.text[slice(*span)]
    if not named and stance.no_answer(_HEDGE_IN.sub("", text)):
        return None
    value, hedged = _bare(text, named=named)
    if not named and stance.no_answer(value):
        return None
    if "?" in text and not hedged and _vague(texts(words(value))[:1]):
        return None
    if not 0 < len(value) <= min(LONGEST_ANSWER, said.schema.get("maxLength", LONGEST_ANSWER)):
        return None
    heard = texts(words(value))
    if _leaves_open(heard):
        return Unclear(why=ONE_ANSWER, span=span)
    reading = Reading(value=value, span=_with_label(said, span))
    certain = not hedged and "?" not in text and not _vague(heard)
    bare = _terse(heard) and (not said.hard or _like_a_name(value))
    return reading if certain and (named or bare) else hint(reading)


def read_list(said: Said) -> Reading | Unclear | None:
    """The parts of the answer; none of them for "none"; more or fewer of them where the list is spoken of."""
    if (changed := _changed_list(said)) is not None:
        return changed
    found = _place(said)
    if found is None or isinstance(found, Unclear):
        return found
    span, named = found
    text = said.text[slice(*span)].strip(" ,;")
    place = _with_label(said, span)
    if _is_none(said, text):
        return Reading(value=[], span=place)
    if stance.no_answer(text) if not named else stance.declines(text):
        return None
    items, certain = _items(said, text)
    if items is None:
        return Unclear(why=ONE_ANSWER, span=place)
    if not items:
        return None
    grows = _also(said, span)
    kept = list(said.value) if grows and isinstance(said.value, list) else []
    reading = Reading(value=list(dict.fromkeys([*kept, *items])), span=place)
    known = not grows or isinstance(said.value, list)
    return reading if certain and known and "?" not in text else hint(reading)


def _place(said: Said) -> tuple[Span, bool] | Unclear | None:
    """Where the value stands, and whether the field is named there."""
    label = labelled(said)
    if label is not None:
        return label, True
    for first, last in places_of(_relations(said), said.text):
        found = words(said.text)
        clause = clause_at(said.text, first)
        before = texts(found[clause.first : first])
        if all(word in stance.LEAD for word in before):
            return rest_of(said, found[last - 1].end), True
        if not any(stance.negation(word) or word == "no" for word in before):
            return Unclear(why=OWN, span=rest_of(said, found[clause.first].start))
        if not said.asked:
            return None
    return ((0, len(said.text)), False) if said.asked else None


def _relations(said: Said) -> list[str]:
    """Words for the field behind which its value stands: "allergic to"."""
    return [name for name in said.names if " " in name and name.split()[-1] in _RELATIONS]


def _bare(text: str, *, named: bool) -> tuple[str, bool]:
    """The text without what leads in and what follows, and whether that was a hedge."""
    value, hedged = text.strip(), False
    if (match := _HEDGE_IN.match(value)) is not None:
        value, hedged = value[match.end() :], True
        value = value.rstrip("? ")
    value = value.strip(_STRIPPED)
    while not named and (lead := _LEAD_IN.match(value)) is not None:
        hedged = hedged or fold(lead.group()).startswith("call me")
        value = value[lead.end() :]
    value = _TAIL.sub("", value).strip(_STRIPPED)
    return value, hedged or stance.hedged(texts(words(text)))


def _leaves_open(heard: Sequence[str]) -> bool:
    """Does it turn something away, or offer two?"""
    return (
        heard[:1] in (["no"], ["nothing"], ["none"], ["nobody"], ["nowhere"])
        or any(stance.negation(word) for word in heard)
        or any(word in ("or", "oder", "ou", "but", "either") for word in heard[:-1])
    )


def _vague(heard: Sequence[str]) -> bool:
    return any(
        word in stance.SENTENCE or word in stance.VAGUE or word.endswith(("'m", "'re", "'ve", "'ll")) for word in heard
    )


def _like_a_name(value: str) -> bool:
    """Is no word of it written small but those that stand inside of names? "Still thinking" is no place."""
    parts = value.replace(",", " ").split()
    return (
        bool(parts)
        and not parts[0][:1].islower()
        and not any(part[:1].islower() and fold(part) not in _IN_NAMES for part in parts)
    )


def _terse(heard: Sequence[str]) -> bool:
    return len(heard) <= TERSE


def _items(said: Said, text: str) -> tuple[list[Any] | None, bool]:
    """(the parts, whether all of them are certain); ``None`` where they are all turned away."""
    schema = said.schema.get("items") or {}
    options = {fold(option).replace("_", " "): option for option in schema.get("enum", ()) if isinstance(option, str)}
    if not options and schema.get("type", "string") != "string":
        return [], False
    kept: list[Any] = []
    certain, away = True, False
    for part in _SPLIT.split(text):
        value, hedged = _bare(part, named=False)
        heard = texts(words(value))
        if not heard or stance.plain(heard, ()):
            continue
        if any(stance.negation(word) for word in heard) or stance.past(heard):
            away, certain = True, False
            positive = value.partition(" but ")[0]
            if positive == value or any(stance.negation(word) for word in texts(words(positive))):
                continue
            value = positive
        if any(word in ("or", "oder", "ou") for word in heard):
            return None, False
        if options and (chosen := options.get(fold(value).replace("_", " "))) is None:
            return [], False
        if kept and any(word in ("i", "that", "my") for word in texts(words(part))):
            certain = False
            continue
        certain = certain and not hedged and not _vague(heard) and _terse(heard) and not _leaves_open(heard)
        kept.append(chosen if options else value)
    if not kept and away:
        return None, False
    if any(len(str(part)) > LONGEST_ANSWER for part in kept):
        return [], False
    return list(dict.fromkeys(kept)), certain


def _is_none(said: Said, text: str) -> bool:
    """ "None that I know of", "no allergies", "I don't take anything", "not allergic to anything"."""
    heard = texts(words(text))
    names = {word.text for name in said.names for word in words(name)}
    if not heard or "?" in text:
        return False
    if heard[0] in _NONE or heard[:2] == ["not", "that"]:
        return all(word in _AFTER_NONE or word in names for word in heard[1:])
    denies = any(stance.negation(word) for word in heard) and any(word in ("anything", "any") for word in heard)
    own = {"i", "i'm", "am", "have", "take", "use", "need", "do", "anything", "any", *_AFTER_NONE, *names}
    return denies and all(word in own or stance.negation(word) for word in heard)


def _also(said: Said, span: Span) -> bool:
    """Does the text speak of more? What the person says they are adds to what is there; a label sets it anew."""
    heard = texts(words(said.text))
    if any(word in ("also", "too", "additionally", "auch", "aussi", "también") for word in heard):
        return True
    relation = any(words(said.text)[last - 1].end == span[0] for _, last in places_of(_relations(said), said.text))
    return relation and isinstance(said.value, list)


def _changed_list(said: Said) -> Reading | None:
    """ "Add latex to my allergies", "remove …", "I'm not allergic to latex any more"."""
    held = said.value if isinstance(said.value, list) else []
    found = words(said.text)
    for first, last in places_of(said.names, said.text):
        before = said.text[: found[first].start]
        span = (0, found[last - 1].end)
        if match := _ADD.search(before):
            items, certain = _items(said, match.group(1))
            reading = Reading(value=list(dict.fromkeys([*held, *(items or [])])), span=span)
            return (reading if certain else hint(reading)) if items else None
        if match := _REMOVE.search(before):
            return _without(held, _items(said, match.group(1))[0] or [], span)
    for first, last in places_of(_relations(said), said.text):
        clause = clause_at(said.text, first)
        if any(stance.negation(word) for word in texts(found[clause.first : first])):
            heard = fold(said.text[found[last - 1].end :])
            gone = [item for item in held if isinstance(item, str) and fold(item) in heard]
            return _without(held, gone, (found[clause.first].start, len(said.text)))
    return None


def _without(held: Sequence[Any], gone: Sequence[Any], span: Span) -> Reading | None:
    away = {fold(str(item)) for item in gone}
    left = [item for item in held if fold(str(item)) not in away]
    return Reading(value=left, span=span) if len(left) < len(held) else None


def _with_label(said: Said, span: Span) -> Span:
    return label_start(said, span), span[1]
