"""A todo before it has an id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tenuto.records.memory import TodoKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is to be done, in the words it was said in, with when it is due."""

    kind: TodoKind
    content: str
    quote: str
    by: str = "user"
    due: datetime | None = None
    recurrence: str | None = None
    importance: float = 5.0
    confidence: float = 0.8
    rule: str = ""
