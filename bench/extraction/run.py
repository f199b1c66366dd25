"""What is kept, measured without a judge and without a model.

    python -m bench.extraction --data DIR            everything
    python -m bench.extraction --set smalltalk cases calibration      needs no data

locomo        LoCoMo's annotated observations. Coverage: share of annotated turns from which something was kept.
              Precision: share of kept memories whose turn is annotated. The whole curve over the confidence. The rules
              were written while looking at three conversations; the other seven are reported apart.
duplicates    the same turns through the store: memories that say what another current one says.
smalltalk     lines that should leave nothing (smalltalk.txt).
critical      what must never be lost: allergies, medicines, diagnoses, contacts, names (critical.jsonl).
nearmisses    sentences that look like a change and are none (nearmisses.txt).
cases         hand-written cases with expected results (cases.jsonl).
calibration   the thresholds of the embedding model (calibration.tsv).
supersession  125 cases of what is true now (supersession.jsonl).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.extraction import calibration, cases, critical, locomo, nearmisses, smalltalk, supersession
from bench.recall.cache import CachedEmbedder
from tenuto.providers.embed import LocalEmbedder

SETS = ("locomo", "duplicates", "smalltalk", "cases", "critical", "nearmisses", "calibration", "supersession")
NEED_DATA = ("locomo", "duplicates", "supersession")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"), help="directory with the data")
    parser.add_argument("--set", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--cache", type=Path, help="file that keeps embeddings between runs")
    parser.add_argument("--show", action="store_true", help="also list what was merged, replaced or kept wrongly")
    given = parser.parse_args()
    if not given.data and any(name in NEED_DATA for name in given.set):
        sys.exit(
            "Give the directory with the data: --data DIR or TENUTO_BENCH_DATA. bench/recall/data.py says what "
            "it holds."
        )
    cache = given.cache or Path(tempfile.mkdtemp()) / "vectors.db"
    embedder = CachedEmbedder(LocalEmbedder(), cache)
    for name in given.set:
        print(f"\n{name}")
        started = time.perf_counter()
        _RUN[name](given, embedder)
        print(f"  ({time.perf_counter() - started:.1f} s)")


_RUN = {
    "locomo": lambda given, embedder: locomo.curve(Path(given.data)),
    "duplicates": lambda given, embedder: locomo.duplicates(Path(given.data), embedder, show=given.show),
    "smalltalk": lambda given, embedder: smalltalk.measure(show=given.show),
    "cases": lambda given, embedder: cases.measure(embedder),
    "critical": lambda given, embedder: critical.measure(embedder, show=given.show),
    "nearmisses": lambda given, embedder: nearmisses.measure(embedder, show=given.show),
    "calibration": lambda given, embedder: calibration.measure(embedder),
    "supersession": lambda given, embedder: supersession.measure(Path(given.data), embedder, show=given.show),
}
