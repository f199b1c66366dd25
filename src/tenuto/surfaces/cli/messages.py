"""``tenuto observe | recall | context | messages | users | stats``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import msgspec

from tenuto.errors import InputError
from tenuto.records.operations import Act, Receipt
from tenuto.records.recall import Hit
from tenuto.surfaces.cli.layout import Entry, one_line, print_entries
from tenuto.surfaces.cli.moments import said_at, since
from tenuto.surfaces.cli.shared import Settings, for_user, of_user, person, read_text

WAIT_SECONDS = 60
"""How long ``observe`` waits for the work on a message."""


@click.command()
@click.argument("text")
@for_user
@click.option("--role", default="user", show_default=True, help="user, assistant, system or tool.")
@click.option("--speaker", help="Who said it, where more than two people talk.")
@click.option("--at", metavar="TIME", help="When it was said: 2026-03-01T12:30+01:00, yesterday, 2h. [default: now]")
@click.option("--id", metavar="ID", help="Your own id of the message: the same one is kept once.")
@click.option("--session", metavar="ID", help="Your own id of the session.")
@click.option("--thinking", help="What the model thought before it said this.")
@click.option("--model", help="The model that said it.")
@click.option("--tokens", type=click.IntRange(min=0), help="What the model used for it.")
@click.option("--metadata", metavar="JSON", help="A table of your own to keep with it.")
@click.option("--wait/--no-wait", default=True, help="Wait until it is worked on, and show what was kept (default).")
@click.pass_obj
def observe(
    settings: Settings, /, text: str, user: str, persona: str | None, channel: str, at: str | None,
    metadata: str | None, wait: bool, **said: str | None,
) -> None:  # fmt: skip
    """Keep one thing said, and show what was kept of it. TEXT may be - for standard input."""
    words = read_text(text)
    with settings.store(background=wait) as store:
        memory = store.user(user, persona=persona, channel=channel)
        given: dict[str, Any] = {**said, "metadata": _table(metadata), "at": said_at(at, store.deps.clock())}
        receipt = memory.observe(words, **given)
        if wait:
            store.settle(WAIT_SECONDS)
            receipt = replace(memory.receipt(receipt.id) or receipt, act=receipt.act)  # a duplicate stays one

    def render() -> None:
        click.echo(f"{receipt.act.value}: message {receipt.message_id}, importance {receipt.importance:g}")
        for result in receipt.results:
            click.echo(f"  {result.act.value}: {result.content or result.subject_id} ({result.reason})")
        if receipt.act is Act.INSERTED and not receipt.results:
            click.echo(f"  {_left(receipt, wait)}")
        for note in receipt.notes:
            click.echo(f"  {note}")

    settings.show(receipt, render)


def _left(receipt: Receipt, wait: bool) -> str:
    if receipt.settled:
        return "nothing in it to keep as a memory; recall finds the message itself"
    if wait:
        return "the work on it goes on: `tenuto jobs list`"
    return "the next `tenuto observe`, or `tenuto worker`, works on it"


def _table(text: str | None) -> dict[str, Any] | None:
    try:
        return None if text is None else msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise InputError(f"--metadata takes a JSON table: {error}.", code="metadata_invalid") from None


@click.command()
@click.argument("query")
@of_user
@click.option("-n", "--limit", default=10, show_default=True, help="Most hits.")
@click.option("--kinds", multiple=True, help="memory, message, key_point, summary or todo; may be repeated.")
@click.option("--profile", default="default", show_default=True, help="default, blended or decayed.")
@click.option("--since", "from_", metavar="TIME", help="Not before this time: 2026-03-01, yesterday, 30d.")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option("--domain", help="A memory's domain: profile, people, project …")
@click.option("--kind", help="A memory's kind: fact, preference, boundary …")
@click.option("--entity", metavar="ID", help="About whom or what, such as person:john.")
@click.option("--status", help="A memory's status: active, confirmed …")
@click.option("--channel", help="Where a message was said.")
@click.option("--session", metavar="ID", help="The session a message belongs to.")
@click.option("--source", help="What brought a message in: conversation, import:imp_…")
@click.option("--role", help="Whose words: user, assistant, system or tool.")
@click.option("--speaker", help="Who said it.")
@click.option("--outside", is_flag=True, help="Also what came from outside and waits for a confirmation.")
@click.option("--held", is_flag=True, help="Also what the person wished to be held back: for their own eyes.")
@click.option("--passages", is_flag=True, help="Messages with their neighbours.")
@click.option("--valence", type=float, help="Prefer what was said in a like mood: -1 (bad) to 1 (good).")
@click.option("--arousal", type=float, help="Prefer what was said in a like mood: -1 (calm) to 1 (stirred).")
@click.option("--why", is_flag=True, help="Show each part of the score.")
@click.pass_obj
def recall(
    settings: Settings, /, query: str, user: str, persona: str | None, kinds: tuple[str, ...], from_: str | None,
    until: str | None, why: bool, **filters: Any,
) -> None:  # fmt: skip
    """The right few things for QUERY, best first. --persona '*' looks at what belongs to any persona."""
    everyone = persona == "*"
    with settings.existing() as store:
        memory, now = person(store, user, None if everyone else persona), store.deps.clock()
        narrowed = {**filters, "since": since(from_, now), "until": since(until, now)}
        hits = memory.recall(read_text(query), kinds=kinds or None, persona="*" if everyone else None, **narrowed)

    def render() -> None:
        print_entries([_entry(hit, why) for hit in hits], "Nothing found.")
        for note in hits.notes:
            click.secho(note, dim=True, err=True)

    settings.show(list(hits), render)


def _entry(hit: Hit, why: bool) -> Entry:
    facts = (f"{hit.score:.2f}", f"{hit.at:%Y-%m-%d}", str(hit.kind), hit.id)
    return Entry(hit.passage or hit.text, facts, f"{hit.why.plain} {hit.why}" if why else "")


@click.command()
@click.argument("message")
@for_user
@click.option("--budget", type=int, help="Tokens, the answer included.  [default: 8000]")
@click.option("--session", metavar="ID", help="Your own id of the session.")
@click.option("--refresh", is_flag=True, help="Find anew what the session is about.")
@click.option("--replay/--no-replay", default=True, help="With the turns of the session (default), or without.")
@click.option("--sent", multiple=True, metavar="TEXT", help="With --no-replay: a turn that is sent anyway; repeatable.")
@click.option("--persona-text", help="The words that introduce the persona.")
@click.pass_obj
def context(
    settings: Settings, /, message: str, user: str, persona: str | None, channel: str, sent: tuple[str, ...],
    **options: Any,
) -> None:  # fmt: skip
    """What a model would read now for MESSAGE."""
    with settings.person(user, persona, channel) as memory:
        built = memory.context(read_text(message), sent=sent or None, **options)

    def render() -> None:
        for part in built.messages:
            click.secho(f"[{part['role']}]", bold=True)
            click.echo(part["content"])
        click.secho(f"{built.tokens} tokens", dim=True)

    settings.show({"messages": built.messages, "tokens": built.tokens}, render)


@click.command()
@of_user
@click.option("--session", "session_id", metavar="ID", help="Only this session's.")
@click.option("-n", "--limit", default=50, show_default=True, help="Most messages.")
@click.pass_obj
def messages(settings: Settings, user: str, persona: str | None, session_id: str | None, limit: int) -> None:
    """The last messages, oldest first."""
    with settings.person(user, persona) as memory:
        found = memory.messages(session_id=session_id, limit=limit)
    entries = [
        Entry(one.content, (f"{one.at:%Y-%m-%d %H:%M}", one.speaker or str(one.role), one.channel, one.id))
        for one in found
    ]
    settings.show(found, lambda: print_entries(entries, "Nothing was said yet."))


@click.command()
@click.pass_obj
def users(settings: Settings) -> None:
    """Everybody of whom something is kept."""
    with settings.existing() as store:
        found = store.users()
    settings.show(found, lambda: click.echo("\n".join(map(one_line, found)) or "Nobody yet."))


@click.command()
@of_user
@click.pass_obj
def stats(settings: Settings, user: str, persona: str | None) -> None:
    """How much is kept of a user."""
    with settings.person(user, persona) as memory:
        numbers = memory.stats()

    def render() -> None:
        for name, value in numbers.items():
            click.echo(f"{name.replace('_', ' '):20} {'–' if value is None else value}")

    settings.show(numbers, render)
