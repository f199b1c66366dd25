"""Who and where: the user whom everything belongs to, the persona talked to, the channel used."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class Channel(StrEnum):
    """Where a message came from. Other names are allowed; these are the ones that Tenuto ships adapters for."""

    IMESSAGE = "imessage"
    EMAIL = "email"
    SMS = "sms"
    WEB = "web"
    TERMINAL = "terminal"
    API = "api"
    MCP = "mcp"
    IMPORT = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One user, seen through one persona (``None``: shared by all) on one channel."""

    user: str
    persona: str | None = None
    channel: str = "api"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The person. ``seq`` counts everything that happened to them; ``epoch`` changes when something was taken away."""

    user_id: str
    created_at: datetime
    seq: int = 0
    epoch: int = 0
    timezone: str = "UTC"
    settings: dict[str, Any] = field(default_factory=dict)


class Revision(NamedTuple):
    """Where a user's data stands: while this stays the same, so does everything that is kept of them."""

    created_at: int
    seq: int
    epoch: int
    head: str
    """Of the audit log, which tells of every change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An address on a channel that resolves to the user once it is verified. ``id`` is ``channel:address``."""

    id: str
    channel: str
    address: str
    created_at: datetime
    verified_at: datetime | None = None
    devices: tuple[str, ...] = ()
    label: str | None = None
