"""``tenuto audit show | verify | head``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from tenuto.privacy.audit import read_head
from tenuto.records.audit import AuditEntry
from tenuto.surfaces.cli.shared import Settings

HEAD = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def audit() -> None:
    """Who changed or read what, and proof that the log of it is whole."""


@audit.command()
@click.option("-u", "--user", help="Whose log. Without it: the operator's, with keys made and users erased.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="Most entries.")
@click.option("--before", type=click.IntRange(1), help="Only entries with a smaller number.")
@click.pass_obj
def show(settings: Settings, user: str | None, limit: int, before: int | None) -> None:
    """Print the newest entries."""
    with settings.existing() as store:
        log = store.user(user).audit if user is not None else store.audit
        found = log(before=before, limit=limit)
    settings.show(found, lambda: click.echo("\n".join(_line(one) for one in found) or "Nothing yet."))


@audit.command()
@click.option("-u", "--user", help="Check only this user's log.")
@click.option("--head", "kept", type=HEAD, help="What 'tenuto audit head' wrote earlier, kept apart since.")
@click.pass_obj
def verify(settings: Settings, user: str | None, kept: Path | None) -> None:
    """Check every entry of every log. Exit code 1 if anything was changed, taken out or put in."""
    with settings.existing() as store:
        if user is not None:
            report = store.user(user).verify_audit()
        else:
            report = store.verify_audit(read_head(kept.read_bytes()) if kept is not None else None)
    whole = f"{report.chains} logs with {report.links} entries are whole."
    settings.show(report, lambda: click.echo("\n".join(report.problems) or whole))
    sys.exit(0 if report.ok else 1)


@audit.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def head(settings: Settings, file: Path | None) -> None:
    """Write where every log stands to FILE, or print it. Keep it where nobody who can write to the store can."""
    with settings.existing() as store:
        now = store.audit_head()
    text = msgspec.json.format(msgspec.json.encode(now), indent=2)
    if file is None:
        click.echo(text.decode())
        return
    file.write_bytes(text)
    settings.show(
        {"digest": now.digest, "chains": len(now.chains)}, lambda: click.echo(f"{len(now.chains)} logs, {now.digest}")
    )


def _line(entry: AuditEntry) -> str:
    what = ", ".join(f"{count} {table}" for table, count in entry.changed.items())
    gone = ", ".join(f"{count} {table}" for table, count in entry.removed.items())
    times = f"read {entry.times} times" if entry.times != 1 else "read"
    said = "; ".join(part for part in (what, f"removed {gone}" if gone else "") if part)
    said = said or (" ".join(str(value) for value in entry.note.values()) if entry.note else times)
    return f"{entry.n:>6}  {entry.at:%Y-%m-%d %H:%M:%S}  {entry.actor:<30} {entry.verb:<16} {said}"
