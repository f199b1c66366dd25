"""Numbers that are added up over a session and kept with it in a plain form: the next part goes on from there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Sums:
    """The base of records whose fields are all numbers that start at nought."""

    def to_plain(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_plain(cls, value: Any) -> Self:
        """What :meth:`to_plain` gave; empty for anything else."""
        if not isinstance(value, dict):
            return cls()
        found = {field.name: value.get(field.name, 0) for field in fields(cls)}
        return cls(**{name: number if isinstance(number, (int, float)) else 0 for name, number in found.items()})
