"""``tenuto demo``: the main job on a conversation that ships with Tenuto. No key, no server, no network.

Ten weeks of one person with three personas on two channels are replayed through the same verbs that a program calls, on
a clock that stands where the conversation is. What is shown is read back from the store: receipts say what was kept of
each message and why, and every step says how long it took.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import tenuto
from tenuto.records.context import Context
from tenuto.records.memory import Memory
from tenuto.records.operations import Act, Receipt
from tenuto.records.recall import Hit
from tenuto.surfaces.cli.shared import Settings

USER = "maya"
QUESTIONS = (
    ("chef", "What is Theo allergic to?"),
    ("chef", "Which herb should replace coriander?"),
    ("coach", "Which city does she live in now?"),
    ("coach", "What did she promise to send, and when?"),
    ("tutor", "Where does she work?"),
    ("tutor", "How does she like to be corrected?"),
)
LAST = ("chef", "Theo's new friends come on Saturday. What can I bake for them?", 2500)
SHOWN = 15
"""Memories in the table; the most important ones."""
GAP = timedelta(minutes=30)
MARKS = {
    Act.INSERTED: "+",
    Act.REINFORCED: "↑",
    Act.UPGRADED: "✎",
    Act.SUPERSEDED: "⇄",
    Act.DUPLICATE: "=",
    Act.REJECTED: "–",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of the conversation that ships."""

    at: datetime
    persona: str
    channel: str
    role: str
    text: str


@dataclass(slots=True)
class Timings:
    """How long each step took: name → seconds of each call."""

    steps: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.steps.setdefault(name, []).append(time.perf_counter() - begun)


def conversation() -> list[Line]:
    """The lines, oldest first."""
    text = files("tenuto.surfaces.cli").joinpath("demo.jsonl").read_text(encoding="utf-8")
    return [msgspec.json.decode(line, type=Line) for line in text.splitlines()]


def talks(lines: list[Line]) -> list[list[Line]]:
    """The lines cut where half an hour passed or somebody else was talked to."""
    found = [[lines[0]]]
    for before, line in pairwise(lines):
        if line.at - before.at >= GAP or line.persona != before.persona:
            found.append([])
        found[-1].append(line)
    return found


class Replay:
    """A clock that stands where the conversation is."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@click.command()
@click.option("--keep", type=click.Path(dir_okay=False), help="Keep the database at this path, to look at it later.")
@click.pass_obj
def demo(settings: Settings, keep: str | None) -> None:
    """Feed a conversation, see what is kept and why, then recall and build a context."""
    console = Console(stderr=settings.as_json)
    lines, timings = conversation(), Timings()
    clock = Replay(lines[0].at)
    with tempfile.TemporaryDirectory(prefix="tenuto-demo-") as folder:
        url = keep or settings.db or str(Path(folder) / "tenuto.db")
        _title(console, url, lines)
        with timings.step("open the store"):
            store = tenuto.open(url, clock=clock, background=False)
        with store:
            with timings.step("load the embedding model"):
                store.deps.embedder.embed(["warm up"])
            receipts = _listen(store, lines, clock, timings, console)
            _show_kept(store, receipts, console)
            clock.at = lines[-1].at + timedelta(days=1)
            answers = [(who, question, _ask(store, who, question, timings)) for who, question in QUESTIONS]
            _show_answers(answers, console)
            persona, message, budget = LAST
            with timings.step("build a context"):
                context = store.user(USER, persona=persona, channel="imessage").context(message, budget=budget)
            _show_context(context, persona, message, budget, console)
    _show_timings(timings, console)
    settings.show(_summary(receipts, answers, context, timings), lambda: None)


def _listen(
    store: tenuto.Tenuto, lines: list[Line], clock: Replay, timings: Timings, console: Console
) -> dict[str, list[Receipt]]:
    """Observe every line; after each talk let the background work finish, and say what came of it."""
    kept: dict[str, list[Receipt]] = {}
    columns = (SpinnerColumn(), TextColumn("listening"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(lines))
        for talk in talks(lines):
            first = talk[0]
            memory = store.user(USER, persona=first.persona, channel=first.channel)
            receipts = []
            for line in talk:
                clock.at = line.at
                with timings.step("observe"):
                    receipts.append(memory.observe(line.text, role=line.role, at=line.at))
                progress.advance(task)
            with timings.step("settle (per talk: vectors, memories)"):
                store.settle()
            settled = [memory.receipt(receipt.id) or receipt for receipt in receipts]
            kept.setdefault(first.persona, []).extend(settled)
            _show_talk(first, talk, settled, console)
    return kept


def _ask(store: tenuto.Tenuto, persona: str, question: str, timings: Timings) -> list[Hit]:
    with timings.step("recall"):
        return store.user(USER, persona=persona, channel="imessage").recall(question, limit=3)


def _title(console: Console, url: str, lines: list[Line]) -> None:
    weeks = (lines[-1].at - lines[0].at).days // 7
    people = ", ".join(dict.fromkeys(line.persona for line in lines))
    ways = " and ".join(dict.fromkeys(line.channel for line in lines))
    words = f"{len(lines)} messages over {weeks} weeks with {people}, by {ways}\n"
    words += f"kept in {url}; no key, no server, no network"
    console.print(Panel(words, title="[bold]Tenuto[/bold]", title_align="left", border_style="cyan"))


def _show_talk(first: Line, talk: list[Line], receipts: list[Receipt], console: Console) -> None:
    head = Text.assemble((f"{first.at:%d %b}", "bold"), f"  {first.persona} · {first.channel} · {len(talk)} messages")
    console.print(head)
    for receipt in receipts:
        for result in receipt.results:
            if result.act in (Act.REJECTED, Act.DUPLICATE):
                continue
            line = Text.assemble(("   " + MARKS[result.act] + " ", "green"), result.content or str(result.subject_id))
            console.print(line.append(f"  {result.reason}", style="dim"), highlight=False)


def _show_kept(store: tenuto.Tenuto, receipts: dict[str, list[Receipt]], console: Console) -> None:
    everything = [receipt for some in receipts.values() for receipt in some]
    results = [result for receipt in everything for result in receipt.results]
    quiet = sum(not any(r.act not in (Act.REJECTED, Act.DUPLICATE) for r in receipt.results) for receipt in everything)
    memories = sorted(_memories(store), key=lambda memory: (-memory.importance, memory.created_at))
    if memories:
        table = Table(
            title=f"The {min(SHOWN, len(memories))} most important of {len(memories)} things known now, and why",
            title_justify="left",
            expand=True,
            row_styles=["", "dim"],
        )
        table.add_column("", justify="right")
        table.add_column("what", ratio=5)
        table.add_column("kind")
        table.add_column("because she said", ratio=5)
        for memory in memories[:SHOWN]:
            said = next((e for e in memory.evidence if e.quote), None)
            quote = f"{said.at:%d %b}: “{said.quote}”" if said else ""
            table.add_row(
                f"{memory.importance:g}{' 📌' if memory.pinned else ''}", memory.content, str(memory.kind), quote
            )
        console.print(table)
    stats = store.user(USER).stats()
    counts = ", ".join(
        f"{sum(r.act is act for r in results)} {act.value}" for act in Act if any(r.act is act for r in results)
    )
    console.print(
        f"{stats['total_messages']} messages kept word for word, {stats['total_memories']} memories"
        + (f" ({counts})" if counts else "")
        + f"; {quiet} messages left nothing but themselves.\n",
        highlight=False,
    )


def _memories(store: tenuto.Tenuto) -> Iterable[Memory]:
    """What any of the personas knows, once."""
    known = [store.user(USER, persona=persona).memories() for persona in (None, "coach", "chef", "tutor")]
    return {memory.id: memory for some in known for memory in some}.values()


def _show_answers(answers: list[tuple[str, str, list[Hit]]], console: Console) -> None:
    table = Table(title="Recall", title_justify="left", expand=True, show_lines=True)
    table.add_column("question", ratio=3)
    table.add_column("what comes back", ratio=7)
    for persona, question, hits in answers:
        found = Text()
        for hit in hits:
            found.append(f"{hit.score:5.2f} ", style="cyan").append(f"{hit.at:%d %b} ", style="dim")
            found.append(f"{hit.kind} ", style="green").append(hit.text + "\n", style="" if hit is hits[0] else "dim")
        found.rstrip()
        table.add_row(Text.assemble((question, "bold"), f"\nasked by {persona}"), found)
    console.print(table)


def _show_context(context: Context, persona: str, message: str, budget: int, console: Console) -> None:
    table = Table(title=f"A context for {persona}: “{message}”", title_justify="left", expand=True)
    table.add_column("block")
    table.add_column("tokens", justify="right")
    table.add_column("things", justify="right")
    table.add_column("text", ratio=1)
    for block in context.blocks:
        if block.tokens:
            first = " ".join(block.text.split())
            shown = Text(first, overflow="ellipsis", no_wrap=True)
            table.add_row(block.name, str(block.tokens), str(len(block.items)), shown)
    kept = f"{context.tokens} of {budget} tokens, {context.answer} kept for the answer"
    table.caption = f"{kept}, in {len(context.messages)} messages"
    console.print(table)


def _show_timings(timings: Timings, console: Console) -> None:
    table = Table(title="Time", title_justify="left")
    for name in ("step", "times", "median ms", "total s"):
        table.add_column(name, justify="left" if name == "step" else "right")
    for name, seconds in timings.steps.items():
        table.add_row(name, str(len(seconds)), f"{statistics.median(seconds) * 1e3:.1f}", f"{sum(seconds):.2f}")
    console.print(table)


def _summary(
    receipts: dict[str, list[Receipt]], answers: list[tuple[str, str, list[Hit]]], context: Context, timings: Timings
) -> dict[str, Any]:
    return {
        "messages": sum(map(len, receipts.values())),
        "kept": [result for some in receipts.values() for receipt in some for result in receipt.results],
        "recall": [{"persona": who, "question": question, "hits": hits} for who, question, hits in answers],
        "context": {"tokens": context.tokens, "messages": context.messages},
        "seconds": {name: round(sum(seconds), 4) for name, seconds in timings.steps.items()},
    }
