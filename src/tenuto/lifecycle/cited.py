"""Text that a model wrote, line by line with what it rests on.

The model sees numbered sources (messages, lines of an earlier version, known things) and ends each sentence with the
numbers that it comes from: ``Moved to Austin with Maya. [3, 5]``. What comes back is checked in code: a sentence that
cites nothing, or nothing that was given, is not kept; one whose numbers, names and words are not those of what it
cites is not kept either. So every line can be held back when what it rests on is.

What would break it: checking a line against the whole source. Then a line could tell one message and cite another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

from tenuto.errors import ModelError
from tenuto.lifecycle import sentence_kinds, told
from tenuto.lifecycle.ask_model import ask
from tenuto.lifecycle.ranked_sentences import shorten, speaker_of
from tenuto.lifecycle.summarise import Draft
from tenuto.policy import ModelPolicy
from tenuto.ports import Model
from tenuto.prompts import load
from tenuto.records.conversation import Message, Role, SourcedLine
from tenuto.records.memory import TRUST_ORDER, Trust
from tenuto.text import patterns
from tenuto.text.words import STOP_WORDS, tokens, words

LEAST_SHARED = 0.34
"""Share of a line's words that must be in what it cites."""
LONGEST_SOURCE = 24_000
"""Characters of the sources that are sent; of more the beginning and the end."""
LONG = 30
"""Messages from which a transcript is marked with its phases."""
MOST_CITED = 12
"""Sources that one line may cite: one that cites everything tells nothing."""
_NUMBER = patterns.compile(r"\d+(?:[.,:/]\d+)*")
_CITED = patterns.compile(r"\s*(?:\[\s*\d+(?:\s*[,;]\s*\d+)*\s*\]\s*)+")
_PLACE = patterns.compile(r"\d+")


class Unusable(ModelError):
    """The model answered something that fails the checks."""

    code = "model_unusable"


def said(messages: Sequence[Message], *, thinking: bool = False) -> list[SourcedLine]:
    """Messages as sources, in order of time; with ``thinking`` also what the persona thought and did not say."""
    found = []
    for message in sorted(messages, key=lambda message: (message.at, message.seq)):
        who, trust = speaker_of(message), min((Trust.INFERRED, message.trust), key=TRUST_ORDER.index)
        if thinking and message.thinking and message.role is Role.ASSISTANT:
            thought = " ".join(message.thinking.split())
            found.append(SourcedLine(text=thought, messages=(message.id,), who=f"{who} (thinking)", trust=trust))
        found.append(SourcedLine(text=" ".join(message.content.split()), messages=(message.id,), who=who, trust=trust))
    return found


def numbered(sources: Sequence[SourcedLine], *, phases: bool = False) -> str:
    """The sources as the model sees them: number, who, what. ``phases`` marks thirds, lest the middle is lost."""
    found, third = [], len(sources) // 3
    for number, source in enumerate(sources):
        if phases and len(sources) >= LONG and number in (0, third, 2 * third):
            found.append(f"({('early', 'middle', 'late')[number // third]})")
        found.append(f"[{number + 1}] {_spoken(source)}")
    text = "\n".join(found)
    if len(text) <= LONGEST_SOURCE:
        return text
    half = LONGEST_SOURCE // 2
    return f"{text[:half]}\n(…)\n{text[-half:]}"


def _spoken(source: SourcedLine) -> str:
    return f"{source.who}: {source.text}" if source.who else source.text


def fenced(label: str, text: str) -> str:
    mark = blake2b(text.encode("utf-8"), digest_size=6).hexdigest()
    return f"<<<{label} {mark}\n{text}\n{label} {mark}>>>"


def ask_lines(
    model: Model, policy: ModelPolicy, sources: Sequence[SourcedLine], *, what: str, shape: str, length: int
) -> tuple[tuple[SourcedLine, ...], str]:
    """(the lines of a summary, the model's name). Raises :class:`ModelError` when it fails or nothing passes."""
    system = filled(load("summary", policy.prompts), what=what, length=str(length), shape=shape)
    user = fenced("TEXT", numbered(sources))
    answer = ask(model, system=system, user=user, timeout=policy.timeout, tokens=max(256, length))
    return tuple(check_lines(answer.text, sources, length)), answer.model


def filled(prompt: str, **values: str) -> str:
    """The prompt with its ``{names}`` filled in; other braces, a user's own JSON among them, stay as they are."""
    for name, value in values.items():
        prompt = prompt.replace("{" + name + "}", value)
    return prompt


def check_lines(text: object, sources: Sequence[SourcedLine], length: int, part: str = "") -> list[SourcedLine]:
    """The lines of an answer that cite what they tell, of at most ``length`` characters; or :class:`Unusable`."""
    if not isinstance(text, str) or not text.strip():
        raise Unusable("The model gave no text.")
    if len(text) > 6 * length + 400:
        raise Unusable(f"The model gave {len(text):,} characters where {length:,} were asked for.")
    kept: list[SourcedLine] = []
    reason = "no sentence of it cites what it comes from"
    room = length
    for line in _lines(text.replace("\x00", ""), sources, part):
        if (wrong := ungrounded(line.text, _source_of(line, sources))) is not None:
            reason = wrong
        elif room > 0:
            kept.append(replace(line, text=shorten(line.text, room)))
            room -= len(line.text) + 1
    if not kept:
        raise Unusable(f"The model's text is not grounded: {reason}.")
    return kept


def _lines(text: str, sources: Sequence[SourcedLine], part: str) -> Iterable[SourcedLine]:
    """The sentences of a text that end with citations, with what those name."""
    start = 0
    for found in _CITED.finditer(text):
        before = sentence_kinds.sentences(" ".join(text[start : found.start()].split()).lstrip(".;,-• "))
        said, start = before[-1] if before else "", found.end()
        numbers = dict.fromkeys(int(number) - 1 for number in _PLACE.findall(found.group()))
        cited = [sources[number] for number in numbers if 0 <= number < len(sources)]
        if not said or not cited or len(cited) > MOST_CITED:
            continue
        personas = {one.persona for one in cited if one.persona is not None}
        yield SourcedLine(
            text=said,
            messages=tuple(dict.fromkeys(id for one in cited for id in one.messages)),
            memories=tuple(dict.fromkeys(id for one in cited for id in one.memories)),
            part=part,
            persona=min(personas) if personas else None,
            trust=min((one.trust for one in cited), key=TRUST_ORDER.index),
            computed=all(one.computed for one in cited),
        )


def _source_of(line: SourcedLine, sources: Sequence[SourcedLine]) -> str:
    """What a line cites, as text: the sources that rest on no more than it does."""
    said, known = set(line.messages), set(line.memories)
    return "\n".join(
        _spoken(one) for one in sources if said.issuperset(one.messages) and known.issuperset(one.memories)
    )


def ungrounded(text: str, source: str) -> str | None:
    """Why a text cannot come from its source, or ``None``."""
    invented = set(_NUMBER.findall(text)) - set(_NUMBER.findall(source))
    if invented:
        return f"the number {min(invented)} is not in the source"
    known = frozenset(words(source))
    for sentence in sentence_kinds.sentences(text):
        for name in sentence_kinds.names(sentence):
            if not any(part in known for part in words(name)):
                return f"the name {name} is not in the source"
    spoken, have = tokens(text), frozenset(tokens(source))
    meaning = [token for token in spoken if token not in STOP_WORDS]
    if not meaning:
        return "it says nothing"
    shared = sum(token in have for token in meaning) / len(meaning)
    return None if shared >= LEAST_SHARED else f"only {shared:.0%} of its words are in the source"


def with_lines(rules: Draft, lines: Sequence[SourcedLine], made_by: str, source_length: int) -> Draft:
    """The rules' draft with the model's lines. The rules' own stay beside them, for a later version to go on from."""
    text = told.spoken(lines)
    ratio = round(len(text) / source_length, 4) if source_length else None
    return replace(rules, content=text, made_by=made_by, compression=ratio, lines=tuple(lines))
