"""``tenuto identities``: the addresses that lead to a user, and accounts that turned out to be one."""

from __future__ import annotations

import click

from tenuto.identity.link import Courier
from tenuto.settings import connection
from tenuto.surfaces.adapters.delivery import Smtp, printing
from tenuto.surfaces.adapters.mail import mailbox
from tenuto.surfaces.cli.shared import Settings, for_user


@click.group()
def identities() -> None:
    """The addresses that lead to a user."""


@identities.command("list")
@for_user
@click.pass_obj
def list_(settings: Settings, user: str, persona: str | None, channel: str) -> None:
    """Show a user's addresses."""
    with settings.person(user, persona, channel) as owner:
        found = owner.identities()

    def render() -> None:
        for one in found:
            click.echo(f"{one.channel:10} {one.address}{'' if one.verified_at else '  (not verified)'}")

    settings.show(found, render)


@identities.command()
@click.argument("address_channel", metavar="CHANNEL")
@click.argument("address")
@click.option("--region", help="Country of numbers in national form, such as IT.")
@click.pass_obj
def who(settings: Settings, address_channel: str, address: str, region: str | None) -> None:
    """The user whom ADDRESS on CHANNEL belongs to; a new one if it was never seen."""
    with settings.store(background=False) as store:
        found = store.identify(address_channel, address, region=region).id
    settings.show({"user": found}, lambda: click.echo(found))


@identities.command()
@click.argument("address_channel", metavar="CHANNEL")
@click.argument("address")
@for_user
@click.option("--merge", is_flag=True, help="To join the account that the address belongs to.")
@click.option("--smtp", metavar="HOST:PORT", help="Send the code by mail. [default: print it here]")
@click.option("--sender", default="tenuto@localhost", show_default=True)
@click.pass_obj
def link(
    settings: Settings, address_channel: str, address: str, user: str, persona: str | None, channel: str, merge: bool,
    smtp: str | None, sender: str,
) -> None:  # fmt: skip
    """Send a code to another address of a user who is talking right now."""
    courier: Courier = printing(lambda text: click.echo(text, err=True))
    if smtp is not None:
        host, _, port = smtp.partition(":")
        password = connection("smtp_password")
        courier = Smtp(
            host=host, port=int(port or 587), sender=sender, user=sender if password else None, password=password
        )
    with settings.store(background=False) as store:
        made = store.user(user, persona=persona, channel=channel).link(address_channel, address, courier, merge=merge)
    settings.show(
        {"expires_at": made.expires_at},
        lambda: click.echo(f"A code is on its way, valid until {made.expires_at:%H:%M} UTC."),
    )


@identities.command()
@click.argument("address_channel", metavar="CHANNEL")
@click.argument("address")
@click.argument("code")
@for_user
@click.pass_obj
def confirm(
    settings: Settings, address_channel: str, address: str, code: str, user: str, persona: str | None, channel: str
) -> None:
    """Add the address that CODE was sent to."""
    with settings.store(background=False) as store:
        found = store.user(user, persona=persona, channel=channel).confirm_link(address_channel, address, code)
    settings.show(found, lambda: click.echo(f"{found.address} on {found.channel} leads to {user} now."))


@identities.command()
@click.argument("address_channel", metavar="CHANNEL")
@click.argument("address")
@click.argument("code")
@for_user
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def merge(
    settings: Settings,
    address_channel: str,
    address: str,
    code: str,
    user: str,
    persona: str | None,
    channel: str,
    yes: bool,
) -> None:
    """Join the account that ADDRESS belongs to, with the CODE from link --merge. Shows first what it would do."""
    with settings.store(background=False) as store:
        memory = store.user(user, persona=persona, channel=channel)
        plan = memory.merge_plan(address_channel, address, code)
        for name, count in plan.counts.items():
            click.echo(f"  {count:,} {name.replace('_', ' ')}", err=True)
        for conflict in plan.conflicts:
            click.echo(f"  {conflict}", err=True)
        if not yes:
            click.confirm("Join the two?", abort=True, err=True)
        done = memory.merge_user(plan)
    settings.show(done, lambda: click.echo(f"Done. To take it back: tenuto identities unmerge {done.id}"))


@identities.command()
@click.argument("merge_id")
@for_user
@click.pass_obj
def unmerge(settings: Settings, merge_id: str, user: str, persona: str | None, channel: str) -> None:
    """Give both accounts back as they were, plus what came since."""
    with settings.store(background=False) as store:
        done = store.user(user, persona=persona, channel=channel).unmerge_user(merge_id)
    settings.show(done, lambda: click.echo(f"{user} and {done.other} are two again."))


@identities.command()
@click.argument("url", metavar="imaps://USER@HOST/FOLDER")
@click.pass_obj
def poll(settings: Settings, url: str) -> None:
    """Look into a mailbox once and keep what is new. The password comes from TENUTO_MAILBOX_PASSWORD."""
    box = mailbox(url, connection("mailbox_password") or "")
    with settings.store() as store:
        found = box.poll(store.receive)

    def render() -> None:
        click.echo(f"{found.kept} kept, {found.passed_over} from programs passed over")
        for failure in found.failed:
            click.echo(f"  {failure}")

    settings.show(found, render)
