"""From a tagger's numbers to marks: words and their tokens, windows, the best valid tags, tidy borders. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tenuto.records.reading import Mark

Numbers = npt.NDArray[np.float32]
Offsets = Sequence[tuple[int, int]]

WORD = re.compile(r"[\w\u0300-\u036f]+|[^\w\s]")
"""What a tag stands on: a run of letters and digits, or a single other sign."""
OWNERS = ("self", "other")
STATES = ("now", "end", "plan", "neg")
LEADING = " \t\r\n.,;:!?…)]»”’\"'-–—"
TRAILING = " \t\r\n.,;:!?…([«“‘\"'-–—"
LINKING = re.compile(r"(?<!\s)\s+(?:of|de|del|du|des|do|da|von|vom)$", re.IGNORECASE)
"""A value does not end with the word that links it to the next ("20 mg of")."""
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d")
"""The time of a machine, which looks like a number to call."""
INITIAL = re.compile(r"\b\w\.$")


@dataclass(frozen=True, slots=True)
class Labels:
    """What the numbers of a tagger mean, in the order in which its last axis holds them.

    For each layer: outside, begin of every type, inside of every type. Then for each layer the owners and the states.
    """

    model: str
    values: tuple[str, ...]
    clauses: tuple[str, ...]
    before_tokens: int
    message_tokens: int
    bias: dict[str, float]
    """Added to a type's tags before the best are chosen: above 0 where a miss is worse than a false alarm."""
    threshold: dict[str, float]
    """Marks of the type with a smaller score are dropped."""

    @classmethod
    def load(cls, path: Path) -> Labels:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            model=raw["model"],
            values=tuple(raw["values"]),
            clauses=tuple(raw["clauses"]),
            before_tokens=raw["before_tokens"],
            message_tokens=raw["message_tokens"],
            bias=raw["bias"],
            threshold=raw["threshold"],
        )

    @property
    def width(self) -> int:
        """How many numbers there are for a token."""
        return 2 + 2 * (len(self.values) + len(self.clauses)) + 2 * (len(OWNERS) + len(STATES))


def find_words(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in WORD.finditer(text)]


def word_tokens(words: Offsets, tokens: Offsets) -> list[int]:
    """For each word the index of the token that holds its first character; fewer when the tokens end before."""
    found: list[int] = []
    at = 0
    for start, _ in words:
        while at < len(tokens) and tokens[at][1] <= start:
            at += 1
        if at == len(tokens):
            break
        found.append(at)
    return found


def windows(text: str, tokens: Offsets, size: int) -> list[tuple[int, int]]:
    """Ranges of at most ``size`` tokens that cover all: cut after a sentence where there is one, else before a word."""
    cuts: list[tuple[int, int]] = []
    start = 0
    while len(tokens) - start > size:
        end = start + size
        for better in _cuts(text, tokens, start + size // 2, end):
            end = better
            break
        cuts.append((start, end))
        start = end
    cuts.append((start, len(tokens)))
    return cuts


def _cuts(text: str, tokens: Offsets, low: int, high: int) -> list[int]:
    """Good places for a cut between two tokens, best first."""
    sentences: list[int] = []
    spaces: list[int] = []
    for at in range(high, low, -1):
        gap = text[tokens[at - 1][1] - 1 : tokens[at][0] + 1]
        if "\n" in gap or (gap[:1] in ".!?…" and gap[1:2].isspace()):
            sentences.append(at)
        elif any(char.isspace() for char in gap):
            spaces.append(at)
    return sentences or spaces


def last_words(text: str, tokens: Offsets, room: int) -> int:
    """Where the last whole sentences begin that fit into ``room`` tokens, as a token; else the last tokens do."""
    if len(tokens) <= room:
        return 0
    first = len(tokens) - room
    for at in range(first, len(tokens) - 1):
        gap = text[tokens[at - 1][1] - 1 : tokens[at][0] + 1]
        if "\n" in gap or (gap[:1] in ".!?…" and gap[1:2].isspace()):
            return at
    return first


def decode(text: str, words: Offsets, numbers: Numbers, labels: Labels) -> list[Mark]:
    """The marks of ``words``, each of which has a row in ``numbers``; in order of their start, clauses first."""
    values, clauses = len(labels.values), len(labels.clauses)
    ends = np.cumsum([1 + 2 * values, 1 + 2 * clauses, len(OWNERS), len(STATES), len(OWNERS), len(STATES)])
    value_tags, clause_tags, *rest = np.split(numbers, ends[:-1], axis=1)
    marks = _decode_layer("clause", labels.clauses, text, words, clause_tags, rest[2], rest[3], labels)
    marks += _decode_layer("value", labels.values, text, words, value_tags, rest[0], rest[1], labels)
    return sorted(marks, key=lambda mark: (mark.start, -mark.end, mark.layer))


def _decode_layer(
    layer: str,
    types: tuple[str, ...],
    text: str,
    words: Offsets,
    tags: Numbers,
    owners: Numbers,
    states: Numbers,
    labels: Labels,
) -> list[Mark]:
    sure = log_softmax(tags)
    bias = np.array([labels.bias.get(kind, 0.0) for kind in types], dtype=np.float32)
    best = best_tags(sure + np.concatenate([[np.float32(0)], bias, bias]), len(types))
    marks: list[Mark] = []
    for kind, first, last in spans(best, len(types)):
        tidy = trim(text, words[first][0], words[last][1], linked=layer == "clause")
        if tidy is None or (types[kind] == "contact" and STAMP.match(text, *tidy)):
            continue
        chance = np.exp(sure[first : last + 1, 1 + kind]) + np.exp(sure[first : last + 1, 1 + len(types) + kind])
        score = float(min(1.0, chance.mean()))
        if score < labels.threshold.get(types[kind], 0.0):
            continue
        owner = OWNERS[int(log_softmax(owners[first : last + 1]).sum(axis=0).argmax())]
        state = STATES[int(log_softmax(states[first : last + 1]).sum(axis=0).argmax())]
        marks.append(Mark(layer, types[kind], *tidy, owner, state, score))
    return marks


def log_softmax(numbers: Numbers) -> Numbers:
    shifted = numbers - numbers.max(axis=1, keepdims=True)
    result: Numbers = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result


def best_tags(sure: Numbers, types: int) -> list[int]:
    """The likeliest tags in which inside follows only begin or inside of the same type."""
    plain: list[int] = sure.argmax(axis=1).tolist()
    if _valid(plain, types):
        return plain
    begin, inside = slice(1, 1 + types), slice(1 + types, 1 + 2 * types)
    score = sure[0].copy()
    score[inside] = -np.inf
    back = np.zeros(sure.shape, dtype=np.int64)
    for row in range(1, len(sure)):
        top = int(score.argmax())
        step = np.full(sure.shape[1], score[top], dtype=np.float32)
        back[row] = top
        from_begin = score[begin] >= score[inside]
        step[inside] = np.where(from_begin, score[begin], score[inside])
        back[row, inside] = np.arange(types) + np.where(from_begin, 1, 1 + types)
        score = step + sure[row]
    tags = [int(score.argmax())]
    for row in range(len(sure) - 1, 0, -1):
        tags.append(int(back[row, tags[-1]]))
    return tags[::-1]


def _valid(tags: list[int], types: int) -> bool:
    last = 0
    for tag in tags:
        if tag > types and last not in (tag, tag - types):
            return False
        last = tag
    return True


def spans(tags: list[int], types: int) -> list[tuple[int, int, int]]:
    """(type, first word, last word) of valid tags."""
    found: list[tuple[int, int, int]] = []
    for at, tag in enumerate(tags):
        if 1 <= tag <= types:
            found.append((tag - 1, at, at))
        elif tag > types:
            kind, first, _ = found[-1]
            found[-1] = (kind, first, at)
    return found


def trim(text: str, start: int, end: int, *, linked: bool = False) -> tuple[int, int] | None:
    """The stretch without the signs around it; ``None`` when nothing is left."""
    if not linked and (found := LINKING.search(text[start:end])):
        end = start + found.start()
    while start < end and text[start] in LEADING:
        start += 1
    while end > start and text[end - 1] in TRAILING and not INITIAL.search(text, start, end):
        end -= 1
    if end > start and text[end - 1] in ")]" and not any(sign in text[start:end] for sign in "(["):
        end -= 1
    return (start, end) if start < end else None
