"""A secret sent to an address proves that whoever repeats it reads what arrives there.

Bound to one user, one address and one purpose; valid for ten minutes; five tries; three sends per hour and address,
over all users, so that nobody's mailbox is flooded. Only salted hashes are kept. A short code has a million values:
what protects it is the limit of tries, the hash only slows down whoever steals the database.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime
from hashlib import scrypt

from tenuto.errors import Denied
from tenuto.policy import IdentityPolicy
from tenuto.records.base import evolve
from tenuto.records.identity import Challenge, Delivery, Purpose

PURPOSES = {
    Purpose.LINK: "to add this address to your account",
    Purpose.MERGE: "to join the account that this address belongs to with another one of yours",
}


def hashed(secret: str, salt: str, purpose: Purpose, user: str, channel: str, address: str) -> str:
    """What is kept of a secret."""
    bound = "\x1f".join((secret, purpose.value, user, channel, address)).encode()
    return scrypt(bound, salt=salt.encode(), n=2**12, r=8, p=1, dklen=32).hex()


def check_sends(sent: Sequence[Challenge], now: datetime, policy: IdentityPolicy) -> None:
    """Refuse to send once more where too many were sent."""
    recent = [one for one in sent if now - one.created_at < policy.challenge_window]
    if len(recent) >= policy.challenge_sends:
        again = min(one.created_at for one in recent) + policy.challenge_window
        raise Denied(
            f"{len(recent)} codes were sent to this address within the hour: try again at {again:%H:%M} UTC.",
            code="challenge_limit",
        )


def make(
    *,
    id: str,
    user: str,
    channel: str,
    address: str,
    purpose: Purpose,
    code: str,
    token: str,
    salt: str,
    now: datetime,
    policy: IdentityPolicy,
) -> Challenge:
    return Challenge(
        id=id,
        user_id=user,
        channel=channel,
        address=address,
        purpose=purpose,
        salt=salt,
        code_hash=hashed(code, salt, purpose, user, channel, address),
        token_hash=hashed(token, salt, purpose, user, channel, address),
        created_at=now,
        expires_at=now + policy.challenge_valid,
    )


def delivery(challenge: Challenge, code: str, token: str) -> Delivery:
    """What the courier takes along."""
    text = (
        f"Your code is {code}. Use it {PURPOSES[challenge.purpose]}; it is valid until "
        f"{challenge.expires_at:%H:%M} UTC. If you did not ask for it, somebody typed your address: do nothing."
    )
    return Delivery(
        channel=challenge.channel,
        address=challenge.address,
        purpose=challenge.purpose,
        code=code,
        token=token,
        text=text,
        expires_at=challenge.expires_at,
    )


def answer(challenge: Challenge, secret: str, now: datetime, policy: IdentityPolicy) -> tuple[Challenge, bool]:
    """The challenge after one try, and whether the secret was right. Expired, used and worn-out ones never are."""
    open_still = challenge.used_at is None and now < challenge.expires_at and challenge.tries < policy.challenge_tries
    if not open_still:
        return challenge, False
    tried = evolve(challenge, tries=challenge.tries + 1)
    given = hashed(
        secret.strip(), challenge.salt, challenge.purpose, challenge.user_id, challenge.channel, challenge.address
    )
    right = hmac.compare_digest(given, challenge.code_hash) | hmac.compare_digest(given, challenge.token_hash)
    return (evolve(tried, used_at=now) if right else tried), right


def refusal(challenge: Challenge | None, now: datetime, policy: IdentityPolicy) -> Denied:
    """Why a try failed, in words that tell a guesser nothing new."""
    if challenge is None or challenge.used_at is not None or now >= challenge.expires_at:
        return Denied("No code is waiting for this address: ask for a new one.", code="challenge_over")
    left = policy.challenge_tries - challenge.tries
    if left <= 0:
        return Denied("Too many wrong codes: ask for a new one.", code="challenge_over")
    return Denied(f"That is not the code; {left} {'try' if left == 1 else 'tries'} left.", code="challenge_wrong")
