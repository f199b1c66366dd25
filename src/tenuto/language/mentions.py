"""Who and what is spoken of: a mention, its ``type:slug`` key, and the user's entities by name and relation.

Names that may be one are compared in ``name_similarity``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from tenuto.records.memory import Entity

SELF = "person:user"
"""The key of the user in memory keys. It has no card: the profile domain is the user's card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One entity as it was named in a sentence."""

    id: str
    type: str
    label: str
    start: int
    end: int
    relation: str | None = None
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """The user's entities, looked up by any of their names or by their relation to the user."""

    names: dict[str, str]
    relations: dict[str, tuple[str, ...]]
    labels: dict[str, str]

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> Registry:
        names: dict[str, str] = {}
        relations: dict[str, tuple[str, ...]] = {}
        labels: dict[str, str] = {}
        alive = {entity.id: entity for entity in entities}
        for entity in alive.values():
            target = resolve(entity.id, alive)
            for name in (entity.label, *entity.aliases):
                names.setdefault(name.casefold(), target)
            if entity.relation and not entity.merged_into:
                known = relations.get(entity.relation, ())
                relations[entity.relation] = (*known, target) if target not in known else known
            labels[entity.id] = entity.label
        return cls(names, relations, labels)


EMPTY = Registry({}, {}, {})


def resolve(id: str, entities: dict[str, Entity]) -> str:
    """Follow merges to the entity that stands; a loop stops where it began."""
    seen = {id}
    while id in entities and entities[id].merged_into and entities[id].merged_into not in seen:
        id = str(entities[id].merged_into)
        seen.add(id)
    return id


def slug(label: str) -> str:
    """Lower case, punctuation removed, spaces and hyphens as underscores."""
    folded = unicodedata.normalize("NFKC", label).casefold()
    kept = "".join(char if char.isalnum() else "_" if char in " -_–\t" else "" for char in folded)
    return "_".join(part for part in kept.split("_") if part)[:80]


def key(type_: str, label: str) -> str:
    """``type:slug``."""
    return f"{type_}:{slug(label)}"
