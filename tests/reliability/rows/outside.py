"""Rows 16, 17 and 19: models that fail in every way, an embedder that is down, clocks that jump."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import tenuto
from tenuto.ingest import observe
from tenuto.ingest.extract import model as extract_model
from tenuto.ingest.extract.proposals import Proposal
from tenuto.ports import Answer
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory, Trust
from tenuto.records.operations import JobStatus, Receipt
from tenuto.storage.inmemory import InMemoryStore
from tenuto.storage.sqlstore import SqlStore
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tests import servers
from tests.flows.ingest.test_model import FAULTS, GOOD, SAID, answer
from tests.reliability.scorecard import Measured, Work, row

SLOW = 0.06
BASE: dict[str, Any] = {"tokens": FakeTokens(), "background": False}
UNENDING = (JobStatus.FAILED, JobStatus.RUNNING)


# --- 16: models -------------------------------------------------------------------------------------------------------


def _slow() -> str:
    time.sleep(SLOW * 3)
    return answer(GOOD)


class Faulty:
    """Whatever it is asked, it fails in its own way."""

    name = "faulty"

    def __init__(self, fault: str) -> None:
        self.fault = _slow if fault == "slow drip" else FAULTS[fault]

    def complete(self, **_: Any) -> Answer:
        if isinstance(self.fault, Exception):
            raise self.fault
        return Answer(text=self.fault() if callable(self.fault) else self.fault, model=self.name)


def ask(fault: str, number: int) -> list[str]:
    """What is wrong after a conversation with such a model; nothing should be."""
    clock = FakeClock()
    policy = {"model": {"timeout": SLOW, "retries": 0}} if fault == "slow drip" else {"model": {"retries": 1}}
    with tenuto.open(
        "memory:", model=Faulty(fault), clock=clock, embedder=FakeEmbedder(), policy=policy, **BASE
    ) as store:
        ana = store.user("ana")
        for text in (SAID, f"I have {number + 2} bicycles.", "Thank you!"):
            ana.observe(text)
        store.settle()
        clock.advance(hours=2)
        ana.close_session()
        store.settle()
        found = [] if len(ana.messages()) == 3 else ["a message is lost"]
        with store.deps.store.reading("ana") as reader:
            found += [] if all(receipt.settled for receipt in reader.find(Receipt)) else ["a receipt is not settled"]
            memories = reader.find(Memory)
        found += [f"a job is stuck: {job.kind} {job.error}" for job in store.jobs(limit=1000) if job.status in UNENDING]
        stands = any(one.content == "Lives in Oslo" and one.made_by == "reader" for one in memories)
        found += [] if stands else ["the reader's result is not there"]
        words = " ".join([*(one.content for one in memories), *(one.content for one in ana.summaries())])
        found += [f"{word} got in" for word in ("admin", "Moscow", "Осло") if word in words]
        gained = [one for one in memories if one.pinned or one.trust in (Trust.OPERATOR, Trust.USER_CONFIRMED)]
        return found + [f"gained by its word: {one.content}" for one in gained]


def ask_all(work: Work, faults: list[str]) -> Measured:
    wrong: Counter[str] = Counter()
    for number in work:
        fault = faults[number % len(faults)]
        wrong.update(f"{fault}: {problem}" for problem in ask(fault, number))
    for problem, count in wrong.most_common(10):
        print(f"{count} × {problem}")
    return Measured(
        done=work.done,
        bad=sum(wrong.values()),
        words=f"{sum(wrong.values())} lost, half, stuck or gained, {len(faults)} faults",
    )


@row(
    16,
    "16 model faults (timeout, 429, 500, truncated or fenced or wrong JSON, wrong types, huge, empty, refusal, injected commands, "
    "wrong language, duplicate keys, NaN, slow drip, disconnect, stale) × 200: 0 messages lost, 0 half writes, 0 jobs stuck, "
    "nothing gained by the model's word",
    unit="conversations",
    full=16 * 200,
    gate=len(FAULTS) * 2,
)
def models(work: Work) -> Measured:
    return ask_all(work, list(FAULTS))


@models.control("an answer that is not parsed with care")
def careless_parsing(work: Work) -> Measured:
    def trusting(text: str) -> Any:
        return [Proposal(**one) for one in json.loads(text)["memories"]], []

    with mock.patch.object(extract_model, "parse", trusting):
        return ask_all(work.part(len(FAULTS), "parsing"), list(FAULTS))


# --- 17: the embedder -------------------------------------------------------------------------------------------------

NOUNS = tuple(
    [
        "apple",
        "boat",
        "candle",
        "desert",
        "engine",
        "feather",
        "garden",
        "hammer",
        "island",
        "jacket",
        "kettle",
        "ladder",
        "mirror",
        "needle",
        "orchard",
    ]
)


def without_embedder(work: Work) -> Measured:
    embedder = FakeEmbedder()
    embedder.broken = True
    late, missing, doubled = 0, 0, 0
    path = work.folder / "tenuto.db"
    with tenuto.open(path, embedder=embedder, **BASE) as store:
        ana = store.user("ana")
        for number in work:
            word = f"{NOUNS[number % len(NOUNS)]}{number}q"
            ana.observe(f"Something about {word} happened.", id=f"m{number}")
            begun = time.process_time()
            hits = ana.recall(word, limit=3, kinds=["message"])
            late += time.process_time() - begun > 1
            missing += not hits or hits[0].message_id != f"m{number}"
        store.settle(timeout=60)
        down = store.unembedded()
        embedder.broken = False
        for job in store.jobs("failed", limit=10**6):
            store.retry_job(job.id)
        store.reembed()
        back = store.unembedded()
        with store.deps.store.reading("ana") as reader:
            entries = reader.entries_since(0, 10**7)
            doubled = len(entries) - len({(entry.kind, entry.id) for entry in entries})
            messages = reader.stats()["total_messages"]
    bad = late + missing + back + doubled + abs(messages - work.done) + (0 if down else 1)
    return Measured(
        done=work.done,
        bad=bad,
        words=f"{missing} not found by words, {late} later than 1 s, {back} not back-filled, {doubled} twice",
    )


@row(
    17,
    "embedder down for 1,000 writes: all found by words within 1 s, all back-filled, no duplicates",
    unit="writes",
    full=1000,
    gate=60,
)
def embedder_down(work: Work) -> Measured:
    return without_embedder(work)


@embedder_down.control("words are not indexed")
def no_words(work: Work) -> Measured:
    make = observe.make_entry

    def wordless(*args: Any, **more: Any) -> Any:
        return evolve(make(*args, **more), tokens=b"")

    with mock.patch.object(observe, "make_entry", wordless):
        return without_embedder(work.part(20, "words"))


# --- 19: clocks -------------------------------------------------------------------------------------------------------

JUMPS = [timedelta(hours=1), timedelta(hours=-1), timedelta(days=1), timedelta(days=-1)]
ENGINES = ("memory", "SQLite", "PostgreSQL", "memory", "memory")
"""Which store every fifth round of jumps is on."""


def jumping(work: Work) -> Measured:
    """Talk, a jump, more talk, a worker that dies and another that takes over after its lease: nothing is lost or stuck."""
    purged, inverted, stuck = 0, 0, 0
    on: Counter[str] = Counter()
    for number in work:
        jump = JUMPS[number % len(JUMPS)]
        engine = ENGINES[number // len(JUMPS) % len(ENGINES)]
        on[engine] += 1
        user, clock = f"ana{number}", FakeClock()
        policy = {"retention": {"purge_text": 30 * 86400.0}}
        with tenuto.open(_place(work, engine), clock=clock, embedder=FakeEmbedder(), policy=policy, **BASE) as store:
            ana = store.user(user)
            kept = []
            for turn in range(4):
                kept.append(ana.observe(f"Message {turn} before: I own {turn + 2} boats.").message_id)
                clock.advance(seconds=20)
            died = store.deps.store.lease(["digest", "embed"], clock(), clock() + store.deps.policy.jobs.lease, 8)
            clock.now += jump
            for turn in range(4):
                kept.append(ana.observe(f"Message {turn} after: I own {turn + 7} bikes.").message_id)
                clock.advance(seconds=20)
            ana.purge()
            store.curate(user)
            clock.advance(seconds=31)
            clock.now -= jump
            clock.advance(seconds=31)
            store.settle(timeout=120)
            with store.deps.store.reading(user) as reader:
                found = [message.id for message in reader.find(Message, order="seq")]
            purged += len(set(kept) - set(found))
            inverted += found != [id for id in kept if id in found]
            waiting = [
                job for job in store.jobs(user=user, limit=1000)
                if job.kind in ("digest", "embed") and job.status not in (JobStatus.DONE, JobStatus.CANCELLED)
            ]  # fmt: skip
            stuck += bool(waiting) or not died
    return Measured(
        done=work.done,
        bad=purged + inverted + stuck,
        words=f"{purged} purged early, {inverted} out of order, {stuck} stuck "
        f"({', '.join(f'{name} {count}' for name, count in on.items())})",
    )


def _place(work: Work, engine: str) -> str:
    """A store of its own in memory; one file and one database for all that run on them, each with a user of its own."""
    if engine == "memory":
        return "memory:"
    if engine == "SQLite":
        return str(work.folder / "clocks.db")
    return _database(work.folder)


@cache
def _database(folder: Path) -> str:
    return servers.fresh_database()


@row(
    19,
    "clock jumps ±1 h, ±1 day × 100: 0 early purges, 0 order inversions, 0 stuck leases",
    unit="jumps",
    full=len(JUMPS) * 100,
    gate=12,
)
def clock_jumps(work: Work) -> Measured:
    return jumping(work)


@clock_jumps.control("jobs of a clock that was ahead are not mended")
def not_mended(work: Work) -> Measured:
    with (
        mock.patch.object(InMemoryStore, "mend_jobs", return_value=0),
        mock.patch.object(SqlStore, "mend_jobs", return_value=0),
    ):
        return jumping(work.part(8, "leases"))
