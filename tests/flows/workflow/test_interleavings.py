"""Propose, state, confirm, refuse, expire, restart, two messages at once, hostile answers: in any order, nothing slips.

``make test`` plays a few dozen stories; ``TENUTO_TEST_STORIES=10000`` plays that many. Each guard is also taken
out once, to show that the judge notices.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.flows.workflow.world import NO, NOISE, STATES, YES, Script, World

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.workflow import collector, machine, turn

STORIES = int(os.environ.get("TENUTO_TEST_STORIES", "0"))
RELIABILITY = STORIES > 0

languages = st.sampled_from(["python", "java", "sql"])
counts = st.integers(1, 4)
plans = st.fixed_dictionaries({name: st.integers(0, 2) for name in ("easy", "medium", "hard")})
topics = st.sampled_from(["loops", "recursion", "arrays"])
statements = st.one_of(
    st.tuples(st.just("language"), languages),
    st.tuples(st.just("problem_count"), counts),
    st.tuples(st.just("difficulty_plan"), plans),
    st.tuples(st.just("topic"), topics),
)
channels = st.sampled_from(["web", "sms"])
devices = st.integers(0, 1)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["__proto__", "easy", "a"]), inner),
    max_leaves=6,
)
paths = st.sampled_from(
    ["/language", "/problem_count", "/difficulty_plan/easy", "/difficulty_plan", "/topic", "/style", "/state", "/locks",
     "/__proto__/x", "/pending", "", "language", "/difficulty_plan/__class__", "/topic/0", "/" * 50]
)  # fmt: skip
wild = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "replace", "remove", "move", "test", "exec"]), "path": paths},
        optional={"value": junk | languages | counts | topics, "confidence": junk, "from": paths},
    ),
    max_size=4,
)
rubbish = st.sampled_from(
    [
        "", "I cannot help with that.", "{", "[" * 5000, '{"changes": {}}', '{"changes": [1, null, "x", []]}', "null",
        '{"changes": [{"op": "add", "path": "/topic", "value": "' + "x" * 70_000 + '"}]}', "```json\n{]\n```", "NaN",
        '{"changes": [{"op": "add", "path": "/topic", "value": ' + "[" * 40 + "]" * 40 + "}]}",
        '{"confirm": true, "state": "SAVED", "changes": []}',
        '{"changes": [], "changes": [{"op": "remove", "path": "/"}]}',
        '{"changes": [{"op": "replace", "path": "/language", "value": "java", "explicit": true, "by": "user"}]}',
    ]
)  # fmt: skip
operations = st.lists(
    statements.map(lambda said: {"op": "replace", "path": f"/{said[0]}", "value": said[1], "confidence": 1.0}),
    min_size=1,
    max_size=3,
)


class Story(RuleBasedStateMachine):
    """The world on a store in memory."""

    def open(self, clock: Callable[[], datetime], model: Script) -> Tenuto:
        return tenuto.open("memory:", clock=clock, background=False, model=model)

    restarts_store = False

    @initialize(warm=st.booleans())
    def begin(self, warm: bool) -> None:
        self.world = World(self.open)
        if warm:
            for field, value in (("language", "python"), ("problem_count", 3), ("topic", "loops")):
                self.world.state(field, value, "web")
            self.world.state("difficulty_plan", {"easy": 1, "medium": 1, "hard": 1}, "web")

    @rule(changes=operations, channel=channels)
    def the_model_proposes(self, changes: Any, channel: str) -> None:
        self.world.propose(changes, channel)

    @rule(said=statements, channel=channels, device=devices)
    def the_person_states(self, said: Any, channel: str, device: int) -> None:
        self.world.state(*said, channel, device)

    @rule(word=st.sampled_from(YES + NO), channel=channels, device=devices)
    def the_person_answers(self, word: str, channel: str, device: int) -> None:
        self.world.consent(word, channel, device)

    @rule(word=st.sampled_from(YES), channel=channels)
    def the_person_confirms(self, word: str, channel: str) -> None:
        self.world.consent(word, channel)

    @rule(text=st.sampled_from(NOISE), channel=channels)
    def the_person_talks(self, text: str, channel: str) -> None:
        self.world.say("talk", text, channel)

    @rule(consent=st.sampled_from(["yes", "no"]), channel=channels, device=devices, stale=st.booleans())
    def a_button_is_pressed(self, consent: str, channel: str, device: int, stale: bool) -> None:
        digest = None
        if stale:
            digests = [note.digest for note in self.world.notes.values() if note.digest]
            digest = digests[0] if digests else "0" * 64
        self.world.press(consent, digest, channel, device)

    @rule(answer=rubbish | wild.map(lambda changes: json.dumps({"changes": changes})), channel=channels)
    def the_model_is_hostile(self, answer: str, channel: str) -> None:
        self.world.hostile(answer, channel)

    @rule(said=statements, channel=channels)
    def text_from_outside(self, said: Any, channel: str) -> None:
        self.world.outside(*said, channel)

    @rule(minutes=st.sampled_from([0.1, 1, 29, 30, 31, 600]))
    def time_passes(self, minutes: float) -> None:
        self.world.wait(minutes)

    @rule(
        said=statements, channel=channels, minutes=st.sampled_from([1, 29, 30, 31]), where=channels, newer=st.booleans()
    )
    def a_slow_answer(self, said: Any, channel: str, minutes: float, where: str, newer: bool) -> None:
        """Something is stated, time passes, perhaps another device says otherwise, and then comes the yes."""
        self.world.state(*said, channel)
        self.world.wait(minutes)
        if newer:
            self.world.state("language", "sql", channel, 1)
        self.world.consent("yes", where)

    @rule(store=st.booleans())
    def restart(self, store: bool) -> None:
        self.world.restart(store=store and self.restarts_store)

    @rule(goal=st.sampled_from(STATES), channel=channels)
    def somebody_moves_it(self, goal: str, channel: str) -> None:
        self.world.move(goal, channel)

    @rule(
        changes=operations,
        channel=channels,
        other=st.one_of(
            st.tuples(st.just("state"), statements),
            st.tuples(st.just("yes"), st.sampled_from(YES)),
            st.tuples(st.just("move"), st.sampled_from(STATES)),
            st.tuples(st.just("propose"), operations),
        ),
        where=channels,
    )
    def two_at_once(self, changes: Any, channel: str, other: tuple[str, Any], where: str) -> None:
        """Another message is taken in while the model thinks about the first one."""
        kind, what = other

        def meanwhile() -> None:
            if kind == "state":
                self.world.state(*what, where, 1)
            elif kind == "yes":
                self.world.consent(what, where, 1)
            elif kind == "move":
                self.world.move(what, where)
            else:
                self.world.propose(what, where)

        self.world.propose(changes, channel, meanwhile)

    @invariant()
    def nothing_slipped(self) -> None:
        """After every step; in the long run once per story, because the judge replays all of it anyway."""
        if hasattr(self, "world") and not RELIABILITY:
            self.world.check()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            try:
                self.world.check()
            finally:
                self.world.store.close()


class DurableStory(Story):
    """The same on SQLite, where a restart opens the file again."""

    restarts_store = True

    def open(self, clock: Callable[[], datetime], model: Script) -> Tenuto:
        if not hasattr(self, "directory"):
            self.directory = tempfile.TemporaryDirectory(prefix="tenuto-test-")
        return tenuto.open(Path(self.directory.name) / "w.db", clock=clock, background=False, model=model)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "directory"):
            self.directory.cleanup()


def _settings(examples: int, steps: int, **more: Any) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=checks,
        print_blob=True,
        **more,
    )


@pytest.mark.timeout(14_400 if RELIABILITY else 120)
def test_nothing_slips() -> None:
    run_state_machine_as_test(Story, settings=_settings(STORIES or 60, 20))


@pytest.mark.timeout(14_400 if RELIABILITY else 120)
def test_nothing_slips_on_a_durable_store() -> None:
    run_state_machine_as_test(DurableStory, settings=_settings(max(6, STORIES // 30), 15))


def _must_fail(because: str) -> None:
    """A story without a guard has to be noticed, and for the right reason. Not shrunk: that it fails is all we ask."""
    with pytest.raises(AssertionError, match=because):
        run_state_machine_as_test(
            Story, settings=_settings(400, 25, phases=[Phase.generate], database=None, derandomize=True)
        )


def test_the_judge_notices_an_expiry_that_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "is_live", lambda pending, now: pending is not None)
    monkeypatch.setattr(turn, "is_live", lambda pending, now: pending is not None)
    _must_fail("too late")


def test_the_judge_notices_a_yes_to_something_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = collector.settle
    monkeypatch.setattr(
        collector, "settle", lambda workflow, answer, now: settle(workflow, replace(answer, seen=None), now)
    )
    _must_fail("not what was shown|nobody saw|used twice")


def test_the_judge_notices_a_yes_on_another_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = collector.settle

    def careless(workflow: Any, answer: Any, now: datetime) -> Any:
        channel = workflow.pending.channel if workflow.pending else answer.channel
        return settle(workflow, replace(answer, channel=channel, seen=None), now)

    monkeypatch.setattr(collector, "settle", careless)
    _must_fail("another channel|not what was shown|nobody saw")


def test_the_judge_notices_an_illegal_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "move", lambda allowed, state, target: target)
    _must_fail("illegal")


def test_the_judge_notices_an_inference_that_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = turn.gate

    def careless(definition: Any, workflow: Any, changes: Any, *rest: Any, **more: Any) -> Any:
        return gate(definition, workflow, [replace(change, explicit=True) for change in changes], *rest, **more)

    monkeypatch.setattr("tenuto.workflow.decide.gate", careless)
    _must_fail("an inference changed")
