"""A random life: talk from two personas and channels, ends, returns, clock jumps, duplicates, workers that die."""

from __future__ import annotations

from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tenuto.facade.job_handlers import HANDLERS
from tenuto.records.conversation import Message, Session, SessionStatus
from tenuto.records.memory import Memory, PinKind
from tests.flows.world import World

SENTENCES = [
    "I moved to Lisbon and I love it.",
    "Thank you, that helps.",
    "I will call Maya tomorrow.",
    "You don't get it, that's not what I meant.",
    "Should I quit?",
    "ok",
    "I am devastated, my dog died.",
]


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(
            policy={"summary": {"range_every_messages": 7, "spine_every_messages": 5}, "jobs": {"attempts": 1000}}
        )
        self.said: dict[str, str] = {}
        self.pin = self.world.keep("Allergic to penicillin", pinned=True, pin_kind=PinKind.MANUAL, importance=1)

    def settle(self):
        assert self.world.store.settle(timeout=30), [
            (job.kind, job.status, job.error) for job in self.world.store.jobs()
        ]

    def who(self, friend: bool, mail: bool):
        return self.world.user(persona="friend" if friend else "coach", channel="email" if mail else "api")

    @rule(text=st.sampled_from(SENTENCES), friend=st.booleans(), mail=st.booleans(), count=st.integers(1, 5))
    def talk(self, text, friend, mail, count):
        for _ in range(count):
            id = f"m{len(self.said)}"
            self.who(friend, mail).observe(text, id=id, role="user" if len(self.said) % 2 else "assistant")
            self.said[id] = text
            self.world.clock.forward(seconds=40)

    @rule(text=st.sampled_from(SENTENCES), back=st.integers(1, 3000), friend=st.booleans())
    def talk_of_the_past(self, text, back, friend):
        id = f"m{len(self.said)}"
        self.who(friend, False).observe(text, id=id, at=self.world.clock() - timedelta(minutes=back))
        self.said[id] = text

    @rule(text=st.sampled_from(SENTENCES), run=st.sampled_from(["run-1", "run-2"]))
    def talk_in_a_named_session(self, text, run):
        id = f"m{len(self.said)}"
        self.who(False, False).observe(text, id=id, session=run)
        self.said[id] = text

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def say_it_again(self, data):
        id = data.draw(st.sampled_from(sorted(self.said)))
        found = [message for message in self.world.all(Message) if message.external_id == id]
        before = len(self.world.all(Message))
        who = self.world.user(persona=found[0].persona)
        who.observe(self.said[id], id=id, role=found[0].role)
        assert len(self.world.all(Message)) == before

    @rule(friend=st.booleans())
    def end(self, friend):
        self.who(friend, False).close_session()

    @rule(minutes=st.sampled_from([1, 29, 31, 60 * 24, 60 * 24 * 9]))
    def wait(self, minutes):
        self.world.clock.forward(minutes=minutes)

    @rule(hours=st.sampled_from([-24, -1, 1, 24]))
    def clock_jumps(self, hours):
        self.settle()  # a lease that its worker left behind would look a day long after a jump back
        self.world.clock.forward(hours=hours)

    @rule()
    def work(self):
        self.settle()

    @rule(batches=st.integers(1, 4))
    def work_a_little(self, batches):
        for _ in range(batches):
            self.world.store._runner.step()

    @rule()
    def a_worker_dies_after_the_work(self):
        """The job was carried out and never finished: it comes back after its lease and must do no harm."""
        deps = self.world.store.deps
        now = self.world.clock()
        jobs = deps.store.lease(sorted(HANDLERS), now, now + timedelta(seconds=1), 8)
        if jobs:
            HANDLERS[jobs[0].kind](deps, jobs[0].user_id, jobs)
        self.world.clock.forward(seconds=2)

    @invariant()
    def nothing_is_broken(self):
        self.world.check()
        assert len(self.world.all(Message)) == len(self.said)
        assert self.pin in self.world.all(Memory)

    def teardown(self):
        newest = max((message.at for message in self.world.all(Message)), default=self.world.clock())
        self.world.clock.now = max(newest, self.world.clock()) + timedelta(days=2)
        self.settle()
        self.world.clock.forward(days=2)
        self.settle()
        self.world.check()
        for session in self.world.all(Session):
            assert session.status is SessionStatus.CLOSED
            left = session.turn_count - session.classified_turns
            assert left < self.world.store.deps.policy.session.min_new_turns
        self.world.store.close()


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
