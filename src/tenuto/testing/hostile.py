"""Functions that misbehave as a reader could: to see that whoever runs them is not harmed."""

from __future__ import annotations

import os
import re

from tenuto.errors import InputError


def hold_interpreter(letters: int) -> bool:
    """Two to the power of ``letters`` steps inside one call, during which nothing else in the process runs."""
    return re.match(r"(a+)+$", "a" * letters + "b") is not None


def take_memory(size: int) -> int:
    """Fill so many bytes."""
    return len(bytearray(size))


def end_process() -> None:
    """As a fault in a library would."""
    os._exit(1)


def print_much(lines: int) -> int:
    """Write to standard output, where answers must not get mixed up with it."""
    os.write(1, b"noise\n" * lines)
    return lines


def refuse(code: str) -> None:
    """Raise one of Tenuto's errors."""
    raise InputError("This cannot be read.", code=code)


def fail(message: str) -> None:
    """Raise what a fault of our own would."""
    raise ValueError(message)
