"""The asynchronous face: the same verbs with ``await``. It forwards to threads and holds no logic of its own.

Every public method of :class:`tenuto.Tenuto` and :class:`tenuto.UserMemory` is here by the same name and signature,
because they are made from them; there is nothing that could drift apart.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from tenuto.facade import store
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.facade.workflows import WorkflowHandle

PLAIN = ("user",)
"""Methods that only make an object: nothing to wait for."""


def _forward(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @functools.wraps(method)
    async def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = await asyncio.to_thread(method, self._sync, *args, **kwargs)
        return AsyncWorkflowHandle(result) if isinstance(result, WorkflowHandle) else result

    return forward


def _mirror(sync: type[Any]) -> Callable[[type[Any]], type[Any]]:
    def fill(face: type[Any]) -> type[Any]:
        for name, member in vars(sync).items():
            if name.startswith("_") or name in PLAIN:
                continue
            if isinstance(member, property):
                setattr(face, name, property(functools.partial(_property, name), doc=member.__doc__))
            elif callable(member):
                setattr(face, name, _forward(member))
        return face

    return fill


def _property(name: str, face: Any) -> Any:
    return getattr(face._sync, name)


class _Face:
    """Lets type checkers accept the forwarded verbs."""

    def __init__(self, sync: Any) -> None:
        self._sync = sync

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} over {self._sync!r}>"


@_mirror(WorkflowHandle)
class AsyncWorkflowHandle(_Face):
    """A workflow's handle with ``await``. Its properties read the store: use them sparingly."""


@_mirror(UserMemory)
class AsyncUserMemory(_Face):
    """:class:`tenuto.UserMemory` with ``await``."""


@_mirror(Tenuto)
class AsyncTenuto(_Face):
    """:class:`tenuto.Tenuto` with ``await``.

    ``async with AsyncTenuto.open(...) as store`` or ``await AsyncTenuto.open(...)``, with what ``tenuto.open`` takes.
    """

    @classmethod
    def open(cls, *args: Any, **kwargs: Any) -> _Opening:
        return _Opening(functools.partial(store.open, *args, **kwargs))

    def user(self, *args: Any, **kwargs: Any) -> AsyncUserMemory:
        return AsyncUserMemory(self._sync.user(*args, **kwargs))

    async def __aenter__(self) -> AsyncTenuto:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._sync.close)


class _Opening:
    """A store that is about to be opened: to be awaited, or entered with ``async with``."""

    def __init__(self, opened: Callable[[], Tenuto]) -> None:
        self._open = opened
        self._store: AsyncTenuto | None = None

    async def _opened(self) -> AsyncTenuto:
        return AsyncTenuto(await asyncio.to_thread(self._open))

    def __await__(self) -> Generator[Any, None, AsyncTenuto]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncTenuto:
        self._store = await self._opened()
        return self._store

    async def __aexit__(self, *_: object) -> None:
        if self._store is not None:
            await self._store.close()
