"""Row 22: ciphertexts that were moved."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from unittest import mock

import apsw

import tenuto
from tenuto.errors import VaultError
from tenuto.privacy import vault as sealing
from tenuto.storage.queries import columns
from tenuto.storage.tables import TABLES, Table, decode
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tenuto.testing.samples import records
from tests.reliability.scorecard import Measured, Work, row

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
Cell = tuple[Table, str, tuple[Any, ...]]
"""A table, a user and a row as it is read: id, columns, revision, body."""


def filled(folder: Path) -> tuple[tenuto.Tenuto, list[Cell]]:
    """A sealed store of several users with every kind of record, and its rows as they lie in the file."""
    (folder / "safe").mkdir(parents=True)
    path = folder / "sealed.db"
    store = tenuto.open(path, keys=f"file:{folder / 'safe' / 'key'}", **OPTIONS)
    for user in ("ana", "ben", "cem"):
        for number in range(6):
            store.user(user).observe(f"Message {number} of {user}: my dad is allergic to penicillin.")
        store.settle()
        with store.deps.store.writing(user) as tx:
            tx.put(*records())
    raw = apsw.Connection(str(path))
    found: list[Cell] = []
    for table in TABLES:
        for user, *cells in raw.execute(f"SELECT user_id, {columns(table)} FROM {table.name}"):
            found.append((table, user, tuple(cells)))
    raw.close()
    return store, found


def swap(work: Work) -> Measured:
    """Open rows with another row's body, user, revision or table; every one of them must be refused."""
    store, cells = filled(work.folder)
    vault, dice, accepted = store.deps.vault, random.Random(9), 0
    kinds: dict[str, int] = {}
    with store:
        for table, user, cell in cells:
            decode([cell], table, vault, user)
        for _ in work:
            table, user, cell = dice.choice(cells)
            how = dice.choice(["row", "column", "user", "version", "bit", "key"])
            other = dice.choice([one for one in cells if one[2][-1] != cell[-1]])
            if how == "row":
                moved = (*cell[:-1], other[2][-1])
            elif how == "column":
                others = [one for one in cells if one[0] is not table]
                table, moved = dice.choice(others)[0], cell
                moved = (cell[0], *[None] * len(table.columns), *cell[-2:])
            elif how == "user":
                user, moved = dice.choice([name for name in ("ana", "ben", "cem") if name != user]), cell
            elif how == "version":
                moved = (*cell[:-2], cell[-2] + dice.choice([-1, 1, 7]), cell[-1])
            else:
                data = bytearray(cell[-1])
                place = dice.randrange(len(data)) if how == "bit" else 4
                data[place] ^= 1 << dice.randrange(8)
                moved = (*cell[:-1], bytes(data))
            kinds[how] = kinds.get(how, 0) + 1
            try:
                decode([moved], table, vault, user)
                accepted += 1
            except VaultError:
                pass
            except Exception:
                accepted += 1
    return Measured(
        done=work.done, bad=accepted, words=f"{accepted} accepted of {', '.join(f'{n} {k}' for k, n in kinds.items())}"
    )


@row(
    22,
    "10,000 of 10,000 ciphertext swaps (row, column, user, version) are rejected",
    unit="swaps",
    full=10_000,
    gate=500,
)
def swaps(work: Work) -> Measured:
    return swap(work)


@swaps.control("associated data that names no place")
def unbound(work: Work) -> Measured:
    with mock.patch.object(sealing, "_bound", return_value=b"tenuto"):
        return swap(work)
