"""``tenuto``: every command parses, calls one verb and renders. A command's module is imported only when it is used.

Exit codes: 0 done; 1 Tenuto could not do it (the error says why and what to do); 2 the command line was wrong.
"""

from __future__ import annotations

import difflib
import sys
from dataclasses import replace
from importlib import import_module

import click

from tenuto import __version__
from tenuto.call_context import acting
from tenuto.settings import check_environment
from tenuto.surfaces.cli.shared import Settings, fail

SECTIONS = {
    "Say and find": {
        "observe": "messages:observe",
        "recall": "messages:recall",
        "context": "messages:context",
        "remember": "memories:remember",
        "chat": "chat:chat",
    },
    "What is known": {
        "memories": "memories:memories",
        "todos": "lists:todos",
        "entities": "lists:entities",
        "messages": "messages:messages",
        "sessions": "time:sessions",
        "summaries": "time:summaries",
        "users": "messages:users",
        "stats": "messages:stats",
    },
    "Correct and forget": {
        "edit": "memories:edit",
        "confirm": "memories:confirm",
        "pin": "memories:pin",
        "allow": "memories:allow",
        "wishes": "lists:wishes",
        "forget": "memories:forget",
        "erase": "privacy:erase",
        "undo": "privacy:undo",
        "retention": "time:retention",
        "purge": "time:purge",
        "curate": "curate:curate",
    },
    "Typed work": {
        "workflow": "workflow:workflow",
    },
    "The companion": {
        "state": "time:state",
        "trajectory": "time:trajectory",
        "outreach": "time:outreach",
    },
    "Bring in, take out": {
        "seed": "memories:seed",
        "import": "transfer:import_",
        "export": "transfer:export",
        "identities": "identity:identities",
        "backup": "backup:backup",
        "restore": "backup:restore",
    },
    "Serve": {
        "serve": "serve:serve",
        "mcp": "mcp:mcp",
        "proxy": "proxy:proxy",
        "worker": "worker:worker",
        "keys": "keys:keys",
        "model-keys": "model_keys:model_keys",
    },
    "Look after": {
        "doctor": "database:doctor",
        "jobs": "jobs:jobs",
        "db": "database:db",
        "vault": "privacy:vault",
        "audit": "audit:audit",
        "demo": "demo:demo",
        "completion": "completion:completion",
    },
}
"""Section of ``tenuto --help`` → command → module of this package:attribute."""
COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}
EXAMPLES = """\b
Examples:
  tenuto observe "My dad is allergic to penicillin." -u ana
  tenuto recall "which antibiotics are safe?" -u ana --since 30d
  tenuto memories -u ana --json
  tenuto observe - -u ana --at yesterday --no-wait < note.txt
  tenuto COMMAND --help"""


def find_command(name: str) -> click.Command | None:
    """A command by its name, with the options that all commands take behind it."""
    if name not in COMMANDS:
        return None
    module, _, attribute = COMMANDS[name].partition(":")
    command: click.Command = getattr(import_module(f"tenuto.surfaces.cli.{module}"), attribute)
    _take_json(command)
    return command


def _take_json(command: click.Command) -> None:
    """Let ``--json`` stand behind the command as well as before it."""
    if isinstance(command, click.Group):
        for part in command.commands.values():
            _take_json(part)
    elif all("--json" not in part.opts for part in command.params):
        command.params.append(
            click.Option(["--json"], is_flag=True, expose_value=False, callback=_as_json, help="Print for machines.")
        )


def _as_json(ctx: click.Context, _: click.Parameter, chosen: bool) -> None:
    if chosen:
        ctx.obj = replace(ctx.obj, as_json=True)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that ``tenuto`` itself starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return find_command(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their sections."""
        width = formatter.width - 6 - max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            found = {name: self.get_command(ctx, name) for name in section}
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(width)) for name, one in found.items() if one])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but a mistyped command is answered with the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else " `tenuto --help` lists them."
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.option("--db", metavar="PATH|URL", help="The store: a file or postgresql://… [default: $TENUTO_DB or tenuto.db]")
@click.option("--json", "as_json", is_flag=True, help="Print for machines; also behind the command.")
@click.option("--strict", is_flag=True, help="Refuse unknown TENUTO_… variables, which otherwise only warn.")
@click.version_option(__version__, prog_name="tenuto")
@click.pass_context
def cli(ctx: click.Context, db: str | None, as_json: bool, strict: bool) -> None:
    """Memory for AI that talks with people: keeps what was said, and hands over the right few things."""
    if strict:
        check_environment()
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
