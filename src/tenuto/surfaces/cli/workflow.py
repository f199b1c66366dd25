"""``tenuto workflow list | show | send | confirm | refuse``: typed work from the terminal.

Each command is a process of its own and knows nothing of what an earlier one showed: a yes without a digest is about
what was shown last on its channel.
"""

from __future__ import annotations

from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table

from tenuto.errors import InputError, NotFound
from tenuto.facade.user import UserMemory
from tenuto.facade.workflows import WorkflowHandle
from tenuto.surfaces.cli.shared import Settings, for_user
from tenuto.workflow.advance import WorkflowReply
from tenuto.workflow.block import workflow_block
from tenuto.workflow.definition import Definition

from_file = click.option(
    "-f", "--file", "path", required=True, type=click.Path(exists=True, dir_okay=False),
    help="The definition of this kind of workflow (JSON or TOML).",
)  # fmt: skip
which = click.option("--id", "id", help="Which workflow; without it the last one of this kind that is not over.")
digest_ = click.option("--digest", help="Of the change as it was shown; without it what was shown last.")


@click.group()
def workflow() -> None:
    """Typed work: fill in a form by talking, and answer what it asks before it changes anything settled."""


@workflow.command("list")
@for_user
@click.option("--definition", help="Of this kind only.")
@click.option("--state", help="In this state only.")
@click.pass_obj
def list_(
    settings: Settings, user: str, persona: str | None, channel: str, definition: str | None, state: str | None
) -> None:
    """Show workflows, the last touched first."""
    with settings.store(background=False) as store:
        found = store.user(user, persona=persona, channel=channel).workflows(definition=definition, state=state)

    def render() -> None:
        table = Table(box=None, pad_edge=False)
        table.add_column("id", min_width=max((len(one.id) for one in found), default=0))
        for name in ("definition", "state", "updated", "waiting"):
            table.add_column(name)
        for one in found:
            waiting = one.pending.shown if one.pending is not None else "–"
            table.add_row(one.id, one.definition, one.state, f"{one.updated_at:%Y-%m-%d %H:%M}", waiting)
        Console().print(table if found else "There is no workflow: tenuto workflow send TEXT --file DEFINITION.")

    settings.show(found, render)


@workflow.command()
@click.argument("id")
@for_user
@click.pass_obj
def show(settings: Settings, id: str, user: str, persona: str | None, channel: str) -> None:
    """Show one workflow: its state, what waits for an answer, what was asked, what is filled in."""
    with settings.store(background=False) as store:
        record = store.user(user, persona=persona, channel=channel).get("workflows", id)
        lines = workflow_block(record, store.deps.clock())
    settings.show(record, lambda: click.echo("\n".join(lines)))


@workflow.command()
@click.argument("text")
@from_file
@which
@click.option("--new", is_flag=True, help="Begin another one.")
@click.option("--given", multiple=True, metavar="NAME=VALUE", help="Fills a field of a new one.")
@click.option("--session", help="Your own id of the session that a new one lives in.")
@for_user
@click.pass_obj
def send(
    settings: Settings, text: str, path: str, id: str | None, new: bool, given: tuple[str, ...], session: str | None,
    user: str, persona: str | None, channel: str,
) -> None:  # fmt: skip
    """Say something to a workflow, or begin one with it: shows what it took, what it asks and what waits for a yes."""
    values = dict(_given(one) for one in given)
    with settings.store(background=False) as store:
        person = store.user(user, persona=persona, channel=channel)
        definition = store.define(path)
        known = id if id is not None or new else _last(person, definition)
        _show(settings, person.workflow(definition, known, given=values or None, session_id=session).send(text))


@workflow.command()
@from_file
@which
@digest_
@for_user
@click.pass_obj
def confirm(
    settings: Settings, path: str, id: str | None, digest: str | None, user: str, persona: str | None, channel: str
) -> None:
    """Yes to the change that waits."""
    with settings.store(background=False) as store:
        person = store.user(user, persona=persona, channel=channel)
        _show(settings, _known(person, store.define(path), id).confirm(digest))


@workflow.command()
@from_file
@which
@digest_
@for_user
@click.pass_obj
def refuse(
    settings: Settings, path: str, id: str | None, digest: str | None, user: str, persona: str | None, channel: str
) -> None:
    """No to the change that waits: everything stays as it is."""
    with settings.store(background=False) as store:
        person = store.user(user, persona=persona, channel=channel)
        _show(settings, _known(person, store.define(path), id).refuse(digest))


def _last(person: UserMemory, definition: Definition) -> str | None:
    """The last workflow of this kind that may still change."""
    found = person.workflows(definition=definition.name)
    return next((one.id for one in found if definition.machine.may_change(one.state)), None)


def _known(person: UserMemory, definition: Definition, id: str | None) -> WorkflowHandle:
    known = id if id is not None else _last(person, definition)
    if known is None:
        raise NotFound(f"No workflow '{definition.name}' is open: begin one with send.", code="workflow_unknown")
    return person.workflow_of(known)


def _given(text: str) -> tuple[str, Any]:
    """``NAME=VALUE``: the value as JSON where it is JSON, otherwise as text."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InputError(f"'{text}' does not name a field: write it as NAME=VALUE.")
    try:
        return name, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, value


def _show(settings: Settings, reply: WorkflowReply) -> None:
    def render() -> None:
        click.echo(reply.text or "Nothing to ask and nothing to do.")
        click.echo(f"({reply.workflow_id}, {reply.state})", err=True)

    settings.show(reply, render)
