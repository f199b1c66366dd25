"""Who someone is to the speaker, told in passing: "I live in Munich with my girlfriend Lea".

The sentence is about something else and may be replaced by a newer one ("We moved to Augsburg"); who Lea is would go
with it. So the closest ties become memories of their own the first time that they are named, and never again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenuto.ingest import patterns as p
from tenuto.ingest.entities import Registry, slug
from tenuto.ingest.facts import Fact, Rule
from tenuto.records.memory import Kind

PARTNERS = ("wife", "husband", "spouse", "partner", "girlfriend", "boyfriend", "fiancé", "fiancée", "fiance", "fiancee")
OTHERS = ("son", "daughter", "brother", "sister", "mother", "father", "mom", "mum", "dad", "stepson", "stepdaughter")
_TOLD = re.compile(
    rf"\b(?:my|our) (?:(?:new|lovely|amazing|older|younger|little|big|eldest|youngest|twin) )?"
    rf"(?P<topic>{'|'.join((*PARTNERS, *OTHERS))}),? (?P<v>{p.NAME})\b",
    re.I,
)


def relatives(text: str, registry: Registry) -> Iterator[tuple[str, Fact]]:
    """Each close person whom a sentence introduces: the wording of the memory and its fact."""
    for match in _TOLD.finditer(text):
        topic, name = match["topic"].lower(), match["v"]
        known = registry.relations.get(topic, ())
        if name.split()[0].lower() in p.NOT_PEOPLE or f"person:{slug(name)}" in known:
            continue
        rule = Rule(
            attribute=topic,
            pattern="",
            kind=Kind.RELATIONSHIP,
            single=topic in PARTNERS,
            importance=7.5,
            confidence=0.8,
        )
        yield (
            f"My {topic} is {name}",
            Fact(
                rule=rule, attribute=topic, value=name, who=None, negated=False, past=False,
                start=match.start(), end=match.end(),
            ),
        )  # fmt: skip
