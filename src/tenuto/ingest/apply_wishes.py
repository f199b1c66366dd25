"""Carrying out what the user wished: forgetting, not bringing up, allowing, remembering. In the transaction of the
message.

A wish is written down (:class:`StandingWish`) and the gate holds back what it names from then on: memories, the
messages that state them, the answers to those, and every line that rests on them. "That" is what the message itself
said before, or else the latest earlier message of the session that says something, whether a memory was made of it or
not. A named topic stands for what is said later, too, until it is lifted. Each wish reports what it did, also when it
found nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tenuto.ingest import ask_first
from tenuto.ingest.memory_moves import forget_memory, keep_important, set_proactive
from tenuto.ingest.wish_targets import TOPIC, Meant, cosine, is_of, meant_by, speaks_of, topic_named
from tenuto.ingest.write import Writing
from tenuto.language.topics import mentions, same, subject, topic_of
from tenuto.language.wishes import Consent, Wish
from tenuto.ports import Reader, Transaction, Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role, SessionState
from tenuto.records.memory import Memory, Proactive, Todo, TodoStatus
from tenuto.records.operations import EntryKind, Event
from tenuto.records.wishes import StandingWish, WishKind

MOST_STANDING = 32
"""Standing wishes, the latest, that a new message is held to."""
_HOLDING = {
    Wish.FORGET: WishKind.FORGET,
    Wish.DO_NOT_SAVE: WishKind.FORGET,
    Wish.DO_NOT_BRING_UP: WishKind.SILENCE,
}


def obey(writing: Writing, wish: Consent, message: Message, own: Sequence[Memory], vector: Vectors | None) -> str:
    """Do what a wish asks; the words for the receipt. ``own`` is what this very message left."""
    if wish.wish is Wish.PRIVATE:
        return _private(message)
    if wish.wish is Wish.REMEMBER and wish.statement:
        return "Kept, because you asked to remember it."
    if wish.wish is Wish.MAY_MENTION:
        return _lift(writing, wish, message, own)
    meant = meant_by(writing, wish, message, own, vector)
    if wish.wish is Wish.REMEMBER:
        for memory in meant.memories:
            keep_important(writing, memory)
        return _told("Kept as important", meant) if meant.memories else "Nothing before it was kept."
    if not wish.about and not meant.memories and (cancelled := _cancel_todos(writing, message)):
        _stand(writing, wish, message, meant)
        return f"Dropped {cancelled} todo(s) of the message before."
    vital = tuple(one for one in meant.memories if ask_first.life_critical(one))
    if vital and _HOLDING[wish.wish] is WishKind.FORGET:
        return _asked_first(writing, wish, message, meant, vital)
    _stand(writing, wish, message, meant)
    return _report(wish, meant)


def _asked_first(writing: Writing, wish: Consent, message: Message, meant: Meant, vital: tuple[Memory, ...]) -> str:
    """Forget what is not life-critical, and ask about the rest."""
    rest = replace(meant, memories=tuple(one for one in meant.memories if one not in vital))
    question = ask_first.stage(writing, vital, _wish(writing, wish, message, replace(meant, memories=vital)))
    if not rest.memories:
        return question
    _stand(writing, wish, message, rest)
    return f"{_report(wish, rest)} {question}"


def confirmed(writing: Writing, wish: StandingWish) -> None:
    """Carry out a wish that waited for the person's yes."""
    for memory in writing.tx.get_many(Memory, wish.memories).values():
        forget_memory(writing, memory, reason=f"the user said {wish.quote!r} and confirmed it")


def _report(wish: Consent, meant: Meant) -> str:
    done = "Will not be brought up" if wish.wish is Wish.DO_NOT_BRING_UP else "Forgotten"
    if not (meant.memories or meant.messages):
        if not wish.about:
            return "Nothing before it says anything, so nothing changed. Say what you mean, and it is done."
        later = "will not be brought up" if wish.wish is Wish.DO_NOT_BRING_UP else "is held back"
        return f"Nothing about {subject(wish.about)!r} was known. The wish stands: what is said of it {later}."
    told = _told(done, meant)
    return f"{told}. If you meant something else, say what: this is held back until then." if meant.unsure else told


def _told(done: str, meant: Meant) -> str:
    listed = [memory.content for memory in meant.memories] or [f"{len(meant.messages)} message(s)"]
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return f"{done}: {'; '.join(listed[:5])}{more}"


def _private(message: Message) -> str:
    if message.persona is None:
        return "Asked to stay between the two of you, but no persona is set here, so it is shared like the rest."
    return f"Kept for {message.persona!r} only."


# --- what stands ------------------------------------------------------------------------------------------------------


def _stand(writing: Writing, wish: Consent, message: Message, meant: Meant) -> None:
    """Write the wish down and let it hold: memories, statements, the answers to them, and the topic it names."""
    kind = _HOLDING[wish.wish]
    writing.tx.put(_wish(writing, wish, message, meant))
    for memory in meant.memories:
        if kind is WishKind.FORGET:
            forget_memory(writing, memory, reason=f"the user said {wish.quote!r}")
        else:
            set_proactive(writing, memory, Proactive.NO, reason=f"the user said {wish.quote!r}")
    writing.event("wish.stands", "message", message.id, wish=str(kind))


def _wish(writing: Writing, wish: Consent, message: Message, meant: Meant) -> StandingWish:
    """The wish with everything that it holds back."""
    kind = _HOLDING[wish.wish]
    _, names, entities = topic_named(writing.tx, wish.about) if wish.about else (None, (), ())
    found = bool(meant.memories or meant.messages)
    said = [id for one in meant.memories for id in statements(writing.tx, one)]
    said += [one.id for one in meant.messages] + _answers(writing.tx, meant.messages)
    return StandingWish(
        id=writing.deps.ids("wsh", writing.now),
        kind=kind,
        created_at=message.at,
        about=wish.about,
        names=names,
        lasting=kind is WishKind.SILENCE or (bool(wish.about) and not found),
        messages=tuple(dict.fromkeys(id for id in said if id != message.id)),
        memories=tuple(one.id for one in meant.memories),
        entities=entities if kind is WishKind.SILENCE else (),
        message_id=message.id,
        persona=message.persona,
        quote=wish.quote,
    )


def take_back(writing: Writing, wish: Consent, message: Message) -> str:
    """Hold back a message that takes back what it said itself."""
    _stand(writing, wish, message, Meant(messages=(message,)))
    return "Not kept, because you took it back."


REMOVED = "message.removed"
"""The event of a message that was not to be saved."""


def off_record(writing: Writing, message: Message) -> None:
    """Hold back the answers to a message that is about to be removed: they repeat what it said."""
    writing.tx.put(
        StandingWish(
            id=writing.deps.ids("wsh", writing.now),
            kind=WishKind.FORGET,
            created_at=writing.now,
            messages=tuple(_answers(writing.tx, [message])),
            message_id=message.id,
            persona=message.persona,
        )
    )


def remove_unsaved(writing: Writing, message: Message) -> str:
    """ "Don't save this": nothing was distilled, and the message itself goes, too."""
    tx = writing.tx
    off_record(writing, message)
    tx.unindex(EntryKind.MESSAGE, message.id)
    tx.remove(Message, message.id)
    for state in tx.find(SessionState):
        if state.last_user_message and message.content.startswith(state.last_user_message):
            tx.put(evolve(state, last_user_message=None))
    writing.event(REMOVED, "message", message.id, reason="do_not_save")
    return "Not saved, as you asked: nothing was kept of it, and the message was removed."


def standing(reader: Reader) -> list[StandingWish]:
    """The wishes that also hold for what is said after them."""
    found = reader.find(StandingWish, Where("active", "=", True), order="-created_at", limit=MOST_STANDING)
    return [one for one in found if one.lasting and one.about]


def keep_standing(
    writing: Writing, message: Message, own: Sequence[Memory], vectors: Mapping[str, Vectors]
) -> list[str]:
    """Hold what a new message brings to the wishes that stand; the words for its receipt."""
    notes = []
    for wish in standing(writing.tx):
        if wish.message_id == message.id or message.at < wish.created_at:
            continue
        topic = topic_of(wish.about, wish.names)
        for memory in own:
            if wish.kind is WishKind.SILENCE and speaks_of(topic, wish.about, wish.entities, memory):
                set_proactive(writing, memory, Proactive.NO, reason=f"the user said {wish.quote!r}")
                notes.append(f"Will not be brought up, as you asked before: {memory.content}")
        near = cosine(vectors.get(wish.about), vectors.get(message.content))
        if message.role is Role.USER and is_of(writing, topic, wish.about, message, near):
            writing.tx.put(evolve(wish, messages=(*wish.messages, message.id)))
    if message.role is Role.ASSISTANT and (answered := _answers_held(writing.tx, message)) is not None:
        writing.tx.put(evolve(answered, messages=(*answered.messages, message.id)))
    return notes


def _answers_held(tx: Transaction, message: Message) -> StandingWish | None:
    """The wish whose message, or what it holds back, an answer follows."""
    before = tx.find(
        Message, Where("session_id", "=", message.session_id), Where("seq", "<", message.seq), order="-seq", limit=1
    )
    since = Where("seq", ">", before[0].seq if before else 0), Where("seq", "<", message.seq)
    removed = tx.find(Event, Where("kind", "=", REMOVED), *since, order="-seq", limit=1)
    last = removed[0].subject_id if removed else before[0].id if before else None
    held = tx.find(StandingWish, Where("active", "=", True), order="created_at")
    return next((one for one in held if last and (one.message_id == last or last in one.messages)), None)


def statements(tx: Transaction, memory: Memory) -> list[str]:
    """The messages that state a memory, and the answers to them."""
    said = [one.message_id for one in memory.evidence if one.message_id]
    return [*said, *_answers(tx, tx.get_many(Message, said).values())]


def _answers(tx: Transaction, messages: Iterable[Message]) -> list[str]:
    """What the persona answered to messages: it repeats what they say."""
    found = []
    for message in messages:
        here = Where("session_id", "=", message.session_id), Where("seq", ">", message.seq)
        for later in tx.find(Message, *here, order="seq", limit=3):
            if later.role is Role.USER:
                break
            found.append(later.id)
    return found


def hold(writing: Writing, kind: WishKind, memory: Memory, quote: str) -> None:
    """Hold back the statements of a memory that was forgotten, or is not to be raised, by hand."""
    writing.tx.put(
        StandingWish(
            id=writing.deps.ids("wsh", writing.now),
            kind=kind,
            created_at=writing.now,
            messages=tuple(dict.fromkeys(statements(writing.tx, memory))),
            memories=(memory.id,),
            quote=quote,
        )
    )


def release(writing: Writing, kind: WishKind, memory_id: str) -> None:
    """Take a memory out of the wishes of a kind that hold it; one that holds nothing else is lifted."""
    for wish in writing.tx.find(StandingWish, Where("kind", "=", kind), Where("active", "=", True)):
        if memory_id not in wish.memories:
            continue
        left = tuple(id for id in wish.memories if id != memory_id)
        lifted = evolve(wish, memories=left, active=bool(left), lifted_at=None if left else writing.now)
        writing.tx.put(lifted)


def _lift(writing: Writing, wish: Consent, message: Message, own: Sequence[Memory]) -> str:
    """ "You can mention Petra again": known when relevant, as before the wish."""
    tx = writing.tx
    standing = tx.find(StandingWish, Where("kind", "=", WishKind.SILENCE), Where("active", "=", True))
    asked = topic_of(wish.about)
    if wish.about:
        matching = [one for one in standing if one.about and same(asked, topic_of(one.about, one.names))]
    else:
        matching = standing[-1:]
    ids = {id for one in matching for id in one.memories} | {one.id for one in own}
    silenced = tx.find(Memory, Where("proactive_use", "=", Proactive.NO), limit=TOPIC)
    freed = [one for one in silenced if one.id in ids or (wish.about and mentions(asked, one.content))]
    for one in matching:
        tx.put(evolve(one, active=False, lifted_at=writing.now))
    for memory in freed:
        set_proactive(writing, memory, Proactive.ONLY_WHEN_RELEVANT, reason=f"the user said {wish.quote!r}")
    if not (matching or freed):
        what = f"about {wish.about!r}" if wish.about else "before it"
        return f"Nothing {what} was held back, so nothing changed."
    listed = "; ".join(memory.content for memory in freed[:5]) or ", ".join(subject(one.about) for one in matching)
    return f"May come up again when it is relevant: {listed}"


def _cancel_todos(writing: Writing, message: Message) -> int:
    """ "Forget that" right after a todo drops the todo."""
    open_now = writing.tx.find(
        Todo,
        Where("session_id", "=", message.session_id),
        Where("status", "=", TodoStatus.OPEN.value),
        Where("created_at", "<=", message.at),
        order="-created_at",
        limit=1,
    )
    for todo in open_now:
        writing.tx.put(evolve(todo, status=TodoStatus.CANCELLED, slot=None, updated_at=writing.now))
        writing.event("todo.cancelled", "todo", todo.id)
    return len(open_now)
