"""Whether the rows that are there are the rows that were written: the audit log lists them, and this compares.

A link names every row that its transaction wrote, with a digest, and every row that it removed. Followed from the first
link that lists all of them, the log says what must be there now; a row that was changed, set back to what it said
before, taken out, put in or moved to somebody else by other means does not fit. In a sealed store the links are keyed:
nobody without the keyring can make the log fit.

A user of an earlier release has no such log yet. Their rows are taken as they are, once: written again, and listed; in
a sealed store under a new data key, after which the old one is destroyed, and with it all that was sealed the old way.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tenuto.call_context import JOB, acting
from tenuto.deps import Deps
from tenuto.errors import TenutoError, where_raised
from tenuto.ports import Reader
from tenuto.privacy.reseal import relist_user
from tenuto.records.audit import Link

LOG = logging.getLogger("tenuto.audit")
TOLD = 20
"""Rows of one user that a report names."""
AT_ONCE = 20
"""Users that one round of upkeep lists."""
LIST = "list rows"
AFTER = "\x01"
"""Behind a user's id: what comes next. No id holds this character."""
_BODY = msgspec.json.Decoder(dict[str, Any])


@dataclass(slots=True)
class Listing:
    """What the links that were followed say is there: table and name → digest, and the link that wrote it."""

    complete: bool = False
    rows: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    before: dict[str, int] = field(default_factory=dict)
    """Digests of what was replaced, and the link that had written it."""

    def follow(self, link: Link) -> None:
        said = _BODY.decode(link.body)
        if said.get("listed"):
            self.complete, self.rows, self.before = True, {}, {}
        for table, named in said.get("rows", {}).items():
            for name, digest in named.items():
                known = self.rows.pop((table, name), None)
                if known is not None:
                    self.before[known[0]] = known[1]
                if digest:
                    self.rows[table, name] = (digest, link.n)

    def problems(self, reader: Reader) -> Iterator[str]:
        """What does not fit, row by row."""
        if not self.complete:
            if reader.covered():
                yield "the log should list all rows, and does not: its beginning is gone."
            return
        left = dict(self.rows)
        for row in reader.listed_rows():
            digest, n = left.pop((row.table, row.name), ("", 0))
            if not row.digest:
                yield f"{row.table} {row.name} does not open: it was changed or moved."
            elif row.digest == digest:
                continue
            elif row.digest in self.before:
                yield f"{row.table} {row.name} was set back to what entry {self.before[row.digest]} wrote."
            elif digest:
                yield f"{row.table} {row.name} was changed: it is not what entry {n} wrote."
            else:
                yield f"{row.table} {row.name} was put in: no entry wrote it."
        for (table, name), (_, n) in left.items():
            yield f"{table} {name} is gone: entry {n} wrote it, and none removed it."


def problems(listing: Listing, reader: Reader) -> list[str]:
    """The first of them, and how many more there are."""
    found: list[str] = []
    try:
        found.extend(listing.problems(reader))
    except TenutoError as error:
        found.append(f"they cannot be read: {error.message}")
    return found if len(found) <= TOLD else [*found[:TOLD], f"and {len(found) - TOLD} rows more."]


class Upkeep:
    """Lists the rows of users of an earlier release, a few at a time. Can be taken up again by anybody."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._next = ""
        self._done = False

    def some(self, limit: int = AT_ONCE) -> int:
        """List the rows of so many users; how many were looked at, none once all are listed.

        A user whose rows cannot be read is left for the doctor to tell of.
        """
        users = [] if self._done else self._deps.store.unlisted(self._next, limit)
        self._done = not users
        for user in users:
            try:
                with acting(JOB, LIST):
                    relist_user(self._deps, user)
            except TenutoError as error:
                LOG.warning("The rows of a user of an earlier release could not be listed: %s.", where_raised(error))
            self._next = user + AFTER
        return len(users)
