"""Two users who turn out to be one person become one, and can be taken apart again.

The other user's rows stay where they are, at rest: a merge copies. The journal holds what the copy touched as it was
before, and names everything that was added, so unmerging gives both back as they were, plus what came since. Every step
is a transaction of one user and can be repeated: a merge that was cut short is finished by asking for it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from tenuto.deps import Deps
from tenuto.errors import Conflict, Denied, NotFound
from tenuto.identity.conflicts import settle_slot
from tenuto.identity.link import event
from tenuto.identity.parting import Shares, is_others, part
from tenuto.ports import Reader, Transaction, Where
from tenuto.recall.entry import kind_of, make_entry
from tenuto.records.base import evolve, to_plain
from tenuto.records.conversation import KeyPoint, Message, Session, Summary
from tenuto.records.identity import MERGED_INTO, Challenge, MergePart, MergePlan, UserMerge, UserMergeStatus
from tenuto.records.memory import Memory, Todo
from tenuto.records.operations import Event, Job, Receipt
from tenuto.records.scope import Identity, Scope, User
from tenuto.storage.tables import TABLES, table_of
from tenuto.transfer.export import STAY_HERE, records
from tenuto.transfer.restore import indexed, join

LEFT_OUT = (Job, Event, UserMerge, MergePart, *STAY_HERE)
"""What the engine did for one user is not part of the other."""
FIXED = (Message, Receipt)
"""Never changes, so its state before the merge need not be kept."""
PAGE = 500
INDEXED = (Message, Memory, Summary, KeyPoint, Todo)


def plan(deps: Deps, scope: Scope, proof: Challenge) -> MergePlan:
    """What joining the holder of a proven address into this user would do."""
    other = deps.store.holder(proof.channel, proof.address)
    if other is None or other == scope.user:
        raise Conflict(f"{proof.address} belongs to no other account: link it instead.", code="nothing_to_merge")
    with deps.store.reading(other) as theirs:
        counts = {t.name: n for t in TABLES if t.type not in LEFT_OUT and (n := theirs.count(t.type))}
        addresses = tuple(sorted(identity.id for identity in theirs.find(Identity)))
        slots = [memory for memory in theirs.find(Memory) if memory.slot is not None]
    with deps.store.reading(scope.user) as ours:
        conflicts = tuple(_conflicts(ours, slots, deps.clock()))
    digest = sha256(msgspec.json.encode([scope.user, other, conflicts, addresses])).hexdigest()
    return MergePlan(
        user=scope.user,
        other=other,
        channel=proof.channel,
        address=proof.address,
        challenge_id=proof.id,
        counts=counts,
        conflicts=conflicts,
        addresses=addresses,
        digest=digest,
    )


def _conflicts(ours: Reader, slots: list[Memory], now: datetime) -> Iterator[str]:
    for theirs in slots:
        for mine in ours.find(Memory, Where("slot", "=", theirs.slot), limit=1):
            if mine.content.casefold() != theirs.content.casefold():
                winner, loser = settle_slot(mine, theirs, now)
                what = mine.attribute or mine.kind
                yield f"{what}: “{winner.content}” would hold, “{loser.content}” would be history"


def merge(deps: Deps, scope: Scope, shown: MergePlan) -> UserMerge:
    """Do what was shown. The proof serves once and only while it is fresh; a plan that no longer holds is refused.

    A plan may come from outside: it only names the proof and what was read. Who is joined is worked out anew from it.
    """
    now = deps.clock()
    proof = _proof(deps, scope, shown, now)
    held = plan(deps, scope, proof)
    if held.digest != shown.digest:
        raise Conflict("What the merge would do has changed since it was shown: look at it again.", code="plan_changed")
    journal = _begin(deps, scope, held, now)
    _copy(deps, scope, journal, now)
    _move(deps, held.addresses, held.other, scope.user)
    journal = _done(deps, scope, journal, held, now)
    _rest(deps, held.other, scope.user)
    with deps.store.address(shown.channel, shown.address) as place:
        place.put(evolve(proof, spent_at=now))
    return journal


def _proof(deps: Deps, scope: Scope, shown: MergePlan, now: datetime) -> Challenge:
    with deps.store.address(shown.channel, shown.address) as place:
        known = next((one for one in place.challenges() if one.id == shown.challenge_id), None)
    fresh = (
        known is not None and known.used_at is not None and now - known.used_at < deps.policy.identity.challenge_valid
    )
    if known is None or not fresh or known.user_id != scope.user or known.spent_at is not None:
        raise Denied("The proof for this merge is missing, used or too old: ask for a new code.", code="challenge_over")
    return known


def _begin(deps: Deps, scope: Scope, shown: MergePlan, now: datetime) -> UserMerge:
    """Open the journal with everything of this user that a merge could touch, as it is."""
    with deps.store.writing(scope.user) as tx:
        started = tx.find(UserMerge, Where("status", "=", UserMergeStatus.STARTED))
        for known in started:
            if known.other == shown.other:
                return known
        journal = UserMerge(
            id=deps.ids("ume", now),
            other=shown.other,
            status=UserMergeStatus.STARTED,
            created_at=now,
            addresses=shown.addresses,
        )
        tx.put(journal)
        rows = (
            _plain(record) for table in TABLES if table.type not in (*LEFT_OUT, *FIXED) for record in records(tx, table)
        )
        while page := tuple(islice(rows, PAGE)):
            tx.put(MergePart(id=deps.ids("ump", now), merge_id=journal.id, kind="before", rows=page))
    return journal


def _copy(deps: Deps, scope: Scope, journal: UserMerge, now: datetime) -> None:
    key = deps.vault.index_key(scope.user)
    for table in TABLES:
        if table.type in LEFT_OUT:
            continue
        after: tuple[str, str] | None = None
        while True:
            with deps.store.reading(journal.other) as theirs:
                page = theirs.find(table.type, limit=None if table.keyed_id else PAGE, after=after)
            if not page:
                break
            with deps.store.writing(scope.user) as tx:
                _copy_page(deps, tx, journal, page, key, now)
            if table.keyed_id or len(page) < PAGE:
                break
            after = (page[-1].id, page[-1].id)


def _copy_page(deps: Deps, tx: Transaction, journal: UserMerge, page: list[Any], key: bytes, now: datetime) -> None:
    added: list[dict[str, str]] = []
    touched: list[dict[str, str]] = []
    for record in page:
        is_new = tx.get(type(record), record.id) is None
        written = list(join(tx, record, now))
        tx.put(*written)
        tx.index(*[make_entry(one, key) for one in written if indexed(one)])
        for one in written:
            name = {"table": table_of(type(one)).name, "id": one.id}
            (added if is_new and one.id == record.id else touched).append(name)
    for kind, rows in (("added", added), ("touched", touched)):
        if rows:
            tx.put(MergePart(id=deps.ids("ump", now), merge_id=journal.id, kind=kind, rows=tuple(rows)))


def _move(deps: Deps, addresses: tuple[str, ...], source: str, target: str) -> None:
    for id in addresses:
        channel, _, address = id.partition(":")
        with deps.store.address(channel, address) as place:
            if place.holder() == source:
                place.hold(target)


def _done(deps: Deps, scope: Scope, journal: UserMerge, shown: MergePlan, now: datetime) -> UserMerge:
    with deps.store.writing(scope.user) as tx:
        tx.put(event(deps, scope, "user.merged", "merge", journal.id, now))
        (last,) = tx.find(Event, order="-seq", limit=1)
        journal = evolve(journal, status=UserMergeStatus.DONE, until=last.seq, added=shown.counts)
        tx.put(journal)
    return journal


def _rest(deps: Deps, user: str, into: str | None) -> None:
    with deps.store.writing(user) as tx:
        profile = tx.profile() or User(user_id=user, created_at=deps.clock())
        settings = {name: value for name, value in profile.settings.items() if name != MERGED_INTO}
        tx.set_user(evolve(profile, settings={**settings, MERGED_INTO: into} if into else settings))


# --- and apart again --------------------------------------------------------------------------------------------------


def unmerge(deps: Deps, scope: Scope, merge_id: str) -> UserMerge:
    """Give both users back as they were, plus what came since."""
    now = deps.clock()
    journal, shares = _parted(deps, scope, merge_id)
    other = Scope(user=journal.other, persona=scope.persona, channel=scope.channel)
    _give(deps, other, [record for share in shares for record in share.give])
    _take_back(deps, scope, shares)
    _move(deps, journal.addresses, scope.user, journal.other)
    _rest(deps, journal.other, None)
    with deps.store.writing(scope.user) as tx:
        tx.remove(Identity, *journal.addresses)
        journal = evolve(journal, status=UserMergeStatus.UNDONE, undone_at=now)
        tx.put(journal, event(deps, scope, "user.unmerged", "merge", journal.id, now))
    with deps.store.writing(other.user) as tx:
        tx.put(event(deps, other, "user.unmerged", "merge", journal.id, now))
    deps.indexes.drop(scope.user)
    deps.holds.drop(scope.user)
    deps.names.drop(scope.user)
    return journal


def _parted(deps: Deps, scope: Scope, merge_id: str) -> tuple[UserMerge, list[Shares]]:
    with deps.store.reading(scope.user) as reader:
        journal = reader.get(UserMerge, merge_id)
        if journal is None:
            raise NotFound(f"There is no merge {merge_id!r}.", code="merge_unknown")
        if journal.status is not UserMergeStatus.DONE:
            raise Conflict(
                f"The merge {merge_id} is {journal.status}: only one that is done can be undone.", code="not_merged"
            )
        parts = reader.find(MergePart, Where("merge_id", "=", merge_id))
        before = {(row["table"], row["id"]): row for one in parts if one.kind == "before" for row in one.rows}
        added = {(row["table"], row["id"]) for one in parts if one.kind == "added" for row in one.rows}
        touched = {(row["table"], row["id"]) for one in parts if one.kind == "touched" for row in one.rows}
        channels = _their_channels(reader, journal)
        theirs = _their_messages(reader, journal, channels, {id for name, id in added if name == "messages"})
        sessions = _their_sessions(reader, theirs, {id for name, id in added if name == "sessions"})
        shares = [
            part(
                record,
                before=_record(table.type, before.get((table.name, record.id))),
                was_added=(table.name, record.id) in added,
                touched=(table.name, record.id) in touched,
                others=lambda id: id in theirs,
                session_others=lambda id: id in sessions,
                channels=channels,
            )
            for table in TABLES
            if table.type not in (*LEFT_OUT, Message, Identity)
            for record in records(reader, table)
        ]
        since = [message for id, message in theirs.items() if message.seq > journal.until]
        copied = [message for message in theirs.values() if message.seq <= journal.until]
    shares.append(Shares(give=tuple(since), drop=(*since, *copied)))
    return journal, shares


def _their_channels(reader: Reader, journal: UserMerge) -> frozenset[str]:
    """Channels on which only the other user has an address."""
    own = {one.channel for one in reader.find(Identity) if one.id not in journal.addresses}
    return frozenset(id.partition(":")[0] for id in journal.addresses) - own


def _their_messages(
    reader: Reader, journal: UserMerge, channels: frozenset[str], added: set[str]
) -> dict[str, Message]:
    addresses = frozenset(journal.addresses)
    found = reader.get_many(Message, sorted(added))
    for message in reader.find(Message, Where("seq", ">", journal.until)):
        if is_others(message, added, journal.until, addresses, channels):
            found[message.id] = message
    return found


def _their_sessions(reader: Reader, theirs: dict[str, Message], added: set[str]) -> set[str]:
    """Sessions in which only the other user speaks."""
    named = {message.session_id for message in theirs.values()} - added
    mixed = {
        id
        for id in named
        if any(message.id not in theirs for message in reader.find(Message, Where("session_id", "=", id)))
    }
    return (named - mixed) | added


def _give(deps: Deps, other: Scope, given: list[Any]) -> None:
    """Write to the other user what came since. Their own rows stay unless the given one knows more."""
    key = deps.vault.index_key(other.user)
    with deps.store.writing(other.user) as tx:
        for record in given:
            known = tx.get(type(record), record.id)
            if known is not None and not _newer(record, known):
                continue
            if isinstance(record, Memory) and record.slot and known is None and _taken(tx, record.slot):
                record = evolve(record, slot=None)
            tx.put(evolve(record, seq=0) if hasattr(record, "seq") else record)
            if indexed(record):
                tx.index(make_entry(record, key))
        for id in {record.session_id for record in given if isinstance(record, Message)}:
            _ensure_session(
                tx, id, [record for record in given if isinstance(record, Message) and record.session_id == id]
            )


def _taken(tx: Transaction, slot: str) -> bool:
    return bool(tx.find(Memory, Where("slot", "=", slot), limit=1))


def _newer(record: Any, known: Any) -> bool:
    return len(getattr(record, "evidence", ())) > len(getattr(known, "evidence", ()))


def _ensure_session(tx: Transaction, id: str, messages: list[Message]) -> None:
    if tx.get(Session, id) is None:
        first, last = min(one.at for one in messages), max(one.at for one in messages)
        tx.put(
            Session(
                id=id,
                persona=messages[0].persona,
                channel=messages[0].channel,
                started_at=first,
                last_activity_at=last,
                turn_count=len(messages),
                channels=tuple(dict.fromkeys(one.channel for one in messages)),
            )
        )


def _take_back(deps: Deps, scope: Scope, shares: list[Shares]) -> None:
    key = deps.vault.index_key(scope.user)
    with deps.store.writing(scope.user) as tx:
        for record in (record for share in shares for record in share.drop):
            tx.remove(type(record), record.id)
            if isinstance(record, INDEXED):
                tx.unindex(kind_of(record), record.id)
        kept = [record for share in shares for record in share.keep]
        freed = [evolve(record, slot=None) for record in kept if getattr(record, "slot", None) is not None]
        tx.put(*freed)
        tx.put(*kept)
        tx.index(*[make_entry(record, key) for record in kept if indexed(record)])


def _plain(record: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"table": table_of(type(record)).name, **to_plain(record)}
    return row


def _record(type_: type[Any], row: dict[str, Any] | None) -> Any | None:
    if row is None:
        return None
    return msgspec.convert({name: value for name, value in row.items() if name != "table"}, type=type_)


def merges(deps: Deps, scope: Scope) -> list[UserMerge]:
    with deps.store.reading(scope.user) as reader:
        return reader.find(UserMerge, order="-created_at")
