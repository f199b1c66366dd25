"""``tenuto import`` and ``tenuto export``."""

from __future__ import annotations

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from tenuto.errors import InputError
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.records.transfer import Import
from tenuto.surfaces.cli.shared import Settings, for_user
from tenuto.transfer.formats.account import prompt as account_prompt
from tenuto.transfer.formats.registry import FORMATS
from tenuto.transfer.report import Estimate

NAMES = ", ".join([*FORMATS, "tenuto"])


@click.command("import")
@click.argument("path", required=False, type=click.Path())
@for_user
@click.option("--format", "format_", metavar="NAME", help=f"Where it is not recognised: {NAMES}.")
@click.option("--me", multiple=True, metavar="NAME", help="Who of the speakers you are; may be repeated.")
@click.option(
    "--timezone", default="UTC", show_default=True, help="What times without a zone mean, such as Europe/Rome."
)
@click.option("--vouch", is_flag=True, help="Believe what others say in it, and its memories, at once.")
@click.option("--no-extract", is_flag=True, help="Keep the messages only; look for no memories in them.")
@click.option("--wait", is_flag=True, help="Embed everything and look for memories before coming back.")
@click.option("--dry-run", is_flag=True, help="Count, date and price it; write nothing.")
@click.option(
    "--price", type=float, metavar="PER_MILLION", help="What a million tokens of your model cost, for --dry-run."
)
@click.option(
    "--prompt", is_flag=True, help="Print what to paste into another assistant to get an account of yourself."
)
@click.option("--list", "listed", is_flag=True, help="Show what was imported.")
@click.option("--vouch-for", metavar="ID", help="Believe an import that was made before.")
@click.pass_obj
def import_(
    settings: Settings, path: str | None, user: str, persona: str | None, channel: str, format_: str | None,
    me: tuple[str, ...], timezone: str, vouch: bool, no_extract: bool, wait: bool, dry_run: bool, price: float | None,
    prompt: bool, listed: bool, vouch_for: str | None,
) -> None:  # fmt: skip
    """Bring in earlier talk or memories from PATH: a file, a folder or an archive.

    Known: exports of ChatGPT, Claude, Gemini, WhatsApp, Telegram, Slack; mail; Messages and SMS backups; JSON lines and
    CSV; memories from mem0, LangMem, Letta, Zep, sostenuto; and Tenuto's own exports.
    """
    if prompt:
        click.echo(account_prompt())
        return
    with settings.store(background=False) as store:
        memory = store.user(user, persona=persona, channel="import" if channel == "terminal" else channel)
        if listed:
            _list(settings, memory.imports())
        elif vouch_for:
            _show(settings, memory.vouch(vouch_for))
        elif path is None:
            raise InputError("Say what to import: tenuto import PATH.", code="path_missing")
        elif dry_run:
            found = memory.estimate_import(path, format=format_, me=me, timezone=timezone)
            if price is not None:
                found.price = round(found.model_tokens / 1e6 * price, 2)
            settings.show(found, lambda: _estimate(found))
        else:
            done = _run(memory, path, format_, me, timezone, vouch, not no_extract)
            if wait:
                _embed(store)
                _digest(store)
            _show(settings, done, kept=len(memory.memories(limit=KEPT)) if wait else None)


STEP = 1.0
"""Seconds between two looks at what is left to do."""
MOST_JOBS = 100_000
KEPT = 100_000


def _run(
    memory: UserMemory, path: str, format_: str | None, me: tuple[str, ...], timezone: str, vouch: bool, extract: bool
) -> Import:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task: TaskID = bar.add_task("reading", total=None)

        def progress(read: int, total: int, run: Import) -> None:
            bar.update(task, completed=read, total=max(total, 1), description=f"{run.messages + run.memories:,} kept")

        return memory.import_file(
            path, format=format_, me=me, timezone=timezone, vouch=vouch, extract=extract, progress=progress
        )


def _embed(store: Tenuto) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("embedding", total=store.unembedded())
        store.reembed(lambda step: bar.advance(task, step))


def _digest(store: Tenuto) -> None:
    """Read what was brought in, a few messages a job; stopping in between loses nothing."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        waiting = len(store.jobs("pending", limit=MOST_JOBS))
        task = bar.add_task("looking for memories", total=waiting)
        while not store.settle(timeout=STEP):
            bar.update(task, completed=waiting - len(store.jobs("pending", limit=MOST_JOBS)))


def _show(settings: Settings, done: Import, kept: int | None = None) -> None:
    def render() -> None:
        click.echo(f"{done.format}: {done.messages:,} messages and {done.memories:,} memories from {done.name}")
        if kept is not None:
            click.echo(f"  {kept:,} memories are known now")
        if done.oldest and done.newest:
            click.echo(f"  said between {done.oldest:%Y-%m-%d} and {done.newest:%Y-%m-%d}")
        if done.duplicates:
            click.echo(f"  {done.duplicates:,} were there already")
        if done.skipped:
            click.echo(f"  {done.skipped:,} skipped:")
            for skip in done.skips[:10]:
                click.echo(f"    {skip.where}: {skip.why}")
            if done.skipped > 10:
                click.echo("    … (--json shows more)")
        if done.vouched_at is None:
            click.echo(f"  Not vouched for: what others say in it is not recalled. tenuto import --vouch-for {done.id}")
        if kept is None:
            click.echo("  Found by words now; by meaning, and read for memories, by tenuto worker (or --wait).")

    settings.show(done, render)


def _list(settings: Settings, found: list[Import]) -> None:
    def render() -> None:
        for one in found:
            vouched = "vouched for" if one.vouched_at else "not vouched for"
            click.echo(
                f"{one.id}  {one.started_at:%Y-%m-%d}  {one.status.value:8} {one.messages:>8,}  {one.name} ({vouched})"
            )

    settings.show(found, render)


def _estimate(found: Estimate) -> None:
    click.echo(f"{found.format}: {found.messages:,} messages ({found.mine:,} yours), {found.memories:,} memories")
    if found.oldest and found.newest:
        click.echo(f"  said between {found.oldest:%Y-%m-%d} and {found.newest:%Y-%m-%d}, {found.threads:,} threads")
    click.echo(f"  about {found.tokens:,} tokens, {found.disk_bytes / 1e6:,.0f} MB on disk")
    if found.embedding_seconds is not None:
        click.echo(f"  embedding takes about {_duration(found.embedding_seconds)} here, in the background")
    if not found.model_tokens:
        click.echo("  no model reads it, so it costs nothing")
    else:
        cost = f"{found.price:,.2f}" if found.price is not None else "give --price PER_MILLION to price it"
        click.echo(f"  the model would read {found.model_tokens:,} tokens: {cost}")
    if found.speakers:
        top = sorted(found.speakers.items(), key=lambda pair: -pair[1])[:8]
        click.echo("  speakers: " + ", ".join(f"{name} ({count:,})" for name, count in top))
    for skip in found.skips[:10]:
        click.echo(f"  skipped {skip.where}: {skip.why}")
    if found.skipped > 10:
        click.echo(f"  … {found.skipped:,} skipped in all")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@click.command()
@click.argument("path", type=click.Path())
@for_user
@click.pass_obj
def export(settings: Settings, path: str, user: str, persona: str | None, channel: str) -> None:
    """Write everything of a user to PATH: .jsonl or .json to keep or move, .md to read."""
    with settings.person(user, persona, channel) as owner:
        counts = owner.export(path)

    def render() -> None:
        click.echo(
            f"{path}: " + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)
        )

    settings.show(counts, render)
