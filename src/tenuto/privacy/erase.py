"""Erasing a user: the keys first, then the rows, then the files; and a proof that can be checked again.

Not the same verb as forget: nothing of this comes back. The proof names what was there and what is gone, never what it
said.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from tenuto.deps import Deps
from tenuto.errors import InputError, StoreError
from tenuto.privacy.vault import SealedVault
from tenuto.records.audit import GONE, Chain
from tenuto.records.base import evolve
from tenuto.records.memory import Memory, Todo
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
    subject: str = ""
    """The random name under which the audit log of the user stays."""
    audit_count: int = 0
    audit_head: str = ""
    """How many entries that log has, and the hash of the last one, which tells of this erasure."""
    part: str = ""
    """What was erased, where it was not the whole user: message, memory, session or source."""
    ids: dict[str, list[str]] = field(default_factory=dict)
    """Of a part: the ids of what is gone, by table."""
    elsewhere: tuple[str, ...] = ()
    """Where copies may be that erasing does not reach, in words."""
    digest: str = ""

    @property
    def complete(self) -> bool:
        return not any(self.left.values()) and (self.key_destroyed is True or self.files_clean)


def erase(deps: Deps, scope: Scope) -> Proof:
    """Erase everything of the scope's user, for good."""
    if deps.accesses is not None:
        deps.accesses.flush()
    with deps.store.reading(scope.user) as reader:
        chain = reader.chain()
    destroyed: bool | None = None
    if isinstance(deps.vault, SealedVault):
        deps.vault.ring.destroy(scope.user)
        deps.vault.forget(scope.user)
        destroyed = not deps.vault.ring.get(scope.user)
    erased = deps.store.erase_user(scope.user)
    deps.indexes.drop(scope.user)
    deps.names.drop(scope.user)
    clean = compacted(deps)
    left = remains(deps, scope.user)
    if deps.working is not None and not deps.working.drop(scope.user):
        left["working"] = 1
    end = ended(deps, chain.subject) if chain else None
    return signed(
        Proof(
            user=fingerprint(scope.user),
            at=deps.clock(),
            store=deps.store.url,
            erased=erased,
            left=left,
            key_destroyed=destroyed,
            files_clean=clean,
            subject=chain.subject if chain else "",
            audit_count=end.count if end else 0,
            audit_head=end.head if end else "",
            elsewhere=unreached(key_destroyed=destroyed is True, files_clean=clean),
        )
    )


def compacted(deps: Deps) -> bool:
    """Whether the files were written anew. Where they cannot be, for want of room, the rows are gone all the same, and
    the proof says what is left to do."""
    try:
        return deps.store.compact()
    except StoreError:
        return False


def unreached(*, key_destroyed: bool, files_clean: bool) -> tuple[str, ...]:
    """Where copies may be still, said in every proof: what nobody can open any more is not named."""
    files = (
        "deleted rows in the database's files, until 'tenuto db compact'",
        "a database server's write-ahead log, until it is recycled",
    )
    copies = ("backups that were made before",)
    readable = () if key_destroyed else copies if files_clean else (*files, *copies)
    return (*readable, "exports that were made before, and what a model's provider was sent")


def verify(deps: Deps, user: str, proof: Proof) -> list[str]:
    """What is wrong with a proof, in words: altered, of another user, or something is there again."""
    problems = []
    if proof.digest != digest(proof):
        problems.append("The proof was altered.")
    if proof.user != fingerprint(user):
        problems.append("The proof is of another user.")
    if proof.part:
        return problems + [
            f"{count} rows in {table}" for table, count in left_of(deps, user, proof.ids).items() if count
        ]
    problems += [f"{count} rows in {table}" for table, count in remains(deps, user).items() if count]
    end = ended(deps, proof.subject)
    if proof.subject and (end is None or (end.count, end.head) != (proof.audit_count, proof.audit_head)):
        problems.append("The audit log does not end as the proof says.")
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


def left_of(deps: Deps, user: str, ids: dict[str, list[str]]) -> dict[str, int]:
    """What of a part is still there, or referred to: its rows, index entries, evidence."""
    by_name = {table.name: table.type for table in TABLES}
    left: dict[str, int] = {}
    with deps.store.reading(user) as reader:
        for name, listed in ids.items():
            left[name] = len(reader.get_many(by_name[name], listed)) if name in by_name else 0
        gone = set(ids.get("messages", ()))
        evident: list[Memory | Todo] = [*reader.find(Memory), *reader.find(Todo)] if gone else []
        left["evidence"] = sum(part.message_id in gone for one in evident for part in one.evidence)
        everything = {id for listed in ids.values() for id in listed}
        left["entries"], seq = 0, 0
        while entries := reader.entries_since(seq, 1000):
            left["entries"] += sum(one.id in everything or bool(gone & set(one.links)) for one in entries)
            seq = entries[-1].seq
    return left


def ended(deps: Deps, subject: str) -> Chain | None:
    """Where the audit log of an erased user ends."""
    with deps.store.reading(GONE + subject) as reader:
        return reader.chain()


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
    if not proof.elsewhere:  # proofs of the time before it was said
        plain.pop("elsewhere")
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def signed(proof: Proof) -> Proof:
    return evolve(proof, digest=digest(proof))
