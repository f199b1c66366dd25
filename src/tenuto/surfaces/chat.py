"""A conversation with memory, apart from where it is shown: the terminal prints what this yields.

With a model, the context goes in and the answer comes out piece by piece. Without one, memory itself answers: what is
known about the message, each line with its date and where it comes from; nothing is made up. What the person said is
kept before the model is asked, so neither a failure nor an interruption loses it. While the conversation is private,
nothing is kept and nothing is learnt, and memory is still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from tenuto.context.budget import MESSAGE_OVERHEAD
from tenuto.errors import ModelError
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.ports import ChatModel
from tenuto.records.context import Context
from tenuto.records.operations import Act, Receipt
from tenuto.records.recall import Hit
from tenuto.text.fences import without_marked

KNOWN = 5
"""Most lines that memory answers with."""
LEAST_ANSWER = 256
"""Tokens for an answer where the context left none."""
SETTLE = 3.0
"""Seconds to wait for what was made of the last message."""
KIND_WORDS = {
    "memory": "I know",
    "message": "you said",
    "summary": "in short",
    "key_point": "it mattered",
    "todo": "to do",
}
CHANGED = (Act.INSERTED, Act.REINFORCED, Act.UPGRADED, Act.SUPERSEDED)


@dataclass(slots=True)
class Chat:
    """One conversation of one person with one persona."""

    store: Tenuto
    memory: UserMemory
    budget: int | None = None
    session: str | None = None
    private: bool = False
    context: Context | None = None
    hits: Sequence[Hit] = ()
    receipt: Receipt | None = None
    model: ChatModel | None = field(init=False, repr=False)
    """The model that answers, with the person's own key where they keep one; one that cannot converse does not."""
    _whole: bool = False
    said: list[dict[str, str]] = field(default_factory=list)
    """Turns of the private part, which are nowhere else."""

    def __post_init__(self) -> None:
        found = self.memory.model
        self.model = cast(ChatModel, found) if hasattr(found, "chat") else None

    def answer(self, text: str) -> Iterator[str]:
        """The answer to what was said, as it comes."""
        self.hits = self.memory.recall(text, limit=self.store.deps.policy.context.relevant)
        self.context = self.memory.context(text, budget=self.budget, session=self.session)
        self.receipt = None if self.private else self.memory.observe(text, session=self.session)
        spoken: list[str] = []
        self._whole = False
        try:
            yield from self._speak(text, spoken)
        finally:
            self._keep(text, "".join(spoken))

    def _speak(self, text: str, spoken: list[str]) -> Iterator[str]:
        """What is shown; what the model itself said is also put into ``spoken``."""
        model = self.model
        if model is None:
            yield self.from_memory(text)
            return
        assert self.context is not None
        context = self.context
        if self.said:
            context = _with_turns(context, self.said, self.store.deps.tokens.count)
        try:
            for piece in model.chat(context, max_tokens=context.answer or LEAST_ANSWER):
                spoken.append(piece)
                yield piece
            self._whole = True
        except ModelError as error:
            yield f"\n({error.message} What you said is {'not kept: this is private' if self.private else 'kept'}.)"

    def _keep(self, asked: str, answer: str) -> None:
        """Keep what the model said; an answer that was stopped or broke off is kept as such."""
        spoken = without_marked(answer).strip()
        if not spoken or self.model is None:
            return
        if self.private:
            self.said += [{"role": "user", "content": asked}, {"role": "assistant", "content": spoken}]
            return
        more = None if self._whole else {"incomplete": True}
        self.memory.observe(spoken, role="assistant", session=self.session, model=self.model.name, metadata=more)

    def from_memory(self, text: str) -> str:
        """What memory itself can say to this: learnt just now, and known before, with dates."""
        lines = []
        if self.receipt is not None:
            lines += self._learnt()
        others = [hit for hit in self.hits if hit.text.strip() != text.strip()]
        known = ([hit for hit in others if not _asked(hit)] or others)[:KNOWN]
        if known:
            lines.append("What I know about this:" if not lines else "And I knew already:")
            lines += [
                f"  {hit.at:%Y-%m-%d}  {KIND_WORDS.get(str(hit.kind), str(hit.kind))}: {hit.text}" for hit in known
            ]
        if not lines:
            kept = "It is not kept, because this is private." if self.private else "I keep what you said."
            lines.append(f"I know nothing about this yet. {kept}")
        return "\n".join(lines)

    def _learnt(self) -> list[str]:
        assert self.receipt is not None
        self.store.settle(SETTLE)
        settled = self.memory.receipt(self.receipt.id) or self.receipt
        done = [result for result in settled.results if result.act in CHANGED and result.content]
        return [f"Noted ({result.act.value}): {result.content}" for result in done]

    # --- what is going on ---------------------------------------------------------------------------------------------

    def why(self) -> list[str]:
        """What the last answer rested on: what was recalled, with each part of its score."""
        if self.context is None:
            return ["Nothing was said yet."]
        shown = {(item.kind, item.id) for block in self.context.blocks for item in block.items}
        lines = []
        for hit in self.hits:
            mark = "shown" if (str(hit.kind), hit.id) in shown else "left out"
            lines.append(f"{hit.score:6.2f}  {hit.at:%Y-%m-%d}  {hit.kind}, {mark}: {hit.text}")
            lines.append(f"        {hit.why.plain}")
            lines.append(f"        {hit.why}")
        return lines or ["Nothing was recalled for it."]

    def blocks(self) -> list[tuple[str, int, int, str]]:
        """Each block of the last context: name, tokens, items, and what was left out and why."""
        if self.context is None:
            return []
        found = []
        for block in self.context.blocks:
            if block.items or block.dropped:
                reasons = sorted({dropped.why for dropped in block.dropped})
                left = f"{len(block.dropped)} left out: {'; '.join(reasons)}" if block.dropped else ""
                found.append((block.label, block.tokens, len(block.items), left))
        return found

    def find(self, query: str) -> list[Hit]:
        """Memories that a person may mean."""
        return list(self.memory.recall(query, limit=KNOWN, kinds=["memory"]))

    def toggle_private(self) -> bool:
        """Switch; leaving it forgets what was said in private."""
        self.private = not self.private
        self.said.clear()
        return self.private


def _asked(hit: Hit) -> bool:
    """A question of the person's own tells what they wanted to know, not what is known."""
    return hit.kind == "message" and hit.role == "user" and hit.text.rstrip().endswith("?")


def _with_turns(context: Context, said: Sequence[dict[str, str]], count: Callable[[str], int]) -> Context:
    """With the newest of what was said in private, as far as the budget goes."""
    room, first = context.budget - context.answer - context.tokens, len(said)
    while first > 0 and (cost := count(said[first - 1]["content"]) + MESSAGE_OVERHEAD) <= room:
        room -= cost
        first -= 1
    tokens = context.budget - context.answer - room
    return replace(context, turns=(*context.turns, *said[first:]), tokens=tokens)
