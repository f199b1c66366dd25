"""Sealing what is there: turning encryption on for a store with data, rotating a user's data key, and writing anew what
an earlier release wrote.

One user is one transaction: a user is sealed as a whole or not at all, and whoever stops in between goes on with the
next user. What is already sealed with the newest key is written again without harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenuto.deps import Deps
from tenuto.errors import NotFound, StoreError, VaultError
from tenuto.ports import Transaction
from tenuto.privacy.vault import SealedVault
from tenuto.recall.entry import make_entry, record_type
from tenuto.storage.tables import TABLES, table_of

PAGE = 500


def seal_store(deps: Deps, progress: Callable[[str], None] | None = None) -> int:
    """Seal every user of a store that was plain; how many. Can be stopped and started again."""
    vault = _vault(deps)
    done, after = 0, ""
    rewrite_user(deps, "")
    while page := deps.store.users(after=after, limit=PAGE):
        for user in page:
            rewrite_user(deps, user)
            done += 1
            if progress is not None:
                progress(user)
        after = page[-1]
    deps.store.rekey_addresses()
    if vault.converting:
        vault.ring.set_converting(False)
        vault.converting = False
    try:
        deps.store.compact()
    except StoreError as error:
        raise StoreError(
            "Everything is sealed, but the file could not be written anew and may hold plain remains: make room, and "
            "run 'tenuto db compact'.",
            code="not_compacted",
        ) from error
    return done


def rotate_user(deps: Deps, user: str) -> int:
    """A new data key for a user, everything sealed with it, the old one destroyed; the new version."""
    vault = _vault(deps)
    if not vault.ring.get(user):
        raise NotFound(f"There is no user {user[:80]!r} with keys: check the id.")
    version = vault.ring.add_version(user)
    vault.forget(user)
    with deps.store.writing(user) as tx:
        tx.reseal()
    vault.ring.drop_versions(user, version)
    vault.forget(user)
    return version


def relist_user(deps: Deps, user: str) -> None:
    """Take the rows of an earlier release as they are: written again, listed, and under a new key where there are keys.

    Whose row says that the log lists everything gets nothing taken: there the mark in the table was set back by others.
    """
    vault = deps.vault if isinstance(deps.vault, SealedVault) else None
    version = 0
    if vault is not None:
        version = vault.ring.add_version(user)
        vault.forget(user)
    if not rewrite_user(deps, user, again=False):
        with deps.store.writing(user) as tx:
            tx.reseal()
    if vault is not None:
        vault.ring.drop_versions(user, version)
        vault.forget(user)


def rewrap(deps: Deps) -> int:
    """Rotate the key-encryption key; how many data keys were wrapped anew."""
    return _vault(deps).ring.rewrap()


def rewrite_user(deps: Deps, user: str, *, again: bool = True) -> bool:
    """Write everything of a user again and list it; whether there was something, and it was not listed before.

    ``again``: also what was listed before.
    """
    key = deps.vault.index_key(user)
    with deps.store.writing(user) as tx:
        profile = tx.profile()
        if profile is None or (not again and tx.covered()):
            return False
        tx.relist()
        for table in TABLES:
            _rewrite(tx, table.type)
        tx.set_user(profile)
        _reindex(tx, key)
    return True


def _rewrite(tx: Transaction, type_: type[Any]) -> None:
    if table_of(type_).keyed_id:
        # The key of such a row is a stand-in for its id: a row under the old one would stay beside the new one.
        rows = tx.find(type_)
        tx.clear(type_)
        tx.put(*rows)
        return
    after: tuple[str, str] | None = None
    while rows := tx.find(type_, order="id", limit=PAGE, after=after):
        tx.put(*rows)
        after = (rows[-1].id, rows[-1].id)


def _reindex(tx: Transaction, key: bytes) -> None:
    seq = 0
    profile = tx.profile()
    last = profile.seq if profile else 0
    while entries := [entry for entry in tx.entries_since(seq, PAGE) if entry.seq <= last]:
        seq = entries[-1].seq
        for entry in entries:
            record = tx.get(record_type(entry.kind), entry.id)
            if record is None:
                tx.unindex(entry.kind, entry.id)
            else:
                tx.index(make_entry(record, key, vector=entry.vector, model=entry.model))


def _vault(deps: Deps) -> SealedVault:
    if not isinstance(deps.vault, SealedVault):
        raise VaultError("This store was opened without keys: give keys='file:…'.", code="key_missing")
    return deps.vault
