"""Tenuto: the memory of an AI that talks with people.

Three lines are enough; everything else is optional:

    import tenuto

    store = tenuto.open()
    ana = store.user("ana")
    ana.observe("My dad is allergic to penicillin.")
    context = ana.context("Which antibiotics are safe for him?")

Names that are not listed in ``__all__`` may change without notice. A name is loaded when it is first used, so that
``import tenuto`` costs next to nothing in programs (and commands) that do not get as far as opening a store.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenuto.asynchronous import AsyncTenuto, AsyncUserMemory
    from tenuto.engine import Tenuto, open
    from tenuto.errors import TenutoError
    from tenuto.policy import Policy
    from tenuto.records.operations import Receipt
    from tenuto.surfaces.client import RemoteTenuto, RemoteUser, connect
    from tenuto.user import UserMemory

__version__ = "0.1.0"
__all__ = [
    "AsyncTenuto",
    "AsyncUserMemory",
    "Policy",
    "Receipt",
    "RemoteTenuto",
    "RemoteUser",
    "Tenuto",
    "TenutoError",
    "UserMemory",
    "connect",
    "open",
]

_HOMES = {
    "AsyncTenuto": "tenuto.asynchronous",
    "AsyncUserMemory": "tenuto.asynchronous",
    "Policy": "tenuto.policy",
    "Receipt": "tenuto.records.operations",
    "RemoteTenuto": "tenuto.surfaces.client",
    "RemoteUser": "tenuto.surfaces.client",
    "Tenuto": "tenuto.engine",
    "TenutoError": "tenuto.errors",
    "UserMemory": "tenuto.user",
    "connect": "tenuto.surfaces.client",
    "open": "tenuto.engine",
}
"""Where each public name lives."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tenuto' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
