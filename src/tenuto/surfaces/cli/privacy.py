"""``tenuto erase``, ``tenuto undo`` and ``tenuto vault encrypt | rotate | rewrap | recovery``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import Progress

from tenuto.errors import InputError
from tenuto.privacy.erase import read_proof
from tenuto.privacy.keys import FileKeys
from tenuto.surfaces.cli import moments
from tenuto.surfaces.cli.shared import Settings, person

KEYS = click.option("--keys", metavar="file:PATH", envvar="TENUTO_KEYS", required=True, help="The keys of the store.")


@click.command()
@click.argument("user")
@click.option("--memory", metavar="ID", help="Erase only this memory.")
@click.option("--message", metavar="ID", help="Erase only this message, and what came of it.")
@click.option("--session", metavar="ID", help="Erase only this session, and what came of it.")
@click.option("--source", metavar="NAME", help="Erase only what this source brought in, and what came of it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--proof", type=click.Path(dir_okay=False, path_type=Path), help="Write the proof to this file.")
@click.option(
    "--verify", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Check a proof; erases nothing."
)
@click.pass_obj
def erase(
    settings: Settings, /, user: str, yes: bool, proof: Path | None, verify: Path | None, **part: str | None
) -> None:
    """Erase everything of USER, or one part, for good. To hide a single memory, use forget."""
    with settings.existing() as store:
        memory = store.user(user)
        if verify is not None:
            problems = memory.verify_erasure(read_proof(verify.read_bytes()))
            settings.show(
                {"problems": problems}, lambda: click.echo("\n".join(problems) or "Nothing of what was erased is left.")
            )
            sys.exit(1 if problems else 0)
        if not yes:
            named = [f"{kind} {id}" for kind, id in part.items() if id is not None]
            click.confirm(f"Erase {' and '.join(named) or 'everything'} of {user}? This cannot be undone", abort=True)
        done = memory.erase(**part)
    if proof is not None:
        proof.write_bytes(msgspec.json.format(msgspec.json.encode(done), indent=2))

    def render() -> None:
        total = sum(done.erased.values())
        click.echo(
            f"{total} rows are gone{', the key is destroyed' if done.key_destroyed else ''}. Proof {done.digest[:16]}…"
        )
        click.echo(f"Not reached: {'; '.join(done.elsewhere)}.")

    settings.show(done, render)
    sys.exit(0 if done.complete else 1)


@click.command()
@click.argument("source")
@click.option("-u", "--user", default="me", show_default=True, envvar="TENUTO_USER", help="Whose memory.")
@click.option("--since", metavar="TIME", help="Only what arrived since then: 2026-03-01, yesterday, 12h.")
@click.option("--yes", is_flag=True, help="Do it. Without it, only tell what would go.")
@click.pass_obj
def undo(settings: Settings, source: str, user: str, since: str | None, yes: bool) -> None:
    """Take back everything that SOURCE brought in, and what came of it. Shows what would go unless --yes is given."""
    with settings.existing() as store:
        done = person(store, user).undo(source, moments.since(since, store.deps.clock()), preview=not yes)
        if yes:
            store.settle()

    def render() -> None:
        said = ", ".join(f"{count} {table}" for table, count in done.removed.items()) or "nothing"
        click.echo(f"{'Gone' if yes else 'Would go'}: {said}. {done.restored} memories hold again.")
        for content in done.sample:
            click.echo(f"  - {content}")
        if not yes and done.removed:
            click.echo("Nothing was changed. Add --yes to do it.")

    settings.show(done, render)


@click.group()
def vault() -> None:
    """Look after encryption at rest."""


@vault.command()
@KEYS
@click.pass_obj
def encrypt(settings: Settings, keys: str) -> None:
    """Encrypt a store that holds plain data. Can be stopped and started again."""
    with (
        settings.store(background=False, keys=keys, convert=True) as store,
        Progress(console=Console(stderr=True)) as bar,
    ):
        task = bar.add_task("sealing", total=len(store.users()))
        done = store.seal(lambda user: bar.advance(task))
    settings.show(
        {"users": done}, lambda: click.echo(f"{done} users are sealed. Keep a copy of the key file elsewhere.")
    )


@vault.command()
@click.argument("users", nargs=-1)
@KEYS
@click.pass_obj
def rotate(settings: Settings, users: tuple[str, ...], keys: str) -> None:
    """Give USERS (all of them by default) new data keys, and seal everything with them."""
    with settings.store(background=False, keys=keys) as store, Progress(console=Console(stderr=True)) as bar:
        chosen = list(users) or store.users()
        for user in bar.track(chosen, description="rotating"):
            store.rotate(user)
    settings.show({"users": len(chosen)}, lambda: click.echo(f"{len(chosen)} users have new data keys."))


@vault.command()
@KEYS
@click.pass_obj
def rewrap(settings: Settings, keys: str) -> None:
    """Rotate the key that wraps the data keys; the old one is destroyed."""
    with settings.store(background=False, keys=keys) as store:
        count = store.rewrap()
    settings.show(
        {"data_keys": count}, lambda: click.echo(f"{count} data keys are wrapped with a new key. Copy the key file.")
    )


@vault.command()
@click.argument("copy", type=click.Path(dir_okay=False, path_type=Path))
@KEYS
def recovery(copy: Path, keys: str) -> None:
    """Write a recovery COPY of the key file. Without the key, what is sealed cannot be read by anyone."""
    scheme, _, path = keys.partition(":")
    if scheme != "file":
        raise InputError("Only a key file can be copied: keys='file:PATH'.")
    source = FileKeys(Path(path).expanduser())
    source.keys()
    source.copy_to(copy)
    click.echo(f"{copy} written. Keep it away from this machine and from backups of the data.")
