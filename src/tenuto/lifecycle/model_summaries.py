"""What a model may tell of a session: a record in one JSON object, every sentence with what it rests on.

The transcript goes in between fences that carry a digest of it, numbered, as evidence; each text of the answer cites
its lines (:mod:`tenuto.lifecycle.cited`). What comes back is parsed totally: either a value that passes every check, or
the reason why not, and then the rules' result stands. Deltas are clamped to what a session may move. A field of a
record that fails is replaced by the rules' own, so that one bad line does not cost the rest.

What would break it: trusting length or politeness. A refusal, an echo of the instructions or an answer about something
else is fluent, and fails because its words are not in what it cites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import msgspec

from tenuto.lifecycle import sentence_kinds, told
from tenuto.lifecycle.ask_model import ask
from tenuto.lifecycle.cited import Unusable, check_lines, fenced, filled, numbered, said, ungrounded
from tenuto.lifecycle.classify import Point, Record
from tenuto.lifecycle.ranked_sentences import shorten
from tenuto.lifecycle.session_affect import Deltas, bounded
from tenuto.lifecycle.state import MOST_PER_SESSION
from tenuto.policy import ModelPolicy
from tenuto.ports import Model
from tenuto.prompts import load
from tenuto.records.conversation import Message, Role, SourcedLine

_POINTS = """
fact preference decision commitment feeling boundary open_loop question note
"""
_POINT_TYPES = frozenset(_POINTS.split())


# --- asking -----------------------------------------------------------------------------------------------------------


def ask_record(
    model: Model,
    policy: ModelPolicy,
    messages: Sequence[Message],
    rules: Record,
    earlier: Sequence[SourcedLine],
    axes: Sequence[str] = (),
) -> Record:
    """The rules' record with what the model does better. Raises :class:`ModelError` when nothing of it passes.

    ``earlier`` is the record of the session's earlier part, ``axes`` are those of the persona's own.
    """
    persona = str(rules.working.get("persona") or "the assistant")
    more = ", which begins with the record of its earlier part" if earlier else ""
    own = f', "axes": {{{", ".join(f"{name!r}: -0.1 to 0.1" for name in axes)}}}' if axes else ""
    system = filled(load("session", policy.prompts), persona=persona, more=more, axes=own.replace("'", '"'))
    sources = [*_before(earlier), *said(messages, thinking=True)]
    user = fenced("TRANSCRIPT", numbered(sources, phases=not earlier))
    answer = ask(model, system=system, user=user, timeout=policy.timeout, schema=_SCHEMA)
    return check_record(answer.text, sources, messages, rules, answer.model, axes)


def _before(earlier: Sequence[SourcedLine]) -> list[SourcedLine]:
    """What the record of the earlier part says, each thing once."""
    parts = (told.TOLD, *told.ARC, told.MATTERED, told.LOOP, told.PROMISE)
    kept = [line for line in told.of_part(earlier, *parts) if line.messages]
    return list({line.text: line for line in kept}.values())


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
    text: object,
    sources: Sequence[SourcedLine],
    messages: Sequence[Message],
    rules: Record,
    made_by: str,
    axes: Sequence[str] = (),
) -> Record:
    """The rules' record, each field replaced by the model's where that passes."""
    given = parse_object(text)
    lines = list(rules.lines)
    for name, part, length in _TEXTS:
        lines = _replaced(lines, part, _checked([given.get(name)], sources, part, length))
    if lines == list(rules.lines):
        raise Unusable("Nothing that the model told of the session passes the checks.")
    for name, part in _LISTS:
        lines = _replaced(lines, part, _checked(_strings(given.get(name))[:5], sources, part, 240))
    whole = "\n".join(source.text for source in sources).casefold()
    named = tuple(name for name in _strings(given.get("people")) if name.casefold() in whole)[:10]
    return replace(
        rules,
        one_liner=told.one(lines, told.ONE_LINER),
        headline=told.one(lines, told.HEADLINE),
        detailed_summary=told.arc(lines),
        diary_entry=told.one(lines, told.DIARY),
        what_mattered=tuple(line.text for line in told.of_part(lines, told.MATTERED)),
        open_loops=tuple(line.text for line in told.of_part(lines, told.LOOP)),
        commitments=tuple(line.text for line in told.of_part(lines, told.PROMISE)),
        people=named or rules.people,
        tone=_tone(given.get("tone"), rules.tone),
        points=_points(given.get("key_points"), sources, rules),
        deltas=_deltas(given, rules.deltas),
        axes={**rules.axes, **_axes(given.get("axes"), axes)},
        candidates=tuple(_candidates(given.get("candidate_memories"), messages)),
        made_by=made_by,
        lines=tuple(lines),
    )


_TEXTS = (
    ("one_liner", told.ONE_LINER, 240),
    ("headline", told.HEADLINE, 160),
    ("detailed_summary", told.TOLD, 1600),
    ("diary_entry", told.DIARY, 1000),
)
_LISTS = (("what_mattered", told.MATTERED), ("open_loops", told.LOOP), ("commitments", told.PROMISE))


def _checked(texts: Iterable[object], sources: Sequence[SourcedLine], part: str, length: int) -> list[SourcedLine]:
    found: list[SourcedLine] = []
    for text in texts:
        try:
            found += check_lines(text, sources, length, part)
        except Unusable:
            continue
    return found


def _replaced(lines: list[SourcedLine], part: str, new: list[SourcedLine]) -> list[SourcedLine]:
    """The lines with one part told anew; a part that did not pass stays."""
    return [*(line for line in lines if line.part != part), *new] if new else lines


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


def _points(value: object, sources: Sequence[SourcedLine], rules: Record) -> tuple[Point, ...]:
    found = []
    for given in _objects(value)[:8]:
        lines = [line for line in _checked([given.get("content")], sources, "", 300) if line.messages]
        if not lines:
            continue
        content = " ".join(line.text for line in lines)
        cited = tuple(dict.fromkeys(id for line in lines for id in line.messages))
        sort = given.get("type")
        valence, weight = _number(given.get("valence")) or 0.0, _number(given.get("weight"))
        found.append(
            Point(
                sort if isinstance(sort, str) and sort in _POINT_TYPES else sentence_kinds.sort_of(content),
                content,
                max(-1.0, min(1.0, valence)),
                max(0.0, min(10.0, 5.0 if weight is None else weight)),
                cited[0],
                rules.trust,
                cited,
            )
        )
    return tuple(found) or rules.points


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
