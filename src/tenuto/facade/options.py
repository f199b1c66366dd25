"""Options that several faces of one verb share: declared once, used by the library and the client."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

Filter = str | list[str]


class PageFilters(TypedDict, total=False):
    """What a page of a listing can be narrowed by; which of them a listing knows stands in ``paging.LISTINGS``."""

    order: str | None
    since: datetime | None
    until: datetime | None
    channel: Filter | None
    current: bool | str | None
    definition: Filter | None
    domain: Filter | None
    entity: str | None
    kind: Filter | None
    merged: bool | str | None
    pinned: bool | None
    proactive_use: Filter | None
    resolved: bool | None
    role: Filter | None
    session_id: Filter | None
    source: Filter | None
    state: Filter | None
    status: Filter | None
    subject_id: Filter | None
    subject_kind: Filter | None
    trust: Filter | None
    type: Filter | None
