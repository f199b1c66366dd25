"""Faults that nobody could notice, with the reason: (module, function, before, after)."""

from __future__ import annotations

EQUAL: dict[tuple[str, str, str, str], str] = {}
