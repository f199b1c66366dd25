"""A server in a process of its own: ``python -m tests.reliability.serving URL SOCKET words|model HOW``.

HOW: ``right`` has no limits of requests, ``limited`` the usual ones; ``leaky`` and ``burning`` are broken on purpose.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

from bench.server.__main__ import GENEROUS
from bench.server.down import NoEmbedder

from tenuto.facade.user import UserMemory
from tenuto.surfaces.http.serving import Serving, run_one


def options(embedder: str, how: str) -> dict[str, Any]:
    limits = {} if how == "limited" else {"policy": GENEROUS}
    return {**limits, **({"embedder": NoEmbedder()} if embedder == "words" else {})}


def _leak() -> None:
    """The broken variant keeps something of every answer."""
    kept, recall = [], UserMemory.recall

    def hoarding(self: UserMemory, *args: Any, **more: Any) -> Any:
        kept.append(bytearray(300_000))
        return recall(self, *args, **more)

    UserMemory.recall = hoarding  # type: ignore[method-assign]


def _burn() -> None:
    """The broken variant thinks about every message where it is received, for longer the longer it is."""
    observe = UserMemory.observe

    def slow(self: UserMemory, text: str, *args: Any, **more: Any) -> Any:
        sum(range(len(text) * 60))
        return observe(self, text, *args, **more)

    UserMemory.observe = slow  # type: ignore[method-assign]


if __name__ == "__main__":
    url, number, embedder, how = sys.argv[1:5]
    if how == "leaky":
        _leak()
    if how == "burning":
        _burn()
    run_one(
        Serving(db=url, port=0, logs=False, options=tuple(options(embedder, how).items())),
        socket.socket(fileno=int(number)),
    )
