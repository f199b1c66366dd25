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
    from tenuto.errors import (
        BudgetTooSmall,
        Conflict,
        Denied,
        EmbedderError,
        IllegalMove,
        InputError,
        ModelError,
        NotADatabase,
        NotFound,
        NotWritable,
        ProviderError,
        ReaderError,
        ReadingStopped,
        SchemaMismatch,
        SettingError,
        StoreBusy,
        StoreClosed,
        StoreCorrupt,
        StoreError,
        StoreFull,
        TenutoError,
        VaultError,
    )
    from tenuto.facade.asynchronous import AsyncTenuto, AsyncUserMemory
    from tenuto.facade.store import Tenuto, open
    from tenuto.facade.user import UserMemory
    from tenuto.policy import Policy
    from tenuto.records.channel import Envelope
    from tenuto.records.context import Context
    from tenuto.records.conversation import Message, Session, Summary
    from tenuto.records.memory import Memory, Todo
    from tenuto.records.operations import Receipt
    from tenuto.records.recall import Hit, Recalled
    from tenuto.surfaces.client import RemoteTenuto, RemoteUser, connect

__version__ = "0.2.0"
__all__ = [
    "AsyncTenuto",
    "AsyncUserMemory",
    "BudgetTooSmall",
    "Conflict",
    "Context",
    "Denied",
    "EmbedderError",
    "Envelope",
    "Hit",
    "IllegalMove",
    "InputError",
    "Memory",
    "Message",
    "ModelError",
    "NotADatabase",
    "NotFound",
    "NotWritable",
    "Policy",
    "ProviderError",
    "ReaderError",
    "ReadingStopped",
    "Recalled",
    "Receipt",
    "RemoteTenuto",
    "RemoteUser",
    "SchemaMismatch",
    "Session",
    "SettingError",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "Summary",
    "Tenuto",
    "TenutoError",
    "Todo",
    "UserMemory",
    "VaultError",
    "connect",
    "open",
]

_HOMES = {
    "AsyncTenuto": "tenuto.facade.asynchronous",
    "AsyncUserMemory": "tenuto.facade.asynchronous",
    "BudgetTooSmall": "tenuto.errors",
    "Conflict": "tenuto.errors",
    "Context": "tenuto.records.context",
    "Denied": "tenuto.errors",
    "EmbedderError": "tenuto.errors",
    "Envelope": "tenuto.records.channel",
    "Hit": "tenuto.records.recall",
    "IllegalMove": "tenuto.errors",
    "InputError": "tenuto.errors",
    "Memory": "tenuto.records.memory",
    "Message": "tenuto.records.conversation",
    "ModelError": "tenuto.errors",
    "NotADatabase": "tenuto.errors",
    "NotFound": "tenuto.errors",
    "NotWritable": "tenuto.errors",
    "Policy": "tenuto.policy",
    "ProviderError": "tenuto.errors",
    "ReaderError": "tenuto.errors",
    "ReadingStopped": "tenuto.errors",
    "Recalled": "tenuto.records.recall",
    "Receipt": "tenuto.records.operations",
    "RemoteTenuto": "tenuto.surfaces.client",
    "RemoteUser": "tenuto.surfaces.client",
    "SchemaMismatch": "tenuto.errors",
    "Session": "tenuto.records.conversation",
    "SettingError": "tenuto.errors",
    "StoreBusy": "tenuto.errors",
    "StoreClosed": "tenuto.errors",
    "StoreCorrupt": "tenuto.errors",
    "StoreError": "tenuto.errors",
    "StoreFull": "tenuto.errors",
    "Summary": "tenuto.records.conversation",
    "Tenuto": "tenuto.facade.store",
    "TenutoError": "tenuto.errors",
    "Todo": "tenuto.records.memory",
    "UserMemory": "tenuto.facade.user",
    "VaultError": "tenuto.errors",
    "connect": "tenuto.surfaces.client",
    "open": "tenuto.facade.store",
}
"""Where each public name lives."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tenuto' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
