"""Why something was recalled, in one sentence for people. Pure.

Said on 5 January 2026; close in meaning; has the words "dentist", "tuesday".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

FELT = 0.3
"""What a part must bring to be worth a word."""
SHOWN = 3
"""Most words of the query that are named."""
EDGES = "?!.,;:()\"'¿¡"
"""Signs around a word that are not shown."""
_REASONS = (
    ("current", 0.0, "true now"),
    ("speaker", 0.0, "its speaker was named"),
    ("days", 0.7, "from the days that were asked about"),
    ("similarity", 0.0, "close in meaning"),
    ("meaning", FELT, "close in meaning"),
    ("newest", 0.0, "the newest on this"),
    ("recency", 1.0, "said lately"),
    ("feeling", FELT, "near the feeling that was asked for"),
)
"""Part of the score, what it must bring more than, and how a person would say it; the first ones first."""


def sentence(
    parts: Mapping[str, float], matched: Sequence[str], said: Sequence[datetime], until: datetime | None = None
) -> str:
    """One sentence of the parts of a score, the words of the query that were found, and when it was said."""
    found = [f"said on {day(said[0])}" if said else "kept"]
    if len(said) > 1:
        found[0] += f" and {len(said) - 1} more time{'s' if len(said) > 2 else ''}"
    if until is not None:
        found.append(f"true until {day(until)}")
    found += dict.fromkeys(reason for part, least, reason in _REASONS if parts.get(part, 0.0) > least)
    if matched:
        named = ", ".join(f'"{word.strip(EDGES)}"' for word in matched[:SHOWN])
        found.append(f"has the word{'s' if len(matched[:SHOWN]) > 1 else ''} {named}")
    if "asked again" in parts:
        found.append("asks the same")
    text = "; ".join(found)
    return text[0].upper() + text[1:] + "."


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
