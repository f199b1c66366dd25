"""The job behind every message: read it, distil it, compare with what is known, write, and settle the receipt.

Three steps, so that nothing slow happens while the user's data is locked: read what is needed; extract and embed; then
one short transaction that reads again what it decides on. A job may run twice: a message whose receipt is settled is
left alone, in the same transaction that settles it. If the embedder is down the memories are kept by their words and
keys and get their vectors later; if the model is down or talks rubbish the rules take over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import EmbedderError
from tenuto.ingest import doing, model_extract, registry
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.consent import Wish
from tenuto.ingest.echo import without_injected
from tenuto.ingest.embedding import checked
from tenuto.ingest.entities import SELF
from tenuto.ingest.extract import extract
from tenuto.ingest.extraction import PRONOUN, Extraction, spoken_of
from tenuto.ingest.names import with_more
from tenuto.ingest.nearby import nearby
from tenuto.ingest.obey import obey
from tenuto.ingest.writing import Writing, settle
from tenuto.ports import Reader, Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Entity, Memory, Status, Trust
from tenuto.records.operations import Act, EntryKind, Job, Receipt, WriteResult

DIGEST = "digest"
LOOKED_AT = 2000
"""Characters of a message that are searched for "he" and "she"."""
REPORTED = 12
"""Statements that were not kept which a receipt names."""


@dataclass(slots=True)
class Item:
    """One message under way."""

    message: Message
    receipt: Receipt
    extraction: Extraction
    injected: bool = False
    vectors: dict[str, Vectors] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def keep(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``digest`` jobs: one pass serves all of them."""
    wanted = [id for job in jobs for id in job.payload.get("messages", ()) if isinstance(id, str)]
    items = _prepare(deps, user, list(dict.fromkeys(wanted)))
    if not items:
        return
    with deps.store.reading(user) as reader:
        near = nearby(deps, reader) if any(item.vectors for item in items) else None
    with deps.store.writing(user) as tx:
        for item in items:
            receipt = tx.get(Receipt, item.receipt.id)
            if receipt is None or receipt.settled:
                continue
            writing = Writing(
                deps, tx, deps.clock(), channel=item.message.channel, persona=item.message.persona, nearby=near
            )
            _settle(writing, replace(item, receipt=receipt))
            writing.finish()


# --- before the transaction -------------------------------------------------------------------------------------------


def _prepare(deps: Deps, user: str, ids: Sequence[str]) -> list[Item]:
    with deps.store.reading(user) as reader:
        messages = sorted(reader.get_many(Message, ids).values(), key=lambda message: message.seq)
        receipts = (
            {one.message_id: one for one in reader.find(Receipt, Where("message_id", "in", list(ids)))} if ids else {}
        )
        known = deps.names.fresh(reader)
        names = _own_names(reader, user)
        zone = _zone(reader)
        spent = model_extract.spent_today(reader, deps.clock())
        earlier = {message.id: _message_before(reader, message) for message in messages}
    waiting = [one for one in messages if one.id in receipts and not receipts[one.id].settled]
    items = []
    for message in waiting:
        text, injected = without_injected(message.content)
        seen = known.registry
        extraction = extract(
            evolve(message, content=text),
            deps.policy.memory,
            registry=seen,
            own_names=names,
            zone=zone,
            before=spoken_of(message, earlier.get(message.id), seen),
        )
        names |= _told_names(extraction)
        if more := _overlay(extraction, known.entities, message):
            known = with_more(known, more)
        items.append(Item(message, receipts[message.id], extraction, injected))
    if deps.model is not None and items:
        _with_model(deps, user, items, names, zone, spent)
    _embed(deps, items)
    return items


def _message_before(reader: Reader, message: Message) -> Message | None:
    """The user's own message before one that speaks of "he" or "she" without a name."""
    if message.role is not Role.USER or not PRONOUN.search(message.content[:LOOKED_AT]):
        return None
    found = reader.find(
        Message,
        Where("session_id", "=", message.session_id),
        Where("role", "=", Role.USER.value),
        Where("seq", "<", message.seq),
        order="-seq",
        limit=1,
    )
    return found[0] if found and found[0].speaker == message.speaker else None


def _with_model(
    deps: Deps, user: str, items: list[Item], names: frozenset[str], zone: ZoneInfo | None, spent: model_extract.Spent
) -> None:
    readable = {
        item.message.id: evolve(item.message, content=without_injected(item.message.content)[0]) for item in items
    }
    outcome = model_extract.propose(
        deps, [readable[item.message.id] for item in items], own_names=names, zone=zone, spent=spent
    )
    for item in items:
        if (proposed := outcome.extractions.get(item.message.id)) is not None:
            item.extraction = model_extract.joined(item.extraction, proposed)
        item.notes.extend(outcome.notes.get(item.message.id, ()))
    if outcome.spent.tokens:
        with deps.store.writing(user) as tx:
            model_extract.charge(tx, deps.clock(), outcome.spent)


def _own_names(reader: Reader, user: str) -> frozenset[str]:
    known = reader.find(Memory, Where("key", "=", "profile|person|user|fact|name"), limit=8)
    values = [memory.value for memory in known if memory.value]
    return _with_first_names([user, "me", "user", *values])


def _told_names(extraction: Extraction) -> frozenset[str]:
    """How the user called themselves in a message: the next one of the same batch knows it."""
    told = (one for one in extraction.candidates if one.attribute == "name" and one.subject == SELF)
    return _with_first_names(one.value for one in told if one.value)


def _with_first_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(part.casefold() for name in names for part in (name, *name.split()[:1]))


def _zone(reader: Reader) -> ZoneInfo | None:
    profile = reader.profile()
    try:
        return ZoneInfo(profile.timezone) if profile else None
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _overlay(extraction: Extraction, known: Mapping[str, Entity], message: Message) -> list[Entity]:
    """What this message named is known to the next one of the same batch."""
    return [
        Entity(
            id=one.id,
            type=one.type,
            label=one.label,
            created_at=message.at,
            updated_at=message.at,
            aliases=(one.alias,) if one.alias else (),
            relation=one.relation,
        )
        for one in extraction.mentions
        if one.id not in known
    ]


def _embed(deps: Deps, items: list[Item]) -> None:
    """One vector per text that is compared or indexed. Without an embedder everything goes on by words and keys."""
    texts: list[str] = []
    for item in items:
        found = item.extraction
        texts += [one.content for one in found.candidates] + [one.content for one in found.todos]
        texts += [one.about for one in found.wishes if one.about] + [one.plain for one in found.sentences[:8]]
    texts = list(dict.fromkeys(texts))
    if not texts:
        return
    try:
        vectors = checked(deps, deps.embedder.embed(texts))
    except EmbedderError as error:
        for item in items:
            item.notes.append(f"Compared by words only, because the embedder failed: {error.message}")
        return
    table = {text: np.asarray(vector, dtype=np.float32) for text, vector in zip(texts, vectors, strict=True)}
    for item in items:
        item.vectors = table


# --- inside the transaction -------------------------------------------------------------------------------------------


def _settle(writing: Writing, item: Item) -> None:
    message, found = item.message, item.extraction
    results: list[WriteResult] = []
    notes = list(item.notes)
    if item.injected:
        notes.append("Recalled text inside the message was left out.")
    own: list[Memory] = []
    dropped = any(one.wish is Wish.FORGET and not one.about for one in found.wishes) and bool(found.candidates)
    for candidate in found.candidates:
        result, memory = _candidate(writing, item, candidate, dropped)
        results.append(result)
        if memory is not None:
            own.append(memory)
    results += _todos(writing, item, notes)
    for wish in found.wishes:
        if dropped and wish.wish is Wish.FORGET and not wish.about:
            notes.append("Not kept, because you took it back.")
        elif wish.wish is Wish.DO_NOT_SAVE and not wish.previous:
            notes.append(_unsaved(writing, message))
        else:
            notes.append(obey(writing, wish, message, own, item.vectors.get(wish.about)))
    if found.mentions:
        trust = Trust.EXTERNAL if message.trust is Trust.EXTERNAL else message.trust
        registry.note(writing, found.mentions, found.together, trust)
    results += [
        WriteResult(act=Act.REJECTED, reason=one.reason, content=one.text, made_by=found.made_by)
        for one in found.unkept[:REPORTED]
    ]
    if found.skipped:
        notes.append("Left out: " + ", ".join(f"{count} {name}" for name, count in sorted(found.skipped.items())))
    writing.tx.put(evolve(item.receipt, settled=True, results=tuple(results), notes=(*item.receipt.notes, *notes)))
    writing.event("receipt.settled", "receipt", item.receipt.id, actor="system", results=len(results))


def _candidate(writing: Writing, item: Item, candidate: Candidate, dropped: bool) -> tuple[WriteResult, Memory | None]:
    if dropped:
        return WriteResult(
            act=Act.REJECTED,
            reason="taken back in the same message",
            content=candidate.content,
            made_by=candidate.made_by,
        ), None
    distrusted = item.message.role is not Role.USER or candidate.status is Status.CANDIDATE
    return settle(writing, candidate, item.vectors.get(candidate.content), guard_echo=distrusted)


def _todos(writing: Writing, item: Item, notes: list[str]) -> list[WriteResult]:
    message, found = item.message, item.extraction
    entities = [one.id for one in found.mentions]
    results = [doing.write(writing, draft, message, entities, item.vectors.get(draft.content)) for draft in found.todos]
    fresh = {result.subject_id for result in results if result.subject_id and result.act is Act.INSERTED}
    if message.role is Role.USER and message.trust is not Trust.EXTERNAL:
        done, questions = doing.complete(writing, found.sentences, message, fresh, item.vectors)
        results += done
        notes += questions
    return results


def _unsaved(writing: Writing, message: Message) -> str:
    """ "Don't save this": nothing was distilled, and the message itself goes, too."""
    writing.tx.unindex(EntryKind.MESSAGE, message.id)
    writing.tx.remove(Message, message.id)
    writing.event("message.removed", "message", message.id, reason="do_not_save")
    return "Not saved, as you asked: nothing was kept of it, and the message was removed."
