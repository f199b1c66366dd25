"""``tenuto proxy``: the memory proxy alone, in front of any model server."""

from __future__ import annotations

import click

from tenuto import settings as environment
from tenuto.errors import SettingError
from tenuto.surfaces.cli.shared import Settings

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"


@click.command()
@click.option("--upstream", metavar="URL", help=f"OpenAI-compatible server. [default: $TENUTO_UPSTREAM or {OPENAI}]")
@click.option("--anthropic-upstream", metavar="URL", default=ANTHROPIC, show_default=True, help="For /v1/messages.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8088, show_default=True)
@click.option("-u", "--user", default="me", show_default=True, help="Whose memory, unless the request names the user.")
@click.option("--act-for-users", is_flag=True, help="Requests may name the user: field 'user' or header Tenuto-User.")
@click.pass_obj
def proxy(
    settings: Settings,
    upstream: str | None,
    anthropic_upstream: str,
    host: str,
    port: int,
    user: str,
    act_for_users: bool,
) -> None:
    """Give every OpenAI or Anthropic client memory: point its base URL here.

    With TENUTO_PROXY_KEY set, clients must send that key; without it, only this machine is served, and the client's own
    key goes to the upstream. TENUTO_UPSTREAM_KEY is sent to the upstream instead of it.
    """
    try:
        import uvicorn

        from tenuto.surfaces import proxy_access
        from tenuto.surfaces.proxy import Upstream, proxy_app
    except ModuleNotFoundError as error:
        raise SettingError(f"The proxy needs {error.name}: pip install 'tenuto[server]'.") from None
    key = environment.connection("proxy_key")
    if key is None and host not in proxy_access.LOOPBACK:
        raise SettingError(
            f"Set TENUTO_PROXY_KEY before listening on {host}: without a key only this machine is served."
        )
    where = Upstream(
        openai=upstream or environment.connection("upstream") or OPENAI,
        anthropic=anthropic_upstream,
        key=environment.connection("upstream_key"),
    )
    access = proxy_access.Alone(user=user, key=key, acts_for_users=act_for_users)
    with settings.store() as store:
        click.echo(f"Memory for every client: base URL http://{host}:{port}/v1, upstream {where.openai}", err=True)
        uvicorn.run(proxy_app(store, where, access), host=host, port=port, log_level="warning")
