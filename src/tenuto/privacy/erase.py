"""Erasing a user: the keys first, then the rows, then the files; and a proof that can be checked again.

Not the same verb as forget: nothing of this comes back. The proof names what was there and what is gone, never what it
said.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound, StoreError
from tenuto.privacy.vault import SealedVault
from tenuto.records.audit import GONE, Chain
from tenuto.records.base import evolve
from tenuto.records.identity import UserMerge, UserMergeStatus
from tenuto.records.memory import Memory, Todo
from tenuto.records.scope import Scope
from tenuto.storage.tables import TABLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What an erasure did. ``digest`` is the SHA-256 of all the rest; ``left`` is what was still found afterwards."""

    user: str
    """The SHA-256 of ``subject`` and the user's id: a proof must not keep the person, nor let them be guessed."""
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
    accounts: tuple[str, ...] = ()
    """The SHA-256 of the id of every account that was covered: the user's own, and those that were joined to it."""
    digest: str = ""
    signature: str = ""
    """Made with the store's own key over the digest: nobody without the key writes a proof. A store without keys only
    repeats the digest here."""

    @property
    def complete(self) -> bool:
        return not any(self.left.values()) and (self.key_destroyed is True or self.files_clean)


def erase(deps: Deps, scope: Scope) -> Proof:
    """Erase everything of the scope's user, for good: also in every account that was joined to theirs."""
    if deps.accesses is not None:
        deps.accesses.flush()
    accounts = joined(deps, scope.user)
    with deps.store.reading(scope.user) as reader:
        chain = reader.chain()
        unknown = chain is None and reader.profile() is None
    if unknown:
        compacted(deps)  # an erasure that was cut off after its rows were gone ends here
        raise NotFound(f"There is no user {scope.user[:80]!r}: check the id. Nothing was erased.")
    destroyed = _destroy_keys(deps, accounts)
    erased: dict[str, int] = {}
    left: dict[str, int] = {}
    for user in accounts:
        for table, count in deps.store.erase_user(user).items():
            erased[table] = erased.get(table, 0) + count
        drop_caches(deps, user)
    clean = compacted(deps)
    for user in accounts:
        for table, count in remains(deps, user).items():
            left[table] = left.get(table, 0) + count
        if deps.working is not None and not deps.working.drop(user):
            left["working"] = 1
    end = ended(deps, chain.subject) if chain else None
    return signed(
        deps,
        Proof(
            user=fingerprint(scope.user, chain.subject if chain else ""),
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
            accounts=tuple(fingerprint(user, chain.subject if chain else "") for user in accounts),
        ),
    )


def joined(deps: Deps, user: str) -> list[str]:
    """The user, and every account that was joined to theirs and not taken apart again, at any distance."""
    found = [user]
    for one in found:
        with deps.store.reading(one) as reader:
            merges = reader.find(UserMerge)
        found += [
            merge.other for merge in merges if merge.status is not UserMergeStatus.UNDONE and merge.other not in found
        ]
    return found


def drop_caches(deps: Deps, user: str) -> None:
    """What is held in memory of a user."""
    deps.indexes.drop(user)
    deps.holds.drop(user)
    deps.names.drop(user)


def _destroy_keys(deps: Deps, users: list[str]) -> bool | None:
    if not isinstance(deps.vault, SealedVault):
        return None
    for user in users:
        deps.vault.ring.destroy(user)
        deps.vault.forget(user)
    return not any(deps.vault.ring.get(user) for user in users)


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
    elif not hmac.compare_digest(proof.signature, _signature(deps, proof)):
        problems.append("The proof is not signed by this store.")
    if proof.user != fingerprint(user, proof.subject):
        problems.append("The proof is of another user.")
    if proof.part:
        still = [(one, name, n) for one in joined(deps, user) for name, n in left_of(deps, one, proof.ids).items()]
        return problems + [f"{count} rows in {name}{_whose(one, user)}" for one, name, count in still if count]
    for one in [user, *_covered(deps, proof)]:
        problems += [
            f"{count} rows in {name}{_whose(one, user)}" for name, count in remains(deps, one).items() if count
        ]
        if isinstance(deps.vault, SealedVault) and deps.vault.ring.get(one):
            problems.append(f"The keyring holds a key of this user{_whose(one, user)}.")
    if not proof.subject:
        problems.append("No audit log tells of this erasure: nothing was ever kept of this user.")
    end = ended(deps, proof.subject)
    if proof.subject and (end is None or (end.count, end.head) != (proof.audit_count, proof.audit_head)):
        problems.append("The audit log does not end as the proof says.")
    return problems


def _whose(one: str, user: str) -> str:
    return "" if one == user else " of a joined account"


def _covered(deps: Deps, proof: Proof) -> list[str]:
    """The joined accounts of a proof that are in the store."""
    known = set(proof.accounts) - {proof.user}
    found: list[str] = []
    last = ""
    while known and (page := deps.store.users(after=last)):
        found += [user for user in page if fingerprint(user, proof.subject) in known]
        last = page[-1]
    return found


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


def fingerprint(user: str, salt: str) -> str:
    """A user's id as a proof names it; the salt is the random name of their audit log."""
    return hashlib.sha256(f"tenuto user\x1f{salt}\x1f{user}".encode()).hexdigest()


def digest(proof: Proof) -> str:
    """Over everything but the digest itself."""
    plain = msgspec.to_builtins(proof)
    plain.pop("digest")
    plain.pop("signature")
    for name in ("elsewhere", "accounts"):  # proofs of the time before they were said
        if not plain[name]:
            plain.pop(name)
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def signed(deps: Deps, proof: Proof) -> Proof:
    """The proof with its digest and the store's signature over it."""
    whole = evolve(proof, digest=digest(proof))
    return evolve(whole, signature=_signature(deps, whole))


def _signature(deps: Deps, proof: Proof) -> str:
    return deps.vault.sign(f"tenuto erasure\x1f{proof.digest}".encode()).hex()
