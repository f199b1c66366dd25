"""Questions about things that were never said: how many get an empty list, and what that costs those that were.

    python -m bench.recall.never --data DIR --cache FILE [--set locomo realmem beam] [--only N]

``never_said.txt`` holds 200 questions and bits of rubbish that fit no conversation. Each is put to every conversation,
on the engine's own index; beside it stand the questions that have an answer, with the figure before and after.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bench.recall import data, measures, offline
from bench.recall.cache import CachedEmbedder
from tenuto.policy import RecallPolicy
from tenuto.providers.embed import LocalEmbedder
from tenuto.recall.entry import query_tokens
from tenuto.recall.known import known
from tenuto.recall.match import Query, weigh
from tenuto.recall.rank import hashes, names_of

QUESTIONS = Path(__file__).with_name("never_said.txt").read_text(encoding="utf-8").splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"))
    parser.add_argument("--cache", type=Path, required=True, help="file that keeps embeddings between runs")
    parser.add_argument("--set", nargs="+", default=list(offline.SETS))
    parser.add_argument("--only", type=int, help="only the first so many conversations")
    given = parser.parse_args()
    if not given.data:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    embedder = CachedEmbedder(LocalEmbedder(), given.cache)
    for name in given.set:
        empty = asked = 0
        before, after = measures.Tally(), measures.Tally()
        for talk in offline.SETS[name](Path(given.data))[: given.only]:
            one = None
            for one in offline.asked(talk, embedder):
                found = _order(one.view, one.query, embedder)
                before.add(one.measures(found[0]))
                after.add(one.measures(found[0] if found[1] else []))
            for text in QUESTIONS if one is not None else ():
                vector = embedder.embed([text], query=True)[0]
                query = Query(hashes(query_tokens(text), b""), hashes(names_of(text), b""), vector)
                empty += not _order(one.view, query, embedder)[1]
                asked += 1
        figure = "sR@10" if name == "realmem" else "R@10"
        print(
            f"  {name:10} never said: {100 * empty / asked:.1f} % of {asked:,} empty;  "
            f"{figure} {before.mean(figure):.1f} → {after.mean(figure):.1f}",
            flush=True,
        )


def _order(view, query: Query, embedder) -> tuple[list[int], bool]:
    """Rows in rank order, and whether anything is known."""
    signals = weigh(view, query, view.living(), RecallPolicy())
    return signals.pool(200).tolist(), known(view, query.tokens, signals, view.living(), embedder.calibration)


if __name__ == "__main__":
    main()
