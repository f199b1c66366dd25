"""How well is talk understood?

    python -m bench.understanding --data DIR                    the reader, without a model
    python -m bench.understanding --data DIR --model replay     the recorded answers of a capable model
    python -m bench.understanding --data DIR --model NAME       any model that tenuto.open takes
    python -m bench.understanding proposals --data DIR          judged answers (proposals.jsonl) and the checks

DIR holds gold conversations (c01.json …). The table is by conversation and language; ``--show c02`` also prints what was
missed, invented or left standing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from bench.understanding.play import play
from bench.understanding.proposals import judge
from bench.understanding.replay import Replay
from bench.understanding.score import COLUMNS, score


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", nargs="?", choices=["talk", "proposals"], default="talk")
    options.add_argument("--data", type=Path, default=os.environ.get("TENUTO_BENCH_DATA"), required=False)
    options.add_argument("--model", help="'replay', or what tenuto.open(model=…) takes")
    options.add_argument("--only", help="conversations, separated by commas")
    options.add_argument("--show", action="store_true", help="print every miss")
    options.add_argument("--json", type=Path, help="write the shares to a file")
    given = options.parse_args()
    if given.data is None:
        options.error("--data names the folder of gold conversations")
    data = Path(given.data)
    return proposals(data, given.show) if given.what == "proposals" else talk(data, given)


def proposals(data: Path, show: bool) -> int:
    """The judged answers."""

    def tell(line: str) -> None:
        if show or line.startswith("MISJUDGED"):
            print(f"  {line}")

    accepted, right, refused, wrong = judge(data / "proposals.jsonl", tell)
    print(f"right accepted {accepted} of {right}, wrong refused {refused} of {wrong}")
    return 0


def talk(data: Path, given: argparse.Namespace) -> int:
    """The conversations."""
    model = Replay() if given.model == "replay" else given.model
    only = set(given.only.split(",")) if given.only else None
    by_language: dict[str, dict[str, list[bool]]] = {}
    begun = time.perf_counter()
    print(f"{'':9}" + "".join(f"{name[:10]:>11}" for name in COLUMNS))
    for path in sorted(data.glob("[a-z][0-9][0-9].json")):
        conversation = json.loads(path.read_text(encoding="utf-8"))
        if only is not None and conversation["id"] not in only:
            continue
        played = play(conversation, model)
        found = score(conversation, played, (lambda line: print(f"    {line}")) if given.show else (lambda line: None))
        if given.show:
            for n, content, reason in played.refused:
                print(f"    refused: {n} {content!r}: {reason}")
        print(row(conversation["id"], found), flush=True)
        for language in (conversation["language"], "all"):
            total = by_language.setdefault(language, {name: [] for name in COLUMNS})
            for name in COLUMNS:
                total[name] += found[name]
    for language, total in sorted(by_language.items(), key=lambda pair: pair[0] == "all"):
        print(row(language, total))
    print(f"{time.perf_counter() - begun:.0f} s")
    if given.json:
        shares = {name: (sum(hits) / len(hits) if hits else None) for name, hits in by_language["all"].items()}
        given.json.write_text(json.dumps(shares, indent=1) + "\n", encoding="utf-8")
    return 0


def row(name: str, found: dict[str, list[bool]]) -> str:
    cells = (f"{100 * sum(hits) / len(hits):9.1f} %" if hits else f"{'–':>11}" for hits in found.values())
    return f"{name:9}" + "".join(cells)


if __name__ == "__main__":
    sys.exit(main())
