"""``tenuto backup`` and ``tenuto restore``."""

from __future__ import annotations

from pathlib import Path

import click

from tenuto import settings as environment
from tenuto.errors import InputError
from tenuto.storage.backup import backup as make_backup
from tenuto.storage.backup import restore as put_back
from tenuto.surfaces.cli.shared import Settings


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.pass_obj
def backup(settings: Settings, target: Path) -> None:
    """Write a consistent, checked copy of the store to TARGET while it is in use. The keyring is backed up apart."""
    size = make_backup(_file(settings), target)
    settings.show({"path": str(target), "bytes": size}, lambda: click.echo(f"{target}: {size:,} bytes, checked."))


@click.command()
@click.argument("copy", type=click.Path(path_type=Path))
@click.pass_obj
def restore(settings: Settings, copy: Path) -> None:
    """Put the backup COPY back as the store named by --db, which must not exist yet."""
    target = _file(settings)
    size = put_back(copy, target)
    settings.show({"path": str(target), "bytes": size}, lambda: click.echo(f"{target} restored: {size:,} bytes."))


def _file(settings: Settings) -> Path:
    url = settings.db or environment.connection("db") or "tenuto.db"
    if "://" in url and not url.startswith("sqlite:///"):
        raise InputError("A server makes its own backups: use pg_basebackup or pg_dump (docs/postgres.md).")
    return Path(url.removeprefix("sqlite:///"))
