"""``tenuto remember | seed | memories | confirm | pin | edit | allow | forget``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tenuto.errors import InputError
from tenuto.facade.user import UserMemory
from tenuto.records.memory import Memory
from tenuto.surfaces.cli.layout import Entry, print_entries
from tenuto.surfaces.cli.moments import said_at
from tenuto.surfaces.cli.shared import Settings, for_user, of_user, person, read_text

USES = ("yes", "only_when_relevant", "no")


@click.command()
@click.argument("text")
@for_user
@click.option("--pin", is_flag=True, help="Always in context.")
@click.option("--session", metavar="ID", help="With --pin: only in the context of this session.")
@click.option("--kind", help="fact, preference, boundary, commitment …")
@click.option("--importance", type=float, help="0 to 10.")
@click.option("--private", is_flag=True, help="Only for this persona.")
@click.option("--proactive-use", type=click.Choice(USES), help="May it be brought up?")
@click.option("--should-do", help="What the model should do about it.")
@click.option("--should-not-do", help="What the model should not do.")
@click.option("--at", metavar="TIME", help="Since when it is known: 2026-03-01, yesterday, 30d. [default: now]")
@click.option("--source", default="direct", show_default=True, help="What brought it in.")
@click.option("--message", metavar="ID", help="The message that it was said in: the evidence.")
@click.option("--domain", help="profile, people, project, agent, relational or evidence.")
@click.option("--sensitivity", type=click.Choice(("low", "medium", "high")), help="How delicate it is.")
@click.option("--time-scope", help="momentary, session, active_project, ongoing, historical or deprecated.")
@click.option("--epistemic", help="explicit, inferred, co_created, assistant_reflection or system_generated.")
@click.option("--valence", type=float, help="-1 (painful) to 1 (warm).")
@click.option("--arousal", type=float, help="0 (calm) to 1 (intense).")
@click.option("--salience", type=float, help="0 to 1: importance by another name.")
@click.option("--retrieval-conditions", metavar="TEXT", help="Use it only where the message is about this.")
@click.option("--do-not-use-when", metavar="TEXT", help="Never use it where the message is about this.")
@click.pass_obj
def remember(
    settings: Settings, /, text: str, user: str, persona: str | None, channel: str, at: str | None, **options: Any
) -> None:
    """Keep one thing for good. TEXT may be - for standard input."""
    words = read_text(text).strip()
    with settings.store() as store:
        memory = store.user(user, persona=persona, channel=channel)
        kept = memory.remember(words, at=said_at(at, store.deps.clock()), **options)
    settings.show(kept, lambda: click.echo(f"{kept.act.value}: {kept.id}: {kept.content} ({kept.reason})"))


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@for_user
@click.pass_obj
def seed(settings: Settings, file: str, user: str, persona: str | None, channel: str) -> None:
    """Keep what is known before the first word: a profile as YAML, TOML or JSON. Again changes nothing.

    Sections: name, facts, people (name, relation, facts), preferences, projects, rules, pins.
    """
    with settings.store() as store:
        done = store.user(user, persona=persona, channel=channel).seed(file)
    settings.show(done, lambda: click.echo(f"{len(done.kept)} kept, {done.known} known already"))


@click.command()
@of_user
@click.option(
    "--status", help="candidate, confirmed, active, reinforced, revised, deprecated, forgotten, archived or '*'."
)
@click.option("--kind", help="fact, preference, boundary, commitment …")
@click.option("--domain", help="profile, people, project, agent, relational or evidence.")
@click.option("--attribute", help="What is known, such as home or employer.")
@click.option("--entity", metavar="ID", help="About whom or what, such as person:john.")
@click.option("--pinned/--not-pinned", default=None, help="Only what is always in context, or only the rest.")
@click.option("--sensitivity", type=click.Choice(("low", "medium", "high")), help="How delicate it is.")
@click.option("--time-scope", help="momentary, session, active_project, ongoing, historical or deprecated.")
@click.option("--epistemic", help="explicit, inferred, co_created, assistant_reflection or system_generated.")
@click.option("--valence", nargs=2, type=float, default=None, metavar="FROM TO", help="-1 (painful) to 1 (warm).")
@click.option("--arousal", nargs=2, type=float, default=None, metavar="FROM TO", help="0 (calm) to 1 (intense).")
@click.option("--salience", nargs=2, type=float, default=None, metavar="FROM TO", help="0 to 1.")
@click.option("-n", "--limit", default=50, show_default=True, help="Most memories.")
@click.pass_obj
def memories(settings: Settings, /, user: str, persona: str | None, **filters: Any) -> None:
    """What is known of a user, newest first. --persona '*' shows what belongs to any persona."""
    everyone = persona == "*"
    with settings.person(user, None if everyone else persona) as memory:
        known = memory.memories(persona="*" if everyone else None, **filters)
    settings.show(known, lambda: print_entries([_entry(one) for one in known], "Nothing is known."))


def _entry(memory: Memory) -> Entry:
    since = f"{memory.valid_from or memory.created_at:%Y-%m-%d}"
    weight = f"{memory.importance:g}{' pinned' if memory.pinned else ''}"
    return Entry(memory.content, (memory.id, since, weight, str(memory.status)))


def _change(settings: Settings, user: str, persona: str | None, verb: Callable[[UserMemory], Memory]) -> None:
    """Change one memory and show what it is now."""
    with settings.person(user, persona) as owner:
        memory = verb(owner)
    settings.show(memory, lambda: click.echo(_line(memory)))


def _line(memory: Memory) -> str:
    return f"{memory.status}{', pinned' if memory.pinned else ''}: {memory.content}"


@click.command()
@click.argument("memory_id")
@of_user
@click.pass_obj
def confirm(settings: Settings, memory_id: str, user: str, persona: str | None) -> None:
    """Vouch for a memory that waits (`tenuto memories --status candidate`): it holds from then on."""
    _change(settings, user, persona, lambda owner: owner.confirm(memory_id))


@click.command()
@click.argument("memory_id")
@of_user
@click.option("--kind", default="manual", show_default=True, help="manual, code, concept or system.")
@click.option("--session", metavar="ID", help="Only in the context of this session.")
@click.option("--undo", is_flag=True, help="No longer always in context.")
@click.pass_obj
def pin(
    settings: Settings, memory_id: str, user: str, persona: str | None, kind: str, session: str | None, undo: bool
) -> None:
    """Always in context; --undo takes the pin away."""

    def change(owner: UserMemory) -> Memory:
        return owner.unpin(memory_id) if undo else owner.pin(memory_id, kind=kind, session=session)

    _change(settings, user, persona, change)


@click.command()
@click.argument("memory_id")
@of_user
@click.option("--content", help="The new wording; - for standard input.")
@click.option("--importance", type=float, help="0 to 10.")
@click.option("--proactive-use", type=click.Choice(USES), help="May it be brought up?")
@click.option("--should-do", help="What the model should do about it; '' takes it away.")
@click.option("--should-not-do", help="What the model should not do; '' takes it away.")
@click.option("--valid-from", metavar="TIME", help="Since when it holds; '' takes it away.")
@click.option("--valid-to", metavar="TIME", help="Until when it held; '' takes it away.")
@click.option("--happens-at", metavar="TIME", help="When it happens; '' takes it away.")
@click.option("--kind", help="fact, preference, boundary, commitment …")
@click.option("--retrieval-keywords", multiple=True, metavar="WORD", help="A word that finds it; may be repeated.")
@click.option("--sensitivity", type=click.Choice(("low", "medium", "high")), help="How delicate it is.")
@click.option("--time-scope", help="momentary, session, active_project, ongoing, historical or deprecated.")
@click.option("--epistemic", help="explicit, inferred, co_created, assistant_reflection or system_generated.")
@click.option("--valence", type=float, help="-1 (painful) to 1 (warm).")
@click.option("--arousal", type=float, help="0 (calm) to 1 (intense).")
@click.option("--salience", type=float, help="0 to 1: importance by another name.")
@click.option("--retrieval-conditions", metavar="TEXT", help="Use it only where the message is about this.")
@click.option("--do-not-use-when", metavar="TEXT", help="Never use it where the message is about this.")
@click.pass_obj
def edit(settings: Settings, /, memory_id: str, user: str, persona: str | None, **given: Any) -> None:
    """Correct a memory; the old wording stays in its history. What is not given stays."""
    changes = {name: value for name, value in given.items() if value is not None and value != ()}
    if not changes:
        raise InputError("Say what to change, such as --content 'Allergic to penicillin'.", code="edit_empty")
    if "content" in changes:
        changes["content"] = read_text(changes["content"]).strip()

    for name in ("should_do", "should_not_do", "retrieval_conditions", "do_not_use_when"):
        if name in changes:
            changes[name] = changes[name] or None
    with settings.existing() as store:
        owner, now = person(store, user, persona), store.deps.clock()
        for name in ("valid_from", "valid_to", "happens_at"):
            if name in changes:
                changes[name] = said_at(changes[name] or None, now)
        memory = owner.edit(memory_id, **changes)
    settings.show(memory, lambda: click.echo(_line(memory)))


@click.command()
@click.argument("memory_id")
@click.argument("use", type=click.Choice(USES))
@of_user
@click.pass_obj
def allow(settings: Settings, memory_id: str, use: str, user: str, persona: str | None) -> None:
    """May a memory be brought up unasked? It is recalled all the same."""
    _change(settings, user, persona, lambda owner: owner.allow(memory_id, use))


@click.command()
@click.argument("memory_id")
@of_user
@click.option("--reason", default="asked to forget", show_default=True, help="Why, for its history.")
@click.option("--undo", is_flag=True, help="Bring it back.")
@click.pass_obj
def forget(settings: Settings, memory_id: str, user: str, persona: str | None, reason: str, undo: bool) -> None:
    """Take a memory out of every reading; --undo brings it back. For good is another verb: erase."""

    def change(owner: UserMemory) -> Memory:
        return owner.restore(memory_id) if undo else owner.forget(memory_id, reason=reason)

    _change(settings, user, persona, change)
