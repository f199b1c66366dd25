"""What may be kept for how long, and what a purge would take.

Working memory lives an hour, session text stays in full with topic summaries beside it after seven days, and the rest
is the user's to decide. The text itself goes only where a rule says so: the operator's ``retention.purge_text``, or the
user's own setting ``retention``, which wins and may name a channel or a domain:

    {"purge_text": 2592000,
     "channels": {"email": {"purge_text": 604800, "all": true}},
     "domains": {"project": 31536000}}

Seconds; ``null`` means for ever. ``purge_text`` takes the messages, their index entries, their quotes in memories and
every sentence of theirs that summaries, records of sessions and key points repeat; what these say in other words, and
memories, stand in their place. ``all`` takes those of the channel, too, and the memories that rest on nothing else. A
domain's time takes memories that were not said again since. Pins are taken by no rule.

What would break it: a clock set forward for a moment. A purge in the background therefore lags: what has expired *as
of* one day is taken a day later, so a clock that leaps by up to a day takes nothing early."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tenuto.errors import InputError
from tenuto.policy import RetentionPolicy
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory

SETTING = "retention"
LAG = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ChannelRule:
    purge_text: timedelta | None = None
    all: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """What is in force for one user."""

    purge_text: timedelta | None = None
    channels: dict[str, ChannelRule] = field(default_factory=dict)
    domains: dict[str, timedelta] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything is ever purged."""
        return self.purge_text is not None or bool(self.channels) or bool(self.domains)


def rules(setting: object, policy: RetentionPolicy) -> Rules:
    """The user's setting over the operator's policy. Raises :class:`InputError` for one that cannot be read."""
    if setting is None:
        return Rules(policy.purge_text)
    if not isinstance(setting, Mapping) or not set(setting) <= {"purge_text", "channels", "domains"}:
        raise InputError(
            "'retention' takes a table of purge_text (seconds or null), channels and domains.", code="retention_invalid"
        )
    text = _seconds(setting["purge_text"], "purge_text") if "purge_text" in setting else policy.purge_text
    channels = {}
    for name, given in _table(setting.get("channels", {}), "channels").items():
        table = _table(given, f"channels.{name}")
        channels[str(name)] = ChannelRule(
            _seconds(table["purge_text"], f"channels.{name}.purge_text") if "purge_text" in table else text,
            bool(table.get("all", False)),
        )
    domains = {}
    for name, given in _table(setting.get("domains", {}), "domains").items():
        if (kept := _seconds(given, f"domains.{name}")) is not None:
            domains[str(name)] = kept
    return Rules(text, channels, domains)


def _table(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"'retention.{name}' takes a table, not {value!r}.", code="retention_invalid")
    return value


def _seconds(value: object, name: str) -> timedelta | None:
    if value is None:
        return None
    if isinstance(value, timedelta):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e11:
        raise InputError(
            f"'retention.{name}' takes a number of seconds above 0, or null for ever, not {value!r}.",
            code="retention_invalid",
        )
    return timedelta(seconds=value)


def keeps_text(message: Message, now: datetime, in_force: Rules) -> bool:
    """Whether the text of a message stays."""
    rule = in_force.channels.get(message.channel)
    kept = rule.purge_text if rule is not None else in_force.purge_text
    return kept is None or now - message.at < kept


def takes_all(message: Message, in_force: Rules) -> bool:
    """Whether a purge of this message takes what was made of it, too."""
    rule = in_force.channels.get(message.channel)
    return rule is not None and rule.all


def keeps_memory(memory: Memory, now: datetime, in_force: Rules) -> bool:
    """Whether a memory stays under its domain's time."""
    kept = in_force.domains.get(memory.domain)
    if kept is None or memory.pinned:
        return True
    return now - max(memory.created_at, memory.last_reinforced_at or memory.created_at) < kept


def shortest(in_force: Rules) -> timedelta | None:
    """The shortest time after which some text goes: nothing younger needs to be looked at."""
    times = [rule.purge_text for rule in in_force.channels.values()] + [in_force.purge_text]
    return min((kept for kept in times if kept is not None), default=None)
