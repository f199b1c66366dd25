"""The scorecard's rows: each a function that does its work ``count`` times and says what it measured, with a control.

A row counts what went wrong (``bad``); its goal is met when nothing did and as many were run as the goal says. The
control is the same measurement of something broken on purpose, and must find it: a zero that cannot be anything else
means nothing. ``make test`` runs each row with its small ``gate`` count, ``make reliability`` with its ``full`` one.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.reliability import rows


@dataclass
class Work:
    """What a row is asked to do: so many, in that folder, and no longer than that. Iterating counts and keeps time."""

    count: int
    folder: Path
    seconds: float = 1e9
    done: int = 0
    begun: float = field(default_factory=time.monotonic)

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            if self.over:
                return
            yield number
            self.done = number + 1

    @property
    def over(self) -> bool:
        return time.monotonic() - self.begun > self.seconds

    def part(self, count: int, name: str, share: float = 1.0) -> Work:
        """Some of the work in a folder of its own, within that share of the time that is left."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        left = max(0.0, self.seconds - (time.monotonic() - self.begun))
        return Work(count=count, folder=folder, seconds=left * share)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a row found: how many were done, how many of them went wrong, and that in words."""

    done: int
    bad: int
    words: str


@dataclass(kw_only=True)
class Row:
    """One row of the scorecard. ``share`` is how much of a limited run it should get, ``tests`` where its gate is."""

    number: int
    goal: str
    unit: str
    full: int
    gate: int
    run: Callable[[Work], Measured]
    controls: dict[str, Callable[[Work], Measured]] = field(default_factory=dict)
    share: float = 1.0
    tests: str = ""

    def control(self, words: str) -> Callable[[Callable[[Work], Measured]], Callable[[Work], Measured]]:
        """Registers something broken that the row must find."""

        def add(function: Callable[[Work], Measured]) -> Callable[[Work], Measured]:
            self.controls[words] = function
            return function

        return add


ROWS: dict[int, Row] = {}


def row(
    number: int, goal: str, *, unit: str, full: int, gate: int, share: float = 1.0, tests: str = ""
) -> Callable[[Callable[[Work], Measured]], Row]:
    """Registers a function as a row."""

    def register(function: Callable[[Work], Measured]) -> Row:
        made = Row(number=number, goal=goal, unit=unit, full=full, gate=gate, run=function, share=share, tests=tests)
        assert number not in ROWS, f"row {number} is there already"
        ROWS[number] = made
        return made

    return register


def load() -> dict[int, Row]:
    """Every row, by its number."""
    for module in pkgutil.iter_modules(rows.__path__):
        importlib.import_module(f"{rows.__name__}.{module.name}")
    return dict(sorted(ROWS.items()))
