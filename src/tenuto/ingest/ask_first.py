"""Forgetting that waits for the person's yes: what is life-critical, and what a model asked to have forgotten.

The wish is written down with the exact memories it is about, the channel it was spoken on and a deadline, and holds
nothing back yet. A later "yes, forget it" of the same person on the same channel carries it out, once, if the memories
are still what they were; a "no" ends it. A bare "yes" counts only right after the assistant asked, because it may
answer anything. What a model proposed needs both: the question right before, and the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from tenuto.ingest.write import Writing
from tenuto.language.consent import LONGEST, Consent, consent
from tenuto.ports import Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import RECALLED, Memory, Trust
from tenuto.records.wishes import StandingWish, WishKind, forget_question
from tenuto.text import patterns
from tenuto.text.words import tokens

LIFE_CRITICAL = frozenset({"allergy", "intolerance", "blood_type", "emergency_contact"})
"""What the rubric of importance gives a 10, but for a name: nobody is harmed by a name that was forgotten."""
WAITING = 32
"""Wishes without effect that are looked at, the latest."""
_VERB = patterns.compile(
    r"\b(?:forget|erase|delete|remove|vergiss|vergessen|lösch\w*|olvid\w*|borra\w*|oubli\w*|efface\w*|esque[cç]\w*|apag\w*)\b",
    "i",
)
_HELPING = patterns.compile(
    r"\b(?:you (?:can|may|should)|i want you to|i(?:'d| would) like you to|go ahead and|really|do|just|and)\b", "i"
)
_SURE = patterns.compile(r"\b(?:i'm|i am|quite|very|absolutely) sure\b", "i")
_VAGUE = patterns.compile(
    r"\W*(?:(?:it|that|this|them|about|all|of|one|memory|please|now|completely|entirely|for good|for ever|forever|then|"
    r"bitte|es|das|eso|esto|lo|ça|cela|le|isso|isto|me)\W*)*",
    "i",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A yes or a no to the question whether to forget."""

    yes: bool
    spelled: bool = False
    """It says "forget", so it answers no other question."""
    named: str = ""
    """What it names, if anything."""


def reply(text: str) -> Reply | None:
    """What a message answers to "Should I really forget …?"; ``None`` for anything that is not plainly yes or no."""
    if len(text) > LONGEST or "?" in text:
        return None
    said = _SURE.sub(" yes ", text)
    verb = _VERB.search(said)
    if verb is None:
        plain = consent(said)
        return None if plain is Consent.UNCLEAR else Reply(plain is Consent.YES)
    before = consent(_HELPING.sub(" ", said[: verb.start()]))
    if before is Consent.NO:
        return Reply(False, spelled=True)
    if before is not Consent.YES:
        return None
    rest = said[verb.end() :]
    return Reply(True, spelled=True, named="" if _VAGUE.fullmatch(rest) else rest)


def life_critical(memory: Memory) -> bool:
    """Whether forgetting a memory could cost a life: an allergy, a blood type, whom to call."""
    denied = memory.metadata.get("ends") or memory.metadata.get("negated")
    pinned_limit = memory.pinned and memory.attribute == "limit"
    vital = memory.attribute in LIFE_CRITICAL or pinned_limit
    return vital and not denied and memory.status in RECALLED and memory.superseded_by is None


def stage(writing: Writing, memories: Sequence[Memory], wish: StandingWish) -> str:
    """Write a wish down that has no effect before it is confirmed; the question, for the receipt."""
    until = writing.now + writing.deps.policy.memory.forget_within
    for one in _waiting(writing):
        if set(one.memories) & {memory.id for memory in memories}:
            writing.tx.put(evolve(one, lifted_at=writing.now))
    writing.tx.put(
        evolve(
            wish,
            active=False,
            memories=tuple(one.id for one in memories),
            waits_until=until,
            shown=_digest(memories),
            channel=writing.channel,
        )
    )
    writing.event("wish.waits", "wish", wish.id)
    return f"Not forgotten yet. {forget_question([one.content for one in memories])} Say “yes, forget it”, and it is."


def propose(writing: Writing, memory: Memory, reason: str) -> None:
    """A model's wish to forget a memory."""
    wish = StandingWish(
        id=writing.deps.ids("wsh", writing.now),
        kind=WishKind.FORGET,
        created_at=writing.now,
        persona=memory.persona,
        quote=reason,
        proposed=True,
    )
    stage(writing, (memory,), wish)


def answered(writing: Writing, message: Message, before: str | None) -> tuple[StandingWish | None, str] | None:
    """What a message answers to the latest question: the wish to carry out, if any, and the words for the receipt.

    ``before`` is the assistant's turn right before it. ``None`` where it answers nothing.
    """
    if message.role is not Role.USER or message.trust is Trust.EXTERNAL or (said := reply(message.content)) is None:
        return None
    for wish in _waiting(writing):
        if not wish.concerns(message.persona):
            continue
        now = writing.tx.get_many(Memory, wish.memories)
        memories = [now[id] for id in wish.memories if id in now]
        if not _meant(said, wish, message, memories, before):
            continue
        if not said.yes:
            writing.tx.put(evolve(wish, lifted_at=writing.now))
            return None, "Kept, as before."
        if _digest(memories) != wish.shown or any(one.status not in RECALLED for one in memories):
            writing.tx.put(evolve(wish, lifted_at=writing.now))
            return None, "It has changed since the question, so nothing was forgotten. Say again what to forget."
        confirmed = evolve(wish, active=True, waits_until=None)
        writing.tx.put(confirmed)
        writing.event("wish.stands", "wish", wish.id, wish=str(wish.kind))
        return confirmed, "Forgotten, as you confirmed: " + "; ".join(one.content for one in memories)
    return None


def _waiting(writing: Writing) -> list[StandingWish]:
    """Wishes that can still be confirmed, the latest first."""
    idle = Where("kind", "=", WishKind.FORGET), Where("active", "=", False)
    found = writing.tx.find(StandingWish, *idle, order="-created_at", limit=WAITING)
    return [one for one in found if one.waits(writing.now)]


def _meant(said: Reply, wish: StandingWish, message: Message, memories: Sequence[Memory], before: str | None) -> bool:
    """Whether an answer is one to this question."""
    asked = before is not None and _asks(before, memories)
    if wish.proposed:
        return asked and (said.spelled or not said.yes)
    if wish.channel != message.channel:
        return False
    if said.named:
        wanted = set(tokens(said.named))
        return bool(memories) and all(wanted & set(tokens(one.value or one.content)) for one in memories)
    return said.spelled or asked


def _asks(turn: str, memories: Sequence[Memory]) -> bool:
    """Whether the assistant's turn asks whether to forget these."""
    words = set(tokens(turn))
    named = all(words & set(tokens(one.value or one.content)) for one in memories)
    return named and "?" in turn and _VERB.search(turn) is not None


def _digest(memories: Sequence[Memory]) -> str:
    """What exactly the question was about."""
    return sha256("\x00".join(f"{one.id}\x01{one.content}" for one in memories).encode()).hexdigest()
