"""The audit log, read and verified; and the readings that wait to be written into it.

A change is written into the log by the transaction that makes it. A reading changes nothing, and a write for each would
make recall as slow as observe: readings are counted in memory and written together, after ``policy.audit.flush`` or
when the store is closed. A process that is killed loses at most the readings of that time; it never loses a change.

What verification finds: a link that was changed, moved, taken out or put in, a log that is shorter than it says or than
the operator's log says, one that lost its user without an erasure, and rows that are not what the log says
(:mod:`listing`). What it cannot find in a store without keys: somebody who may write to the database and makes the
whole log anew. With keys they would need the keyring; without, they can be found by a head that was kept elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from tenuto import call_context
from tenuto.deps import Deps
from tenuto.errors import InputError, TenutoError
from tenuto.ports import Store
from tenuto.privacy import listing
from tenuto.privacy.listing import Listing
from tenuto.privacy.vault import SealedVault
from tenuto.records.audit import (
    ERASE,
    GONE,
    KEYED,
    PLAIN,
    AuditEnd,
    AuditEntry,
    AuditHead,
    AuditReport,
    Chain,
    Link,
    entry_of,
    head_digest,
    plain_sign,
    signed_bytes,
)

PAGE = 1000
OPERATOR = ""


class Accesses:
    """Readings that are not in the log yet."""

    def __init__(self, store: Store, wait: timedelta) -> None:
        self._store = store
        self._wait = wait
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[tuple[str, str], int]] = {}
        self._timer: threading.Timer | None = None
        self._closed = False
        store.when_touched(self.note)

    def note(self, user: str, changed: bool) -> None:
        """Somebody read something of a user, or ended a transaction. A verb that changed something tells of that, and
        not of what it read for it; work in the background is told by what it changes alone."""
        actor, verb = call_context.current()
        if actor in (call_context.JOB, _LOG) or user.startswith(GONE):
            return
        again = call_context.touch(user)
        if again != changed:
            return
        with self._lock:
            counts = self._waiting.setdefault(user, {})
            times = counts.get((actor, verb), 0)
            counts[actor, verb] = max(times - 1, 0) if changed else times + 1
            if self._timer is None and not self._closed:
                self._timer = threading.Timer(self._wait.total_seconds(), self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what waits. What cannot be written now waits for the next time."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        for user, counts in taken.items():
            try:
                self._write(user, [(actor, verb, times) for (actor, verb), times in counts.items() if times > 0])
            except TenutoError:
                self._put_back(user, counts)

    def _write(self, user: str, read: list[tuple[str, str, int]]) -> None:
        if not read:
            return
        with call_context.acting(_LOG), self._store.writing(user) as tx:
            for actor, verb, times in read:
                tx.witness(actor, verb, {"times": times})

    def close(self) -> None:
        self._closed = True
        self.flush()

    def _put_back(self, user: str, counts: dict[tuple[str, str], int]) -> None:
        with self._lock:
            waiting = self._waiting.setdefault(user, {})
            for what, times in counts.items():
                waiting[what] = waiting.get(what, 0) + times


_LOG = "log"
"""Who writes readings down: not a reader itself."""


def entries(deps: Deps, user: str, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
    """What is in a user's log (the operator's for ``""``), newest first."""
    _flush(deps)
    with deps.store.reading(user) as reader:
        return [entry_of(link) for link in reader.last_links(before, limit)]


def head(deps: Deps) -> AuditHead:
    """Where every log stands now: keep it where whoever can write to the store cannot."""
    _flush(deps)
    found: dict[str, AuditEnd] = {}
    for chain in _chains(deps):
        with call_context.acting(_LOG), deps.store.reading(chain.holder) as reader:
            now = reader.chain() or chain
        if now.count:
            found[now.subject] = AuditEnd(now.count, now.head)
    return AuditHead(at=deps.clock(), chains=found, digest=head_digest(found))


def read_head(data: bytes) -> AuditHead:
    """A head from its JSON."""
    try:
        return checked_head(msgspec.json.decode(data, type=AuditHead))
    except msgspec.MsgspecError as error:
        raise InputError(f"This is not the head of an audit log: {error}.", code="head_invalid") from None


def checked_head(known: AuditHead) -> AuditHead:
    """A head from outside, refused if its own digest does not fit."""
    if known.digest != head_digest(known.chains):
        raise InputError("This head was altered: its digest does not fit.", code="head_invalid")
    return known


def verify(deps: Deps, *, user: str | None = None, known: AuditHead | None = None) -> AuditReport:
    """Check every link of every log, or of one user's; ``known`` is a head that was kept elsewhere."""
    _flush(deps)
    if user is not None:
        checked = [_check(deps, chain, None) for chain in _one(deps, user)]
        problems = [problem for one in checked for problem in one.problems]
    else:
        checked, problems = _verify_all(deps, dict(known.chains) if known else {})
    return AuditReport(
        at=deps.clock(),
        chains=len(checked),
        links=sum(one.count for one in checked),
        problems=tuple(problems),
        keyed=isinstance(deps.vault, SealedVault),
    )


def _verify_all(deps: Deps, kept: dict[str, AuditEnd]) -> tuple[list[_Checked], list[str]]:
    """Every log by itself, then the logs of erased users against what the operator's says of them.

    That is read before and after the others: users may be erased meanwhile.
    """
    before = _erasures(deps)
    checked = [_check(deps, chain, kept.pop(chain.subject, None)) for chain in _chains(deps)]
    after = _erasures(deps)
    problems = [problem for one in checked for problem in one.problems]
    ends = {one.chain.subject: AuditEnd(one.count, one.head) for one in checked if not one.chain.live}
    for subject, end in ends.items():
        if after.get(subject) != end:
            problems.append(f"The log of {subject} does not end where its user's erasure ended it.")
    gone = [subject for subject in before if subject not in ends]
    problems += [f"The log of {subject} is gone: its user was erased, but it should be here." for subject in gone]
    problems += [f"The log of {subject} is gone: the head that was kept knows it." for subject in kept]
    return checked, problems


def _erasures(deps: Deps) -> dict[str, AuditEnd]:
    found: dict[str, AuditEnd] = {}
    last = 0
    with call_context.acting(_LOG), deps.store.reading(OPERATOR) as reader:
        while links := reader.links(last, PAGE):
            for link in links:
                said: dict[str, Any] = entry_of(link).note if link.verb == ERASE else {}
                if "subject" in said:
                    found[str(said.get("subject"))] = AuditEnd(int(said.get("n", 0)), str(said.get("hash")))
            last = links[-1].n
    return found


def _flush(deps: Deps) -> None:
    if deps.accesses is not None:
        deps.accesses.flush()


def _one(deps: Deps, user: str) -> Iterator[Chain]:
    with deps.store.reading(user) as reader:
        chain = reader.chain()
    if chain is not None:
        yield chain


def _chains(deps: Deps) -> Iterator[Chain]:
    """The operator's first: it says which of the others must be there."""
    with call_context.acting(_LOG):
        yield from _one(deps, OPERATOR)
        for listed in (deps.store.chains, deps.store.orphans):
            after = ""
            while page := listed(after, PAGE):
                yield from page
                after = page[-1].holder


@dataclass(slots=True)
class _Checked:
    """One log, as far as it was followed."""

    chain: Chain
    count: int = 0
    head: str = ""
    last: str = ""
    keyed: bool = False
    listing: Listing = field(default_factory=Listing)
    problems: list[str] = field(default_factory=list)


def _check(deps: Deps, chain: Chain, kept: AuditEnd | None) -> _Checked:
    checked = _Checked(chain)
    name = "The operator's log" if chain.holder == OPERATOR else f"The log of {chain.subject}"
    with call_context.acting(_LOG), deps.store.reading(chain.holder) as reader:
        now = reader.chain()
        while links := reader.links(checked.count, PAGE):
            for link in links:
                problem = _follow(deps, checked, link, kept)
                if problem is not None:
                    checked.problems.append(f"{name}: {problem}")
                    return checked
                checked.listing.follow(link)
        if chain.live and now is not None and now.live:
            rows = f"The rows of {chain.subject or 'the operator'}"
            checked.problems += [f"{rows}: {problem}" for problem in listing.problems(checked.listing, reader)]
    if now is not None:
        checked.problems += [f"{name}: {problem}" for problem in _ending(deps, checked, now, kept)]
    return checked


def _follow(deps: Deps, checked: _Checked, link: Link, kept: AuditEnd | None) -> str | None:
    if link.n != checked.count + 1:
        return f"entry {checked.count + 1} is missing."
    data = signed_bytes(checked.head, checked.chain.subject, link.n, link.at, link.actor, link.verb, link.body)
    scheme, expected = bytes.fromhex(link.hash)[:1], b""
    if scheme == KEYED and isinstance(deps.vault, SealedVault):
        expected = deps.vault.sign(data)
    elif scheme == PLAIN and not checked.keyed:
        expected = plain_sign(data)
    if expected.hex() != link.hash:
        return f"entry {link.n} was changed, moved or put in."
    if kept is not None and link.n == kept.n and link.hash != kept.hash:
        return f"entry {link.n} is another one than in the head that was kept."
    checked.count, checked.head, checked.last, checked.keyed = link.n, link.hash, link.verb, scheme == KEYED
    return None


def _ending(deps: Deps, checked: _Checked, now: Chain, kept: AuditEnd | None) -> Iterator[str]:
    if now.live and (now.count, now.head) != (checked.count, checked.head):
        yield f"it ends at entry {checked.count}, and should end at entry {now.count}."
    if not now.live and checked.last != ERASE:
        yield "its user is gone without having been erased."
    if kept is not None and checked.count < kept.n:
        yield f"it ends at entry {checked.count}, and had {kept.n} in the head that was kept."
    sealed = isinstance(deps.vault, SealedVault) and not deps.vault.converting
    if sealed and now.live and checked.count and not checked.keyed:
        yield "its last entry is not keyed, although this store is."
