"""Taking the words of purged messages out of what was made of them.

A summary without a model is made of sentences as they were said. When the text is purged those sentences go, too:
what may stay says that something was said, when, how much and with whom, and what was understood of it in other words.
A sentence repeats a message when it is a piece of it, or shares five words in a row with it.

What would break it: names. Who was spoken of is kept on purpose; a name is not a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.lifecycle import portraits, sentence_kinds
from tenuto.lifecycle.ranked_sentences import render
from tenuto.lifecycle.summarise import RULES, read_lines
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, SourcedLine, Summary, SummaryKind
from tenuto.text import patterns
from tenuto.text.words import words

RUN = 5
"""Words in a row that two texts do not share by chance."""
LEAST = 4
"""Words of a sentence that still says something once its neighbours are gone."""
PURGED = "purged"
"""In ``structured`` of a summary that lost words to a purge."""
_TOLD = ("one_liner", "what_mattered", "open_loops", "commitments", "working", "lines")
"""Parts of a record that are told in sentences."""
_PORTRAITS = (SummaryKind.SPINE, SummaryKind.BRIEF, SummaryKind.PROFILE)
_RECENT = ("OPEN_LOOPS", "BETWEEN US")
"""Sections of portraits that quote sessions; the others are memories, which have a time of their own."""
_NAMES = ("who", "message_id", "sort", "trust", "persona", "tally")
"""Parts of a line that are no sentences."""
_SPEAKER = patterns.compile(r"^(?:(?:Early|Then|Late): )?[^:.!?“”]{1,60}: ")


class Said:
    """The words of purged messages, to ask whether a text repeats them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.ids = frozenset(message.id for message in messages)
        self._runs: set[tuple[str, ...]] = set()
        self._short: set[tuple[str, ...]] = set()
        for message in messages:
            for text in (message.content, message.thinking or ""):
                spoken = words(text)
                self._runs.update(_runs(spoken, RUN))
                for length in range(1, RUN):
                    self._short.update(_runs(spoken, length))

    def repeated(self, sentence: str) -> bool:
        """Whether a sentence is a piece of a message, or shares a run of words with one."""
        for text in {sentence, _SPEAKER.sub("", sentence)}:
            spoken = words(text)
            if tuple(spoken) in self._short or any(run in self._runs for run in _runs(spoken, RUN)):
                return True
        return False

    def without(self, text: str) -> str:
        """The text without the sentences that repeat."""
        kept = []
        for line in text.split("\n"):
            sentences = sentence_kinds.sentences(line)
            told = [sentence for sentence in sentences if not self.repeated(sentence)]
            if len(told) < len(sentences):
                told = [sentence for sentence in told if len(words(sentence)) >= LEAST]
            kept.append(" ".join(told))
        return "\n".join(line for line in kept if line.strip())

    def scrubbed(self, value: Any) -> Any:
        """A plain value without what repeats: lines of these messages, and texts that lose all their sentences."""
        if isinstance(value, str):
            return self.without(value)
        if isinstance(value, (list, tuple)):
            kept = ((one, self.scrubbed(one)) for one in value if not self._line(one))
            return [new for old, new in kept if new or not old]
        if isinstance(value, Mapping):
            return {name: one if name in _NAMES else self.scrubbed(one) for name, one in value.items()}
        return value

    def _line(self, value: Any) -> bool:
        return isinstance(value, Mapping) and value.get("message_id") in self.ids


def _runs(spoken: list[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(spoken[start : start + length]) for start in range(len(spoken) - length + 1)]


def without(summary: Summary, said: Said, messages: Sequence[Message]) -> Summary:
    """The summary without the words of the purged ``messages``; itself if it has none of them."""
    if summary.kind in _PORTRAITS:
        sections = {
            name: said.scrubbed(listed) if name in _RECENT else listed
            for name, listed in (summary.structured.get("sections") or {}).items()
        }
        if sections == (summary.structured.get("sections") or {}):
            return summary
        told = {**summary.structured, "sections": sections, PURGED: True}
        left = tuple(line for line in summary.lines if line.part not in _RECENT or not said.repeated(line.text))
        return evolve(summary, content=portraits.render(sections), structured=told, lines=left)
    told = {name: said.scrubbed(value) if name in _TOLD else value for name, value in summary.structured.items()}
    content = said.without(summary.content)
    if summary.made_by == RULES and summary.structured.get("lines"):
        content = render(read_lines(told))  # made of these lines and nothing else
    left = _lines(summary, said)
    if content == summary.content and told == summary.structured and left == summary.lines:
        return summary
    if not content:
        content = bare(summary, messages)
        left = (SourcedLine(text=content, messages=tuple(sorted(said.ids))),)
    return evolve(summary, content=content, structured={**told, PURGED: True}, lines=left)


def _lines(summary: Summary, said: Said) -> tuple[SourcedLine, ...]:
    """The lines that stay: not the words of purged messages, by rules, and not what repeats them, by a model."""
    own = summary.made_by == RULES
    return tuple(
        line
        for line in summary.lines
        if not said.repeated(line.text) and not (own and line.messages and said.ids.issuperset(line.messages))
    )


def bare(summary: Summary, messages: Sequence[Message]) -> str:
    """What is left to say of a summary whose sentences have all gone: how much, when, and about what."""
    days = sorted({f"{message.at:%Y-%m-%d}" for message in messages})
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    about = f" about {summary.topic}" if summary.topic else ""
    people = ", ".join(str(name) for name in summary.structured.get("people", ()))
    named = f"; people: {people}" if people else ""
    return f"{summary.message_count} messages{about} {when}{named}. The text was purged."
