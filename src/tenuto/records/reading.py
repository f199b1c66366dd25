"""What a reader finds in a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a message that says something worth keeping: ``message[start:end]``."""

    layer: str
    """``value`` (a short noun phrase) or ``clause`` (a stretch that may hold values)."""
    type: str
    """Such as ``allergy`` or ``todo``; training/reader/LABELS.md says what each means."""
    start: int
    end: int
    owner: str
    """``self``: about the user; ``other``: about somebody or something else."""
    state: str
    """``now`` (it holds), ``end`` (over), ``plan`` (not yet so) or ``neg`` (said not to be so)."""
    score: float
    """How sure the reader is, 0 to 1."""
