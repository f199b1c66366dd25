"""Erasing a user: the keys first, then the rows, then the files; and a proof that can be checked again.

Not the same verb as forget: nothing of this comes back. The proof names what was there and what is gone, never what it
said.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

import msgspec

from tenuto.deps import Deps
from tenuto.errors import InputError
from tenuto.privacy.vault import SealedVault
from tenuto.records.base import evolve
from tenuto.records.scope import Scope
from tenuto.storage.tables import TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What an erasure did. ``digest`` is the SHA-256 of all the rest; ``left`` is what was still found afterwards."""

    user: str
    """The SHA-256 of the user's id: the proof itself must not keep the person."""
    at: datetime
    store: str
    erased: dict[str, int]
    left: dict[str, int]
    key_destroyed: bool | None
    """``None`` where nothing was encrypted."""
    files_clean: bool
    """Whether the files were written anew without the rows. PostgreSQL cannot: there only a destroyed key erases."""
    digest: str = ""

    @property
    def complete(self) -> bool:
        return not any(self.left.values()) and (self.key_destroyed is True or self.files_clean)


def erase(deps: Deps, scope: Scope) -> Proof:
    """Erase everything of the scope's user, for good."""
    destroyed: bool | None = None
    if isinstance(deps.vault, SealedVault):
        deps.vault.ring.destroy(scope.user)
        deps.vault.forget(scope.user)
        destroyed = not deps.vault.ring.get(scope.user)
    erased = deps.store.erase_user(scope.user)
    deps.indexes.drop(scope.user)
    deps.names.drop(scope.user)
    clean = deps.store.compact()
    left = remains(deps, scope.user)
    if deps.working is not None and not deps.working.drop(scope.user):
        left["working"] = 1
    return _signed(
        Proof(
            user=fingerprint(scope.user),
            at=deps.clock(),
            store=deps.store.url,
            erased=erased,
            left=left,
            key_destroyed=destroyed,
            files_clean=clean,
        )
    )


def verify(deps: Deps, user: str, proof: Proof) -> list[str]:
    """What is wrong with a proof, in words: altered, of another user, or something is there again."""
    problems = []
    if proof.digest != digest(proof):
        problems.append("The proof was altered.")
    if proof.user != fingerprint(user):
        problems.append("The proof is of another user.")
    problems += [f"{count} rows in {table}" for table, count in remains(deps, user).items() if count]
    if isinstance(deps.vault, SealedVault) and deps.vault.ring.get(user):
        problems.append("The keyring holds a key of this user.")
    return problems


def remains(deps: Deps, user: str) -> dict[str, int]:
    """Rows of a user that are still there, by table."""
    with deps.store.reading(user) as reader:
        counts = {table.name: reader.count(table.type) for table in TABLES}
        counts["entries"] = len(reader.entries_since(0, 1))
        counts["users"] = int(reader.profile() is not None)
    return counts


def read_proof(data: bytes) -> Proof:
    """A proof from its JSON."""
    try:
        return msgspec.json.decode(data, type=Proof)
    except msgspec.MsgspecError as error:
        raise InputError(f"This is not a proof of erasure: {error}.", code="proof_invalid") from None


def fingerprint(user: str) -> str:
    return hashlib.sha256(f"tenuto user\x1f{user}".encode()).hexdigest()


def digest(proof: Proof) -> str:
    """Over everything but the digest itself."""
    plain = msgspec.to_builtins(proof)
    plain.pop("digest")
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def _signed(proof: Proof) -> Proof:
    return evolve(proof, digest=digest(proof))
