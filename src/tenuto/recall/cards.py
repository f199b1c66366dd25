"""What is known without being asked for: entity cards, foundation, proactive memories, behaviour guidance. Pure.

All choose among memories that passed the gate.

A card gathers what is known of one person, place, organisation or project that the found memories name:

    [person:john]: lives in Lisbon; allergic to penicillin; works at Acme

Facts of importance 7 or more, or pinned; pinned first, then the more important, then the newer; three per card. An
entity that was merged into another counts as that one, so a nickname finds the whole card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tenuto.policy import RecallPolicy
from tenuto.records.memory import RECALLED, Entity, Memory, Proactive
from tenuto.text import words

_STATUS_ORDER = {status: place for place, status in enumerate(reversed(RECALLED))}
_GREETINGS = frozenset(
    (
        "hi",
        "hello",
        "hey",
        "hiya",
        "morn",
        "evening",
        "goodnight",
        "afternoon",
        "night",
        "good",
        "bye",
        "goodby",
        "cheer",
        "welcom",
        "lol",
    )
)
SUBSTANCE = 2
"""Words that carry meaning, from which a message is worth a search of its own."""


@dataclass(frozen=True, slots=True)
class Card:
    """One entity with the best that is known of it."""

    entity: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        return f"[{self.entity}]: {'; '.join(self.facts)}"


def resolve(entity: str, entities: Mapping[str, Entity]) -> str:
    """The entity that stands for this one after merges."""
    seen = {entity}
    while (known := entities.get(entity)) is not None and known.merged_into and known.merged_into not in seen:
        entity = known.merged_into
        seen.add(entity)
    return entity


def named(query: str, entities: Iterable[Entity]) -> list[str]:
    """The entities that a query names by label or alias."""
    said = f" {' '.join(words.words(query))} "
    found = []
    for entity in entities:
        names = (entity.label, *entity.aliases, entity.id.partition(":")[2].replace("_", " "))
        if any(name.strip() and f" {' '.join(words.words(name))} " in said for name in names):
            found.append(entity.merged_into or entity.id)
    return list(dict.fromkeys(found))


def card_facts(
    wanted: Sequence[str], memories: Iterable[Memory], entities: Mapping[str, Entity], policy: RecallPolicy
) -> list[tuple[str, list[Memory]]]:
    """The facts of a card for each wanted entity that has one worth showing, in the order of the entities.

    ``memories`` are those that passed the gate.
    """
    facts: dict[str, dict[str, Memory]] = {}
    for memory in memories:
        if memory.pinned or memory.importance >= policy.card_importance:
            for entity in memory.entities:
                facts.setdefault(resolve(entity, entities), {})[memory.id] = memory
    cards = []
    for entity in dict.fromkeys(resolve(one, entities) for one in wanted):
        best = sorted(facts.get(entity, {}).values(), key=_best_first)
        different = list({" ".join(one.content.split()).rstrip("."): one for one in reversed(best)}.values())[::-1]
        if different:
            cards.append((entity, different[: policy.card_facts]))
    return cards


def fact_texts(memories: Iterable[Memory]) -> tuple[str, ...]:
    """The facts of a card as they stand in it."""
    return tuple(" ".join(memory.content.split()).rstrip(".") for memory in memories)


def _best_first(memory: Memory) -> tuple[bool, float, float, str]:
    return (not memory.pinned, -memory.importance, -memory.created_at.timestamp(), memory.id)


def foundation(memories: Iterable[Memory], policy: RecallPolicy) -> list[Memory]:
    """Pins first, then the most important: what every conversation rests on."""
    kept = [one for one in memories if one.pinned or one.importance >= policy.card_importance]
    return sorted(kept, key=_best_first)[: policy.foundation]


def proactive(memories: Iterable[Memory], policy: RecallPolicy) -> list[Memory]:
    """What may be brought up unasked, the best confirmed first, then by confidence."""
    kept = [one for one in memories if one.proactive_use is Proactive.YES]
    ordered = sorted(kept, key=lambda one: (_STATUS_ORDER[one.status], -one.confidence, -one.importance, one.id))
    return ordered[: policy.proactive]


def guidance(memories: Iterable[Memory], policy: RecallPolicy) -> list[Memory]:
    """Standing instructions: by importance, then by how often they were confirmed."""
    kept = [one for one in memories if one.should_do or one.should_not_do]
    ordered = sorted(kept, key=lambda one: (-one.importance, -len(one.evidence), one.created_at, one.id))
    return ordered[: policy.guidance]


def substantive(message: str) -> bool:
    """Whether a message says enough to search for what the conversation will be about: a greeting does not."""
    return len([token for token in words.tokens(message) if token not in _GREETINGS]) >= SUBSTANCE
