"""``tenuto serve``: the HTTP API, the memory proxy, MCP and the page, from one process or several."""

from __future__ import annotations

from types import ModuleType

import click

from tenuto import settings as environment
from tenuto.errors import SettingError
from tenuto.surfaces.cli.shared import Settings


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where to listen. Others than loopback need a key first."
)
@click.option("--port", default=8368, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--name", "names", multiple=True, help="A host name that the server answers to, besides loopback; may be repeated."
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes.")
@click.option("--redis", help="redis://…: limits and live updates shared by several processes.")
@click.option("--model", help="Such as openai:gpt-4.1-mini.")
@click.option("--upstream", metavar="URL", help="OpenAI-compatible server behind the memory proxy. [$TENUTO_UPSTREAM]")
@click.option("--anthropic-upstream", metavar="URL", help="The same for Anthropic's /v1/messages.")
@click.option(
    "--workflow", "workflows", multiple=True, type=click.Path(exists=True), help="A workflow definition (JSON or TOML)."
)
@click.option("--certificate", type=click.Path(exists=True), help="TLS certificate (PEM).")
@click.option("--certificate-key", type=click.Path(exists=True), help="Its key (PEM).")
@click.option("--behind", metavar="ADDRESS", help="A reverse proxy whose X-Forwarded-For is believed.")
@click.option("--no-link", is_flag=True, help="Print no sign-in link.")
@click.option("--quiet", is_flag=True, help="No line per request.")
@click.pass_obj
def serve(
    settings: Settings, host: str, port: int, names: tuple[str, ...], workers: int, redis: str | None,
    model: str | None, upstream: str | None, anthropic_upstream: str | None, certificate: str | None,
    certificate_key: str | None, workflows: tuple[str, ...],
    behind: str | None, no_link: bool, quiet: bool,
) -> None:  # fmt: skip
    """Serve everything over HTTP, and print a link that signs your browser in."""
    serving_module = _serving()
    redis = redis or environment.connection("redis")
    options = (("model", model),) if model else ()
    serving = serving_module.Serving(
        db=settings.db, redis=redis, host=host, port=port, names=names, workers=workers, certificate=certificate,
        certificate_key=certificate_key, behind=behind, logs=not quiet, options=options, workflows=workflows,
        upstream=serving_module.upstream_of(upstream, anthropic_upstream),
    )  # fmt: skip
    listener = serving_module.listen(serving)
    if port == 0:
        serving = serving_module.replace(serving, port=listener.getsockname()[1])
    store = serving_module.open_store(serving)
    serving_module.check_bind(store, serving)
    link = None if no_link else serving_module.sign_in_link(store, serving.address)
    said = {"address": serving.address, "sign_in": link, "store": store.deps.store.url}
    settings.show(said, lambda: _greet(serving.address, link, store.deps.store.url))
    if workers == 1:
        serving_module.run_one(serving, listener, store)
    else:
        store.close()
        serving_module.run_many(serving, listener)


def _greet(address: str, link: str | None, url: str) -> None:
    click.echo(f"Tenuto serves {url} at {click.style(address, bold=True)}")
    if link:
        click.echo(f"Sign in with this link, once: {click.style(link, fg='cyan')}")
    click.echo("Programs need a key: tenuto keys create NAME. Stop with Ctrl-C.")


def _serving() -> ModuleType:
    try:
        from tenuto.surfaces.http import serving
    except ModuleNotFoundError as error:
        raise SettingError(f"The server needs {error.name}: pip install 'tenuto[server]'.") from error
    return serving
