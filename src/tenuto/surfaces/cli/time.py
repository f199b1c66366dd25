"""``tenuto sessions | summaries | state | trajectory | outreach | retention | purge``: what time made of the talk."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import click

from tenuto.errors import InputError
from tenuto.surfaces.cli.layout import print_table
from tenuto.surfaces.cli.shared import Settings, of_user, person


@click.command()
@of_user
@click.option("-n", "--limit", default=20, show_default=True, help="Most sessions.")
@click.option("--close", "closing", metavar="ID", help="End this session first: our id or yours, or 'open'.")
@click.option("--name", "named", nargs=2, metavar="ID NAME", help="Call this session so first: our id or yours.")
@click.pass_obj
def sessions(
    settings: Settings, user: str, persona: str | None, limit: int, closing: str | None, named: tuple[str, str] | None
) -> None:
    """Sessions of a user, newest first."""
    with settings.existing() as store:
        owner = person(store, user, persona)
        if named is not None:
            owner.name_session(*named)
        if closing is not None:
            owner.close_session(None if closing == "open" else closing)
            store.settle()
        found = owner.sessions(limit=limit)
    rows = [
        (
            one.id,
            f"{one.started_at:%Y-%m-%d %H:%M}",
            one.end_type or "open",
            str(one.turn_count),
            one.name or "",
            one.headline or "",
        )
        for one in found
    ]
    heads = ("id", "began", "end", "turns", "name", "headline")
    settings.show(found, lambda: print_table(heads, rows, "No sessions yet."))


@click.command()
@of_user
@click.option("--kind", help="rolling, range, session, topic, spine, profile or brief.")
@click.option("--session", "session_id", metavar="ID", help="Only this session's.")
@click.option("--versions", is_flag=True, help="Earlier versions, too.")
@click.option("-n", "--limit", default=20, show_default=True, help="Most summaries.")
@click.pass_obj
def summaries(settings: Settings, /, user: str, persona: str | None, **filters: Any) -> None:
    """Summaries of a user's talk, newest first."""
    with settings.person(user, persona) as owner:
        found = owner.summaries(**filters)
    rows = [(str(one.kind), f"{one.created_at:%Y-%m-%d}", one.made_by, one.content) for one in found]
    settings.show(found, lambda: print_table(("kind", "made", "by", "text"), rows, "No summaries yet."))


@click.command()
@of_user
@click.option("--history", is_flag=True, help="Every change and its reason.")
@click.pass_obj
def state(settings: Settings, user: str, persona: str | None, history: bool) -> None:
    """The persona's state towards a user: nothing about it is hidden."""
    with settings.person(user, persona) as owner:
        held, changes = owner.state(), owner.state_history() if history else []
    rows = [(name, f"{value:.2f}") for name, value in sorted(held.axes.items())]
    told = [(f"{one.at:%Y-%m-%d %H:%M}", one.reason, json.dumps(one.deltas)) for one in changes]

    def render() -> None:
        print_table(("axis", "value"), rows, "")
        if history:
            print_table(("at", "reason", "change"), told, "Nothing has changed yet.")

    settings.show(changes if history else held, render)


@click.command()
@of_user
@click.option("--on/--off", "on", default=None, help="Switch it on or off for this user.")
@click.pass_obj
def trajectory(settings: Settings, user: str, persona: str | None, on: bool | None) -> None:
    """Where the talk has been going, with the formula of every number."""
    with settings.person(user, persona) as owner:
        found = owner.trajectory(on=on)

    def render() -> None:
        rows = [
            (one.name, "–" if one.value is None else f"{one.value:.2f}", one.direction, one.formula)
            for one in found.metrics
        ]
        print_table(
            ("metric", "value", "trend", "formula"), rows, "Nothing to tell yet." if found.enabled else "Switched off."
        )
        for suggestion in found.suggestions:
            click.echo(suggestion)

    settings.show(found, render)


@click.command()
@of_user
@click.option("--on/--off", "on", default=None, help="The user's switch.")
@click.option("--timezone", help="Where the user lives, such as Europe/Rome: quiet hours are theirs.")
@click.option("--made", is_flag=True, help="Note that contact was made: the cooldown begins.")
@click.pass_obj
def outreach(
    settings: Settings, user: str, persona: str | None, on: bool | None, timezone: str | None, made: bool
) -> None:
    """May the persona make contact now, and why? It only decides; nothing is sent."""
    with settings.person(user, persona) as owner:
        found = owner.outreach(on=on, made=made, timezone=timezone)
    settings.show(found, lambda: click.echo(f"{'yes' if found.allowed else 'no'}: {found.reason}"))


@click.command()
@of_user
@click.option("--set", "rules", metavar="JSON", help="The user's own rules; 'null' goes back to the operator's.")
@click.pass_obj
def retention(settings: Settings, user: str, persona: str | None, rules: str | None) -> None:
    """The rules of how long each kind of thing is kept. docs/lifecycle.md shows the form of the rules."""
    with settings.person(user, persona) as owner:
        found = owner.retention() if rules is None else owner.set_retention(_parsed(rules))

    def render() -> None:
        rows = [("text", _days(found.purge_text))]
        for name, rule in found.channels.items():
            rows.append((f"channel {name}", _days(rule.purge_text) + (", with all" if rule.all else "")))
        rows += [(f"domain {name}", _days(kept)) for name, kept in found.domains.items()]
        print_table(("what", "kept"), rows, "")

    settings.show(found, render)


def _days(kept: timedelta | None) -> str:
    return "for ever" if kept is None else f"{kept / timedelta(days=1):g} days"


def _parsed(rules: str) -> dict[str, Any] | None:
    try:
        given = json.loads(rules)
    except ValueError as error:
        raise InputError(f"--set takes JSON: {error}.", code="retention_invalid") from None
    if given is not None and not isinstance(given, dict):
        raise InputError('--set takes a table such as {"purge_text": 2592000}, or null.', code="retention_invalid")
    return given


@click.command()
@of_user
@click.option("--dry-run", is_flag=True, help="Show what would be taken, and take nothing.")
@click.pass_obj
def purge(settings: Settings, user: str, persona: str | None, dry_run: bool) -> None:
    """Take what has had its time under the rules of retention, for good."""
    with settings.person(user, persona) as owner:
        report = owner.purge(dry_run=dry_run)
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in report.counts().items())
    settings.show(report, lambda: click.echo(f"{'Would take' if dry_run else 'Took'} {told}."))
