"""Questions about things that were never said: how many get an empty list, and what that costs those that were.

    python -m bench.recall.never --data DIR --cache FILE [--set locomo realmem beam] [--only N]

``never_said.txt`` holds 200 questions and bits of rubbish that fit no conversation, by which the bound was set;
``never_said_held_out.txt`` a hundred others in several languages, written later without a look at the ranking. Each is
put to every conversation, on the engine's own index; beside it stand the questions that have an answer, before and
after.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path

from bench.recall import data, measures, offline
from bench.recall.cache import CachedEmbedder
from tenuto.policy import RecallPolicy
from tenuto.providers.embed import LocalEmbedder
from tenuto.recall.entry import query_tokens
from tenuto.recall.known import known
from tenuto.recall.match import Query, weigh
from tenuto.recall.rank import hashes, names_of

QUESTIONS = {
    name: Path(__file__).with_name(f"{file}.txt").read_text(encoding="utf-8").splitlines()
    for name, file in (("never said", "never_said"), ("held out", "never_said_held_out"))
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"))
    parser.add_argument("--cache", type=Path, required=True, help="file that keeps embeddings between runs")
    parser.add_argument("--set", nargs="+", default=list(offline.SETS))
    parser.add_argument("--only", type=int, help="only the first so many conversations")
    parser.add_argument("--passages", type=int, help="only the first so many passages of a message: embeds faster")
    parser.add_argument("--show", type=int, help="the questions that were answered most often, so many of them")
    given = parser.parse_args()
    if not given.data:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    embedder = CachedEmbedder(LocalEmbedder(), given.cache)
    for name in given.set:
        empty = dict.fromkeys(QUESTIONS, 0)
        asked, answered = 0, []
        before, after = measures.Tally(), measures.Tally()
        for talk in offline.SETS[name](Path(given.data))[: given.only]:
            one = None
            for one in offline.asked(talk, embedder, given.passages):
                found = _order(one.view, one.query, embedder)
                before.add(one.measures(found[0]))
                after.add(one.measures(found[0] if found[1] else []))
            if one is None:
                continue
            asked += 1
            for kind, texts in QUESTIONS.items():
                for text in texts:
                    vector = embedder.embed([text], query=True)[0]
                    query = Query(hashes(query_tokens(text), b""), hashes(names_of(text), b""), vector)
                    nothing = not _order(one.view, query, embedder)[1]
                    empty[kind] += nothing
                    answered += [] if nothing else [text]
        figure = "sR@10" if name == "realmem" else "R@10"
        shares = [f"{kind} {100 * empty[kind] / (asked * len(QUESTIONS[kind])):.1f} % empty" for kind in QUESTIONS]
        print(
            f"  {name:10} {';  '.join(shares)};  {figure} {before.mean(figure):.1f} → {after.mean(figure):.1f}",
            flush=True,
        )
        if given.show:
            for text, times in Counter(answered).most_common(given.show):
                print(f"    {times:3} × {text}")


def _order(view, query: Query, embedder) -> tuple[list[int], bool]:
    """Rows in rank order, and whether anything is known."""
    signals = weigh(view, query, view.living(), RecallPolicy())
    return signals.pool(200).tolist(), known(view, query.tokens, signals, view.living(), embedder.calibration)


if __name__ == "__main__":
    main()
