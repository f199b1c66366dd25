"""``tenuto db upgrade | reembed`` and ``tenuto doctor``."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tenuto.privacy.listing import Upkeep
from tenuto.surfaces.cli.shared import Settings


@click.group()
def db() -> None:
    """Look after the database."""


@db.command()
@click.pass_obj
def upgrade(settings: Settings) -> None:
    """Bring the schema up to this version's, and list what an earlier one wrote in the audit log. A SQLite file
    upgrades itself when it is opened, and lists in the background."""
    with settings.existing(upgrade=True) as store:
        problems = store.check()
        listing = Upkeep(store.deps)
        while listing.some():
            pass
    settings.show({"problems": problems}, lambda: click.echo("\n".join(problems) or "The schema is up to date."))
    sys.exit(1 if problems else 0)


@db.command()
@click.pass_obj
def reembed(settings: Settings) -> None:
    """Give everything a vector of the current model. Can be stopped and started again; search works meanwhile."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with settings.existing() as store, Progress(*columns, console=Console(stderr=True)) as bar:
        model = store.deps.embedder.model
        task = bar.add_task(f"embedding with {model}", total=store.unembedded())
        done = store.reembed(lambda step: bar.advance(task, step))
    settings.show(
        {"embedded": done, "model": model}, lambda: click.echo(f"{done} entries now have a vector of {model}.")
    )


@db.command()
@click.pass_obj
def compact(settings: Settings) -> None:
    """Leave no trace of deleted rows in the files. On PostgreSQL the owner of the tables can, and they are locked
    meanwhile; its write-ahead log keeps what was deleted until the server recycles it."""
    with settings.existing() as store:
        clean = store.deps.store.compact(thorough=True)
    settings.show({"clean": clean}, lambda: click.echo("Done." if clean else "Not now: somebody reads. Try again."))
    sys.exit(0 if clean else 1)


@click.command()
@click.option("--thorough", is_flag=True, help="Read every row: in a sealed store, one that was changed does not open.")
@click.pass_obj
def doctor(settings: Settings, thorough: bool) -> None:
    """Check that everything works: the store, its schema, the embedder, waiting and failed jobs."""
    with settings.existing() as store:
        findings = store.examine(thorough=thorough)

    def render() -> None:
        for finding in findings:
            mark = click.style("ok ", fg="green") if finding["ok"] else click.style("bad", fg="red")
            click.echo(f"{mark}  {finding['what']}: {finding['detail']}")

    settings.show(findings, render)
    sys.exit(0 if all(finding["ok"] for finding in findings) else 1)
