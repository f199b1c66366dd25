"""Asking a model for memories: in batches, within a budget, never on the hot path, and never alone in charge.

Several messages travel in one call. An answer that cannot be read is sent back once per allowed retry with the reason;
then, or when the model fails, is slow or the day's budget is spent, the rules' own result stands and the receipt says
so. Every proposal passes :mod:`tenuto.ingest.proposals`. What the calls cost is kept per user and day.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tenuto.deps import Deps
from tenuto.errors import ModelError, TenutoError
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.extraction import Extraction, Unkept, speaker_of
from tenuto.ingest.lexicon import lexicons
from tenuto.ingest.proposals import SCHEMA, Refused, Source, Unusable, candidate, flat, one_line, parse
from tenuto.ingest.sameness import meaning_words
from tenuto.ingest.sentences import Speech
from tenuto.policy import MemoryPolicy
from tenuto.ports import Answer, Reader, Transaction
from tenuto.prompts import load
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.scope import User

LONGEST = 4000
"""Characters of one message that a model sees."""
ANSWER = 2048
"""Tokens that one answer may take."""
SAID = 0.5
"""Share of a weighed statement's words that the model's wording of it must hold to stand in its place."""
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


def propose(
    deps: Deps, messages: Sequence[Message], *, own_names: frozenset[str], zone: ZoneInfo | None, spent: Spent
) -> Outcome:
    """Ask the model about the messages that state something. Never raises: what fails is left to the rules."""
    outcome = Outcome()
    policy = deps.policy.memory
    sources = [Source.of(one, speaker_of(one, own_names)) for one in messages if one.role is Role.USER]
    telling = [one for one in sources if any(sentence.speech is Speech.STATEMENT for sentence in one.sentences)]
    for start in range(0, len(telling), policy.model_batch_messages):
        batch = telling[start : start + policy.model_batch_messages]
        if spent.plus(outcome.spent).exhausts(policy):
            outcome.say([one.message for one in batch], "The day's model budget is spent; the rules took over.")
            continue
        _ask(deps, batch, outcome)
    return outcome


def _ask(deps: Deps, batch: Sequence[Source], outcome: Outcome) -> None:
    messages = [one.message for one in batch]
    prompts = deps.policy.model.prompts
    system, user = load("extract", prompts), _shown(batch)
    problem = ""
    for _ in range(1 + deps.policy.model.retries):
        said = user if not problem else f"{user}\n\n{load('repair', prompts).format(problem=problem)}"
        try:
            answer = _complete(deps, system, said)
        except TenutoError as error:
            outcome.say(messages, f"The model failed ({error.message}); the rules took over.")
            return
        outcome.spent = outcome.spent.plus(cost_of(deps, system + said, answer))
        try:
            proposals, malformed = parse(answer.text)
        except Unusable as error:
            problem = str(error)
            continue
        _take(deps, batch, outcome, proposals, malformed)
        return
    outcome.say(messages, f"The model's answer could not be used ({problem}); the rules took over.")


def _take(
    deps: Deps, batch: Sequence[Source], outcome: Outcome, proposals: Sequence[object], malformed: Sequence[Refused]
) -> None:
    name = deps.model.name if deps.model is not None else "none"
    found = [candidate(one, batch, name, lexicons(deps.policy.memory.lexicons)) for one in proposals]  # type: ignore[arg-type]
    for position, source in enumerate(batch, 1):
        mine = [one for one in found if not isinstance(one, Refused) and one.message_id == source.message.id]
        refused = [one for one in found if isinstance(one, Refused) and one.message == position]
        if position == 1:
            refused += [
                one for one in (*malformed, *(x for x in found if isinstance(x, Refused))) if one.message is None
            ]
        outcome.extractions[source.message.id] = Extraction(
            candidates=tuple(mine[: deps.policy.memory.candidates_per_message]),
            unkept=tuple(
                Unkept(text=one.content, reason=f"proposed by the model and refused: {one.reason}") for one in refused
            ),
            made_by=f"model:{name}",
        )


def joined(rules: Extraction, proposed: Extraction) -> Extraction:
    """Everything that the rules found, and what the model adds.

    The model's wording stands in place of a statement that the rules only weighed when it quotes that statement and
    says at least ``SAID`` of it. Whatever else a model returns, the rules' own result stays.
    """
    private = next((one.persona for one in rules.candidates if one.persona), None)
    secret = not rules.candidates and any(wish.wish == "do_not_save" for wish in rules.wishes)
    extra = () if secret else tuple(replace(one, persona=private) if private else one for one in proposed.candidates)
    kept = tuple(one for one in rules.candidates if _known(one) or not any(_retells(other, one) for other in extra))
    unkept = (*proposed.unkept, *rules.unkept)
    return replace(
        rules, candidates=(*kept, *extra), unkept=unkept, made_by=proposed.made_by if extra else rules.made_by
    )


def _known(one: Candidate) -> bool:
    return bool(one.attribute or one.should_do or one.rule in ("taught", "asked to remember"))


def _retells(proposed: Candidate, weighed: Candidate) -> bool:
    """Does a proposal quote the same statement and say most of it?"""
    mine, theirs = flat(weighed.quote or ""), flat(proposed.quote or "")
    if not mine or not theirs or (mine not in theirs and theirs not in mine):
        return False
    wanted = meaning_words(weighed.content)
    return len(wanted & meaning_words(proposed.content)) >= SAID * len(wanted)


def _shown(batch: Sequence[Source]) -> str:
    """The messages, numbered and fenced: evidence, with a mark that nothing inside them can know."""
    lines = []
    for position, source in enumerate(batch, 1):
        message = source.message
        who = message.speaker or "user"
        lines.append(
            f"[{position}] {message.at:%A %Y-%m-%d %H:%M} {one_line(who)}: {one_line(message.content)[:LONGEST]}"
        )
    text = "\n".join(lines)
    mark = blake2b(text.encode("utf-8"), digest_size=6).hexdigest()
    return f"<<<MESSAGES {mark}\n{text}\nMESSAGES {mark}>>>"


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
