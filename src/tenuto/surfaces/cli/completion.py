"""``tenuto completion``: commands and options completed by the shell."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from tenuto.surfaces.cli.shared import Settings

FILES = {
    "bash": ".local/share/bash-completion/completions/tenuto",
    "zsh": ".zfunc/_tenuto",
    "fish": ".config/fish/completions/tenuto.fish",
}
"""Where a shell looks for completions, below the home directory."""
ZSH = "Have this in ~/.zshrc before compinit: fpath+=~/.zfunc"


@click.command()
@click.argument("shell", type=click.Choice(tuple(FILES)))
@click.option("--install", is_flag=True, help="Write it to where the shell looks for it, below your home directory.")
@click.pass_context
def completion(ctx: click.Context, shell: str, install: bool) -> None:
    """Print the shell's completion script, or install it. It holds for shells that are opened afterwards."""
    kind = get_completion_class(shell)
    assert kind is not None  # the choices are the ones that click knows
    script = kind(ctx.find_root().command, {}, "tenuto", "_TENUTO_COMPLETE").source()
    if not install:
        click.echo(script)
        return
    path = Path.home() / FILES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    settings: Settings = ctx.obj
    settings.show({"path": str(path)}, lambda: click.echo(f"{path}: written.{' ' + ZSH if shell == 'zsh' else ''}"))
