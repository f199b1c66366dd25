"""Everything that can happen to one workflow, and a judge who was not told how it works.

:class:`World` performs actions through the public handle and writes down what it did. :func:`verify` then replays the
stored trace against those notes: every change of the draft must be explained by what the person said, or be exactly
the patch that was shown under the digest they had before their eyes. The rules here are written down a second time, by
hand, so that a mistake in the code under test is not repeated in its judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from examples.coding_exercises import ACTIVITY

from tenuto.errors import TenutoError
from tenuto.facade.store import Tenuto
from tenuto.facade.workflows import WorkflowHandle
from tenuto.ports import Answer
from tenuto.records.workflow import Workflow, WorkflowTurn

LEGAL = {
    ("DRAFT", "CLARIFYING"), ("CLARIFYING", "CLARIFYING"), ("CLARIFYING", "READY"), ("READY", "GENERATING"),
    ("GENERATING", "SAVED"), ("GENERATING", "FAILED"), ("GENERATING", "READY"), ("FAILED", "READY"),
}  # fmt: skip
STATES = ("DRAFT", "CLARIFYING", "READY", "GENERATING", "SAVED", "FAILED", "NOWHERE")
HARD = {"language", "problem_count"}
COMPLETE = {"READY", "GENERATING", "SAVED", "FAILED"}
CONFIRM_WITHIN = timedelta(minutes=30)
NOISE = ("hmm, let me think about that", "what does this mean?", "tell me about yourself", "yes but later", "ok, no")
YES = ("yes", "Go ahead!", "ok", "ja, bitte", "👍")
NO = ("no", "no, keep it", "leave it", "nein", "👎")


@dataclass
class Note:
    """What was done in one turn, as the one who did it saw it."""

    kind: str
    channel: str
    field: str = ""
    value: Any = None
    seen: str | None = None
    settlement: str | None = None
    applied: tuple[dict[str, Any], ...] = ()
    digest: str | None = None
    pending: str | None = None

    def plain(self) -> dict[str, Any]:
        return asdict(self)


class Script:
    """A model whose next answer is put there by the test; it may do something else first, in the middle of a turn."""

    name = "script"

    def __init__(self) -> None:
        self.answer = ""
        self.meanwhile: Callable[[], None] | None = None

    def complete(self, **_: Any) -> Answer:
        answer, meanwhile = self.answer, self.meanwhile
        self.answer, self.meanwhile = "", None
        if meanwhile is not None:
            meanwhile()
        return Answer(text=answer, model=self.name)


def wording(field: str, value: Any) -> str:
    """A statement that leaves no doubt."""
    if field == "difficulty_plan":
        return "plan: " + ", ".join(f"{count} {name}" for name, count in value.items())
    return f"{field.replace('_', ' ')}: {value}"


class World:
    """One workflow, some people's devices, a model, and a clock that only the test moves."""

    resends = True
    """Every message is delivered twice, as webhooks do."""

    def __init__(
        self, reopen: Callable[[Callable[[], datetime], Script], Tenuto], id: str = "w1", prefix: str = "m"
    ) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.id, self.prefix = id, prefix
        self.notes: dict[int, Note] = {}
        self.model = Script()
        self._reopen = reopen
        self.store = reopen(lambda: self.now, self.model)
        self._handles: dict[tuple[str, int], WorkflowHandle] = {}
        self._counter = 0

    def handle(self, channel: str, device: int = 0) -> WorkflowHandle:
        key = (channel, device)
        if key not in self._handles:
            self._handles[key] = self.store.user("ana", channel=channel).workflow(ACTIVITY, self.id, model=self.model)
        return self._handles[key]

    def restart(self, *, store: bool) -> None:
        """Forget everything that is not in the store."""
        self._handles.clear()
        if store:
            self.store.close()
            self.store = self._reopen(lambda: self.now, self.model)

    def wait(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def say(self, kind: str, text: str, channel: str, device: int = 0, *, external: bool = False, **known: Any) -> None:
        self._counter += 1
        handle = self.handle(channel, device)
        note = Note(kind=kind, channel=channel, seen=handle._seen, **known)
        name = f"{self.prefix}{self._counter}"
        reply = handle.send(text, external=external, keep=False, id=name)
        self._keep(note, reply)
        if self.resends:
            assert handle.send(text, external=external, keep=False, id=name).duplicate, "a message counted twice"

    def propose(self, operations: Any, channel: str, meanwhile: Callable[[], None] | None = None) -> None:
        self.hostile(json.dumps({"intent": "inform", "changes": operations}), channel, meanwhile)

    def hostile(self, answer: str, channel: str, meanwhile: Callable[[], None] | None = None) -> None:
        self.model.answer, self.model.meanwhile = answer, meanwhile
        self.say("model", NOISE[0], channel)
        self.model.answer, self.model.meanwhile = "", None

    def state(self, field: str, value: Any, channel: str, device: int = 0) -> None:
        self.say("state", wording(field, value), channel, device, field=field, value=value)

    def outside(self, field: str, value: Any, channel: str) -> None:
        self.say("outside", wording(field, value), channel, external=True)

    def consent(self, word: str, channel: str, device: int = 0) -> None:
        self.say("yes" if word in YES else "no", word, channel, device)

    def press(self, consent: str, digest: str | None, channel: str, device: int = 0) -> None:
        """A button, with the digest that it was drawn for."""
        handle = self.handle(channel, device)
        note = Note(kind=consent, channel=channel, seen=handle._seen if digest is None else digest)
        try:
            reply = handle.confirm(digest) if consent == "yes" else handle.refuse(digest)
        except TenutoError:
            return
        self._keep(note, reply)

    def move(self, target: str, channel: str) -> None:
        try:
            reply = self.handle(channel).move(target)
        except TenutoError:
            return
        self._keep(Note(kind="move", channel=channel), reply)

    def _keep(self, note: Note, reply: Any) -> None:
        note.settlement, note.applied, note.digest = reply.settlement, reply.applied, reply.digest
        note.pending = reply.pending
        assert reply.turn not in self.notes
        self.notes[reply.turn] = note

    def record(self) -> Workflow | None:
        with self.store.deps.store.reading("ana") as reader:
            return reader.get(Workflow, self.id)

    def check(self) -> None:
        record = self.record()
        if record is not None:
            with self.store.deps.store.reading("ana") as reader:
                turns = reader.find(WorkflowTurn)
            verify(record, turns, self.notes, CONFIRM_WITHIN)


def verify(record: Workflow, turns: list[WorkflowTurn], notes: dict[int, Note], within: timedelta) -> None:
    """Replay the trace: every step legal, every draft valid, everything applied explained."""
    turns = sorted(turns, key=lambda turn: turn.turn)
    assert [turn.turn for turn in turns] == list(range(1, record.turn + 1)), "turns are lost or doubled"
    spec: dict[str, Any] = {}
    state, asked = "DRAFT", None
    shown: dict[str, WorkflowTurn] = {}
    consumed: set[str] = set()
    current: str | None = None
    for turn in turns:
        note = notes[turn.turn]
        assert turn.state_before == state, "a state came from nowhere"
        state = _walk(turn)
        if turn.question_key is not None:
            assert turn.question_key != asked, f"{asked} was asked twice in a row"
        if note.kind != "outside" and note.kind != "move":
            asked = turn.question_key
        if turn.applied:
            _explained(turn, note, spec, shown, consumed, current, within)
        for operation in turn.applied:
            name = operation["path"][1:]
            assert spec.get(name) == operation.get("was"), "applied on top of another value than the one shown"
            if operation["op"] == "remove":
                del spec[name]
            else:
                spec[name] = operation["value"]
            _valid(spec)
        if state in COMPLETE:
            assert _complete(spec), f"{state} with an incomplete spec"
        if note.settlement in ("confirmed", "refused"):
            digest = note.seen or current
            assert digest is not None
            assert digest not in consumed, "a confirmation was used twice"
            consumed.add(digest)
        if turn.staged:
            assert turn.digest not in shown
            shown[str(turn.digest)] = turn
            for operation in turn.staged:
                value = operation.get("value")
                for part in value.values() if isinstance(value, dict) else [value]:
                    assert str(part) in str(note.pending), "something was staged and not shown"
        current = turn.digest
    assert spec == record.spec, "the record is not what its turns made"
    assert state == record.state


def _walk(turn: WorkflowTurn) -> str:
    here = turn.state_before
    for target in turn.moves:
        assert (here, target) in LEGAL, f"illegal: {here} → {target}"
        here = target
    assert here == turn.state_after, "a state changed without a move"
    return here


def _explained(
    turn: WorkflowTurn,
    note: Note,
    spec: dict[str, Any],
    shown: dict[str, WorkflowTurn],
    consumed: set[str],
    current: str | None,
    within: timedelta,
) -> None:
    names = {operation["path"][1:] for operation in turn.applied}
    assert note.kind in ("model", "state", "yes"), f"a turn of kind {note.kind} changed the draft"
    assert turn.state_before not in ("GENERATING", "SAVED"), "a frozen draft changed"
    if note.kind == "model":
        assert not names & HARD, "an inference changed a hard field"
    elif note.kind == "state":
        assert names == {note.field}, "a statement changed something else"
        assert turn.applied[0]["value"] == note.value
        assert note.field not in HARD or note.field not in spec, "a locked field changed without a confirmation"
    else:
        digest = note.seen or current
        assert digest in shown, "something was confirmed that nobody saw"
        before = shown[digest]
        assert turn.applied == before.staged, "applied is not what was shown"
        assert turn.at < before.at + within, "a confirmation came too late and counted"
        assert note.channel == before.channel, "a confirmation came on another channel and counted"
        assert not before.proposed_by.startswith("external"), "a bare yes confirmed text from outside"
        assert digest not in consumed, "a confirmation was used twice"


def _valid(spec: dict[str, Any]) -> None:
    """The activity's rules, by hand."""
    assert set(spec) <= {"language", "problem_count", "difficulty_plan", "topic", "style"}, "an unknown field"
    if "language" in spec:
        assert spec["language"] in ("python", "java", "javascript", "cpp", "sql")
    if "problem_count" in spec:
        assert type(spec["problem_count"]) is int
        assert 1 <= spec["problem_count"] <= 7
    if "difficulty_plan" in spec:
        assert set(spec["difficulty_plan"]) <= {"easy", "medium", "hard"}
        assert all(type(part) is int and 0 <= part <= 7 for part in spec["difficulty_plan"].values())
    if "topic" in spec:
        assert isinstance(spec["topic"], str)
        assert 1 <= len(spec["topic"]) <= 80
    assert spec.get("style", "return") in ("return", "stdout", "mixed")


def _complete(spec: dict[str, Any]) -> bool:
    needed = {"language", "problem_count", "difficulty_plan", "topic"}
    return needed <= set(spec) and sum(spec["difficulty_plan"].values()) == spec["problem_count"]
