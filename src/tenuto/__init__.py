"""Tenuto: the memory of an AI that talks with people.

    import tenuto

    store = tenuto.open()
    ana = store.user("ana")
    ana.observe("My dad is allergic to penicillin.")
    context = ana.context("Which antibiotics are safe for him?")
"""

from __future__ import annotations

from tenuto.asynchronous import AsyncTenuto, AsyncUserMemory
from tenuto.engine import Tenuto, open
from tenuto.errors import TenutoError
from tenuto.policy import Policy
from tenuto.user import UserMemory

__version__ = "0.1.0"
__all__ = ["AsyncTenuto", "AsyncUserMemory", "Policy", "Tenuto", "TenutoError", "UserMemory", "open"]
