"""Variants of a corpus line: other words in the slots, no capitals, no punctuation, no accents, two messages in one."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from dataclasses import replace

import slots
from corpus import Line, Span

Edit = tuple[int, int, str]
REPLACED = ("person", "name", "pet", "home", "origin", "med", "allergy", "cond")
LONGEST = 600
"""Characters of joined messages: about what one window of the tagger holds."""
SIGNS = re.compile(r"[.,;:!?…'’\"()]+")


def rewrite(text: str, spans: tuple[Span, ...], edits: list[Edit]) -> tuple[str, tuple[Span, ...]]:
    """The text with edits (which do not overlap), and its spans moved along."""
    out: list[str] = []
    moved = [0] * (len(text) + 1)
    at = length = 0
    for start, end, new in sorted(edits):
        for place in range(at, start):
            moved[place] = length + place - at
        out += [text[at:start], new]
        length += start - at
        for place in range(start, end):
            moved[place] = length
        length += len(new)
        at = end
    for place in range(at, len(text) + 1):
        moved[place] = length + place - at
    out.append(text[at:])
    new_text = "".join(out)
    kept = [replace(span, start=moved[span.start], end=moved[span.end]) for span in spans]
    return new_text, tuple(span for span in kept if new_text[span.start : span.end].strip())


class Augmenter:
    """Knows the corpus, so that a slot can be filled from another line in the same language."""

    def __init__(self, lines: list[Line], seed: int) -> None:
        self.chance = random.Random(seed)
        self.pool: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.befores: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            for span in line.spans:
                self.pool[line.language, span.type].append(line.text[span.start : span.end])
            if line.before:
                self.befores[line.language].append(line.before)

    def vary_all(self, lines: list[Line]) -> list[Line]:
        """Each line once, some of them joined to longer messages: what matters may stand after much that does not."""
        waiting: dict[str, Line] = {}
        varied: list[Line] = []
        for line in self.chance.sample(lines, len(lines)):
            first = waiting.pop(line.language, None)
            joined = join(first, line, self.chance) if first and line.before is None else None
            if first and joined is None:
                varied.append(self.vary(first))
            line = joined or line
            if self.chance.random() < 0.35:
                waiting[line.language] = line
            else:
                varied.append(self.vary(line))
        return varied + [self.vary(line) for line in waiting.values()]

    def vary(self, line: Line) -> Line:
        chance = self.chance
        if chance.random() < 0.55:
            line = self.fill(line)
        if line.before is None and line.spans and chance.random() < 0.08 and self.befores[line.language]:
            line = replace(line, before=chance.choice(self.befores[line.language]))
        if chance.random() < 0.25:
            line = lower(line)
        if chance.random() < 0.10:
            line = unsigned(line)
        if chance.random() < 0.10:
            line = unaccented(line)
        return line

    def fill(self, line: Line) -> Line:
        """Other names, medicines, places and so on; the same word gets the same other word everywhere in the line."""
        new: dict[str, str] = {}
        for span in line.spans:
            old = line.text[span.start : span.end]
            if old not in new and (word := self.word(line.language, span.type, old)):
                new[old] = word
        edits: list[Edit] = []
        taken: set[int] = set()
        for span in line.spans:
            old = line.text[span.start : span.end]
            if span.layer == "value" and old in new and not taken & set(range(span.start, span.end)):
                edits.append((span.start, span.end, new[old]))
                taken |= set(range(span.start, span.end))
        text, spans = rewrite(line.text, line.spans, edits)
        before = line.before
        for old, word in new.items():
            if before and len(old) > 2:
                before = re.sub(rf"\b{re.escape(old)}\b", lambda _, word=word: word, before)
        return replace(line, text=text, spans=spans, before=before)

    def word(self, language: str, kind: str, old: str) -> str | None:
        chance = self.chance
        if kind in slots.SWAPPED and (kind not in REPLACED or chance.random() < 0.4):
            pool = [other for other in self.pool[language, kind] if ("@" in other) == ("@" in old)]
            return chance.choice(pool) if len(pool) > 5 and chance.random() < 0.5 else None
        if kind not in REPLACED or len(old.split()) > 3:
            return None
        if kind in ("person", "name"):
            return slots.person(chance, language, old)
        if kind == "pet":
            return slots.pet(chance)
        if kind in ("home", "origin"):
            return slots.place(chance, language) if old[:1].isupper() else None
        if kind == "med":
            return slots.substance(chance, language)
        if chance.random() < 0.5:
            return None
        return slots.allergen(chance, language) if kind == "allergy" else slots.condition(chance, language)


def join(line: Line, other: Line, chance: random.Random) -> Line | None:
    """Two messages in one; the second answers nothing. None when that gets too long."""
    if len(line.text) + len(other.text) > LONGEST:
        return None
    glue = chance.choice((" ", "\n", "\n\n", " "))
    text = line.text if line.text[-1:] in ".!?…)" else line.text + chance.choice((".", "", "!"))
    shift = len(text) + len(glue)
    moved = tuple(replace(span, start=span.start + shift, end=span.end + shift, inside=None) for span in other.spans)
    return replace(line, text=text + glue + other.text, spans=line.spans + moved)


def lower(line: Line) -> Line:
    text = line.text.lower()
    return replace(line, text=text) if len(text) == len(line.text) else line


def unsigned(line: Line) -> Line:
    """Without punctuation, except in what is made of it (numbers, addresses)."""
    guarded = [
        (span.start, span.end) for span in line.spans if span.type in ("contact", "dose", "when", "blood", "age")
    ]
    edits = [
        (found.start(), found.end(), "")
        for found in SIGNS.finditer(line.text)
        if not any(start <= found.start() < end for start, end in guarded)
    ]
    text, spans = rewrite(line.text, line.spans, edits)
    return replace(line, text=text, spans=spans) if text.strip() else line


def unaccented(line: Line) -> Line:
    plain = (unicodedata.normalize("NFD", char)[0] if char.isalpha() else char for char in line.text)
    return replace(line, text="".join(plain))
