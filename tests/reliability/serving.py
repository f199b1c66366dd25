"""A server in a process of its own: ``python -m tests.reliability.serving URL SOCKET words|model right|leaky``."""

from __future__ import annotations

import socket
import sys
from typing import Any

from bench.server.__main__ import GENEROUS
from bench.server.down import NoEmbedder

from tenuto.facade.user import UserMemory
from tenuto.surfaces.http.serving import Serving, run_one


def options(embedder: str) -> dict[str, Any]:
    return {"policy": GENEROUS, **({"embedder": NoEmbedder()} if embedder == "words" else {})}


def _leak() -> None:
    """The broken variant keeps something of every answer."""
    kept, recall = [], UserMemory.recall

    def hoarding(self: UserMemory, *args: Any, **more: Any) -> Any:
        kept.append(bytearray(300_000))
        return recall(self, *args, **more)

    UserMemory.recall = hoarding  # type: ignore[method-assign]


if __name__ == "__main__":
    url, number, embedder, how = sys.argv[1:5]
    if how == "leaky":
        _leak()
    run_one(
        Serving(db=url, port=0, logs=False, options=tuple(options(embedder).items())), socket.socket(fileno=int(number))
    )
