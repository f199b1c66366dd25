"""Summaries of a stream while it runs: rolling ones every few turns, ranges every fifty messages, any range on demand.

Both start from a watermark that moves in the same transaction as the summary is written, so a job that runs twice, late
or beside another finds nothing left to do. The model, where there is one, is asked between reading and writing; if the
watermark moved meanwhile, the answer is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tenuto.deps import Deps
from tenuto.errors import Conflict, InputError, ModelError, NotFound
from tenuto.lifecycle import due, summarise
from tenuto.lifecycle.cited import ask_lines, said, with_lines
from tenuto.lifecycle.named_session import session_named
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.summarise import Draft
from tenuto.lifecycle.write import current, same, tellable, write_summary
from tenuto.ports import Reader, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, SessionState, SourcedLine, Summary, SummaryKind
from tenuto.records.operations import EntryKind, Job
from tenuto.records.scope import Scope
from tenuto.text import clean

ROLLING_BATCH = 64
"""Messages that one rolling version takes in at most; a backlog makes several."""
ON_DEMAND = "on demand"
"""``topic`` of a range that somebody asked for: it stands beside the regular ones and is not counted among them."""
MOST_ON_DEMAND = 2000


def personas(jobs: Sequence[Job]) -> list[str | None]:
    """The personas that jobs name, once each."""
    return [name or None for name in dict.fromkeys(str(job.payload.get("persona", "")) for job in jobs)]


# --- rolling ----------------------------------------------------------------------------------------------------------


def roll(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``rolling_summary`` jobs."""
    for persona in personas(jobs):
        while _roll_once(deps, user, persona):
            pass


def _roll_once(deps: Deps, user: str, persona: str | None) -> bool:
    """Take in the next messages; ``False`` when there are none left, or somebody else has taken them."""
    attempted = deps.clock()
    with deps.store.reading(user) as reader:
        prior = current(reader, SummaryKind.ROLLING, same("persona", persona))
        messages = _after(reader, persona, prior.end_seq if prior else 0, ROLLING_BATCH)
        told = tellable(deps, reader, messages)
    if not messages:
        return False
    length = deps.policy.summary.rolling_length
    rules = summarise.rolling(prior.structured if prior else None, told, length)
    sources = [*(prior.lines if prior else ()), *said(told)]
    draft, error = _better(deps, rules, sources, "the summary so far and what was said since", length, told)
    now = deps.clock()
    with deps.store.writing(user) as tx:
        newest = current(tx, SummaryKind.ROLLING, same("persona", persona))
        if (newest.id if newest else None) != (prior.id if prior else None):
            return False
        write_summary(
            deps,
            tx,
            SummaryKind.ROLLING,
            draft,
            now,
            prior=prior,
            messages=messages,
            persona=persona,
            session_id=messages[-1].session_id,
        )
        state = tx.get(SessionState, persona or "") or SessionState(id=persona or "")
        tx.put(evolve(state, rolling_last_attempt_at=attempted, rolling_last_success_at=now, rolling_last_error=error))
        if sum(one.messages_since_spine for one in tx.find(SessionState)) >= deps.policy.summary.spine_every_messages:
            enqueue(deps.ids, tx, [due.Due(due.SPINE, due.SPINE, now)], now)
    return len(messages) == ROLLING_BATCH


def _after(reader: Reader, persona: str | None, seq: int, limit: int) -> list[Message]:
    return reader.find(Message, same("persona", persona), Where("seq", ">", seq), order="seq", limit=limit)


def _better(
    deps: Deps, rules: Draft, sources: Sequence[SourcedLine], what: str, length: int, messages: Sequence[Message]
) -> tuple[Draft, str | None]:
    """The model's words for a draft where they pass; else the rules' and why."""
    if deps.model is None:
        return rules, None
    try:
        lines, name = ask_lines(
            deps.model,
            deps.policy.model,
            sources,
            what=what,
            shape="keeping what a later reader needs most",
            length=length,
        )
    except ModelError as error:
        return rules, f"{error.code}: {error.message}"[:300]
    return with_lines(rules, lines, name, sum(len(message.content) for message in messages)), None


# --- ranges -----------------------------------------------------------------------------------------------------------


def ranges(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``range_summary`` jobs: every full range that has no summary yet."""
    for persona in personas(jobs):
        while _range_once(deps, user, persona):
            pass


def _range_once(deps: Deps, user: str, persona: str | None) -> bool:
    size = deps.policy.summary.range_every_messages
    with deps.store.reading(user) as reader:
        state = reader.get(SessionState, persona or "")
        mark = state.summarised_until_seq if state else 0
        messages = _after(reader, persona, mark, size)
        told = tellable(deps, reader, messages)
    if len(messages) < size:
        return False
    draft = _range_draft(deps, told)
    now = deps.clock()
    with deps.store.writing(user) as tx:
        state = tx.get(SessionState, persona or "") or SessionState(id=persona or "")
        if state.summarised_until_seq != mark:
            return True
        session = _one_session(messages)
        write_summary(deps, tx, SummaryKind.RANGE, draft, now, messages=messages, persona=persona, session_id=session)
        tx.put(evolve(state, summarised_until_seq=messages[-1].seq))
    return True


def _range_draft(deps: Deps, messages: Sequence[Message]) -> Draft:
    length = summarise.RANGE_LENGTH
    draft, _ = _better(
        deps, summarise.of_range(messages, length), said(messages), "part of a transcript", length, messages
    )
    return draft


def summarise_range(
    deps: Deps, scope: Scope, start: str | datetime, end: str | datetime, session_id: str | None = None
) -> Summary:
    """One summary of everything from ``start`` to ``end``, both included: message ids, or times.

    Asking for the same range again gives the same summary while nothing in it changed. No message is in two ranges: one
    that holds others takes their place, one that cuts into another is refused.
    """
    with deps.store.reading(scope.user) as reader:
        session = session_named(reader, scope.persona, session_id).id if session_id is not None else None
        messages = _between(reader, scope.persona, start, end, session)
        known = _asked_before(reader, scope, messages)
        told = tellable(deps, reader, messages)
    if len(known) == 1 and _same_range(known[0], messages):
        return known[0]
    draft = _range_draft(deps, told)
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        known = _asked_before(tx, scope, messages)
        for one in known[1:]:
            tx.put(evolve(one, current=False))
            tx.unindex(EntryKind.SUMMARY, one.id)
        return write_summary(
            deps,
            tx,
            SummaryKind.RANGE,
            draft,
            now,
            prior=known[0] if known else None,
            messages=messages,
            persona=scope.persona,
            session_id=_one_session(messages),
            topic=ON_DEMAND,
        )


def _asked_before(reader: Reader, scope: Scope, messages: Sequence[Message]) -> list[Summary]:
    """The ranges that were asked for and lie within this one, newest first; one that only cuts into it is an error."""
    first, last = messages[0].seq, messages[-1].seq
    found = reader.find(
        Summary,
        Where("kind", "=", SummaryKind.RANGE),
        Where("current", "=", True),
        same("persona", scope.persona),
        Where("topic", "=", ON_DEMAND),
        Where("start_seq", "<=", last),
        Where("end_seq", ">=", first),
        order="-created_at",
    )
    session = _one_session(messages)
    near = [one for one in found if session is None or one.session_id in (None, session)]
    for one in near:
        if one.start_seq < first or one.end_seq > last or (session is not None and one.session_id is None):
            raise Conflict(
                f"The range cuts into the one from {one.start_message_id} to {one.end_message_id}, which is summarised "
                "already: ask for messages outside of it, or for a range that holds it whole.",
                code="range_overlaps",
            )
    return near


def _same_range(summary: Summary, messages: Sequence[Message]) -> bool:
    whole = (summary.start_seq, summary.end_seq, summary.message_count)
    return whole == (messages[0].seq, messages[-1].seq, len(messages))


def _one_session(messages: Sequence[Message]) -> str | None:
    """The session that all of the messages belong to; ``None`` where there are several."""
    sessions = {message.session_id for message in messages}
    return sessions.pop() if len(sessions) == 1 else None


def _between(
    reader: Reader, persona: str | None, start: str | datetime, end: str | datetime, session: str | None
) -> list[Message]:
    if isinstance(start, datetime) and isinstance(end, datetime):
        column, low, high = "at", clean.moment(start, what="start"), clean.moment(end, what="end")
    elif isinstance(start, str) and isinstance(end, str):
        column, low, high = "seq", _seq_of(reader, start), _seq_of(reader, end)  # type: ignore[assignment]
    else:
        raise InputError("Give two message ids or two times, not one of each.", code="range_invalid")
    if low > high:
        raise InputError("The range ends before it begins: swap 'start' and 'end'.", code="range_invalid")
    conditions = [same("persona", persona)] if persona is not None else []
    conditions += [Where("session_id", "=", session)] if session is not None else []
    found = reader.find(
        Message,
        *conditions,
        Where(column, ">=", low),
        Where(column, "<=", high),
        order="seq",
        limit=MOST_ON_DEMAND + 1,
    )
    if not found:
        raise NotFound("There is no message in this range.")
    if len(found) > MOST_ON_DEMAND:
        raise InputError(
            f"The range holds more than {MOST_ON_DEMAND:,} messages: ask for a part of it.", code="range_too_long"
        )
    return found


def _seq_of(reader: Reader, id: str) -> int:
    message = reader.get(Message, id)
    if message is None:
        found = reader.find(Message, Where("external_id", "=", id), limit=1)
        message = found[0] if found else None
    if message is None:
        raise NotFound(f"There is no message with the id {id!r}.")
    return message.seq
