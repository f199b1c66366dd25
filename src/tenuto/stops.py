"""Verbs for an event loop: they stop where they would wait, and whoever takes them says what they stopped for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from tenuto.records.scope import Revision

T = TypeVar("T")


class Look(NamedTuple):
    """Records of one user by their ids, as they were at a moment that is likely not over."""

    user: str
    at: Revision
    type: type[Any]
    ids: Sequence[str]


class Away(NamedTuple):
    """Something slow: it is done elsewhere, and what it returns is the answer."""

    work: Callable[[], Any]


Stops = Generator[Look | Away, Any, T]
"""A verb that stops where it would wait. A :class:`Look` is answered by the records, or by ``None``: read again."""


class Looker(Protocol):
    """Looks things up for many at once, without a thread that waits. It belongs to one event loop."""

    @property
    def ready(self) -> bool:
        """Whether it can be asked now; if not, it gets ready meanwhile."""

    def look(self, wanted: Look) -> Awaitable[dict[str, Any] | None]:
        """The records; ``None`` where something has happened to the user since, or anything went wrong."""

    def close(self) -> None: ...
