"""``tenuto curate``: fold near-duplicates, archive what has faded, look after todos; ``--dry-run`` shows the plan."""

from __future__ import annotations

from typing import Any

import click

from tenuto.lifecycle.curation import CurateReport
from tenuto.records.base import to_plain
from tenuto.surfaces.cli.shared import Settings


@click.command()
@click.option("-u", "--user", help="Only this user's memories. [default: everybody's]")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.pass_obj
def curate(settings: Settings, user: str | None, dry_run: bool) -> None:
    """Fold near-duplicates, archive what has faded, look after todos, propose entity merges."""
    with settings.existing() as store:
        reports = store.curate(user, dry_run=dry_run)
        if not dry_run:
            store.settle()
    settings.show([_plain(report) for report in reports], lambda: _print(reports))


def _plain(report: CurateReport) -> dict[str, Any]:
    return {
        "user": report.user,
        "dry_run": report.dry_run,
        "applied": report.applied,
        "left_alone": report.left_alone,
        **report.counts(),
        "plan": to_plain(report.plan),
    }


def _print(reports: list[CurateReport]) -> None:
    for report in reports:
        _print_one(report)


def _print_one(report: CurateReport) -> None:
    verb = "would" if report.dry_run else "did"
    click.secho(f"{report.user}", bold=True)
    if not report.plan:
        click.echo("  nothing to do")
    for fold in report.plan.folds:
        click.echo(f"  {verb} fold {len(fold.members)} into one: {fold.content}")
    for faded in report.plan.archives:
        click.echo(f"  {verb} archive: {faded.content} ({faded.reason})")
    for promotion in report.plan.promotions:
        click.echo(f"  {verb} raise the importance of {promotion.memory_id} to {promotion.importance:g}")
    for move in report.plan.todos:
        click.echo(f"  {verb} set todo {move.todo_id} to {move.status}: {move.reason}")
    for merge in report.plan.merges:
        click.echo(f"  {verb} propose to merge {merge.duplicate} into {merge.into}: {merge.reason}")
