"""The evidence behind the thresholds of one embedding model.

``calibration.tsv`` holds pairs: *same* (two wordings of one thing), *distinct* (alike, but two things), *anchor* and
*incidental* (a message that names a memory, and one that merely touches it), *changed* and *unrelated* (an old
statement with a new one that replaces it, or that has nothing to do with it). For each threshold the two shares are
printed, with the cosine alone and with the guards of ``tenuto.ingest.reconcile.same_statement``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.extraction.world import START, World
from tenuto.records.operations import Act

PAIRS = Path(__file__).with_name("calibration.tsv")


def load() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            kind, one, other = line.split("\t")
            found.setdefault(kind, []).append((one, other))
    return found


def measure(embedder, *, say=print) -> None:
    """Print the shares at or above each threshold and the thresholds in force."""
    pairs = load()
    texts = sorted({text for rows in pairs.values() for row in rows for text in row})
    vectors = dict(zip(texts, np.asarray(embedder.embed(texts)), strict=True))
    cosines = {kind: np.array([float(vectors[a] @ vectors[b]) for a, b in rows]) for kind, rows in pairs.items()}
    say(f"  {embedder.model}: {sum(map(len, pairs.values()))} pairs; in force: {embedder.calibration}")
    for kind, values in cosines.items():
        quartiles = ", ".join(f"{value:.2f}" for value in np.quantile(values, [0.1, 0.25, 0.5, 0.75, 0.9]))
        say(f"  {kind:11} {len(values):3} pairs, cosine at 10/25/50/75/90 %: {quartiles}")
    for good, bad, steps in (
        ("same", "distinct", np.arange(0.66, 0.93, 0.04)),
        ("anchor", "incidental", np.arange(0.4, 0.75, 0.05)),
        ("changed", "unrelated", np.arange(0.3, 0.65, 0.05)),
    ):
        say(f"  share at or above: {good:>8} {bad:>11}")
        for step in steps:
            say(f"  {step:17.2f} {np.mean(cosines[good] >= step):9.0%} {np.mean(cosines[bad] >= step):11.0%}")
    for kind in ("same", "distinct"):
        merged = [pair for pair in pairs[kind] if _merged(pair, embedder)]
        say(f"  through the store with all guards: {len(merged)} of {len(pairs[kind])} {kind} pairs became one memory")
        for pair in merged if kind == "distinct" else []:
            say(f"    wrongly: {pair}")


def _merged(pair: tuple[str, str], embedder) -> bool:
    world = World(embedder, at=START)
    world.user.remember(pair[0])
    done = world.user.remember(pair[1])
    world.close()
    return done.act in (Act.REINFORCED, Act.UPGRADED)
