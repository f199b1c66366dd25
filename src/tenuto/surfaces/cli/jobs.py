"""``tenuto jobs list | retry | cancel``: what background work there is, and what failed."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenuto.records.base import to_plain
from tenuto.records.operations import Job, JobStatus
from tenuto.surfaces.cli.shared import Settings


@click.group()
def jobs() -> None:
    """Look at background work; retry or cancel it."""


@jobs.command("list")
@click.option("--status", type=click.Choice([str(status) for status in JobStatus]), help="Only these.")
@click.option("-u", "--user", help="Only this user's.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000))
@click.pass_obj
def list_(settings: Settings, status: str | None, user: str | None, limit: int) -> None:
    """The newest jobs."""
    with settings.existing() as store:
        found = store.jobs(status, user=user, limit=limit)
    settings.show([_plain(job) for job in found], lambda: _print(found))


@jobs.command()
@click.argument("id", required=False)
@click.option("-u", "--user", help="Whose job it is: faster in a large store.")
@click.option("--failed", is_flag=True, help="Retry every failed job.")
@click.pass_obj
def retry(settings: Settings, id: str | None, user: str | None, failed: bool) -> None:
    """Put a failed or cancelled job back into the queue."""
    if bool(id) == failed:
        raise click.UsageError("Give the id of one job, or --failed for all that failed.")
    with settings.existing() as store:
        wanted = (
            [(id, user)] if id else [(job.id, job.user_id) for job in store.jobs("failed", user=user, limit=10_000)]
        )
        again = [store.retry_job(one, user=whose) for one, whose in wanted]
    settings.show([_plain(job) for job in again], lambda: click.echo(f"{len(again)} back in the queue."))


@jobs.command()
@click.argument("id")
@click.option("-u", "--user", help="Whose job it is: faster in a large store.")
@click.pass_obj
def cancel(settings: Settings, id: str, user: str | None) -> None:
    """Take a waiting job out of the queue."""
    with settings.existing() as store:
        job = store.cancel_job(id, user=user)
    settings.show(_plain(job), lambda: click.echo(f"{job.id} is cancelled."))


def _plain(job: Job) -> dict[str, object]:
    plain: dict[str, object] = to_plain(job)
    plain.pop("payload", None)
    return plain


def _print(found: list[Job]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("id", "user", "kind", "status", "runs at", "tries", "error"):
        table.add_column(name, no_wrap=name == "id", min_width=26 if name == "id" else None, overflow="fold")
    for job in found:
        table.add_row(
            job.id,
            job.user_id,
            job.kind,
            job.status,
            f"{job.run_at:%Y-%m-%d %H:%M:%S}",
            str(job.attempts),
            Text(job.error or ""),
        )
    Console().print(table)
