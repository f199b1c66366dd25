"""Extraction against LoCoMo's annotated observations: coverage, precision, and duplicates in the store."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dateutil import parser
from tenuto.ingest.extract.rules import extract

from bench.extraction.world import World
from bench.recall.data import MISSING
from tenuto.ingest.reconcile.same_statement import SAME_DAY, bare, wording_agrees
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Kind

LOOKED_AT = ("conv-26", "conv-30", "conv-41")
"""The rules were written while looking at these."""
STEPS = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)


def load(directory: Path) -> list[dict]:
    path = directory / "locomo.jsonl.gz"
    if not path.exists():
        raise SystemExit(MISSING.format(path=path))
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def moment(date: str) -> datetime:
    return parser.parse(date.replace(" on ", " ")).replace(tzinfo=UTC)


def curve(directory: Path, *, say=print) -> None:
    """Coverage and precision over the confidence, for the conversations that were looked at and for the others."""
    conversations = load(directory)
    for name, chosen in (
        ("held out", [one for one in conversations if one["id"] not in LOOKED_AT]),
        ("looked at", [one for one in conversations if one["id"] in LOOKED_AT]),
    ):
        rows = [row for one in chosen for row in _rows(one)]
        annotated = sum(row[0] for row in rows)
        say(
            f"  {name}: {len(chosen)} conversations, {len(rows)} turns, {annotated} annotated "
            f"({annotated / len(rows):.1%})"
        )
        say("    confidence  kept  precision  coverage")
        for step in STEPS:
            kept = [known for known, scores in rows for score in scores if score >= step]
            covered = sum(1 for known, scores in rows if known and any(score >= step for score in scores))
            mark = "  <- default" if step == MemoryPolicy().keep_confidence else ""
            say(
                f"    {step:10.2f} {len(kept):5} {sum(kept) / max(1, len(kept)):10.1%} {covered / annotated:9.1%}{mark}"
            )


def _rows(conversation: dict) -> list[tuple[bool, list[float]]]:
    annotated = {id for one in conversation["observations"] for id in one["ev"]}
    rows = []
    for turn in conversation["turns"]:
        message = Message(
            id=turn["tid"],
            session_id=str(turn["sess"]),
            role=Role.USER,
            content=turn["text"],
            at=moment(turn["date"]),
            channel="bench",
            speaker=turn["speaker"],
        )
        found = extract(message, MemoryPolicy(keep_confidence=0.0))
        rows.append((turn["tid"] in annotated, [one.confidence for one in found.candidates]))
    return rows


def duplicates(directory: Path, embedder, *, show: bool = False, say=print) -> float:
    """Every turn through the store; a duplicate is a current memory that says what an earlier one says.

    Two memories of one speaker count as duplicates when their words are the same but for order and small words, or
    when the cosine reaches ``upgrade`` and their wording agrees. Events of different days never do.
    """
    import numpy as np

    acts: Counter[str] = Counter()
    total = doubled = 0
    for conversation in load(directory):
        world = World(embedder, at=moment(conversation["turns"][0]["date"]))
        for turn in conversation["turns"]:
            at = max(moment(turn["date"]), world.now + timedelta(seconds=1))
            receipt = world.say(turn["text"], at=at, speaker=turn["speaker"], id=turn["tid"])
            acts.update(result.act.value for result in receipt.results)
            for result in receipt.results if show else []:
                if result.act.value in ("superseded", "upgraded") or "contradicts" in result.reason:
                    say(f"    {result.act.value}: {result.content!r} ({result.reason})")
        memories = [one for one in world.user.memories() if one.kind is not Kind.CONTRADICTION]
        vectors = np.asarray(embedder.embed([one.content for one in memories]))
        cosines = vectors @ vectors.T
        total += len(memories)
        for i, one in enumerate(memories):
            twins = [
                other
                for j, other in enumerate(memories[:i])
                if one.entities[:1] == other.entities[:1]
                and not _apart(one, other)
                and _twins(one.content, other.content, float(cosines[i, j]), embedder.calibration.upgrade)
            ]
            doubled += bool(twins)
            if twins and show:
                say(f"    duplicate: {one.content!r} and {twins[0].content!r}")
        world.close()
    say(f"  {dict(acts)}")
    say(f"  {doubled} of {total} current memories repeat another ({doubled / max(1, total):.2%})")
    return doubled / max(1, total)


def _apart(one, other) -> bool:
    """Two events of different days are two events, however alike they are told."""
    return bool(one.happens_at and other.happens_at and abs(one.happens_at - other.happens_at) > SAME_DAY)


def _twins(one: str, other: str, cosine: float, threshold: float) -> bool:
    plain = [re.sub(r"\W+", " ", bare(text).lower()).split() for text in (one, other)]
    return sorted(plain[0]) == sorted(plain[1]) or (cosine >= threshold and wording_agrees(one, other))
