"""What is left of typed work when words that it rests on are erased. Pure, and without the definition.

    a turn that heard an erased message       goes
    a field that such a turn set or proposed  goes with its lock, while it has that value still
    a field that is computed from others      goes, and is computed anew when the workflow is read next
    a turn or a waiting change that holds a value which went, or quotes the words    goes
    an artifact that was made of the draft after that, or quotes the words           goes
    what was set by hand                      stays: it rests on nobody's message

A workflow that lost fields is *reopened*: the next reading computes what is derived and, where its state needs a
complete draft, puts it back to the beginning; one that has ended stays ended. What would break it: a turn that is
stored without the message that it heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from tenuto.records.workflow import Artifact, PendingPatch, Workflow, WorkflowTurn
from tenuto.text import patterns

Operation = dict[str, Any]
SENTENCE = patterns.compile(r"[.!?。！？\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is erased: ids of messages (ours and their own), their sentences as words; and what is still said."""

    ids: frozenset[str]
    pieces: frozenset[str]
    left: str

    def also(self, values: Iterable[Any]) -> Words:
        """With the text in these values."""
        texts = {folded(text) for value in values for text, _ in _texts(value)}
        return replace(self, pieces=self.pieces | texts - {""})

    def quoted_in(self, value: Any) -> bool:
        """Is something of the words in there that nothing says which is left?"""
        for text, named in _texts(value):
            leaf = folded(text)
            for piece in self.pieces if leaf else ():
                within = not named and f" {leaf} " in f" {piece} "
                shared = piece if f" {piece} " in f" {leaf} " else leaf if within else ""
                if shared and f" {shared} " not in self.left:
                    return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """One workflow afterwards, and what of it goes: names of fields, ids of turns and artifacts."""

    workflow: Workflow
    fields: tuple[str, ...]
    turns: tuple[str, ...]
    artifacts: tuple[str, ...]
    values: tuple[Any, ...] = ()
    """The values that went."""


def folded(text: str) -> str:
    """A text as its words alone."""
    return " ".join(patterns.findall(r"\w+", text.casefold()))


def words(ids: Iterable[str | None], texts: Sequence[str], left: Iterable[str]) -> Words:
    """What is erased, and what stays said."""
    pieces = {folded(text) for text in texts}
    sentences = {folded(part) for text in texts for part in SENTENCE.split(text)}
    pieces |= {part for part in sentences if " " in part}
    return Words(
        ids=frozenset(id for id in ids if id),
        pieces=frozenset(pieces - {""}),
        left=f" {' '.join(map(folded, left))} ",
    )


def without(workflow: Workflow, turns: Sequence[WorkflowTurn], artifacts: Sequence[Artifact], erased: Words) -> Left:
    """The workflow without what rests on the erased words."""
    heard = [turn for turn in turns if turn.message_id in erased.ids]
    set_by = [operation for turn in heard for operation in (*turn.applied, *turn.staged) if "value" in operation]
    fields = tuple(name for name in workflow.spec if _still(name, workflow.spec[name], set_by))
    every = erased.also(operation["value"] for operation in set_by)

    def tainted(operations: Iterable[Operation]) -> bool:
        return any(_holds(operation, set_by) or every.quoted_in(_values(operation)) for operation in operations)

    going = {turn.id for turn in heard}
    going |= {turn.id for turn in turns if tainted((*turn.applied, *turn.staged)) or every.quoted_in(turn.refused)}
    since = min((turn.at for turn in heard), default=None) if fields else None
    made_of_it = {
        one.id for one in artifacts if since is not None and one.kind == "artifact" and one.created_at >= since
    }
    quoting = {one.id for one in artifacts if every.quoted_in(one.content)}
    pending = None if workflow.pending and tainted(workflow.pending.patch) else workflow.pending
    return Left(
        workflow=_rest(workflow, fields, pending, every),
        fields=fields,
        turns=tuple(turn.id for turn in turns if turn.id in going),
        artifacts=tuple(one.id for one in artifacts if one.id in made_of_it | quoting),
        values=tuple(operation["value"] for operation in set_by),
    )


def _rest(workflow: Workflow, fields: tuple[str, ...], pending: PendingPatch | None, erased: Words) -> Workflow:
    touched = bool(fields) or pending is not workflow.pending
    computed = set(workflow.spec) - {lock.field for lock in workflow.locks} if fields else set()
    gone = {*fields, *computed}
    return replace(
        workflow,
        spec={name: value for name, value in workflow.spec.items() if name not in gone},
        locks=tuple(lock for lock in workflow.locks if lock.field not in gone),
        pending=pending,
        question="" if touched or erased.quoted_in(workflow.question) else workflow.question,
        error=None if workflow.error and erased.quoted_in(workflow.error) else workflow.error,
        settled=None if touched else workflow.settled,
        heard=tuple(id for id in workflow.heard if id not in erased.ids),
        reopened=workflow.reopened or bool(fields),
    )


def _still(name: str, value: Any, operations: Iterable[Operation]) -> bool:
    return any(one["path"] == f"/{name}" and _same(one["value"], value) for one in operations)


def _holds(operation: Operation, gone: Iterable[Operation]) -> bool:
    """Does an operation set or replace a value that went?"""
    there = _values(operation)
    return any(one["path"] == operation["path"] and any(_same(one["value"], value) for value in there) for one in gone)


def _values(operation: Operation) -> list[Any]:
    return [operation[name] for name in ("value", "was") if name in operation]


def _same(one: Any, other: Any) -> bool:
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def _texts(value: Any) -> Iterator[tuple[str, bool]]:
    """Every text in a value, and whether it is the name of something there."""
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, dict):
        for name, part in value.items():
            yield str(name), True
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)
