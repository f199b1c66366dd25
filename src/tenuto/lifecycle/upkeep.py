"""Jobs that keep the longer view current: spine, profile, relationship brief, topics of what is older than a week.

Each is regenerated from what is known now and written as a new version; one that would say the same as the version
before is not written again. Topics move along a watermark (the ``end_seq`` of the newest topic summary of the persona):
every message of the past is in exactly one, and the full text stays beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tenuto.deps import Deps
from tenuto.errors import ModelError
from tenuto.lifecycle import portraits, state, summarise, told
from tenuto.lifecycle.cited import ask_lines, said, with_lines
from tenuto.lifecycle.rolling import personas
from tenuto.lifecycle.summarise import Draft
from tenuto.lifecycle.write import current, record_of, same, tellable, write_summary
from tenuto.ports import Reader, Transaction, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Session, SessionState, SessionStatus, SourcedLine, Summary, SummaryKind
from tenuto.records.memory import RECALLED, AgentState, Domain, Memory, Todo, TodoStatus
from tenuto.records.operations import Job

KNOWN = 50
"""Memories of one domain that a portrait chooses from: the most important ones."""
KNOWN_DOMAINS = (Domain.PROFILE, Domain.PROJECT, Domain.PEOPLE)
TOPIC_BATCH = 400
"""Messages that one round of topics looks at."""


def make_spine(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``spine`` jobs: one per user, over all personas."""
    now = deps.clock()
    with deps.store.reading(user) as reader:
        memories, todos = _known(reader, *KNOWN_DOMAINS), _open_todos(reader)
        seen = {one.id: one.messages_since_spine for one in reader.find(SessionState)}
        newest = reader.find(Message, order="-seq", limit=1)
        loops = _open_loops(reader)
        start = current(reader, SummaryKind.SPINE)
        since = reader.count(Message, Where("seq", ">", start.end_seq if start else 0))
    shared = [memory for memory in memories if memory.persona is None]
    draft = portraits.spine(shared, todos, loops, now, deps.policy.fading)
    with deps.store.writing(user) as tx:
        if since:
            _renew(deps, tx, SummaryKind.SPINE, draft, now, messages=newest, count=since, always=True)
        for one in tx.find(SessionState):
            tx.put(evolve(one, messages_since_spine=max(0, one.messages_since_spine - seen.get(one.id, 0))))


def make_profile(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``profile`` jobs."""
    now = deps.clock()
    with deps.store.reading(user) as reader:
        memories = [memory for memory in _known(reader, *KNOWN_DOMAINS) if memory.persona is None]
        seen = {one.id: one.sessions_since_profile for one in reader.find(SessionState)}
    draft = portraits.profile(memories, now, deps.policy.fading)
    if draft is not None:
        draft = _reworded(deps, draft, "a list of what is known about a person", 1500)
    with deps.store.writing(user) as tx:
        if draft is not None:
            _renew(deps, tx, SummaryKind.PROFILE, draft, now, always=True)
            for one in tx.find(SessionState):
                tx.put(evolve(one, sessions_since_profile=max(0, one.sessions_since_profile - seen.get(one.id, 0))))


def make_brief(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``brief`` jobs: one per persona."""
    for persona in personas(jobs):
        now = deps.clock()
        with deps.store.reading(user) as reader:
            between = _known(reader, Domain.RELATIONAL, Domain.AGENT)
            memories = [memory for memory in between if memory.persona in (None, persona)]
            todos = [todo for todo in _open_todos(reader) if todo.persona in (None, persona)]
            recent = reader.find(Session, same("persona", persona), order="-last_activity_at", limit=3)
            count = reader.count(Session, same("persona", persona))
            record = record_of(reader, recent[0].id) if recent else None
            held = reader.get(AgentState, persona or "") or state.fresh(persona, deps.policy.agent, now)
        headline = told.of_part(record.lines, told.HEADLINE) if record else []
        axes = state.axes_of(persona, deps.policy.agent)
        held = state.drifted(held, axes, now)
        draft = portraits.brief(memories, todos, count, recent, headline, held, now, deps.policy.fading)
        if draft is not None:
            with deps.store.writing(user) as tx:
                _renew(deps, tx, SummaryKind.BRIEF, draft, now, persona=persona)


def _known(reader: Reader, *domains: Domain) -> list[Memory]:
    recalled = Where("status", "in", [str(status) for status in RECALLED])
    return [
        memory
        for domain in domains
        for memory in reader.find(Memory, recalled, Where("domain", "=", domain), order="-importance", limit=KNOWN)
    ]


def _open_loops(reader: Reader) -> list[SourcedLine]:
    """What the last sessions left open: each is for the persona of its session."""
    is_session = Where("kind", "=", SummaryKind.SESSION), Where("current", "=", True)
    recent = reader.find(Summary, *is_session, order="-created_at", limit=3)
    return [
        replace(loop, persona=record.persona) for record in recent for loop in told.of_part(record.lines, told.LOOP)
    ]


def _open_todos(reader: Reader) -> list[Todo]:
    return reader.find(Todo, Where("status", "=", TodoStatus.OPEN), order="-created_at", limit=100)


def _reworded(deps: Deps, rules: Draft, what: str, length: int) -> Draft:
    if deps.model is None:
        return rules
    try:
        lines, name = ask_lines(
            deps.model, deps.policy.model, rules.lines, what=what, shape="in a few short sentences", length=length
        )
    except ModelError:
        return rules
    return with_lines(rules, lines, name, len(rules.content))


def _renew(
    deps: Deps,
    tx: Transaction,
    kind: SummaryKind,
    draft: Draft,
    now: datetime,
    *,
    persona: str | None = None,
    messages: Sequence[Message] = (),
    count: int | None = None,
    always: bool = False,
) -> None:
    """Write the next version; without ``always`` only if it says something else than the one before."""
    prior = current(tx, kind, same("persona", persona))
    if prior is None or always or prior.content != draft.content:
        write_summary(deps, tx, kind, draft, now, prior=prior, messages=messages, count=count, persona=persona)


# --- topics -----------------------------------------------------------------------------------------------------------


def make_topics(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``topics`` jobs."""
    for persona in personas(jobs):
        while _topics_once(deps, user, persona):
            pass


def _topics_once(deps: Deps, user: str, persona: str | None) -> bool:
    now = deps.clock()
    with deps.store.reading(user) as reader:
        mark = topic_mark(reader, persona)
        messages = _past(reader, persona, mark, now, deps)
        tellable_ = tellable(deps, reader, messages)
    if not tellable_:
        return False
    found = [(topic, _topic_draft(deps, topic)) for topic in summarise.topics(tellable_)]
    with deps.store.writing(user) as tx:
        if topic_mark(tx, persona) != mark:
            return False
        for topic, draft in found:
            write_summary(
                deps, tx, SummaryKind.TOPIC, draft, now, messages=topic.messages, persona=persona, topic=topic.label
            )
    return len(messages) >= TOPIC_BATCH


def topic_mark(reader: Reader, persona: str | None) -> int:
    """Up to which message the past has its topics: the last message of a batch ends one of its topics, whichever."""
    newest = reader.find(
        Summary, Where("kind", "=", SummaryKind.TOPIC), same("persona", persona), order="-end_seq", limit=1
    )
    return newest[0].end_seq if newest else 0


def _past(reader: Reader, persona: str | None, mark: int, now: datetime, deps: Deps) -> list[Message]:
    """The next messages that are old enough, up to whole sessions; none while the oldest session is not closed."""
    limit = now - deps.policy.summary.topic_after
    later = same("persona", persona), Where("seq", ">", mark)
    if not any(message.at <= limit for message in reader.find(Message, *later, order="seq", limit=1)):
        return []
    listed = reader.find(Message, *later, order="seq", limit=TOPIC_BATCH + 1)
    old: list[Message] = []
    for message in listed[:TOPIC_BATCH]:
        if message.at > limit:
            break
        old.append(message)
    last = reader.get(Session, old[-1].session_id)
    if (
        len(listed) <= TOPIC_BATCH
        and len(old) == len(listed)
        and last is not None
        and last.status is SessionStatus.OPEN
    ):
        return [message for message in old if message.session_id != last.id]
    return old


def _topic_draft(deps: Deps, topic: summarise.Topic) -> Draft:
    most = deps.policy.summary.topic_tokens
    rules = summarise.of_topic(topic, most, deps.tokens.count)
    if deps.model is None:
        return rules
    try:
        lines, name = ask_lines(
            deps.model,
            deps.policy.model,
            said(topic.messages),
            what=f"what was said about {topic.label}",
            shape=f"about {topic.label}",
            length=3 * most,
        )
    except ModelError:
        return rules
    if deps.tokens.count(told.spoken(lines)) > most:
        return rules
    return with_lines(rules, lines, name, sum(len(message.content) for message in topic.messages))
