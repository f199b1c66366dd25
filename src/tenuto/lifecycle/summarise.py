"""Short text that stands for many messages, without a model: rolling, range, topic.

Extractive: the best sentences (:mod:`tenuto.lifecycle.ranked_sentences`) as they were said, so a summary can be
checked against its messages and never claims what nobody said. A draft carries its lines with it: the next rolling
version weighs them
against what is new, and each version that they survive costs them a fifth of their weight, so that old talk makes room
without being cut off. What a version drops stays in the versions before it and in the messages themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenuto.lifecycle import sentence_kinds
from tenuto.lifecycle.ranked_sentences import (
    Line,
    in_order,
    lowest_trust,
    pack,
    render,
    score,
    shorten,
    speaker_of,
    split,
)
from tenuto.records.conversation import Message, SourcedLine
from tenuto.records.memory import TRUST_ORDER, Trust
from tenuto.text.words import STOP_WORDS, tokens, words

CARRY = 0.8
"""What a line keeps of its weight in each later rolling version."""
RANGE_LENGTH = 1200
"""Characters of a range summary of 50 messages; about 12 lines."""
RULES = "rules"


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary that is not written yet."""

    content: str
    importance: float
    trust: Trust
    made_by: str = RULES
    compression: float | None = None
    structured: dict[str, Any] = field(default_factory=dict)
    lines: tuple[SourcedLine, ...] = ()


def rolling(prior: dict[str, Any] | None, messages: Sequence[Message], length: int) -> Draft:
    """The next rolling summary: the lines of the one before (``structured``) against those of the new messages."""
    carried = [replace(line, score=line.score * CARRY) for line in read_lines(prior)]
    return _draft(pack([*carried, *score(split(messages))], length), messages)


def of_range(messages: Sequence[Message], length: int = RANGE_LENGTH) -> Draft:
    """One summary of exactly these messages."""
    return _draft(pack(score(split(messages)), length), messages)


def _draft(lines: Sequence[Line], messages: Sequence[Message]) -> Draft:
    content = render(lines)
    sourced = tuple(line.sourced() for line in lines)
    if not content:
        content = shorten(" ".join(message.content for message in messages), 200)
        trust = min((Trust.INFERRED, *(message.trust for message in messages)), key=TRUST_ORDER.index)
        sourced = (SourcedLine(text=content, messages=tuple(message.id for message in messages), trust=trust),)
    return Draft(
        content,
        importance_of(messages),
        lowest_trust(lines) if lines else Trust.EXTERNAL,
        compression=compression(content, messages),
        structured={"lines": [line.to_plain() for line in lines]},
        lines=sourced if content else (),
    )


def read_lines(structured: dict[str, Any] | None) -> list[Line]:
    """The lines that a draft carried, or none for a summary that a model or an older version made."""
    if not structured:
        return []
    return [Line.from_plain(plain) for plain in structured.get("lines", ())]


def importance_of(messages: Sequence[Message]) -> float:
    """Half the mean and half the highest: one allergy among small talk must not drown."""
    if not messages:
        return 0.0
    values = [message.importance for message in messages]
    return round(0.5 * sum(values) / len(values) + 0.5 * max(values), 2)


def compression(content: str, messages: Sequence[Message]) -> float | None:
    """Characters of the summary per character of the text; lower is denser."""
    total = sum(len(message.content) for message in messages)
    return round(len(content) / total, 4) if total else None


# --- topics -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    label: str
    messages: tuple[Message, ...]


def topics(messages: Sequence[Message], known: Iterable[str] = (), most: int = 6, least: int = 3) -> list[Topic]:
    """Groups of messages by what they are about. Every message is in exactly one group.

    Greedy: the name or word with the most messages not yet in a group makes the next one, names counting double, until
    ``most`` groups exist or fewer than ``least`` messages would join. A message that names nothing follows the one
    before it of the same session; what is left makes the group ``other``."""
    speakers = {speaker_of(message).casefold() for message in messages}
    told_by = {message.id: _subjects(message, known, speakers) for message in messages}
    shown = {subject: label for subjects in told_by.values() for subject, (label, _) in subjects.items()}
    common = Counter(subject for subjects in told_by.values() for subject in subjects)
    too_common = max(least, int(0.5 * len(messages)))
    free = {message.id for message in messages}
    chosen: list[str] = []
    while free and len(chosen) < most:
        gain: Counter[str] = Counter()
        for message_id in free:
            for subject, (_, weight) in told_by[message_id].items():
                if subject not in chosen and (common[subject] <= too_common or weight > 1):
                    gain[subject] += weight
        best = max(gain, key=lambda subject: (gain[subject], subject), default=None)
        if best is None or sum(best in told_by[message_id] for message_id in free) < least:
            break
        chosen.append(best)
        free -= {message_id for message_id in free if best in told_by[message_id]}
    return _group(messages, told_by, chosen, shown)


def _subjects(message: Message, known: Iterable[str], speakers: set[str]) -> dict[str, tuple[str, int]]:
    """What a message could be about: stem → (how to show it, weight). Names weigh 2; those who talk are no topic."""
    found: dict[str, tuple[str, int]] = {}
    listed = sentence_kinds.sentences(message.content)
    for word in words(" ".join(listed)):
        if len(word) > 3 and word not in STOP_WORDS | _EVERYDAY | speakers and not word.isdigit():
            for stem in tokens(word):
                found.setdefault(stem, (word, 1))
    lowered = message.content.casefold()
    named = [name for name in known if len(name) > 2 and name.casefold() in lowered]
    for sentence in listed:
        named.extend(sentence_kinds.names(sentence))
    for name in named:
        if not any(speaker.startswith(name.casefold()) for speaker in speakers):
            found["name:" + name.casefold()] = (name, 2)
    return found


def _group(
    messages: Sequence[Message],
    told_by: dict[str, dict[str, tuple[str, int]]],
    chosen: list[str],
    shown: dict[str, str],
) -> list[Topic]:
    groups: dict[str, list[Message]] = {}
    last: dict[str, str] = {}
    for message in sorted(messages, key=lambda message: (message.at, message.seq)):
        own = next((subject for subject in chosen if subject in told_by[message.id]), None)
        subject = own or last.get(message.session_id, "")
        last[message.session_id] = subject
        groups.setdefault(subject, []).append(message)
    return [Topic(shown.get(subject, "other"), tuple(found)) for subject, found in sorted(groups.items())]


_EVERYDAY_WORDS = """
think feel like want need make made time good great really today tomorrow yesterday week month year work working
something anything everything someone everyone people kind sort maybe always never sometimes back little bit lot
lots sure nice best better still even come came take took give gave well much many first last next right around
long keep look looking going sound sounds photo picture thing day days night morning talk said says help helped
love hope trying started start happy amazing awesome
"""
_EVERYDAY = frozenset(_EVERYDAY_WORDS.split())


def of_topic(topic: Topic, most_tokens: int, count: Callable[[str], int]) -> Draft:
    """At most ``most_tokens`` tokens about one topic."""
    lines = score(split(topic.messages))
    length = most_tokens * 5
    kept = pack(lines, length, most=6)
    while kept and count(render(kept)) > most_tokens:
        if len(kept) == 1:
            length = int(length * 0.8)
            kept = [replace(kept[0], text=shorten(kept[0].text, length))] if length > 20 else []
            continue
        weakest = min(kept, key=lambda line: line.score)
        kept = in_order(line for line in kept if line is not weakest)
    return _draft(kept, topic.messages)
