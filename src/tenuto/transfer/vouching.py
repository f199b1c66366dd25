"""Vouching for an import as a whole: what others said in it becomes recallable, its memories become active.

Never more than inferred: the user says that the account is right, not that they stated each sentence. Tool output stays
external. What was read from others' messages and waited as a candidate is read again, now as something believed, so
that life-critical things are pinned and todos made. Runs in pages; stopping in between is harmless, and vouching twice
is the same as once.
"""

from __future__ import annotations

from tenuto.deps import Deps
from tenuto.ingest.observe import EMBED
from tenuto.lifecycle.due import Due
from tenuto.ports import Where
from tenuto.recall.entry import make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Memory, Status, Trust
from tenuto.records.operations import Event, Job, Receipt
from tenuto.records.scope import Scope
from tenuto.records.transfer import Import
from tenuto.transfer.take_in import digests, vouched_memory

PAGE = 1000


def vouch(deps: Deps, scope: Scope, run: Import) -> Import:
    """Believe an import; its record after it."""
    mark: str | None = ""
    while mark is not None:
        mark = _page(deps, scope, run, mark)
    now = deps.clock()
    key = deps.vault.index_key(scope.user)
    with deps.store.writing(scope.user) as tx:
        waiting = tx.find(Memory, Where("source", "=", run.source), Where("status", "=", Status.CANDIDATE))
        brought = [
            memory for memory in waiting if memory.trust is Trust.EXTERNAL and memory.made_by.startswith("import:")
        ]
        believed = [vouched_memory(memory, now) for memory in brought]
        tx.put(*believed)
        tx.index(*[make_entry(memory, key) for memory in believed])
        run = evolve(tx.get(Import, run.id) or run, vouched_at=now, updated_at=now)
        tx.put(run, _event(deps, scope, run))
        tx.add(Job(id=deps.ids("job", now), kind=EMBED, created_at=now, run_at=now, dedupe=EMBED))
    return run


def _page(deps: Deps, scope: Scope, run: Import, after: str) -> str | None:
    """One page of messages; the last id, or ``None`` at the end."""
    now = deps.clock()
    conditions = (Where("source", "=", run.source), Where("trust", "=", Trust.EXTERNAL), Where("role", "!=", Role.TOOL))
    with deps.store.writing(scope.user) as tx:
        page = tx.find(Message, *conditions, limit=PAGE, after=(after, after) if after else None)
        tx.put(*[evolve(message, trust=Trust.INFERRED) for message in page])
        ids = [message.id for message in page]
        tx.remove(Receipt, *(one.id for one in tx.find(Receipt, Where("message_id", "in", ids)) if one.settled))
        for due in digests(page, deps, now):
            tx.add(_job(deps, due))
    return page[-1].id if len(page) == PAGE else None


def _job(deps: Deps, due: Due) -> Job:
    return Job(
        id=deps.ids("job", due.run_at), kind=due.kind, created_at=due.run_at, run_at=due.run_at, payload=due.payload
    )


def _event(deps: Deps, scope: Scope, run: Import) -> Event:
    now = run.updated_at
    return Event(
        id=deps.ids("evt", now),
        kind="import.vouched",
        at=now,
        subject_kind="import",
        subject_id=run.id,
        persona=scope.persona,
        channel=scope.channel,
    )
