"""``tenuto mcp``: memory for one user over standard input and output, as desktop clients start it."""

from __future__ import annotations

import click

from tenuto.call_context import acting
from tenuto.errors import SettingError
from tenuto.surfaces.cli.shared import Settings, for_user


@click.command()
@for_user
@click.pass_obj
def mcp(settings: Settings, user: str, persona: str | None, channel: str) -> None:
    """Serve MCP over standard input and output: the tools recall, remember, context, forget, todos and state."""
    try:
        from tenuto.surfaces.mcp import create_mcp
    except ModuleNotFoundError as error:
        raise SettingError(f"MCP needs {error.name}: pip install 'tenuto[mcp]'.") from error
    with acting("mcp"), settings.store() as store:
        memory = store.user(user, persona=persona, channel="mcp" if channel == "terminal" else channel)
        create_mcp(lambda _: memory).run("stdio")
