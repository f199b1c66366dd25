"""Who is at work, and on which verb: carried by the context of the call, so that no flow has to pass it on.

A surface says who (``acting("cli")``), the facade says what (``doing("recall")``), and the store writes both down when
something is read or changed. Nothing that a model or a message says gets in here. The outermost verb counts: a verb
that uses another one is still one thing that somebody did.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

C = TypeVar("C", bound=type[Any])
LIBRARY = "library"
JOB = "job"
READ, WRITE = "read", "write"
"""The verbs of whoever reads or writes without naming one."""


@dataclass(slots=True)
class Doing:
    """One verb at work. ``seen`` holds the users whose data it has touched already: a verb is one access to each."""

    verb: str
    seen: set[str] = field(default_factory=set)


_ACTOR: ContextVar[str] = ContextVar("tenuto_actor", default=LIBRARY)
_DOING: ContextVar[Doing | None] = ContextVar("tenuto_doing", default=None)


class acting:
    """From here on it is ``actor`` who does things; ``verb`` begins something new, whatever was being done."""

    __slots__ = ("_actor", "_actors", "_doings", "_verb")

    def __init__(self, actor: str, verb: str | None = None) -> None:
        self._actor, self._verb = actor, verb

    def __enter__(self) -> None:
        self._actors = _ACTOR.set(self._actor)
        self._doings = _DOING.set(Doing(self._verb) if self._verb else None)

    def __exit__(self, *_: object) -> None:
        _DOING.reset(self._doings)
        _ACTOR.reset(self._actors)


@contextmanager
def doing(verb: str) -> Iterator[None]:
    """What is done, unless it is part of something that is being done already."""
    if _DOING.get() is not None:
        yield
        return
    token = _DOING.set(Doing(verb))
    try:
        yield
    finally:
        _DOING.reset(token)


def current(unnamed: str = READ) -> tuple[str, str]:
    """(actor, verb) at this moment."""
    now = _DOING.get()
    return _ACTOR.get(), now.verb if now else unnamed


def touch(user: str) -> bool:
    """Note that the verb at work touches the user's data; whether it had done so before."""
    now = _DOING.get()
    if now is None:
        return False
    before = user in now.seen
    now.seen.add(user)
    return before


def verbs(cls: C) -> C:
    """A class whose public methods are verbs: each names itself while it is at work."""
    for name, member in list(vars(cls).items()):
        if not name.startswith("_") and callable(member) and not isinstance(member, type):
            setattr(cls, name, _named(name, member))
    return cls


def _named(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def named(*args: Any, **kwargs: Any) -> Any:
        if _DOING.get() is not None:
            return method(*args, **kwargs)
        token = _DOING.set(Doing(name))
        try:
            return method(*args, **kwargs)
        finally:
            _DOING.reset(token)

    return named
