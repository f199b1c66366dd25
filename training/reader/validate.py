"""Check files of the corpus: `python training/reader/validate.py [FILES]` (default: every file in corpus/).

Prints what is wrong with file and line, then counts by language and type. Ends with 1 when anything is wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from corpus import CLAUSES, LANGUAGES, VALUES, LineError, read_file

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    paths = [Path(name) for name in names] or sorted((HERE / "corpus").glob("*.tsv"))
    wrong = 0
    lines: Counter[tuple[str, str]] = Counter()
    marks: Counter[tuple[str, str]] = Counter()
    flags: Counter[str] = Counter()
    bare = answers = 0
    seen: dict[str, str] = {}
    for path in paths:
        for number, line in read_file(path):
            if isinstance(line, LineError):
                print(f"{path.name}:{number}: {line}")
                wrong += 1
                continue
            if line.text in seen and len(line.text) > 20:
                print(f"{path.name}:{number}: the same message as {seen[line.text]} (a warning)")
            seen.setdefault(line.text, f"{path.name}:{number}")
            lines[path.name, line.language] += 1
            bare += not line.spans
            answers += line.before is not None
            for span in line.spans:
                marks[span.type, line.language] += 1
                flags[span.owner] += 1
                flags[span.state] += 1
    print_table("lines", [path.name for path in paths], lines)
    print_table("marks", [*VALUES, *CLAUSES], marks)
    total = sum(lines.values())
    print(f"\n{total} lines, {bare} without a mark, {answers} with a turn before; {sum(marks.values())} marks")
    print(", ".join(f"{name} {count}" for name, count in flags.most_common()))
    print(f"{wrong} lines are wrong" if wrong else "nothing is wrong")
    return 1 if wrong else 0


def print_table(title: str, rows: list[str], counts: Counter[tuple[str, str]]) -> None:
    width = max([len(row) for row in rows] + [len(title)])
    print(f"\n{title:{width}} " + "".join(f"{language:>6}" for language in LANGUAGES) + "   all")
    for row in rows:
        numbers = [counts[row, language] for language in LANGUAGES]
        print(f"{row:{width}} " + "".join(f"{number:6}" for number in numbers) + f"{sum(numbers):6}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
