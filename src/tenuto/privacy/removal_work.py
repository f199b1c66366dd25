"""Taking typed work apart: what rests on messages that go, and the replies that repeat it.

The decision is :mod:`tenuto.workflow.erasing`; this reads what it needs and writes what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from tenuto.ports import Transaction, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Memory
from tenuto.records.workflow import Artifact, Outcome, Workflow, WorkflowTurn
from tenuto.workflow.erasing import Left, Words, without, words

Gone = Callable[[str, Iterable[str]], None]


def replies(tx: Transaction, messages: Sequence[Message]) -> list[Message]:
    """What workflows answered to these messages, and later answers that name a value which came of them."""
    if not messages or not tx.count(Workflow):
        return []
    going = {message.id for message in messages}
    answers = {f"{name}/reply" for one in messages for name in (one.id, one.external_id) if name}
    kept = [one for one in tx.find(Message) if one.id not in going]
    spoken = [one for one in kept if one.role is Role.ASSISTANT and (one.external_id or "").endswith("/reply")]
    left = {one.id for one in spoken}
    erased = _words(messages, (), [one for one in kept if one.id not in left])
    values = [value for _, one in _each(tx, erased) for value in one.values]
    named = words((), (), ()).also(values)
    named = Words(ids=erased.ids, pieces=named.pieces, left=erased.left)
    return [one for one in spoken if one.external_id in answers or named.quoted_in(one.content)]


def take_work(tx: Transaction, messages: Sequence[Message], memories: Sequence[Memory], gone: Gone) -> int:
    """Fields, turns, waiting changes and artifacts that rest on what went or quote it; how many fields.

    Called when the messages and memories themselves are gone already.
    """
    if not (messages or memories) or not tx.count(Workflow):
        return 0
    fields = 0
    for before, left in _each(tx, _words(messages, memories, tx.find(Message), tx.find(Memory))):
        if left.workflow != before:
            tx.put(left.workflow)
        tx.remove(WorkflowTurn, *left.turns)
        gone("workflow_turns", left.turns)
        _take_artifacts(tx, left.artifacts, gone)
        fields += len(left.fields)
    return fields


def take_workflow(tx: Transaction, workflow: Workflow, gone: Gone) -> None:
    """The whole of one, with its trace and what it produced."""
    of_workflow = Where("workflow_id", "=", workflow.id)
    turns = tx.ids(WorkflowTurn, of_workflow)
    tx.remove(WorkflowTurn, *turns)
    gone("workflow_turns", turns)
    _take_artifacts(tx, tx.ids(Artifact, of_workflow), gone)
    tx.remove(Workflow, workflow.id)
    gone("workflows", [workflow.id])


def _take_artifacts(tx: Transaction, ids: Collection[str], gone: Gone) -> None:
    tx.remove(Artifact, *ids)
    gone("artifacts", ids)
    for outcome in tx.find(Outcome) if ids else ():
        if outcome.artifact_id in ids:
            tx.put(evolve(outcome, artifact_id=None))


def _words(
    messages: Sequence[Message],
    memories: Sequence[Memory],
    said: Sequence[Message],
    known: Sequence[Memory] = (),
) -> Words:
    ids = [id for message in messages for id in (message.id, message.external_id)]
    texts = [message.content for message in messages]
    texts += [content for memory in memories for content in (memory.content, *(one.content for one in memory.history))]
    return words(ids, texts, [*(one.content for one in said), *(one.content for one in known)])


def _each(tx: Transaction, erased: Words) -> list[tuple[Workflow, Left]]:
    found = []
    for workflow in tx.find(Workflow):
        of_workflow = Where("workflow_id", "=", workflow.id)
        turns, artifacts = tx.find(WorkflowTurn, of_workflow, order="turn"), tx.find(Artifact, of_workflow)
        found.append((workflow, without(workflow, turns, artifacts, erased)))
    return found
