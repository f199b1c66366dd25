"""Which keyring a store belongs to, checked before anything is read.

The store remembers the keyring's id. Opening it without keys, with another store's keyring, or with keys where data is
plain is refused with what to do; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable

from tenuto.errors import VaultError
from tenuto.ports import Store, Vault
from tenuto.privacy.vault import SealedVault
from tenuto.providers.vault import PlainVault

RING = "keyring"
STATE, CONVERTING = "keyring_state", "converting"
"""Where earlier releases noted that a store was being sealed; believed only where the caller says the same."""


def bind(
    open_store: Callable[[Vault], Store], vault: SealedVault | None, *, convert: bool = False
) -> tuple[Store, Vault]:
    """Open a store with its vault, or say why they do not fit. ``convert`` begins to seal a store with plain data."""
    store = open_store(vault or PlainVault())
    try:
        known = store.fact(RING)
        if vault is None:
            if known is not None:
                raise VaultError(
                    f"{store.url} is encrypted: open it with the keys that it was made with (keys='file:…').",
                    code="key_missing",
                )
            return store, PlainVault()
        if store.url == "memory:":
            raise VaultError("A store in memory leaves nothing on a disk: leave 'keys' out.", code="key_useless")
        _fit(store, vault, known, convert)
        return store, vault
    except BaseException:
        store.close()
        raise


def _fit(store: Store, vault: SealedVault, known: str | None, convert: bool) -> None:
    if known is not None and known != vault.ring.id and vault.ring.made:
        vault.ring.withdraw()
        raise VaultError(
            f"The keyring {vault.ring.path} is not there, and {store.url} was sealed with one: put it back from its "
            "copy. Without it what is sealed cannot be read.",
            code="key_missing",
        )
    if known is not None and known != vault.ring.id:
        raise VaultError(
            f"{store.url} was sealed with another keyring than {vault.ring.path}: use the one that belongs to it.",
            code="key_wrong",
        )
    if known is None:
        plain = bool(store.users(limit=1))
        if plain and not convert:
            raise VaultError(
                f"{store.url} holds plain data: run 'tenuto --db … vault encrypt --keys …', then open it with keys.",
                code="not_sealed",
            )
        vault.ring.set_converting(plain)
        store.set_fact(RING, vault.ring.id)
    elif convert and store.fact(STATE) == CONVERTING:
        vault.ring.set_converting(True)
    vault.converting = vault.ring.converting
