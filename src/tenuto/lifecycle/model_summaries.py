"""Asking a model for a summary or a session's record, and believing none of it unchecked.

The transcript goes in between fences that carry a digest of it, as evidence. What comes back is parsed totally: either
a value that passes every check, or the reason why not, and then the rules' result stands. A text passes when it is not
empty, fits its length, and is *grounded*: every number in it is in the source, every name in it is in the source, and
at least a third of its words are. Deltas are clamped to what a session may move. A field of a record that fails is
replaced by the rules' own, so that one bad line does not cost the rest.

What would break it: trusting length or politeness. A refusal, an echo of the instructions or an answer about something
else is fluent, and fails because its words are not in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from math import isfinite
from typing import Any

import msgspec

from tenuto.errors import ModelError
from tenuto.lifecycle import cues
from tenuto.lifecycle.affect import Deltas, bounded
from tenuto.lifecycle.asking import ask
from tenuto.lifecycle.classify import Point, Record
from tenuto.lifecycle.lines import shorten, speaker_of
from tenuto.lifecycle.state import MOST_PER_SESSION
from tenuto.lifecycle.summarise import Draft
from tenuto.policy import ModelPolicy
from tenuto.ports import Model
from tenuto.prompts import load
from tenuto.records.conversation import Message, Role
from tenuto.text.words import STOP_WORDS, tokens, words

LEAST_SHARED = 0.34
"""Share of a text's words that must be in its source."""
LONGEST_TRANSCRIPT = 24_000
"""Characters of a transcript that is sent; of a longer one the beginning and the end."""
LONG = 30
"""Messages from which a transcript is marked with its phases."""
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_POINTS = """
fact preference decision commitment feeling boundary open_loop question note
"""
_POINT_TYPES = frozenset(_POINTS.split())


class Unusable(ModelError):
    """The model answered something that fails the checks."""

    code = "model_unusable"


# --- asking -----------------------------------------------------------------------------------------------------------


def transcript(messages: Sequence[Message], *, thinking: bool = False, phases: bool = False) -> str:
    """The messages as the model sees them: who, then what, one line each, in order of time.

    ``phases`` marks thirds of a long transcript, so that its middle is not lost.
    """
    found = []
    third = len(messages) // 3
    for number, message in enumerate(sorted(messages, key=lambda message: (message.at, message.seq))):
        if phases and len(messages) >= LONG and number in (0, third, 2 * third):
            found.append(f"[{('early', 'middle', 'late')[number // third]}]")
        who = speaker_of(message)
        if thinking and message.thinking and message.role is Role.ASSISTANT:
            found.append(f"{who} (thinking): {' '.join(message.thinking.split())}")
        found.append(f"{who}: {' '.join(message.content.split())}")
    text = "\n".join(found)
    if len(text) <= LONGEST_TRANSCRIPT:
        return text
    half = LONGEST_TRANSCRIPT // 2
    return f"{text[:half]}\n[…]\n{text[-half:]}"


def _fenced(label: str, text: str) -> str:
    mark = blake2b(text.encode("utf-8"), digest_size=6).hexdigest()
    return f"<<<{label} {mark}\n{text}\n{label} {mark}>>>"


def ask_text(model: Model, policy: ModelPolicy, source: str, *, what: str, shape: str, length: int) -> tuple[str, str]:
    """(the summary, the model's name). Raises :class:`ModelError` when it fails or does not pass."""
    system = _filled(load("summary", policy.prompts), what=what, length=str(length), shape=shape)
    user = _fenced("TEXT", source)
    answer = ask(model, system=system, user=user, timeout=policy.timeout, tokens=max(256, length))
    return check_text(answer.text, source, length), answer.model


def ask_record(
    model: Model,
    policy: ModelPolicy,
    messages: Sequence[Message],
    rules: Record,
    prior: Mapping[str, Any] | None,
    axes: Sequence[str] = (),
) -> Record:
    """The rules' record with what the model does better. Raises :class:`ModelError` when nothing of it passes.

    ``axes`` are those that the persona defined beside the four.
    """
    persona = str(rules.working.get("persona") or "the assistant")
    more = ", and the record of its earlier part, which your answer continues" if prior else ""
    own = f', "axes": {{{", ".join(f"{name!r}: -0.1 to 0.1" for name in axes)}}}' if axes else ""
    system = _filled(load("session", policy.prompts), persona=persona, more=more, axes=own.replace("'", '"'))
    said = transcript(messages, thinking=True, phases=prior is None)
    earlier = _earlier(prior)
    user = _fenced("TRANSCRIPT", said)
    if prior:
        user = f"{_fenced('RECORD', earlier)}\n{user}"
    answer = ask(model, system=system, user=user, timeout=policy.timeout, schema=_SCHEMA)
    return check_record(answer.text, f"{earlier}\n{said}", messages, rules, answer.model, axes)


def _filled(prompt: str, **values: str) -> str:
    """The prompt with its ``{names}`` filled in; other braces, a user's own JSON among them, stay as they are."""
    for name, value in values.items():
        prompt = prompt.replace("{" + name + "}", value)
    return prompt


def _earlier(prior: Mapping[str, Any] | None) -> str:
    if not prior:
        return ""
    kept = {name: prior[name] for name in ("one_liner", "what_mattered", "open_loops", "commitments", "people", "tone")}
    return msgspec.json.encode(kept).decode()


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["headline", "one_liner", "detailed_summary", "diary_entry", "what_mattered"],
    "properties": {
        **{name: {"type": "string"} for name in ("headline", "one_liner", "detailed_summary", "diary_entry", "tone")},
        **{
            name: {"type": "array", "items": {"type": "string"}}
            for name in ("what_mattered", "open_loops", "commitments", "people")
        },
        **{
            name: {"type": "array", "items": {"type": "object"}}
            for name in ("key_points", "thinking_highlights", "candidate_memories")
        },
        **{name: {"type": "number"} for name in ("mood_delta", "connection_delta", "attunement_delta")},
    },
}


# --- checking ---------------------------------------------------------------------------------------------------------


def check_text(text: object, source: str, length: int) -> str:
    """A grounded text of at most ``length`` characters, or :class:`Unusable` with the reason."""
    if not isinstance(text, str) or not text.strip():
        raise Unusable("The model gave no text.")
    folded = " ".join(text.replace("\x00", "").split()) if "\n" not in text else text.replace("\x00", "").strip()
    if len(folded) > 4 * length:
        raise Unusable(f"The model gave {len(folded):,} characters where {length:,} were asked for.")
    if (reason := ungrounded(folded, source)) is not None:
        raise Unusable(f"The model's text is not grounded: {reason}.")
    return shorten(folded, length)


def ungrounded(text: str, source: str) -> str | None:
    """Why a text cannot come from its source, or ``None``."""
    invented = set(_NUMBER.findall(text)) - set(_NUMBER.findall(source))
    if invented:
        return f"the number {min(invented)} is not in the source"
    known = frozenset(words(source))
    for sentence in cues.sentences(text):
        for name in cues.names(sentence):
            if not any(part in known for part in words(name)):
                return f"the name {name} is not in the source"
    said, have = tokens(text), frozenset(tokens(source))
    meaning = [token for token in said if token not in STOP_WORDS]
    if not meaning:
        return "it says nothing"
    shared = sum(token in have for token in meaning) / len(meaning)
    return None if shared >= LEAST_SHARED else f"only {shared:.0%} of its words are in the source"


def check_draft(text: str, made_by: str, rules: Draft, source_length: int) -> Draft:
    """The rules' draft with the model's words. Its lines stay, so that a later version by rules can go on from them."""
    ratio = round(len(text) / source_length, 4) if source_length else None
    return replace(rules, content=text, made_by=made_by, compression=ratio)


def parse_object(text: object) -> dict[str, Any]:
    """The JSON object in an answer, with or without a code fence or words around it."""
    if not isinstance(text, str):
        raise Unusable("The model gave no text.")
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end <= start:
        raise Unusable("The model's answer holds no JSON object.")
    try:
        value = msgspec.json.decode(text[start : end + 1].encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unusable(f"The model's JSON cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise Unusable("The model's JSON is not an object.")
    return value


def check_record(
    text: object, source: str, messages: Sequence[Message], rules: Record, made_by: str, axes: Sequence[str] = ()
) -> Record:
    """The rules' record, each field replaced by the model's where that passes."""
    given = parse_object(text)
    whole = f"{source}\n{rules.detailed_summary}"

    def told(name: str, length: int, fallback: str) -> str:
        try:
            return check_text(given.get(name), whole, length)
        except Unusable:
            return fallback

    def listed(name: str, fallback: tuple[str, ...]) -> tuple[str, ...]:
        found = [text for text in _strings(given.get(name)) if ungrounded(text, whole) is None]
        return tuple(shorten(text, 240) for text in found[:5]) or fallback

    checked = replace(
        rules,
        one_liner=told("one_liner", 240, rules.one_liner),
        headline=told("headline", 160, rules.headline),
        detailed_summary=told("detailed_summary", 1600, rules.detailed_summary),
        diary_entry=told("diary_entry", 1000, rules.diary_entry),
        what_mattered=listed("what_mattered", rules.what_mattered),
        open_loops=listed("open_loops", rules.open_loops),
        commitments=listed("commitments", rules.commitments),
        people=tuple(name for name in _strings(given.get("people")) if name.casefold() in whole.casefold())[:10]
        or rules.people,
        tone=_tone(given.get("tone"), rules.tone),
        points=_points(given.get("key_points"), whole, messages, rules),
        deltas=_deltas(given, rules.deltas),
        axes={**rules.axes, **_axes(given.get("axes"), axes)},
        candidates=tuple(_candidates(given.get("candidate_memories"), messages)),
        made_by=made_by,
    )
    if (checked.one_liner, checked.headline, checked.detailed_summary) == (
        rules.one_liner,
        rules.headline,
        rules.detailed_summary,
    ):
        raise Unusable("Nothing that the model told of the session passes the checks.")
    return checked


def _strings(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [" ".join(item.replace("\x00", "").split()) for item in value if isinstance(item, str) and item.strip()]


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def _tone(value: object, fallback: str) -> str:
    return value.strip() if isinstance(value, str) and 0 < len(value.strip()) <= 40 and "\n" not in value else fallback


def _deltas(given: Mapping[str, Any], rules: Deltas) -> Deltas:
    found = [_number(given.get(f"{name}_delta")) for name in ("mood", "connection", "attunement")]
    own = (rules.mood, rules.connection, rules.attunement)
    return bounded(Deltas(*(mine if theirs is None else theirs for theirs, mine in zip(found, own, strict=True))))


def _axes(value: object, known: Sequence[str]) -> dict[str, float]:
    given = value if isinstance(value, dict) else {}
    found = {name: _number(given.get(name)) for name in known}
    most = MOST_PER_SESSION
    return {name: max(-most, min(most, number)) for name, number in found.items() if number is not None}


def _points(value: object, source: str, messages: Sequence[Message], rules: Record) -> tuple[Point, ...]:
    found = []
    for given in _objects(value)[:8]:
        content = given.get("content")
        if not isinstance(content, str) or not content.strip() or ungrounded(content, source) is not None:
            continue
        sort = given.get("type")
        valence, weight = _number(given.get("valence")) or 0.0, _number(given.get("weight"))
        found.append(
            Point(
                sort if isinstance(sort, str) and sort in _POINT_TYPES else cues.sort_of(content),
                shorten(" ".join(content.split()), 300),
                max(-1.0, min(1.0, valence)),
                max(0.0, min(10.0, 5.0 if weight is None else weight)),
                _nearest(content, messages),
                rules.trust,
            )
        )
    return tuple(found) or rules.points


def _nearest(content: str, messages: Iterable[Message]) -> str | None:
    """The message that a sentence most likely comes from."""
    wanted = frozenset(tokens(content))
    best = max(
        messages, key=lambda message: (len(wanted & frozenset(tokens(message.content))), message.seq), default=None
    )
    return best.id if best is not None and wanted & frozenset(tokens(best.content)) else None


def _candidates(value: object, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Proposed memories whose quote is found word for word in something the user said; the rest is dropped."""
    found = []
    for given in _objects(value)[:8]:
        content, quote = given.get("content"), given.get("quote")
        if not isinstance(content, str) or not isinstance(quote, str) or len(quote.strip()) < 4 or not content.strip():
            continue
        wanted = " ".join(quote.split()).casefold()
        said = next(
            (m for m in messages if m.role is Role.USER and wanted in " ".join(m.content.split()).casefold()), None
        )
        if said is None or ungrounded(content, said.content) is not None:
            continue
        kind = given.get("kind")
        found.append(
            {
                "content": shorten(" ".join(content.split()), 400),
                "kind": kind if isinstance(kind, str) else "fact",
                "quote": " ".join(quote.split()),
                "message_id": said.id,
            }
        )
    return found
