"""May this leave? The one gate in front of recall, context, proxy, MCP, the page's context and outreach.

Everything that is read to be handed over is asked here, as it is now: records one by one, derived texts line by line
with what each line rests on. In order: the persona (its own or what all share), the trust (what came from outside waits
for a confirmation), the status and the validity in time (what was superseded answers only questions about the past),
retention, and the person's wishes: what was forgotten never passes, nor does the message that speaks a wish; what is
not to be brought up passes when the question names it, and a life-critical thing also when the message is about food,
medicine, health or whom it is about. Then it is marked, so that nobody raises it. A memory with conditions of its own
(``retrieval_conditions``, ``do_not_use_when``) passes only where a message was said and they let it.

Only what passed can be shown: renderers and hits take :class:`Admitted` values, and only :class:`Gate` makes those.
What would break it: a text that does not know what it rests on. Such lines do not pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from tenuto.language.conditions import meets
from tenuto.language.topics import about_care, kin_stems, mentions
from tenuto.lifecycle import retention, told
from tenuto.recall.entry import Indexed
from tenuto.recall.holds import Held, Holds
from tenuto.records.conversation import KeyPoint, Message, SourcedLine, Summary
from tenuto.records.memory import RECALLED, Memory, Status, Todo, TodoStatus, Trust, said_at
from tenuto.text.words import distinct_tokens

T = TypeVar("T")
R = TypeVar("R", bound=Indexed)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate must know of the reading."""

    now: datetime
    text: str = ""
    """The question or message; empty for what is shown unasked."""
    persona: str | None = None
    any_persona: bool = False
    past: bool = False
    """The question is about what was, so superseded facts may answer."""
    outside: bool = False
    """The caller asked for what came from outside and is not vouched for."""
    statuses: frozenset[str] = frozenset()
    """Statuses that the caller named; empty means the recalled ones."""
    anchor: float = 0.65
    """The cosine from which a query and a memory mean the same."""
    owner: bool = False
    """The person looks at what is kept of them: what is held back is shown, too, and marked."""
    here: bool = False
    """Turns of the talk that is going on: what the person raised again themselves since a wish stays in it."""


OUTDATED = "no longer true, and the question is about now"
DO_NOT_RAISE = "known; do not raise it yourself"


@dataclass(frozen=True, slots=True)
class Verdict:
    passed: bool
    rule: str
    mark: str = ""


SAID, KEPT = Verdict(True, "said by the user"), Verdict(True, "kept")
_PASS = object()


class Admitted(Generic[T]):
    """A record that passed the gate for one reading. Only the gate makes one."""

    __slots__ = ("lines", "mark", "record", "rule", "whole")

    def __init__(
        self, made_by: object, record: T, verdict: Verdict, lines: tuple[SourcedLine, ...], whole: bool
    ) -> None:
        if made_by is not _PASS:
            raise TypeError("Only the gate admits: ask Gate.admit.")
        self.record = record
        self.rule = verdict.rule
        self.mark = verdict.mark
        """What must be said with it; empty mostly."""
        self.lines = lines
        """Of a derived text: the lines that passed."""
        self.whole = whole
        """Whether nothing of it was held back."""

    @property
    def text(self) -> str:
        """What may be shown of it."""
        record = self.record
        if isinstance(record, Summary):
            return record.content if self.whole and not self.mark else told.text(record.kind, self.lines)
        assert isinstance(record, (Message, Memory, Todo, KeyPoint))
        return record.content


class Gate:
    """One reading: what is held back of the user, and what was asked.

    ``near`` are ids of what search found close in meaning to the question.
    """

    def __init__(self, holds: Holds, asked: Asked, near: Collection[str] = ()) -> None:
        self.holds, self.asked, self._near = holds, asked, near
        self._rules = holds.rules
        self._messages: dict[str, Message] = {}
        self._memories: dict[str, Memory] = {}
        self._words = distinct_tokens(asked.text) if asked.text else frozenset()

    def admit(self, record: R, cosine: float | None = None) -> Admitted[R] | Verdict:
        """The record, to be shown; or the verdict that keeps it back."""
        verdict = self._decide(record, cosine)
        if not verdict.passed:
            return verdict
        if not isinstance(record, Summary):
            return Admitted(_PASS, record, verdict, (), True)
        lines = self._lines(record)
        found: Admitted[R] = Admitted(_PASS, record, verdict, lines, not record.lines or lines is record.lines)
        held_back = Verdict(False, "everything that it rests on is held back")
        return found if lines and found.text.strip() else held_back

    def know(self, messages: Mapping[str, Message], memories: Mapping[str, Memory]) -> None:
        """Take in what lines cite (:func:`cited`), as it is now."""
        self._messages = {**self._messages, **messages}
        self._memories = {**self._memories, **memories}

    def only(self, records: Iterable[R]) -> list[R]:
        """Those that pass, to choose from; what is chosen is admitted one by one."""
        return [record for record in records if self._decide(record, None).passed]

    # --- records ------------------------------------------------------------------------------------------------------

    def _decide(self, record: Indexed, cosine: float | None) -> Verdict:
        asked = self.asked
        if not asked.any_persona and record.persona is not None and record.persona != asked.persona:
            return Verdict(False, f"belongs to the persona '{record.persona}'")
        if record.trust is Trust.EXTERNAL and not asked.outside:
            return Verdict(False, "came from outside and was not confirmed")
        if isinstance(record, Message):
            return self._message(record)
        if isinstance(record, Memory):
            return self._memory(record, cosine)
        if isinstance(record, Todo):
            return self._todo(record)
        if isinstance(record, KeyPoint):
            return self._point(record)
        if not record.current and not asked.past:
            return Verdict(False, "an older version of a summary")
        return KEPT

    def _message(self, record: Message) -> Verdict:
        if self._rules is not None and not retention.keeps_text(record, self.asked.now, self._rules):
            return Verdict(False, "its time is over")
        usual = SAID if record.role == "user" else KEPT
        if not self.holds:
            return usual
        held = self.message_held(record)
        if held is not None and held.silenced and self.asked.here:
            topic = self.holds.topic_in(record.content, record.at) or held
            if topic.since is not None and record.at > topic.since:
                return usual
        return self._wished(held, usual, None)

    def message_held(self, record: Message) -> Held | None:
        """Why a message is held back, if it is."""
        held = self.holds.messages.get(record.id)
        if held is not None and not held.silenced:
            return held
        topic = self.holds.topic_in(record.content, record.at)
        return topic if topic is not None and (held is None or not topic.silenced) else held

    def _memory(self, record: Memory, cosine: float | None) -> Verdict:
        verdict = _valid(record, self.asked)
        if self._rules is not None and not retention.keeps_memory(record, self.asked.now, self._rules):
            return Verdict(False, "its time is over")
        if verdict.passed and (record.retrieval_conditions or record.do_not_use_when) and not self.asked.owner:
            verdict = self._conditions(record, verdict)
        if not verdict.passed or not self.holds:
            return verdict
        held = self.memory_held(record)
        if held is not None and held.silenced and record.pinned and self._concerns(record):
            return Verdict(True, "life-critical, and the message is about it", DO_NOT_RAISE)
        near = record.id in self._near or (cosine is not None and cosine >= self.asked.anchor)
        return self._wished(held, verdict, near)

    def _conditions(self, record: Memory, usual: Verdict) -> Verdict:
        """Whether the message is one that the memory was kept for. Unasked there is none, so it does not pass."""
        text = self.asked.text
        if not text:
            return Verdict(False, "has conditions, and nothing was said yet")
        if record.do_not_use_when and meets(record.do_not_use_when, text):
            return Verdict(False, f"not to be used when: {record.do_not_use_when}")
        if not record.retrieval_conditions:
            return Verdict(True, f"{usual.rule}, and not when: {record.do_not_use_when}", usual.mark)
        if not meets(record.retrieval_conditions, text):
            return Verdict(False, f"only when: {record.retrieval_conditions}")
        return Verdict(True, f"{usual.rule}, as its condition is met: {record.retrieval_conditions}", usual.mark)

    def memory_held(self, record: Memory) -> Held | None:
        """Why a memory is held back, if it is."""
        held = self.holds.memories.get(record.id)
        if held is not None:
            return held
        by_entity = next((self.holds.entities[one] for one in record.entities if one in self.holds.entities), None)
        by_topic = by_entity or self.holds.topic_in(record.content, said_at(record))
        unconfirmed = by_topic is not None and not by_topic.silenced and record.id in self.holds.kept
        return None if unconfirmed else by_topic

    def _concerns(self, record: Memory) -> bool:
        """Whether the message is about food, medicine, health, or whom a memory is about."""
        if not self.asked.text:
            return False
        people = distinct_tokens(" ".join(one.partition(":")[2].replace("_", " ") for one in record.entities))
        kin = kin_stems() & distinct_tokens(record.content)
        return about_care(self.asked.text) or not self._words.isdisjoint(people | kin)

    def _wished(self, held: Held | None, usual: Verdict, near: bool | None) -> Verdict:
        if held is None:
            return usual
        if self.asked.owner or (usual.rule in self.asked.statuses and not held.silenced):
            return Verdict(True, held.why, held.why)
        if not held.silenced:
            return Verdict(False, held.why)
        if self._named(held, near=bool(near)):
            return Verdict(True, "named by the question", DO_NOT_RAISE)
        return Verdict(False, "not to be brought up, and the question does not name it")

    def _named(self, held: Held, *, near: bool) -> bool:
        """Whether the question names what is silenced, or plainly describes it."""
        if not self._words:
            return False
        if held.topic is not None and mentions(held.topic, self.asked.text):
            return True
        if held.asked is None:
            return False
        return held.asked.named_by(self._words, near=near, only_names=held.topic is not None)

    def _todo(self, record: Todo) -> Verdict:
        asked = self.asked
        if asked.statuses:
            usual = Verdict(record.status in asked.statuses, f"status {record.status}")
        elif record.status is TodoStatus.OPEN or asked.past:
            usual = Verdict(True, f"{record.kind}, {record.status}")
        else:
            usual = Verdict(False, f"{record.status}, and the question is about now")
        if not usual.passed or not self.holds:
            return usual
        said = (one.message_id for one in record.evidence if one.message_id)
        held = next((self.holds.messages[id] for id in said if id in self.holds.messages), None)
        held = held or next((self.holds.entities[one] for one in record.entities if one in self.holds.entities), None)
        return self._wished(held or self.holds.topic_in(record.content, record.created_at), usual, None)

    def _point(self, record: KeyPoint) -> Verdict:
        if not self.holds:
            return KEPT
        sources = record.messages or ((record.message_id,) if record.message_id else ())
        held = self._source_held(sources, record.content)
        if held is None and not sources:
            held = next((one.held for one in self.holds.places if one.session_id == record.session_id), None)
        return self._wished(held, KEPT, None)

    # --- lines --------------------------------------------------------------------------------------------------------

    def _lines(self, record: Summary) -> tuple[SourcedLine, ...]:
        """The lines of a derived text that may be shown."""
        if not record.lines:
            return () if self._range_held(record) else (SourcedLine(text=record.content),)
        lines = record.lines
        kept = tuple(line for line in lines if self._line(line, record))
        return kept if len(kept) < len(lines) else lines

    def _range_held(self, record: Summary) -> bool:
        """Whether something is held back of what a text of the time before lines rests on."""
        if not self.holds or self.asked.owner:
            return False
        if self.holds.topic_in(record.content) is not None:
            return True
        return any(
            one.session_id == record.session_id
            if record.session_id is not None and record.kind == "session"
            else one.persona == record.persona and record.start_seq <= one.seq <= record.end_seq
            for one in self.holds.places
        ) or any(id in self.holds.memories for id in record.structured.get("memories", ()))

    def _line(self, line: SourcedLine, record: Summary) -> bool:
        asked = self.asked
        if not asked.any_persona and line.persona is not None and line.persona != asked.persona:
            return False
        if line.trust is Trust.EXTERNAL and not asked.outside:
            return False
        if line.computed:
            return True
        if not (line.messages or line.memories):
            return False
        if any(not self._cited(id) for id in line.memories):
            return False
        return asked.owner or not self.holds or self._source_held(line.messages, line.text) is None

    def _cited(self, id: str) -> bool:
        """Whether a memory that a line tells may be told unasked: it is there, holds, and nobody wished otherwise."""
        memory = self._memories.get(id)
        if memory is None:
            return False
        if self.asked.owner:
            return True
        if memory.retrieval_conditions or memory.do_not_use_when:
            return False
        return _valid(memory, self.asked).passed and (not self.holds or self.memory_held(memory) is None)

    def _source_held(self, messages: Iterable[str], text: str) -> Held | None:
        """Why a derived text is held back: a message that it rests on is, or it speaks of what is."""
        for id in messages:
            if (held := self.holds.messages.get(id)) is not None:
                return held
            if (message := self._messages.get(id)) is not None and (held := self.message_held(message)) is not None:
                return held
        return self.holds.topic_in(text)


def cited(records: Iterable[object], holds: Holds) -> tuple[list[str], list[str]]:
    """Ids of the messages and memories that lines of derived texts cite and the gate must see to decide."""
    messages: dict[str, None] = {}
    memories: dict[str, None] = {}
    for record in records:
        if isinstance(record, Summary):
            for line in record.lines:
                messages.update(dict.fromkeys(line.messages if holds.topics else ()))
                memories.update(dict.fromkeys(line.memories))
        elif isinstance(record, KeyPoint) and holds.topics:
            messages.update(dict.fromkeys(record.messages or ((record.message_id,) if record.message_id else ())))
    return list(messages), list(memories)


def _valid(record: Memory, asked: Asked) -> Verdict:
    """Whether a memory's status and time let it through."""
    superseded = record.superseded_by is not None or (record.valid_to is not None and record.valid_to <= asked.now)
    if asked.statuses:
        if record.status not in asked.statuses:
            return Verdict(False, f"status {record.status} was not asked for")
    elif record.status is Status.CANDIDATE and not asked.outside:
        return Verdict(False, "a candidate that was not confirmed")
    elif asked.owner and record.status is Status.FORGOTTEN:
        return Verdict(True, str(record.status), str(record.status))
    elif superseded:
        if record.status in (Status.FORGOTTEN, Status.ARCHIVED):
            return Verdict(False, f"status {record.status}")
        if not asked.past:
            return Verdict(False, OUTDATED)
        return Verdict(True, "was true before, and the question is about the past")
    elif record.status not in RECALLED and record.status is not Status.CANDIDATE:
        return Verdict(False, f"status {record.status}")
    return Verdict(True, "pinned" if record.pinned else str(record.status))
