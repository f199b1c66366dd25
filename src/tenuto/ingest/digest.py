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
from tenuto.errors import EmbedderError, ReadingStopped
from tenuto.ingest import ask_first, entity_registry, write_todos
from tenuto.ingest.apply_wishes import confirmed, keep_standing, obey, remove_unsaved, standing, take_back
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.embedding import checked
from tenuto.ingest.extract import model
from tenuto.ingest.extract.exchange import Exchange, Extraction
from tenuto.ingest.extract.propositions import propositions
from tenuto.ingest.extract.wish_marks import unsaved
from tenuto.ingest.known_names import with_more
from tenuto.ingest.neighbours import nearby
from tenuto.ingest.plans import hold_due_plans
from tenuto.ingest.reconcile.same_statement import subject_of
from tenuto.ingest.write import Writing, retire_ended, settle
from tenuto.language.detect import language_of
from tenuto.language.echoes import without_injected
from tenuto.language.medicines import health_words
from tenuto.language.mentions import SELF, Registry
from tenuto.language.own_words import own_words
from tenuto.language.people import Person, in_turn, relation_in
from tenuto.language.wishes import Wish
from tenuto.ports import Reader, Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import RECALLED, Domain, Entity, Memory, Status, Trust
from tenuto.records.operations import Act, Job, Receipt, WriteResult
from tenuto.records.reading import Mark

DIGEST = "digest"
REPORTED = 12
"""Statements that were not kept which a receipt names."""


@dataclass(slots=True)
class Item:
    """One message under way."""

    message: Message
    receipt: Receipt
    extraction: Extraction
    injected: bool
    exchange: Exchange
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
            receipt = next(iter(tx.find(Receipt, Where("message_id", "=", item.message.id), limit=1)), item.receipt)
            if receipt.settled or tx.get(Message, item.message.id) is None:
                continue
            writing = Writing(
                deps, tx, deps.clock(), channel=item.message.channel, persona=item.message.persona, nearby=near
            )
            hold_due_plans(writing, item.message.at)
            _settle(writing, replace(item, receipt=receipt))
            writing.finish()
    if deps.working is not None and any(unsaved(item.extraction.wishes) for item in items):
        deps.working.drop(user)


# --- before the transaction -------------------------------------------------------------------------------------------


def _prepare(deps: Deps, user: str, ids: Sequence[str]) -> list[Item]:
    with deps.store.reading(user) as reader:
        messages = sorted(reader.get_many(Message, ids).values(), key=lambda message: (message.at, message.seq))
        receipts = (
            {one.message_id: one for one in reader.find(Receipt, Where("message_id", "in", list(ids)))} if ids else {}
        )
        known = deps.names.fresh(reader)
        names = _own_names(reader, user)
        zone = _zone(reader)
        spent = model.spent_today(reader, deps.clock())
        waiting = [one for one in messages if one.id not in receipts or not receipts[one.id].settled]
        earlier = {message.id: _before(reader, message) for message in waiting}
        held = [one.about for one in standing(reader)] if waiting else []
        vital = reader.find(Memory, Where("pinned", "=", True), limit=VITAL) if waiting else []
    readable = {one.id: without_injected(one.content) for one in waiting}
    own = {one.id: own_words(readable[one.id][0]) for one in waiting}
    answered = {one.id: _answered(one, earlier[one.id]) for one in waiting}
    spoken = [one for one in waiting if one.role is not Role.ASSISTANT]
    read = deps.reader.read_many([(own[one.id], answered[one.id]) for one in spoken])
    marks = {one.id: found for one, found in zip(spoken, read, strict=True)}
    items = []
    for message in waiting:
        exchange = Exchange(
            message=evolve(message, content=own[message.id]),
            before=answered[message.id],
            turns=tuple(_as_shown(one) for one in earlier[message.id] if one.session_id == message.session_id),
            people=_people(earlier[message.id], known.registry),
            registry=known.registry,
            own_names=names.words,
            user_name=names.shown,
            language=_language(earlier[message.id]),
            zone=zone,
            health=_health(vital, known.registry),
            emergency=frozenset(subject_of(one) for one in vital if one.attribute == "emergency_contact"),
        )
        extraction, note = _read(deps, exchange, marks.get(message.id, []))
        names = names.with_told(extraction)
        if more := _overlay(extraction, known.entities, message):
            known = with_more(known, more)
        receipt = receipts.get(message.id) or _receipt(deps, message)
        items.append(Item(message, receipt, extraction, readable[message.id][1], exchange, notes=list(note)))
    if deps.model is not None and items:
        _with_model(deps, user, items, known.registry, names, spent)
    _embed(deps, items, held)
    return items


def _receipt(deps: Deps, message: Message) -> Receipt:
    """The receipt of a message that was brought in with many others: it is written when the message has been read."""
    return Receipt(
        id=deps.ids("rcp", deps.clock()),
        message_id=message.id,
        session_id=message.session_id,
        at=message.at,
        importance=message.importance,
    )


def _read(deps: Deps, exchange: Exchange, found: Sequence[Mark]) -> tuple[Extraction, list[str]]:
    """What a message proposes, read where it can be stopped. What takes too long is kept as a message only."""
    try:
        return deps.isolated.run(propositions, exchange, found, deps.policy.memory), []
    except ReadingStopped as error:
        return Extraction(), [f"Kept as a message only, because reading it was stopped: {error.message}"]


VITAL = 200
"""Pinned memories that tell whose a medicine or a condition is."""
EARLIER = 8
"""Messages of the session before one that tell whom it speaks of."""


def _before(reader: Reader, message: Message) -> list[Message]:
    """The messages before one, the latest last: "he" may mean somebody of yesterday's talk.

    What came from outside is never read beside the person's own words, so that neither lends the other its meaning;
    only the assistant's turns of the talk itself, which an import brings as external, tell what was asked.
    """
    persona = Where("persona", "is", None) if message.persona is None else Where("persona", "=", message.persona)
    alike = Where("trust", "=" if message.trust is Trust.EXTERNAL else "!=", Trust.EXTERNAL)
    earlier = Where("seq", "<", message.seq)
    found = reader.find(Message, persona, alike, earlier, order="-seq", limit=EARLIER)
    if message.source.startswith("import:") and message.trust is not Trust.EXTERNAL:
        talk = (Where("session_id", "=", message.session_id), Where("role", "=", Role.ASSISTANT))
        turns = reader.find(Message, persona, *talk, earlier, order="-seq", limit=EARLIER)
        found = sorted({one.id: one for one in (*found, *turns)}.values(), key=lambda one: -one.seq)[:EARLIER]
    return found[::-1]


def _answered(message: Message, earlier: Sequence[Message]) -> str | None:
    """The assistant's turn that a message answers."""
    last = earlier[-1] if earlier else None
    if last is None or last.role is not Role.ASSISTANT or last.session_id != message.session_id:
        return None
    return last.content


def _people(earlier: Sequence[Message], registry: Registry) -> tuple[Person, ...]:
    return tuple(person for message in earlier for person in in_turn(message.content, registry))


def _health(vital: Sequence[Memory], registry: Registry) -> dict[str, Person]:
    """Whose each known medicine, allergy and condition is; one that two people have tells nothing."""
    found: dict[str, set[str]] = {}
    for memory in vital:
        about_health = (memory.attribute or "").startswith(("medication", "allergy", "condition", "blood", "limit"))
        if memory.value and memory.status in RECALLED and about_health:
            for word in health_words(memory.value):
                found.setdefault(word, set()).add(subject_of(memory))
    return {
        name: Person(id=id, label=registry.labels.get(id, ""), start=0, end=0, relation=relation_in(registry, id))
        for name, ids in found.items()
        if len(ids) == 1 and ((id := next(iter(ids))) == SELF or id in registry.labels)
    }


def _language(earlier: Sequence[Message]) -> str:
    """The language of the talk so far."""
    return language_of(" ".join(one.content[:400] for one in earlier if one.role is Role.USER))


@dataclass(frozen=True, slots=True)
class _Names:
    """What the user is called: every form, and the one that is shown."""

    words: frozenset[str]
    shown: str | None

    def with_told(self, extraction: Extraction) -> _Names:
        """How the user called themselves in a message: the next one of the same batch knows it."""
        told = [
            one.value
            for one in extraction.candidates
            if one.attribute == "name" and one.subject == SELF and one.value and one.status is not Status.CANDIDATE
        ]
        return (
            _Names(self.words | _with_first_names(told), told[-1].split(" (")[0] if told else self.shown)
            if told
            else self
        )


def _with_model(
    deps: Deps, user: str, items: list[Item], registry: Registry, names: _Names, spent: model.Spent
) -> None:
    with deps.store.reading(user) as reader:
        exchanges = [
            replace(item.exchange, known=_known(reader, item), registry=registry, own_names=names.words)
            for item in items
        ]
    outcome = model.propose(deps, exchanges, spent)
    for item in items:
        if (proposed := outcome.extractions.get(item.message.id)) is not None:
            item.extraction = model.joined(item.extraction, proposed, item.message.persona)
        item.notes.extend(outcome.notes.get(item.message.id, ()))
    if outcome.spent.tokens:
        with deps.store.writing(user) as tx:
            model.charge(tx, deps.clock(), outcome.spent)


ABOUT_USER, ABOUT_OTHERS = 40, 8
"""Known facts about the user, and about each one who is mentioned, that a model is shown."""


def _known(reader: Reader, item: Item) -> tuple[str, ...]:
    """What is known of the user and of the people whom a message mentions, or the talk just before it."""
    persona = item.message.persona
    able = [Where("status", "in", sorted(RECALLED))]
    found = reader.find(Memory, Where("domain", "=", Domain.PROFILE), *able, order="-importance", limit=ABOUT_USER)
    mentioned = [one.id for one in item.extraction.mentions] + [one.id for one in item.exchange.people[-4:]]
    for id in dict.fromkeys(mentioned):
        found += reader.find(Memory, Where("entities", "has", id), *able, order="-importance", limit=ABOUT_OTHERS)
    shared = [one for one in found if one.persona in (None, persona) and not one.should_do]
    return tuple(dict.fromkeys(one.content for one in shared))


def _as_shown(message: Message) -> Message:
    """A message as it is read: without recalled text, code and quoted lines."""
    return evolve(message, content=own_words(without_injected(message.content)[0]))


def _own_names(reader: Reader, user: str) -> _Names:
    said = Where("status", "!=", Status.CANDIDATE)
    known = reader.find(Memory, Where("key", "=", "profile|person|user|fact|name"), said, order="-updated_at", limit=8)
    values = [memory.value for memory in known if memory.value]
    return _Names(_with_first_names([user, "me", "user", *values]), values[0].split(" (")[0] if values else None)


def _with_first_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(part.casefold().strip("()") for name in names for part in (name, *name.split()))


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
            trust=message.trust,
        )
        for one in extraction.mentions
        if one.id not in known
    ]


def _embed(deps: Deps, items: list[Item], held: Sequence[str]) -> None:
    """One vector per text that is compared or indexed. Without an embedder everything goes on by words and keys.

    ``held`` are the topics of wishes that stand: what is said is compared with them.
    """
    texts = [*held, *(item.message.content for item in items if held and item.message.role is Role.USER)]
    for item in items:
        found = item.extraction
        texts += [one.content for one in found.candidates] + [one.content for one in found.todos]
        texts += [one.about for one in found.wishes if one.about] + [one.text for one in found.finished]
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
    results += [*retire_ended(writing, found.endings, message), *_todos(writing, item, notes)]
    wishes = found.wishes
    if (answer := ask_first.answered(writing, message, item.exchange.before)) is not None:
        agreed, said = answer
        notes.append(said)
        wishes = tuple(one for one in wishes if one.wish is not Wish.FORGET)
        if agreed is not None:
            confirmed(writing, agreed)
    for wish in wishes:
        if dropped and wish.wish is Wish.FORGET and not wish.about:
            notes.append(take_back(writing, wish, message))
        elif wish.wish is Wish.DO_NOT_SAVE and not wish.previous:
            notes.append(remove_unsaved(writing, message))
        else:
            notes.append(obey(writing, wish, message, own, item.vectors.get(wish.about)))
    notes += keep_standing(writing, message, own, item.vectors)
    mentioned = entity_registry.note(writing, found.mentions, found.together, message.trust)
    results += [
        WriteResult(act=Act.REJECTED, reason=one.reason, content=one.text, made_by=found.made_by)
        for one in found.unkept[:REPORTED]
    ]
    if found.skipped:
        notes.append("Left out: " + ", ".join(f"{count} {name}" for name, count in sorted(found.skipped.items())))
    told = (*item.receipt.notes, *notes)
    settled = evolve(item.receipt, settled=True, results=tuple(results), notes=told, mentioned=tuple(mentioned))
    writing.tx.put(settled)
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
    results = [
        write_todos.write(writing, draft, message, entities, item.vectors.get(draft.content)) for draft in found.todos
    ]
    fresh = {result.subject_id for result in results if result.subject_id and result.act is Act.INSERTED}
    if message.role is Role.USER and message.trust is not Trust.EXTERNAL:
        done, questions = write_todos.complete(writing, found.finished, message, fresh, item.vectors)
        results += done
        notes += questions
    return results
