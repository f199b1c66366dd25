"""How eager the reader should be: `PYTHONPATH=src python training/reader/tune.py PACK SETTINGS.json [FILE …]`.

For each type the bias under which the marks on lines that the model never saw are worth most: a hit counts for a type,
a false alarm against it, less so for clauses (wishes, completions) and least for what is life-critical. Lines are those
held out, or all of the files that are named. SETTINGS.json is what export.py takes.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from corpus import CLAUSES, VALUES, Line
from score import VITAL, chosen
from tenuto.providers import reader as runtime
from tenuto.providers.reader_decode import Labels, Numbers, decode, find_words, log_softmax, word_tokens

STEPS = (-0.5, 0.0, 0.5, 1.0, 1.5)
REACH = max(STEPS)
"""Lines on which a type is further than this from being chosen do not change with its bias."""
CAUTION = 0.8
"""What a bias of 1 must bring at least, in hits: a handful of lines shows nothing."""


def cost(kind: str) -> float:
    """Of a false alarm, where a hit is worth 1; about two thirds is what the best F1 asks."""
    if kind in VITAL:
        return 0.3
    return 0.4 if kind in CLAUSES else 0.6


@dataclass(frozen=True)
class Known:
    line: Line
    words: list[tuple[int, int]]
    numbers: Numbers
    near: frozenset[str]
    """Types that a bias could bring in or throw out."""


def read_line(loaded: runtime.Loaded, line: Line) -> Known:
    """The model's numbers for the words of a line; lines longer than a window are cut."""
    encoding = loaded.tokenizer.encode(line.text, add_special_tokens=False)
    size = loaded.labels.message_tokens
    prefix = runtime._prefix(loaded, line.before)
    words = find_words(line.text)
    at = word_tokens(words, encoding.offsets[:size])
    ids = np.array([[*prefix, *encoding.ids[:size], runtime.END]], dtype=np.int64)
    numbers = loaded.session.run(None, {"input_ids": ids})[0][0][[len(prefix) + place for place in at]]
    return Known(line, words[: len(at)], numbers, near_types(numbers))


def near_types(numbers: Numbers) -> frozenset[str]:
    found: set[str] = set()
    at = 0
    for types in (VALUES, CLAUSES):
        tags = log_softmax(numbers[:, at : at + 1 + 2 * len(types)])
        behind = tags.max(axis=1, keepdims=True) - tags
        begin, inside = behind[:, 1 : 1 + len(types)], behind[:, 1 + len(types) :]
        least = np.minimum(begin, inside).min(axis=0)
        found |= {kind for kind, distance in zip(types, least, strict=True) if distance < REACH}
        at += 1 + 2 * len(types)
    return frozenset(found)


def worth(known: Known, labels: Labels) -> float:
    """Hits less what the false alarms cost, by overlap."""
    marks = decode(known.line.text, known.words, known.numbers, labels)
    total = 0.0
    for span in known.line.spans:
        total += any(mark.type == span.type and mark.start < span.end and mark.end > span.start for mark in marks)
    for mark in marks:
        right = any(mark.type == s.type and mark.start < s.end and mark.end > s.start for s in known.line.spans)
        total -= 0.0 if right else cost(mark.type)
    return total


def best_bias(known: list[Known], labels: Labels, kind: str) -> float:
    affected = [line for line in known if kind in line.near]

    def total(step: float) -> float:
        biased = replace(labels, bias={**labels.bias, kind: step})
        return sum(worth(line, biased) for line in affected) - CAUTION * abs(step)

    return max(STEPS, key=total)


def main(folder: str, settings: str, *files: str) -> None:
    loaded = runtime.LocalReader(Path(folder))._ready()
    known = [read_line(loaded, entry.line) for entry in chosen(files) if entry.line.text.strip()]
    labels = replace(loaded.labels, bias={})
    for kind in (*VALUES, *CLAUSES):
        bias = best_bias(known, labels, kind)
        print(kind, bias, flush=True)
        labels = replace(labels, bias={**labels.bias, kind: bias} if bias else labels.bias)
    Path(settings).write_text(json.dumps({"bias": labels.bias, "threshold": {}}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
