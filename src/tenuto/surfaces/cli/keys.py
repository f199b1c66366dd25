"""``tenuto keys create | list | revoke``, and ``link`` for one more browser."""

from __future__ import annotations

from datetime import datetime, timedelta

import click
from rich.console import Console
from rich.table import Table

from tenuto.access import keys as access
from tenuto.errors import InputError
from tenuto.records.access import ApiKey, KeyKind
from tenuto.surfaces.cli.moments import duration
from tenuto.surfaces.cli.shared import Settings


@click.group()
def keys() -> None:
    """Keys of the server."""


@keys.command()
@click.argument("name")
@click.option("--scope", default="app", show_default=True, help="admin, app, user or read.")
@click.option("-u", "--user", help="The user that the key is bound to: needed for 'user', possible for 'read'.")
@click.option("--expires", metavar="TIME", help="Lifetime such as 90d, 12h or 30m. [default: without end]")
@click.pass_obj
def create(settings: Settings, name: str, scope: str, user: str | None, expires: str | None) -> None:
    """Make a key called NAME. Its secret is printed this once."""
    with settings.store(background=False) as store:
        key, secret = store.create_key(name, scope=scope, user=user, lifetime=lifetime(expires))

    def render() -> None:
        click.echo(secret)
        click.secho(f"{key.id}: scope {key.scope}{f', user {key.subject}' if key.subject else ''}. Keep it safe: it is "
                    "not shown again.", dim=True, err=True)  # fmt: skip

    settings.show({**shown(key), "secret": secret}, render)


@keys.command("list")
@click.option("-u", "--user", help="Only keys of this user.")
@click.option("--all", "everything", is_flag=True, help="Tokens, browsers and links too.")
@click.pass_obj
def list_(settings: Settings, user: str | None, everything: bool) -> None:
    """Show the keys, newest first, without their secrets."""
    kinds = tuple(KeyKind) if everything else (KeyKind.KEY,)
    with settings.existing() as store:
        found = access.listing(store.deps, user=user, kinds=kinds)
    rows = [shown(key) for key in found]

    def render() -> None:
        table = Table(box=None, pad_edge=False)
        names = ("id", "name", "scope", "user", "kind", "created", "expires", "revoked", "last used")
        for name in names:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(_cell(value) for value in row.values()))
        Console().print(table if rows else "There is no key yet: tenuto keys create NAME.")

    settings.show(rows, render)


@keys.command()
@click.option("-u", "--user", help="For one user's pages only. [default: for operators]")
@click.option("--address", default="http://127.0.0.1:8368", show_default=True, help="Where the server is.")
@click.pass_obj
def link(settings: Settings, user: str | None, address: str) -> None:
    """Print a link that signs one browser in, once."""
    from tenuto.surfaces.http.serving import sign_in_link

    with settings.existing() as store:
        made = sign_in_link(store, address.rstrip("/"), user)
    settings.show({"link": made}, lambda: click.echo(made))


@keys.command()
@click.argument("id")
@click.pass_obj
def revoke(settings: Settings, id: str) -> None:
    """Take the key with this ID back, and every token that it minted."""
    with settings.existing() as store:
        key = store.revoke_key(id)
    settings.show(shown(key), lambda: click.echo(f"{key.id} ({key.name}) no longer opens anything."))


def shown(key: ApiKey) -> dict[str, object]:
    """A key without its hash."""
    return {
        "id": key.id, "name": key.name, "scope": key.scope.value, "user": key.subject, "kind": key.kind.value,
        "created": key.created_at, "expires": key.expires_at, "revoked": key.revoked_at, "last_used": key.last_used_at,
    }  # fmt: skip


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


def lifetime(text: str | None) -> timedelta | None:
    """``90d``, ``12h``, ``30m``, ``2w``."""
    if text is None:
        return None
    if (span := duration(text)) is None:
        raise InputError(f"'{text}' is not a lifetime: write it as 30m, 12h, 90d or 2w.", code="lifetime_invalid")
    return span
