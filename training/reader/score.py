"""How well marks agree with the corpus: F1 by type, language and author file; owner and state of what was found.

`PYTHONPATH=src python training/reader/score.py PACK [FILE …]` scores a pack on the lines that are held out, or on
those of the files that are named; at the end what was taken for what, most frequent first.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from corpus import CLAUSES, VALUES, Line, Span
from data import Entry, load_corpus
from tenuto.providers.reader import LocalReader
from tenuto.records.reading import Mark

VITAL = ("allergy", "med", "dose", "cond", "blood", "limit", "contact", "sos")


def f1(hits: float, found: float, wanted: float) -> float:
    return 2 * hits / (found + wanted) if found + wanted else 0.0


class Score:
    """Counts of hits, marks found and marks wanted, exact and by overlap, for every key."""

    def __init__(self) -> None:
        self.exact: Counter[str] = Counter()
        self.loose: Counter[str] = Counter()
        self.loose_found: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.wanted: Counter[str] = Counter()
        self.flags: Counter[str] = Counter()
        self.mistaken: Counter[str] = Counter()

    def add(self, line: Line, marks: Iterable[Mark], author: str) -> None:
        marks = list(marks)
        gold = {(span.type, span.start, span.end): span for span in line.spans}
        for span in line.spans:
            near = any(mark.type == span.type and mark.start < span.end and mark.end > span.start for mark in marks)
            for key in self.keys(span.type, line.language, author):
                self.wanted[key] += 1
                self.loose[key] += near
            if not near:
                self.mistaken[f"{span.type} → {_beside(marks, span)}"] += 1
        for mark in marks:
            span = gold.get((mark.type, mark.start, mark.end))
            near = any(
                mark.type == span_.type and mark.start < span_.end and mark.end > span_.start for span_ in line.spans
            )
            for key in self.keys(mark.type, line.language, author):
                self.found[key] += 1
                self.exact[key] += span is not None
                self.loose_found[key] += near
            if not near and (beside := _beside(line.spans, mark)) == "nothing":
                self.mistaken[f"{beside} → {mark.type}"] += 1
            if span:
                self.flags["matched"] += 1
                self.flags["owner"] += span.owner == mark.owner
                self.flags["state"] += span.state == mark.state
                if span.owner == "other":
                    self.flags["others"] += 1
                    self.flags["others right"] += mark.owner == "other"
                if span.state != "now":
                    self.flags[f"{span.state} wanted"] += 1
                    self.flags[f"{span.state} right"] += mark.state == span.state
        if not line.spans:
            self.flags["bare lines"] += 1
            self.flags["bare lines left alone"] += not marks

    @staticmethod
    def keys(kind: str, language: str, author: str) -> list[str]:
        keys = [kind, language, f"{author}.tsv", "all", "values" if kind in VALUES else "clauses"]
        return [*keys, "vital"] if kind in VITAL else keys

    def row(self, key: str) -> str:
        exact = f1(self.exact[key], self.found[key], self.wanted[key])
        precision = self.loose_found[key] / self.found[key] if self.found[key] else 0.0
        recall = self.loose[key] / self.wanted[key] if self.wanted[key] else 0.0
        loose = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return f"{key:14} {self.wanted[key]:6} {exact:7.3f} {loose:7.3f} {precision:9.3f} {recall:7.3f}"

    def table(self, authors: Iterable[str] = ()) -> str:
        lines = [f"{'':14} {'wanted':>6} {'exact':>7} {'overlap':>7} {'precision':>9} {'recall':>7}"]
        keys = [
            "all",
            "values",
            "clauses",
            "vital",
            "en",
            "de",
            "es",
            "fr",
            "pt",
            *(f"{author}.tsv" for author in authors),
            *VALUES,
            *CLAUSES,
        ]
        lines += [self.row(key) for key in keys if self.wanted[key]]
        lines.append(", ".join(f"{name} {count}" for name, count in sorted(self.flags.items())))
        return "\n".join(lines)

    def mistakes(self, most: int = 60) -> str:
        """What was wanted → what was found instead."""
        return ", ".join(f"{name} {count}" for name, count in self.mistaken.most_common(most))


def _beside(others: Iterable[Span | Mark], one: Span | Mark) -> str:
    """The type of the mark in the same layer that shares words with this one."""
    for other in others:
        if other.layer == one.layer and other.start < one.end and other.end > one.start:
            return other.type
    return "nothing"


def chosen(files: Iterable[str]) -> list[Entry]:
    """The lines of the files that are named; without names those that are held out."""
    names = list(files)
    return [entry for entry in load_corpus() if (entry.author in names if names else entry.held_out)]


def score_pack(folder: Path, entries: Iterable[Entry]) -> Score:
    reader = LocalReader(folder)
    score = Score()
    for entry in entries:
        score.add(entry.line, reader.read(entry.line.text, entry.line.before), entry.author)
    return score


if __name__ == "__main__":
    lines = chosen(sys.argv[2:])
    result = score_pack(Path(sys.argv[1]), lines)
    print(result.table(sorted({entry.author for entry in lines})))
    print(result.mistakes())
