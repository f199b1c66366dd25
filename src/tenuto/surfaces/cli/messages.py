"""``tenuto observe | recall | context | stats``."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenuto.surfaces.cli.shared import Settings, for_user, moment, read_text


@click.command()
@click.argument("text")
@for_user
@click.option("--role", default="user", show_default=True, help="user, assistant, system or tool.")
@click.option("--speaker", help="Who said it, where more than two people talk.")
@click.option("--at", metavar="TIME", help="When it was said, such as 2026-03-01T12:30+01:00. [default: now]")
@click.option("--id", "external_id", help="Your own id of the message: the same one is kept once.")
@click.option("--wait", is_flag=True, help="Wait until it is worked on, and say what was kept and why.")
@click.pass_obj
def observe(
    settings: Settings, text: str, user: str, persona: str | None, channel: str, role: str, speaker: str | None,
    at: str | None, external_id: str | None, wait: bool,
) -> None:  # fmt: skip
    """Keep one thing said. TEXT may be - for standard input."""
    with settings.store() as store:
        memory = store.user(user, persona=persona, channel=channel)
        receipt = memory.observe(read_text(text), role=role, speaker=speaker, at=moment(at), id=external_id)
        if wait:
            store.settle()
            receipt = memory.receipt(receipt.id) or receipt

    def render() -> None:
        click.echo(f"{receipt.act.value}: message {receipt.message_id}, importance {receipt.importance:g}")
        for result in receipt.results:
            click.echo(f"  {result.act.value}: {result.content or result.subject_id} ({result.reason})")
        for note in receipt.notes:
            click.echo(f"  {note}")

    settings.show(receipt, render)


@click.command()
@click.argument("query")
@for_user
@click.option("-n", "--limit", default=10, show_default=True, help="Most hits.")
@click.option("--kind", "kinds", multiple=True, help="memory, message, key_point, summary or todo; may be repeated.")
@click.option("--profile", default="default", show_default=True, help="default, blended or decayed.")
@click.option("--why", is_flag=True, help="Show each part of the score.")
@click.pass_obj
def recall(
    settings: Settings, query: str, user: str, persona: str | None, channel: str, limit: int, kinds: tuple[str, ...],
    profile: str, why: bool,
) -> None:  # fmt: skip
    """The right few things for QUERY, best first."""
    with settings.store(background=False) as store:
        memory = store.user(user, persona=persona, channel=channel)
        hits = memory.recall(read_text(query), limit=limit, kinds=kinds or None, profile=profile)

    def render() -> None:
        table = Table(box=None, pad_edge=False)
        for name in ("score", "when", "kind", "what", *(["why"] if why else [])):
            table.add_column(name, justify="right" if name == "score" else "left", overflow="fold")
        for hit in hits:
            cells: list[str | Text] = [f"{hit.score:.2f}", f"{hit.at:%Y-%m-%d}", str(hit.kind), Text(hit.text)]
            table.add_row(*cells, *([Text(str(hit.why))] if why else []))
        Console().print(table if hits else "Nothing found.")

    settings.show(list(hits), render)


@click.command()
@click.argument("message")
@for_user
@click.option("--budget", type=int, help="Tokens, the answer included.  [default: 8000]")
@click.pass_obj
def context(settings: Settings, message: str, user: str, persona: str | None, channel: str, budget: int | None) -> None:
    """What a model would read now for MESSAGE."""
    with settings.store(background=False) as store:
        built = store.user(user, persona=persona, channel=channel).context(read_text(message), budget=budget)

    def render() -> None:
        for part in built.messages:
            click.secho(f"[{part['role']}]", bold=True)
            click.echo(part["content"])
        click.secho(f"{built.tokens} tokens", dim=True)

    settings.show({"messages": built.messages, "tokens": built.tokens}, render)


@click.command()
@for_user
@click.pass_obj
def stats(settings: Settings, user: str, persona: str | None, channel: str) -> None:
    """How much is kept of a user."""
    with settings.store(background=False) as store:
        numbers = store.user(user, persona=persona, channel=channel).stats()

    def render() -> None:
        for name, value in numbers.items():
            click.echo(f"{name.replace('_', ' '):20} {'–' if value is None else value}")

    settings.show(numbers, render)
