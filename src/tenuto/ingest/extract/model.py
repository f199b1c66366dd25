"""Asking a model for memories: in batches, within a budget, never on the hot path, and never alone in charge.

Several messages travel in one call. An answer that cannot be read is sent back once per allowed retry with the reason;
then, or when the model fails, is slow or the day's budget is spent, the reader's own result stands and the receipt says
so. Every proposal passes :mod:`tenuto.ingest.extract.checks`. What the calls cost is kept per user and day.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from tenuto.deps import Deps
from tenuto.errors import ModelError, TenutoError
from tenuto.ingest.candidate import Candidate, stems
from tenuto.ingest.extract.answers import SCHEMA, Parsed, Refused, Unusable, parse
from tenuto.ingest.extract.claims import Line, Shown, quote_of
from tenuto.ingest.extract.exchange import Exchange, Extraction, Finished, Unkept, capped
from tenuto.ingest.extract.proposals import Passed, memory
from tenuto.ingest.extract.proposed_todos import finished, todo
from tenuto.ingest.extract.propositions import ASKED
from tenuto.language.detect import language_of
from tenuto.language.mentions import SELF, Mention
from tenuto.language.render import word
from tenuto.language.support import name_words
from tenuto.language.todos import Draft
from tenuto.language.wishes import Wish
from tenuto.policy import MemoryPolicy
from tenuto.ports import Answer, Reader, Transaction
from tenuto.prompts import load
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Trust
from tenuto.records.scope import User
from tenuto.text import patterns

LONGEST = 4000
"""Characters of one message that a model sees."""
ANSWER = 2048
"""Tokens that one answer may take."""
TURNS = 6
"""Turns before a message that a model sees."""
KNOWN = 80
"""Known facts that a model sees."""
SURE = 0.8
"""From this confidence on a life-critical or firm thing that only the reader saw stays."""
FIRM = ("name", "age", "home", "employer", "job", "blood_type")
"""What the reader reads surely enough of the user to keep it beside a model's silence."""
_WORD = patterns.compile(r"[^\W\d_]{2,}|\d")
SPENT = "model_spent"


DAYS_KEPT = 60
"""Days of spending that are kept for each user."""


class Spent(NamedTuple):
    """What extraction cost a user today."""

    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.cost + other.cost)

    def exhausts(self, policy: MemoryPolicy) -> bool:
        """Is the day's budget of tokens or of money gone?"""
        return self.tokens >= policy.model_tokens_per_day or 0 < policy.model_cost_per_day <= self.cost


@dataclass(slots=True)
class Outcome:
    """What the model brought, per message, and what it cost."""

    extractions: dict[str, Extraction] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)

    def say(self, messages: Sequence[Message], note: str) -> None:
        for message in messages:
            self.notes[message.id] = (*self.notes.get(message.id, ()), note)


def propose(deps: Deps, exchanges: Sequence[Exchange], spent: Spent) -> Outcome:
    """Ask the model about the messages of people. Never raises: what fails is left to the reader."""
    outcome = Outcome()
    policy = deps.policy.memory
    telling = [one for one in exchanges if one.message.role is Role.USER and _WORD.search(one.message.content)]
    for batch in batches(telling, policy.model_batch_messages):
        if spent.plus(outcome.spent).exhausts(policy):
            outcome.say(
                [one.message for one in batch], "The day's model budget is spent; the reader's own result stands."
            )
            continue
        _ask(deps, batch, outcome)
    return outcome


def batches(telling: Sequence[Exchange], most: int) -> Iterator[list[Exchange]]:
    """What is read in one call: never the person's own words together with what came from outside."""
    for outside in (False, True):
        alike = [one for one in telling if (one.message.trust is Trust.EXTERNAL) is outside]
        for start in range(0, len(alike), most):
            yield alike[start : start + most]


def _ask(deps: Deps, batch: Sequence[Exchange], outcome: Outcome) -> None:
    messages = [one.message for one in batch]
    prompts = deps.policy.model.prompts
    shown = shown_to(batch)
    system, user = load("extract", prompts), prompt_of(shown, {one.id for one in messages})
    problem = ""
    for _ in range(1 + deps.policy.model.retries):
        said = user if not problem else f"{user}\n\n{load('repair', prompts).format(problem=problem)}"
        try:
            answer = _complete(deps, system, said)
        except TenutoError as error:
            outcome.say(messages, f"The model failed ({error.message}); the reader's own result stands.")
            return
        outcome.spent = outcome.spent.plus(cost_of(deps, system + said, answer))
        try:
            parsed = parse(answer.text)
        except Unusable as error:
            problem = str(error)
            continue
        _take(deps, batch, shown, outcome, parsed)
        return
    outcome.say(messages, f"The model's answer could not be used ({problem}); the reader's own result stands.")


def shown_to(batch: Sequence[Exchange]) -> Shown:
    """The talk that a batch stands in, in order, with what is known of those who are spoken of."""
    lines: dict[str, Message] = {}
    for exchange in batch:
        for message in (*exchange.turns[-TURNS:], exchange.message):
            lines[message.id] = message
    ordered = sorted(lines.values(), key=lambda message: (message.at, message.seq))
    first = batch[0]
    return Shown(
        lines=tuple(
            Line(
                text=one.content[:LONGEST],
                at=one.at,
                own=one.role is Role.USER,
                id=one.id,
                language=first.language,
                speaker=one.speaker,
            )
            for one in ordered
        ),
        known=tuple(dict.fromkeys(fact for exchange in batch for fact in exchange.known))[:KNOWN],
        own_names=first.own_names,
        people=frozenset(
            plain
            for exchange in batch
            for id, label in exchange.registry.labels.items()
            if id.startswith("person:")
            for plain in name_words(label)
        ),
        zone=first.zone,
    )


def prompt_of(shown: Shown, new: set[str]) -> str:
    """The talk numbered and fenced: evidence, with a mark that nothing inside it can know."""
    known = [f"- {one_line(fact)}" for fact in shown.known]
    lines = [
        f"[{place}] {line.at:%A %Y-%m-%d %H:%M} {one_line(line.speaker or 'user') if line.own else 'assistant'}: {one_line(line.text)}"
        for place, line in enumerate(shown.lines, 1)
    ]
    wanted = ", ".join(f"[{place}]" for place, line in enumerate(shown.lines, 1) if line.id in new)
    text = "\n".join(["Known:", *(known or ["- nothing yet"]), "", "Talk:", *lines])
    mark = blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"<<<MESSAGES {mark}\n{text}\nMESSAGES {mark}>>>\n\nTake memories, todos and what is done from {wanted}."


def _take(deps: Deps, batch: Sequence[Exchange], shown: Shown, outcome: Outcome, parsed: Parsed) -> None:
    name = deps.model.name if deps.model is not None else "none"
    bound = {line.id: line for line in shown.lines}
    messages = {one.id: one for exchange in batch for one in (*exchange.turns, exchange.message) if one.id in bound}
    new = [one.message.id for one in batch]
    drawn = {id: _Drawn() for id in new}
    last = batch[-1]
    for proposal in parsed.memories:
        made = memory(proposal, shown, messages, name, last.registry, last.own_names)
        home = drawn[_home(made.candidate.message_id if isinstance(made, Passed) else None, new)]
        if isinstance(made, Refused):
            home.refused.append(made)
            continue
        home.candidates.append(made.candidate)
        if made.mention is not None:
            home.mentions.append(made.mention)
    for wanted in parsed.todos:
        drafted = todo(wanted, shown)
        if isinstance(drafted, Refused):
            drawn[new[-1]].refused.append(drafted)
        else:
            drawn[_home(shown.lines[drafted[1]].id, new)].todos.append(drafted[0])
    for done in parsed.done:
        over = finished(done, shown)
        if isinstance(over, Refused):
            drawn[new[-1]].refused.append(over)
        else:
            drawn[
                _home(shown.lines[quote_of(done.quote, done.message or None, shown)[0] or 0].id, new)
            ].finished.append(over)
    drawn[new[0]].refused += parsed.malformed
    for id, one in drawn.items():
        outcome.extractions[id] = one.extraction(name, deps.policy.memory.candidates_per_message)


def _home(id: str | None, new: Sequence[str]) -> str:
    """The new message to whose receipt a result belongs: its own, or the last one that was read."""
    return id if id in new else new[-1]  # type: ignore[return-value]


@dataclass(slots=True)
class _Drawn:
    """What one message of a batch brought."""

    candidates: list[Candidate] = field(default_factory=list)
    todos: list[Draft] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def extraction(self, name: str, most: int) -> Extraction:
        kept, dropped = capped(self.candidates, most)
        refused = [
            Unkept(text=one.content, reason=f"proposed by the model and refused: {one.reason}") for one in self.refused
        ]
        return Extraction(
            candidates=tuple(kept),
            todos=tuple(self.todos),
            finished=tuple(self.finished),
            mentions=tuple(self.mentions),
            unkept=(*refused, *dropped),
            made_by=f"model:{name}",
        )


def joined(read: Extraction, proposed: Extraction, persona: str | None) -> Extraction:
    """What the reader found and what the model says, each thing once.

    Wishes, rules and what was asked to be remembered are the reader's alone. For the rest the model's word stands, also
    where it is that there is nothing to note; what only the reader saw stays where it is life-critical, as unconfirmed,
    or one of the few things about the user that it reads surely (``FIRM``): a weak model leaves much out. Where all that
    the model proposed was refused, the reader's result stands.
    """
    if any(wish.wish is Wish.DO_NOT_SAVE and not wish.previous for wish in read.wishes):
        return read
    if proposed.unkept and not (proposed.candidates or proposed.todos or proposed.finished):
        return replace(read, unkept=(*proposed.unkept, *read.unkept))
    wishes = {one.wish for one in read.wishes}
    extra = tuple(
        replace(
            one,
            persona=persona if Wish.PRIVATE in wishes else None,
            importance=max(one.importance, ASKED) if Wish.REMEMBER in wishes else one.importance,
        )
        for one in proposed.candidates
    )
    asked = Wish.REMEMBER in wishes and not extra
    kept = tuple(stays for one in read.candidates if (stays := one if asked else _beside(one, extra)) is not None)
    known = {one.id for one in read.mentions}
    return replace(
        read,
        candidates=(*extra, *kept),
        todos=proposed.todos,
        finished=proposed.finished,
        mentions=(*read.mentions, *(one for one in proposed.mentions if one.id not in known)),
        unkept=(*proposed.unkept, *read.unkept),
        made_by=proposed.made_by,
    )


def _beside(one: Candidate, extra: Sequence[Candidate]) -> Candidate | None:
    """What the reader found as it stands beside the model's notes; ``None`` where it gives way."""
    if one.rule == "taught" or one.should_do:
        return one
    firm = one.attribute in FIRM and one.subject == SELF and not one.ends
    if one.confidence < SURE or not (firm or one.pin is not None) or any(_covers(other, one) for other in extra):
        return None
    if firm or one.ends or "certainty" in one.metadata:
        return one
    unsure = f"{one.content} ({word('unconfirmed', language_of(one.content))})"
    return replace(one, content=unsure, metadata={**one.metadata, "certainty": "unconfirmed"})


def _covers(other: Candidate, one: Candidate) -> bool:
    """Whether the model's note speaks of the same thing: its value, or most of its words."""
    words = {word for word in stems(one.value or one.content) if len(word) > 2}
    return bool(words & set(stems(f"{other.value or ''} {other.content}")))


def _complete(deps: Deps, system: str, user: str) -> Answer:
    """One answer within the time limit.

    A model that hangs is left behind in its thread; the work goes on without it.
    """
    model = deps.model
    assert model is not None
    box: list[Answer | Exception] = []

    def run() -> None:
        try:
            box.append(model.complete(system=system, user=user, schema=SCHEMA, max_tokens=ANSWER))
        except Exception as error:  # noqa: BLE001 - whatever a model client raises is the model's failure, not ours
            box.append(error)

    thread = threading.Thread(target=run, name="tenuto-model", daemon=True)
    thread.start()
    thread.join(deps.policy.model.timeout.total_seconds())
    if not box:
        raise ModelError(f"no answer within {deps.policy.model.timeout.total_seconds():.0f} s")
    found = box[0]
    if isinstance(found, TenutoError):
        raise found
    if isinstance(found, Exception):
        raise ModelError(f"{type(found).__name__}: {found}")
    if not isinstance(getattr(found, "text", None), str):
        raise ModelError("the model's client gave no text")
    return found


def cost_of(deps: Deps, sent: str, answer: Answer) -> Spent:
    """As the provider counted, or as counted here where it did not say."""
    policy = deps.policy.memory
    received = _counted(answer.output_tokens) or _count(deps, answer.text[:200_000])
    asked = _counted(answer.input_tokens) or _count(deps, sent)
    price = (asked * policy.model_input_price + received * policy.model_output_price) / 1e6
    return Spent(asked + received, price)


def _counted(tokens: object) -> int:
    """What a provider says that it counted, where that is a count."""
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0 else 0


def _count(deps: Deps, text: str) -> int:
    return deps.tokens.count(text.encode("utf-8", "replace").decode("utf-8"))


_SPACES = patterns.compile(r"\s+")


def one_line(text: str) -> str:
    """A message as one line for the prompt."""
    return _SPACES.sub(" ", text).strip()


# --- the budget -------------------------------------------------------------------------------------------------------


def spent_today(reader: Reader, now: datetime) -> Spent:
    """What extraction spent for this user today (UTC)."""
    profile = reader.profile()
    kept = (profile.settings.get(SPENT) if profile else None) or {}
    if not isinstance(kept, dict) or kept.get("day") != f"{now:%Y-%m-%d}":
        return Spent()
    return Spent(int(kept.get("tokens", 0)), float(kept.get("cost", 0.0)))


def spent_by_day(reader: Reader) -> dict[str, Spent]:
    """What extraction spent for this user on each of the last days (UTC)."""
    profile = reader.profile()
    kept = (profile.settings.get(SPENT) if profile else None) or {}
    days = kept.get("days", {}) if isinstance(kept, dict) else {}
    return {day: Spent(int(tokens), float(cost)) for day, (tokens, cost) in days.items()}


def charge(tx: Transaction, now: datetime, spent: Spent) -> None:
    """Add what was spent."""
    profile = tx.profile() or User(user_id=tx.user, created_at=now)
    total, today = spent_today(tx, now).plus(spent), f"{now:%Y-%m-%d}"
    days = {**spent_by_day(tx), today: total}
    last = {day: list(days[day]) for day in sorted(days)[-DAYS_KEPT:]}
    kept = {"day": today, "tokens": total.tokens, "cost": total.cost, "days": last}
    tx.set_user(evolve(profile, settings={**profile.settings, SPENT: kept}))
