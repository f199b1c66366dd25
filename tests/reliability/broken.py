"""Breaks one guard for a whole run of pytest (``-p tests.reliability.broken``, named by ``TENUTO_TEST_BREAK``).

The tests of that guard must fail then. Never loaded otherwise.
"""

from __future__ import annotations

import os
from typing import Any


def _guard() -> None:
    """Every host and every origin is welcome."""
    from tenuto.surfaces.http.guard import Guard

    Guard._check_host = Guard._check_origin = lambda *_: None  # type: ignore[method-assign]


def _outbound() -> None:
    """Every address is believed to be public."""
    from tenuto.providers import outbound

    outbound.public = lambda text: True


def _reader() -> None:
    """A key that may read may do everything."""
    from tenuto.access import decide

    decide.ALLOWS[decide.KeyScope.READ] = frozenset(decide.Need)


def _route() -> None:
    """One verb raises, and another answers something that its schema does not know."""
    from tenuto.facade.user import UserMemory

    def stats(self: Any) -> dict[str, Any]:
        raise RuntimeError("on purpose")

    UserMemory.stats = stats  # type: ignore[method-assign]


BREAKS = {"guard": _guard, "outbound": _outbound, "reader": _reader, "route": _route}

if name := os.environ.get("TENUTO_TEST_BREAK"):
    BREAKS[name]()
