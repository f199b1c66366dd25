"""What every verb of a remote user is made of: one request, its answer as the library's own type."""

from __future__ import annotations

from typing import Any, TypeVar, Unpack
from urllib.parse import quote

import msgspec

from tenuto import errors
from tenuto.facade.options import PageFilters
from tenuto.facade.paging import LISTINGS, Page
from tenuto.surfaces.client_link import Link
from tenuto.surfaces.http.names import write as path_name

T = TypeVar("T")
PATHS = {"state_changes": "state-changes", "key_points": "key-points", "events": "event-log"}


class Calls:
    """Requests about one user, seen by one persona on one channel."""

    def __init__(self, link: Link, user: str, persona: str | None, channel: str) -> None:
        self._link = link
        self._user = user
        self._scope = {"persona": persona, "channel": channel}

    @property
    def id(self) -> str:
        """The user's id."""
        return self._user

    def page(
        self, what: str, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[PageFilters]
    ) -> Page[Any]:
        """One page of a listing."""
        if what not in LISTINGS:
            raise errors.InputError(f"There is no listing {what!r}: use {', '.join(LISTINGS)}.", code="listing_unknown")
        query = {"persona": self._scope["persona"], **filters, "limit": limit, "cursor": cursor}
        found = self._link.call("GET", self._path(PATHS.get(what, what)), query=query)
        return Page(items=[msgspec.convert(one, LISTINGS[what].type) for one in found["items"]], next=found["next"])

    def get(self, what: str, id: str) -> Any:
        """One row of a listing by its id."""
        return msgspec.convert(self._ask("GET", f"{PATHS.get(what, what)}/{quote(id, safe='')}"), LISTINGS[what].type)

    def _all(self, what: str, limit: int, **filters: Unpack[PageFilters]) -> list[Any]:
        """Rows of a listing over as many pages as it takes."""
        found: list[Any] = []
        cursor: str | None = None
        while len(found) < limit:
            page = self.page(what, limit=min(limit - len(found), 200), cursor=cursor, **filters)
            found, cursor = found + page.items, page.next
            if cursor is None:
                break
        return found

    def _path(self, rest: str) -> str:
        return f"/api/users/{path_name(self._user)}/{rest}"

    def _ask(self, method: str, rest: str, body: Any = None, *, query: dict[str, Any] | None = None) -> Any:
        return self._link.call(method, self._path(rest), query={**self._scope, **(query or {})}, body=body)

    def _read(self, rest: str, type_: type[T]) -> T:
        return msgspec.convert(self._ask("GET", rest), type_)

    def _write(
        self, method: str, rest: str, type_: type[T], body: Any = None, *, query: dict[str, Any] | None = None
    ) -> T:
        found = self._link.call(method, self._path(rest), query={**self._scope, **(query or {})}, body=body, once=True)
        return msgspec.convert(found, type_)
