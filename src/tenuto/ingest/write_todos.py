"""Todos become durable, are completed, and count as wins. In the transaction of the message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from tenuto.ingest.candidate import normal
from tenuto.ingest.extract.exchange import Finished
from tenuto.ingest.write import Writing
from tenuto.language.completion import Completion, completion, recurring
from tenuto.language.todos import Draft
from tenuto.ports import Reader, Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Evidence, Todo, TodoKind, TodoStatus, Trust
from tenuto.records.operations import Act, EntryKind, WriteResult

OPEN = 40
"""The newest open todos that a sentence is held against."""
NEAR = 24
"""Todos near in meaning that are looked at besides."""


def slot(persona: str | None, kind: TodoKind, by: str, content: str) -> str:
    """An open todo occupies its words, so that saying it twice makes one."""
    return f"{persona or ''}|todo|{kind}|{by}|{normal(content)}"[:400]


def write(
    writing: Writing, draft: Draft, message: Message, entities: Sequence[str], vector: Vectors | None
) -> WriteResult:
    """Keep one todo, or see that it is open already (a new due date is taken over)."""
    tx, now = writing.tx, writing.now
    taken = slot(message.persona, draft.kind, draft.by, draft.content)
    outside = message.trust is Trust.EXTERNAL or message.role in (Role.TOOL, Role.SYSTEM)
    if outside:
        return WriteResult(
            act=Act.REJECTED, reason="words from outside make no todos", subject_kind="todo", content=draft.content
        )
    evidence = Evidence(
        message_id=message.id,
        at=message.at,
        quote=draft.quote,
        session_id=message.session_id,
        channel=message.channel,
        trust=message.trust,
    )
    known = tx.find(Todo, Where("slot", "=", taken), limit=1)
    if known:
        return _again(writing, known[0], draft, evidence)
    if _long_past(writing, draft, message):
        reason = "said so long ago that it is over by now"
        return WriteResult(act=Act.REJECTED, reason=reason, subject_kind="todo", content=draft.content)
    todo = Todo(
        id=writing.deps.ids("tdo", now),
        kind=draft.kind,
        content=draft.content,
        created_at=min(now, message.at),
        updated_at=min(now, message.at),
        slot=taken,
        persona=message.persona,
        by=draft.by,
        due=draft.due,
        recurrence=draft.recurrence,
        importance=draft.importance,
        session_id=message.session_id,
        entities=tuple(entities),
        evidence=(evidence,),
        trust=message.trust if draft.by == "user" else Trust.INFERRED,
        source=message.source,
    )
    if not tx.add(todo):
        return WriteResult(
            act=Act.DUPLICATE, reason="another writer was first", subject_kind="todo", content=draft.content
        )
    writing.index(todo, vector)
    writing.event("todo.opened", "todo", todo.id, todo_kind=draft.kind.value)
    return WriteResult(
        act=Act.INSERTED, reason=draft.rule, subject_kind="todo", subject_id=todo.id, content=todo.content
    )


def _long_past(writing: Writing, draft: Draft, message: Message) -> bool:
    """Whether a todo of old talk that was brought in would have expired since."""
    fading, now = writing.deps.policy.fading, writing.now
    if draft.recurrence or draft.kind in (TodoKind.HABIT, TodoKind.FRICTION):
        return now - message.at >= fading.todo_silent
    overdue = draft.due is not None and now - draft.due >= fading.todo_overdue
    return overdue or (draft.due is None and now - message.at >= fading.todo_silent)


def _again(writing: Writing, todo: Todo, draft: Draft, evidence: Evidence) -> WriteResult:
    if any(one.message_id == evidence.message_id for one in todo.evidence):
        return WriteResult(
            act=Act.DUPLICATE, reason="already open", subject_kind="todo", subject_id=todo.id, content=todo.content
        )
    moved = draft.due is not None and draft.due != todo.due
    kept = (*todo.evidence, evidence)[-writing.deps.policy.memory.evidence_kept :]
    writing.tx.put(evolve(todo, due=draft.due or todo.due, evidence=kept, updated_at=writing.now))
    reason = "a new due date" if moved else "already open"
    return WriteResult(
        act=Act.UPGRADED if moved else Act.REINFORCED,
        reason=reason,
        subject_kind="todo",
        subject_id=todo.id,
        content=todo.content,
    )


def open_todos(reader: Reader) -> list[Todo]:
    """The open todos of every persona, newest first: what is done is done for all of them."""
    return reader.find(Todo, Where("status", "=", TodoStatus.OPEN.value), order="-created_at", limit=OPEN)


def complete(
    writing: Writing, finished: Sequence[Finished], message: Message, fresh: set[str], vectors: Mapping[str, Vectors]
) -> tuple[list[WriteResult], list[str]]:
    """See what a message closed; results, and questions for the receipt."""
    results: list[WriteResult] = []
    questions: list[str] = []
    for said in finished:
        newest = open_todos(writing.tx)
        if not newest:
            break
        near = _near(writing, vectors.get(said.text))
        todos = {one.id: one for one in (*newest, *_open(writing, near))}
        alive = [one for one in todos.values() if one.id not in fresh and one.created_at <= message.at]
        done = completion(
            said.text, alive, message.at, near, cancelled=said.cancelled, told=said.told, reported=said.reported
        )
        if done is None:
            continue
        if done.todo is None:
            options = "; ".join(todo.content for todo in done.plausible[:5])
            questions.append(f"Asked, not guessed: {done.reason}. Which one? {options}")
            continue
        if said.moved_to is not None:
            results.append(_put_off(writing, done.todo, said.moved_to, message))
            continue
        results.append(_finish(writing, done, message))
    return results, questions


def _put_off(writing: Writing, todo: Todo, due: datetime, message: Message) -> WriteResult:
    evidence = (*todo.evidence, Evidence(message_id=message.id, at=message.at))
    kept = evidence[-writing.deps.policy.memory.evidence_kept :]
    writing.tx.put(evolve(todo, due=due, evidence=kept, updated_at=writing.now))
    writing.event("todo.moved", "todo", todo.id)
    return WriteResult(
        act=Act.UPGRADED, reason="a new due date", subject_kind="todo", subject_id=todo.id, content=todo.content
    )


def _near(writing: Writing, vector: Vectors | None) -> dict[str, float]:
    if vector is None:
        return {}
    return dict(writing.near(EntryKind.TODO, vector, NEAR))


def _open(writing: Writing, near: Mapping[str, float]) -> list[Todo]:
    """Open todos that are near in meaning, however old: the newest are read anyway."""
    found = writing.tx.get_many(Todo, list(near)).values() if near else ()
    return [one for one in found if one.status is TodoStatus.OPEN]


def _finish(writing: Writing, done: Completion, message: Message) -> WriteResult:
    todo = done.todo
    assert todo is not None
    finished = finish_todo(writing, todo, message.at, cancelled=done.cancelled, message_id=message.id)
    what = "cancelled" if done.cancelled else "counted" if finished.status is TodoStatus.OPEN else "completed"
    return WriteResult(
        act=Act.UPGRADED,
        reason=f"{what}, {done.confidence:.2f}: {done.reason}",
        subject_kind="todo",
        subject_id=todo.id,
        content=todo.content,
    )


def finish_todo(
    writing: Writing, todo: Todo, at: datetime, *, cancelled: bool = False, message_id: str | None = None
) -> Todo:
    """Done (or dropped). What recurs stays open and counts the time."""
    evidence = (*todo.evidence, Evidence(message_id=message_id, at=at))[-writing.deps.policy.memory.evidence_kept :]
    if cancelled:
        ended = evolve(todo, status=TodoStatus.CANCELLED, slot=None, updated_at=writing.now, evidence=evidence)
    elif recurring(todo):
        ended = evolve(
            todo, completions=(*todo.completions, at)[-400:], completed_at=at, updated_at=writing.now, evidence=evidence
        )
    else:
        ended = evolve(
            todo,
            status=TodoStatus.DONE,
            slot=None,
            completed_at=at,
            completions=(*todo.completions, at),
            updated_at=writing.now,
            evidence=evidence,
        )
    writing.tx.put(ended)
    writing.event("todo.cancelled" if cancelled else "todo.completed", "todo", todo.id)
    return ended


def recent_wins(reader: Reader, persona: str | None, now: datetime, window: timedelta, limit: int = 20) -> list[Todo]:
    """What was completed lately, newest first; habits count too."""
    mine = Where("persona", "is", None) if persona is None else Where("persona", "=", persona)
    since = Where("completed_at", ">=", now - window)
    found = reader.find(Todo, mine, since, order="-completed_at", limit=limit)
    return [todo for todo in found if todo.completed_at is not None and todo.completed_at <= now]
