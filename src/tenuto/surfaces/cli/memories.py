"""``tenuto remember | memories | confirm | forget``."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenuto.surfaces.cli.shared import Settings, for_user, read_text


@click.command()
@click.argument("text")
@for_user
@click.option("--pin", is_flag=True, help="Always in context.")
@click.pass_obj
def remember(settings: Settings, text: str, user: str, persona: str | None, channel: str, pin: bool) -> None:
    """Keep one thing for good. TEXT may be - for standard input."""
    with settings.store() as store:
        kept = store.user(user, persona=persona, channel=channel).remember(read_text(text).strip(), pin=pin)
    settings.show(kept, lambda: click.echo(f"{kept.act.value}: {kept.id}: {kept.content} ({kept.reason})"))


@click.command()
@for_user
@click.option(
    "--status", help="candidate, confirmed, active, reinforced, revised, deprecated, forgotten, archived or '*'."
)
@click.option("--pinned", is_flag=True, default=None, help="Only what is always in context.")
@click.option("-n", "--limit", default=50, show_default=True, help="Most memories.")
@click.pass_obj
def memories(
    settings: Settings,
    user: str,
    persona: str | None,
    channel: str,
    status: str | None,
    pinned: bool | None,
    limit: int,
) -> None:
    """What is known of a user, newest first."""
    with settings.store(background=False) as store:
        known = store.user(user, persona=persona, channel=channel).memories(status=status, pinned=pinned, limit=limit)

    def render() -> None:
        table = Table(box=None, pad_edge=False)
        for name in ("id", "since", "importance", "status", "what"):
            table.add_column(name, overflow="fold", no_wrap=name == "id")
        for memory in known:
            since = f"{memory.valid_from or memory.created_at:%Y-%m-%d}"
            weight = f"{memory.importance:g}{' pinned' if memory.pinned else ''}"
            table.add_row(memory.id, since, weight, str(memory.status), Text(memory.content))
        Console().print(table if known else "Nothing is known.")

    settings.show(known, render)


@click.command()
@click.argument("memory_id")
@for_user
@click.pass_obj
def confirm(settings: Settings, memory_id: str, user: str, persona: str | None, channel: str) -> None:
    """Vouch for a memory that waits (`tenuto memories --status candidate`): it holds from then on."""
    with settings.store() as store:
        memory = store.user(user, persona=persona, channel=channel).confirm(memory_id)
    settings.show(memory, lambda: click.echo(f"{memory.status}: {memory.content}"))


@click.command()
@click.argument("memory_id")
@for_user
@click.option("--undo", is_flag=True, help="Bring it back.")
@click.pass_obj
def forget(settings: Settings, memory_id: str, user: str, persona: str | None, channel: str, undo: bool) -> None:
    """Take a memory out of every reading; --undo brings it back. For good is another verb: erase."""
    with settings.store() as store:
        owner = store.user(user, persona=persona, channel=channel)
        memory = owner.restore(memory_id) if undo else owner.forget(memory_id)
    settings.show(memory, lambda: click.echo(f"{memory.status}: {memory.content}"))
