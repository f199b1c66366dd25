"""A clock that jumps by an hour or a day and comes back, under talk, dead workers and retention.

The true time only goes forward; the store sees it through a clock that is wrong for a while, again and again. What is
counted is measured against the true time: text that was purged too early, messages that are told in another order than
they were said, and jobs that nobody comes to although they are due.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from tests.flows.world import START, World

JUMPS = (timedelta(hours=1), timedelta(hours=-1), timedelta(days=1), timedelta(days=-1))
KEPT = timedelta(days=10)
AT_ONCE = {"embed", "digest", "rolling_summary", "range_summary", "spine", "profile", "brief", "topics", "curate"}
"""Kinds that are never written for later: one of these that waits is stuck."""


@dataclass
class Harm:
    jumps: int = 0
    early: int = 0
    inversions: int = 0
    stuck: int = 0
    purged: int = 0


class Jumper:
    """One store under a clock that is wrong for a while."""

    def __init__(self, path=None, *, seed: int = 1, policy: dict | None = None) -> None:
        retention = {"retention": {"purge_text": KEPT.total_seconds()}}
        self.world = World(path, policy={**retention, **(policy or {})})
        self.coach = self.world.user()
        self.random = Random(seed)
        self.true = START
        self.off = timedelta(0)
        self.said: list[tuple[datetime, str]] = []

    def play(self, count: int) -> Harm:
        harm = Harm()
        for number in range(count):
            self._round(number, JUMPS[number % len(JUMPS)], harm)
        return harm

    def _round(self, number: int, jump: timedelta, harm: Harm) -> None:
        self._pass(timedelta(hours=self.random.uniform(0.05, 16)))
        self._talk(f"{number} before")
        self._die()
        self._jump(jump)
        harm.jumps += 1
        self._talk(f"{number} during")
        self._work(harm)
        self._die()
        self._jump(-jump)
        self._talk(f"{number} after")
        self._work(harm)
        self._look(harm)

    def _jump(self, by: timedelta) -> None:
        self.off += by
        self.world.clock.now = self.true + self.off

    def _pass(self, time: timedelta) -> None:
        self.true += time
        self.world.clock.now = self.true + self.off

    def _talk(self, name: str) -> None:
        for part in ("question", "answer"):
            self.coach.observe(f"The {part} of round {name}.", role="user" if part == "question" else "assistant")
            self.said.append((self.true, f"The {part} of round {name}."))
            self._pass(timedelta(seconds=5))

    def _die(self) -> None:
        """A worker takes a batch and is never heard of again."""
        deps = self.world.store.deps
        now = deps.clock()
        deps.store.lease(self.world.runner.kinds, now, now + deps.policy.jobs.lease, 8)

    def _work(self, harm: Harm) -> None:
        """What a worker gets done within three minutes by the true time."""
        for _ in range(3):
            self._pass(timedelta(minutes=1))
            while self.world.runner.step():
                pass
        late = [job for job in self.world.store.jobs(limit=1000) if job.kind in AT_ONCE]
        harm.stuck += sum(job.status in ("pending", "running") for job in late)

    def _look(self, harm: Harm) -> None:
        kept = [message.content for message in self.coach.messages(limit=100_000)]
        known = set(kept)
        harm.early += sum(text not in known and self.true - at < KEPT for at, text in self.said)
        harm.inversions += kept != [text for _, text in self.said if text in known]
        harm.purged += sum(text not in known for _, text in self.said)
        self.said = [(at, text) for at, text in self.said if text in known]
