"""Lines of the corpus: parsing, and what may stand in a mark. The label scheme is in LABELS.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "de", "es", "fr", "pt")
VALUES = (
    "name", "person", "rel", "pet", "animal", "age", "birthday", "home", "origin", "job", "employer", "study", "lang",
    "status", "allergy", "reaction", "med", "dose", "cond", "blood", "limit", "contact", "sos", "like", "dislike",
    "diet", "project", "event", "when", "topic",
)  # fmt: skip
CLAUSES = (
    "fact", "habit", "goal", "todo", "bad", "done", "cancel", "forget", "silence", "unsilence", "offrec", "private",
    "keep", "rule",
)  # fmt: skip
STATES = ("end", "plan", "neg")
OPENING = re.compile(r"\{([^\s:{}]*):")


class LineError(ValueError):
    """What is wrong with a line, in words."""


@dataclass(frozen=True, slots=True)
class Span:
    layer: str  # "value" or "clause"
    type: str
    start: int
    end: int
    owner: str  # "self" or "other"
    state: str  # "now", "end", "plan" or "neg"
    inside: int | None = None  # index of the clause that holds it


@dataclass(frozen=True, slots=True)
class Line:
    language: str
    before: str | None
    text: str
    spans: tuple[Span, ...]


def parse_line(raw: str) -> Line:
    """One line of a corpus file; raises LineError."""
    fields = raw.split("\t")
    if len(fields) != 3:
        raise LineError(f"{len(fields) - 1} tabs instead of 2")
    language, before, marked = fields
    if language not in LANGUAGES:
        raise LineError(f"language {language!r} is none of {' '.join(LANGUAGES)}")
    if not before.strip():
        raise LineError("nothing in the second field: write - where no turn came before")
    if "{" in before or "}" in before:
        raise LineError("braces in the turn before")
    if not marked.strip():
        raise LineError("no message")
    text, spans = parse_marks(marked.replace("\\n", "\n"))
    return Line(language, None if before.strip() == "-" else before.replace("\\n", "\n"), text, tuple(spans))


def parse_marks(marked: str) -> tuple[str, list[Span]]:
    """The bare text and its spans, in order of their opening."""
    out: list[str] = []
    length = 0
    spans: list[Span | None] = []
    open_marks: list[tuple[int, str, str, str, str, int]] = []
    at = 0
    while at < len(marked):
        char = marked[at]
        if char == "{":
            found = OPENING.match(marked, at)
            if not found:
                raise LineError(f"a brace that opens no mark: {marked[at : at + 25]!r}")
            layer, kind, owner, state = parse_head(found[1])
            if open_marks and (open_marks[-1][1] == "value" or layer == "clause"):
                raise LineError(f"{kind} inside {open_marks[-1][2]}: only values nest, and only in a clause")
            open_marks.append((len(spans), layer, kind, owner, state, length))
            spans.append(None)
            at = found.end()
        elif char == "}":
            if not open_marks:
                raise LineError(f"a closing brace too many after {''.join(out)[-20:]!r}")
            index, layer, kind, owner, state, start = open_marks.pop()
            words = "".join(out)[start:length]
            if not words.strip():
                raise LineError(f"an empty mark of {kind}")
            end = start + len(words.rstrip())
            start += len(words) - len(words.lstrip())
            spans[index] = Span(layer, kind, start, end, owner, state, open_marks[-1][0] if open_marks else None)
            at += 1
        else:
            out.append(char)
            length += 1
            at += 1
    if open_marks:
        raise LineError(f"a mark of {open_marks[-1][2]} is not closed")
    return "".join(out), [span for span in spans if span]


def parse_head(head: str) -> tuple[str, str, str, str]:
    """Layer, type, owner and state of `type.flags`."""
    kind, *flags = head.split(".")
    if kind not in VALUES and kind not in CLAUSES:
        raise LineError(f"unknown type {kind!r}")
    if unknown := [flag for flag in flags if flag not in ("o", *STATES)]:
        raise LineError(f"unknown flag {unknown[0]!r} on {kind}")
    if len(set(flags)) != len(flags):
        raise LineError(f"a flag twice on {kind}")
    states = [flag for flag in flags if flag in STATES]
    if len(states) > 1:
        raise LineError(f"two states on {kind}: {' '.join(states)}")
    if "o" in flags and kind in ("person", "pet", "name"):
        raise LineError(f"an owner on {kind}, which has none")
    layer = "value" if kind in VALUES else "clause"
    return layer, kind, "other" if "o" in flags else "self", states[0] if states else "now"


def read_file(path: Path) -> Iterator[tuple[int, Line | LineError]]:
    """Every line of a file with its number; blank lines and lines that begin with # are passed over."""
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if raw.strip() and not raw.startswith("#"):
            try:
                yield number, parse_line(raw)
            except LineError as error:
                yield number, error
