"""Who an address belongs to, and how another address is added to a person.

An address that was never seen gets a user of its own, apart from all others: nobody is taken for somebody else because
of a similar name. Only a proof joins addresses: a secret sent to the new one, repeated by somebody with a live session
on the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tenuto.deps import Deps
from tenuto.errors import Conflict, Denied, NotFound
from tenuto.identity import challenge as challenges
from tenuto.ports import AddressBook, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Session, SessionStatus
from tenuto.records.identity import Challenge, Delivery, Purpose
from tenuto.records.memory import Memory
from tenuto.records.operations import Event
from tenuto.records.scope import Identity, Scope

Courier = Callable[[Delivery], None]
"""Carries a code to an address; raises :class:`tenuto.errors.ProviderError` if it cannot."""


def identify(deps: Deps, channel: str, address: str, *, device: str | None = None) -> str:
    """The user whom a (normalised) address belongs to; a new one, apart from all others, for an address never seen."""
    user = deps.store.holder(channel, address)
    if user is None:
        with deps.store.address(channel, address) as place:
            user = place.holder()
            if user is None:
                user = deps.ids("usr", deps.clock())
                place.hold(user)
    _note(deps, user, channel, address, device)
    return user


def _note(deps: Deps, user: str, channel: str, address: str, device: str | None) -> None:
    """The user's own row about the address: made when missing, and knowing each device."""
    id, now = f"{channel}:{address}", deps.clock()
    with deps.store.reading(user) as reader:
        known = reader.get(Identity, id)
    if known is not None and (device is None or device in known.devices):
        return
    with deps.store.writing(user) as tx:
        known = tx.get(Identity, id) or Identity(id=id, channel=channel, address=address, created_at=now)
        if device is not None and device not in known.devices:
            known = evolve(known, devices=(*known.devices, device)[-20:])
        tx.put(known)


def begin(
    deps: Deps,
    scope: Scope,
    channel: str,
    address: str,
    purpose: Purpose,
    courier: Courier,
    *,
    code: str,
    token: str,
    salt: str,
) -> Challenge:
    """Send a secret to an address. Nothing is said about whether the address is known here."""
    now = deps.clock()
    _live(deps, scope, now)
    with deps.store.address(channel, address) as place:
        if purpose is Purpose.LINK and place.holder() == scope.user and _verified(deps, scope, channel, address):
            raise Conflict(f"{address} is one of your addresses already.", code="address_linked")
        sent = place.challenges()
        challenges.check_sends(sent, now, deps.policy.identity)
        place.drop(*[one.id for one in sent if now - one.created_at >= deps.policy.identity.challenge_window])
        made = challenges.make(
            id=deps.ids("chl", now), user=scope.user, channel=channel, address=address, purpose=purpose, code=code,
            token=token, salt=salt, now=now, policy=deps.policy.identity,
        )  # fmt: skip
        place.put(made)
    courier(challenges.delivery(made, code, token))
    return made


def prove(deps: Deps, scope: Scope, channel: str, address: str, purpose: Purpose, secret: str) -> Challenge:
    """The challenge that the secret answers, now used; raises :class:`Denied` otherwise. Each try counts."""
    now = deps.clock()
    _live(deps, scope, now)
    with deps.store.address(channel, address) as place:
        waiting = [one for one in place.challenges() if one.user_id == scope.user and one.purpose is purpose]
        if not waiting:
            raise challenges.refusal(None, now, deps.policy.identity)
        tried, right = challenges.answer(waiting[-1], secret, now, deps.policy.identity)
        place.put(tried)
    if not right:
        raise challenges.refusal(tried, now, deps.policy.identity)
    return tried


def finish_link(deps: Deps, scope: Scope, proof: Challenge) -> Identity:
    """Give a proven address to the user. One that belongs to somebody with data of their own needs a merge instead."""
    now = deps.clock()
    with deps.store.address(proof.channel, proof.address) as place:
        holder = place.holder()
        if holder not in (None, scope.user) and _has_data(deps, str(holder)):
            raise Conflict(
                f"{proof.address} belongs to an account that holds data of its own: to join the two, ask for a code "
                "with merge=True, look at the plan, and merge.",
                code="merge_needed",
            )
        _spend(place, proof, now)
        place.hold(scope.user)
    identity = Identity(
        id=f"{proof.channel}:{proof.address}",
        channel=proof.channel,
        address=proof.address,
        created_at=now,
        verified_at=now,
    )
    with deps.store.writing(scope.user) as tx:
        known = tx.get(Identity, identity.id)
        identity = evolve(known, verified_at=now) if known is not None else identity
        tx.put(identity, event(deps, scope, "identity.linked", "identity", proof.id, now))
    return identity


def unlink(deps: Deps, scope: Scope, channel: str, address: str) -> Identity:
    """Take an address away from the user: whoever writes from it next is somebody new. The last one stays."""
    id, now = f"{channel}:{address}", deps.clock()
    with deps.store.reading(scope.user) as reader:
        found = reader.get(Identity, id)
        others = reader.count(Identity) - 1
    if found is None:
        raise NotFound(f"{address} is not one of your addresses on {channel}.", code="address_unknown")
    if others < 1:
        raise Conflict(
            "This is your only address: add another one first, or nobody could reach this account.", code="last_address"
        )
    with deps.store.address(channel, address) as place:
        if place.holder() == scope.user:
            place.release()
    with deps.store.writing(scope.user) as tx:
        tx.remove(Identity, id)
        tx.put(event(deps, scope, "identity.unlinked", "identity", channel, now))
    return found


def identities(deps: Deps, scope: Scope) -> list[Identity]:
    with deps.store.reading(scope.user) as reader:
        return reader.find(Identity)


def _live(deps: Deps, scope: Scope, now: datetime) -> None:
    """The user must be talking right now: an address alone does not open the door to another one."""
    since = now - deps.policy.session.idle_close
    conditions = (Where("status", "=", SessionStatus.OPEN), Where("last_activity_at", ">", since))
    with deps.store.reading(scope.user) as reader:
        if not reader.find(Session, *conditions, limit=1):
            raise Denied(
                "This needs a live session: say something from one of your known addresses first.",
                code="no_live_session",
            )


def _verified(deps: Deps, scope: Scope, channel: str, address: str) -> bool:
    with deps.store.reading(scope.user) as reader:
        known = reader.get(Identity, f"{channel}:{address}")
    return known is not None and known.verified_at is not None


def _has_data(deps: Deps, user: str) -> bool:
    with deps.store.reading(user) as reader:
        return bool(reader.find(Message, limit=1) or reader.find(Memory, limit=1))


def _spend(place: AddressBook, proof: Challenge, now: datetime) -> None:
    known = next((one for one in place.challenges() if one.id == proof.id), None)
    if known is None or known.used_at is None or known.spent_at is not None:
        raise Denied("This proof was used already: ask for a new code.", code="challenge_over")
    place.put(evolve(known, spent_at=now))


def event(deps: Deps, scope: Scope, kind: str, subject: str, id: str, now: datetime) -> Event:
    return Event(
        id=deps.ids("evt", now), kind=kind, at=now, subject_kind=subject, subject_id=id, channel=scope.channel,
        persona=scope.persona,
    )  # fmt: skip
