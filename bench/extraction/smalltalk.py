"""Junk: the share of lines without anything to keep from which something was kept all the same."""

from __future__ import annotations

from pathlib import Path

from tenuto.ingest.extract.rules import extract

from bench.extraction.world import START
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role

LINES = Path(__file__).with_name("smalltalk.txt")


def load() -> list[str]:
    """One message per line; a fenced block is one message."""
    found: list[str] = []
    block: list[str] | None = None
    for line in LINES.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            if block is None:
                block = [line]
            else:
                found.append("\n".join([*block, line]))
                block = None
        elif block is not None:
            block.append(line)
        elif line.strip() and not line.startswith("#"):
            found.append(line)
    return found


def kept(text: str, threshold: float) -> list[str]:
    message = Message(id="m", session_id="s", role=Role.USER, content=text, at=START, channel="bench", persona="coach")
    found = extract(message, MemoryPolicy(keep_confidence=threshold))
    return [one.content for one in found.candidates] + [one.content for one in found.todos]


def measure(*, show: bool = False, say=print) -> float:
    """Print the junk rate over the threshold; the rate at the default."""
    lines = load()
    default = MemoryPolicy().keep_confidence
    rate = 0.0
    for threshold in sorted({0.3, 0.4, 0.5, 0.6, 0.7, default}):
        junk = [(line, found) for line in lines if (found := kept(line, threshold))]
        mark = "  <- default" if threshold == default else ""
        say(
            f"  confidence {threshold:.2f}: {len(junk):3} of {len(lines)} lines left something "
            f"({len(junk) / len(lines):.1%}){mark}"
        )
        if threshold == default:
            rate = len(junk) / len(lines)
            for line, found in junk if show else []:
                say(f"    {line!r} -> {found}")
    return rate
