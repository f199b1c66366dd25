"""``tenuto todos | wishes | entities``: what is open, what is held back, and whom the talk is about."""

from __future__ import annotations

from typing import Any

import click

from tenuto.records.memory import Entity, Todo
from tenuto.records.wishes import StandingWish
from tenuto.surfaces.cli.layout import Entry, print_entries
from tenuto.surfaces.cli.shared import Settings, of_user


@click.command()
@of_user
@click.option("--status", default="open", show_default=True, help="open, done, expired, cancelled or '*'.")
@click.option("--kind", help="commitment, habit, thread, friction, reminder or task.")
@click.option("-n", "--limit", default=50, show_default=True, help="Most todos.")
@click.option("--done", metavar="ID", help="This one is done; a habit is counted and stays.")
@click.option("--cancel", metavar="ID", help="This one is no longer wanted.")
@click.pass_obj
def todos(
    settings: Settings, /, user: str, persona: str | None, done: str | None, cancel: str | None, **filters: Any
) -> None:
    """What is open with a persona; --persona '*' for all of them. --done and --cancel settle one first."""
    everyone = persona == "*"
    with settings.person(user, None if everyone else persona) as memory:
        if done is not None:
            memory.complete(done)
        if cancel is not None:
            memory.cancel(cancel)
        found = memory.todos(persona="*" if everyone else None, **filters)
    settings.show(found, lambda: print_entries([_todo(one) for one in found], "Nothing is open."))


def _todo(todo: Todo) -> Entry:
    due = f"due {todo.due:%Y-%m-%d %H:%M}" if todo.due else ""
    return Entry(todo.content, (todo.id, str(todo.kind), str(todo.status), todo.by, due))


@click.command()
@of_user
@click.option("--lift", metavar="ID", help="End one of them first: it may come up again, or is back.")
@click.pass_obj
def wishes(settings: Settings, user: str, persona: str | None, lift: str | None) -> None:
    """What a person asked to be forgotten or not brought up, as far as it stands."""
    with settings.person(user, persona) as memory:
        if lift is not None:
            memory.lift(lift)
        found = memory.wishes()
    settings.show(found, lambda: print_entries([_wish(one) for one in found], "Nothing is held back."))


def _wish(wish: StandingWish) -> Entry:
    held = f"{len(wish.memories)} memories, {len(wish.messages)} messages"
    return Entry(wish.about or wish.quote or "by hand", (wish.id, str(wish.kind), f"{wish.created_at:%Y-%m-%d}", held))


@click.command()
@click.argument("entity_id", required=False)
@of_user
@click.option("--type", "type_", help="person, place, org or project.")
@click.option("-n", "--limit", default=50, show_default=True, help="Most entities.")
@click.pass_obj
def entities(
    settings: Settings, entity_id: str | None, user: str, persona: str | None, type_: str | None, limit: int
) -> None:
    """People, places, orgs and projects, the most mentioned first; with an id such as person:john, what is known."""
    with settings.person(user, persona) as memory:
        if entity_id is not None:
            card = memory.entity(entity_id)
            facts = [Entry(one.content, (one.id, f"{one.created_at:%Y-%m-%d}", str(one.status))) for one in card.facts]
            settings.show(card, lambda: print_entries(facts, f"Nothing is known of {card.entity.label}."))
            return
        found = memory.entities(type=type_, limit=limit)
    settings.show(found, lambda: print_entries([_entity(one) for one in found], "Nobody and nothing was named yet."))


def _entity(entity: Entity) -> Entry:
    last = f"{entity.last_mentioned_at:%Y-%m-%d}" if entity.last_mentioned_at else ""
    return Entry(entity.label, (entity.id, entity.relation or "", f"{entity.mentions} mentions", last))
