"""``tenuto``: every command parses, calls one verb and renders. A command's module is imported only when it is used.

Exit codes: 0 done; 1 Tenuto could not do it (the error says why and what to do); 2 the command line was wrong.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from tenuto.acting import acting
from tenuto.surfaces.cli.shared import Settings, fail

COMMANDS = {
    "demo": "tenuto.surfaces.cli.demo:demo",
    "observe": "tenuto.surfaces.cli.messages:observe",
    "recall": "tenuto.surfaces.cli.messages:recall",
    "context": "tenuto.surfaces.cli.messages:context",
    "remember": "tenuto.surfaces.cli.memories:remember",
    "memories": "tenuto.surfaces.cli.memories:memories",
    "confirm": "tenuto.surfaces.cli.memories:confirm",
    "forget": "tenuto.surfaces.cli.memories:forget",
    "sessions": "tenuto.surfaces.cli.time:sessions",
    "summaries": "tenuto.surfaces.cli.time:summaries",
    "state": "tenuto.surfaces.cli.time:state",
    "trajectory": "tenuto.surfaces.cli.time:trajectory",
    "outreach": "tenuto.surfaces.cli.time:outreach",
    "retention": "tenuto.surfaces.cli.time:retention",
    "purge": "tenuto.surfaces.cli.time:purge",
    "stats": "tenuto.surfaces.cli.messages:stats",
    "import": "tenuto.surfaces.cli.transfer:import_",
    "export": "tenuto.surfaces.cli.transfer:export",
    "identities": "tenuto.surfaces.cli.identity:identities",
    "serve": "tenuto.surfaces.cli.serve:serve",
    "keys": "tenuto.surfaces.cli.keys:keys",
    "model-keys": "tenuto.surfaces.cli.model_keys:model_keys",
    "mcp": "tenuto.surfaces.cli.mcp:mcp",
    "chat": "tenuto.surfaces.cli.chat:chat",
    "proxy": "tenuto.surfaces.cli.proxy:proxy",
    "audit": "tenuto.surfaces.cli.audit:audit",
    "erase": "tenuto.surfaces.cli.privacy:erase",
    "undo": "tenuto.surfaces.cli.privacy:undo",
    "backup": "tenuto.surfaces.cli.backup:backup",
    "restore": "tenuto.surfaces.cli.backup:restore",
    "vault": "tenuto.surfaces.cli.privacy:vault",
    "curate": "tenuto.surfaces.cli.curate:curate",
    "worker": "tenuto.surfaces.cli.worker:worker",
    "jobs": "tenuto.surfaces.cli.jobs:jobs",
    "db": "tenuto.surfaces.cli.database:db",
    "doctor": "tenuto.surfaces.cli.database:doctor",
}
"""Name → module:command, in the order of ``tenuto --help``."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that ``tenuto`` itself starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--db", metavar="PATH|URL", help="The store: a file or postgresql://… [default: $TENUTO_DB or tenuto.db]")
@click.option("--json", "as_json", is_flag=True, help="Print for machines.")
@click.version_option(package_name="tenuto", prog_name="tenuto")
@click.pass_context
def cli(ctx: click.Context, db: str | None, as_json: bool) -> None:
    """Memory for AI that talks with people: keeps what was said, and hands over the right few things."""
    ctx.with_resource(acting("cli"))
    ctx.obj = Settings(db=db, as_json=as_json)


def main() -> None:
    """The console script."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 (what is not ours is raised again there)
        sys.exit(fail(error, "--json" in sys.argv))
