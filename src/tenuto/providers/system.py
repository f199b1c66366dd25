"""The only module that reads the clock, mints ids and changes the environment."""

from __future__ import annotations

import os
import secrets
import threading
from datetime import UTC, datetime

from tenuto.records.base import micros

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [one + other for one in _LETTERS for other in _LETTERS]
_SHIFTS = range(100, -1, -10)


def system_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def new_secret(prefix: str) -> str:
    """``prefix_`` and 256 random bits."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def _base32(value: int) -> str:
    """110 bits as 22 characters that sort like the number."""
    return "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])


def silence_onnxruntime() -> None:
    """Call before ``onnxruntime`` is first imported.

    Its official builds report to their maker from the moment of the import (version 1.31: a device id and a queue of
    events below ``~/.cache/Microsoft``, sent from there); the switch in its interface comes too late for that. These
    two names, which changed between versions, keep all of it from being set up. A program that imports onnxruntime
    before Tenuto does has to set them itself.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["ORT_TELEMETRY_DISABLED"] = "1"


class RandomIds:
    """``prefix_`` + 11 characters of time (microseconds) + 11 of chance. Ids made one after another sort that way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self, prefix: str, at: datetime) -> str:
        asked = micros(at)
        with self._lock:
            self._last = max(self._last + 1, asked) if abs(asked - self._last) < 1_000_000 else asked
            stamp = max(self._last, 0)
        return f"{prefix}_{_base32(stamp << 55 | secrets.randbits(55))}"


class CountingIds:
    """Ids for tests and replays: the same calls give the same ids."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def __call__(self, prefix: str, at: datetime) -> str:
        with self._lock:
            self._count += 1
            return f"{prefix}_{self._count:08d}"


def secret_code() -> str:
    """Six digits to type in."""
    return f"{secrets.randbelow(10**6):06d}"


def secret_token() -> str:
    """A secret that nobody guesses, for links and salts."""
    return secrets.token_urlsafe(24)
