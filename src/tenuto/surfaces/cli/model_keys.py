"""``tenuto model-keys set | list | test | remove``: a person's own keys for model providers, used for what they ask."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table

from tenuto.errors import NotFound
from tenuto.records.workflow import ModelKey
from tenuto.surfaces.cli.shared import Settings

whose = click.option("-u", "--user", default="me", show_default=True, envvar="TENUTO_USER", help="Whose key.")
provider_ = click.argument("provider", metavar="openai|anthropic|own")


@click.group("model-keys")
def model_keys() -> None:
    """A person's own keys for models: used instead of the operator's by chat, proxy and background work.

    They are sealed under the file that TENUTO_MODEL_KEYS=file:PATH names. 'own' is for any other address than the
    vendors'.
    """


@model_keys.command("set")
@provider_
@whose
@click.pass_obj
def set_(settings: Settings, provider: str, user: str) -> None:
    """Keep a key. It is asked for, or read from standard input; never an argument, which other programs could see."""
    key = click.prompt("Key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    key = key.strip()
    with settings.store(background=False) as store:
        record = store.user(user).model_keys.set(provider, key)
    settings.show(_shown(record), lambda: click.echo(f"Kept, sealed ({record.fingerprint})."))


@model_keys.command("list")
@whose
@click.pass_obj
def list_(settings: Settings, user: str) -> None:
    """Show which providers have a key; never the key."""
    with settings.existing() as store:
        rows = [_shown(record) for record in store.user(user).model_keys.list()]

    def render() -> None:
        table = Table(box=None, pad_edge=False)
        for name in ("provider", "fingerprint", "set", "tested", "working"):
            table.add_column(name)
        for row in rows:
            table.add_row(*("–" if value is None else str(value) for value in row.values()))
        Console().print(table if rows else "There is no key: tenuto model-keys set PROVIDER.")

    settings.show(rows, render)


@model_keys.command()
@provider_
@whose
@click.option("--base-url", help="The server to try it with, for 'own'.")
@click.pass_obj
def test(settings: Settings, provider: str, user: str, base_url: str | None) -> None:
    """Ask the provider whether it accepts the key; costs nothing."""
    with settings.existing() as store:
        result = store.user(user).model_keys.test(provider, base_url=base_url)
    said = {"provider": result.provider, "working": result.working, "reason": result.reason}
    settings.show(said, lambda: click.echo(result.reason))


@model_keys.command()
@provider_
@whose
@click.pass_obj
def remove(settings: Settings, provider: str, user: str) -> None:
    """Delete a key for good."""
    with settings.existing() as store:
        if not store.user(user).model_keys.remove(provider):
            raise NotFound(f"There is no key for '{provider[:60]}'.", code="key_unknown")
    settings.show({"removed": provider}, lambda: click.echo("Removed."))


def _shown(record: ModelKey) -> dict[str, object]:
    return {
        "provider": record.id, "fingerprint": record.fingerprint, "created": record.created_at,
        "tested": record.tested_at, "working": record.working,
    }  # fmt: skip
