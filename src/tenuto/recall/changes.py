"""A question about how things are is answered by the message that says they changed, before what it changed. Pure.

"When is the standup?" finds "The standup is at 9:15" best, because those words say nothing else; but "the standup is
now at 9:45" was said later. Where a question is in the present tense and one of the best hits is newer than the first,
on its subject and says in so many words that something changed, it goes first. Newer alone is not enough: of two things
said about a subject, the later one is mostly just another one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tenuto.recall.scoring import Scored
from tenuto.text import patterns

LOOKED_AT = 10
"""How many of the best may tell a change of the first."""
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CHANGE = patterns.compile(
    rf"\b(?:(?:is|are|am|it's|i'm) now|now (?:on|at|in|it)|from (?:now|next|{_DAY})|as of|starting (?:next|{_DAY})|"
    r"chang(?:ed|es) (?:to|her|his|my|the|their|our|from)|moved to|switch(?:ed)? to|instead of|"
    r"no longer|not any ?more|anymore|"
    r"(?:goes|went|gone|put) (?:up|down)|(?:postponed|pushed back|slips|slipped)|"
    r"ab (?:sofort|jetzt|nachste[rnms]?|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|"
    r"jetzt (?:am|um|in|bei|immer)|"
    r"nicht mehr|statt(?:dessen)?|geandert|verschoben|umgezogen|gewechselt zu|"
    r"a partir de|ahora (?:es|en|los|las|esta)|ya no|cambi(?:o|aron|ado) (?:a|de|el|la)|en vez de|desde ahora|"
    r"agora (?:e|em|aos|as)|ja nao|mud(?:ou|aram|ei) (?:para|o|a)|em vez de|"
    r"desormais|maintenant (?:le|a|en)|ne \w+ plus|au lieu de|change de)\b",
    "i",
)
_PRESENT = patterns.compile(
    r"^\W*(?:and |so |but )?(?:(?:what|who|whom|whose|when|where|which|why|how)\b"
    r"(?:\W+[\w'-]+){0,4}?(?:\W+(?:is|are|am|do|does)\b|['’]s\b)|"
    r"(?:is|are|am|do|does)\b|(?:wer|wen|wem|was|wann|wo|wohin|wie|welche[rnms]?|quien|que|cual|cuando|donde|como|cuanto|"
    r"quem|qual|quando|onde|qui|quel|quelle|quand|ou|comment)\b)",
    "i",
)
_PAST = patterns.compile(
    r"\b(?:did|was|were|had|has|have|been|yesterday|ago|before|used|last|first|previous|war|waren|hatte|hatten|wurde|fruher|"
    r"gestern|vorher|era|fue|fueron|estaba|hubo|antes|ayer|foi|eram|estava|ontem|etait|avait|avant|hier)\b",
    "i",
)


def asks_about_the_present(query: str) -> bool:
    """Whether a question is about how things are, not about how they were or what happened."""
    return bool(_PRESENT.search(query)) and not _PAST.search(query)


def change_first(
    ranked: Sequence[Scored],
    alike: Sequence[float],
    held: Mapping[str, Collection[str]],
    query: Collection[str],
    least: float,
) -> list[Scored]:
    """The same, with what tells a change of the first one before it.

    ``alike`` is the similarity of each of the best with the first, ``held`` the words of each by id; it tells a change
    of the first if it is newer, shares a word of the ``query`` with it, and is at ``least`` so much alike.
    """
    first = ranked[0].candidate
    subject = set(query) & set(held[first.id])
    for place, (one, near) in enumerate(zip(ranked[:LOOKED_AT], alike, strict=False)):
        candidate = one.candidate
        if candidate.at <= first.at or near < least or subject.isdisjoint(held[candidate.id]):
            continue
        if _CHANGE.search(candidate.text):
            raised = Scored(
                candidate, ranked[0].score, {**one.parts, "newest": ranked[0].score - one.score}, one.formula
            )
            return [raised, *ranked[:place], *ranked[place + 1 :]]
    return list(ranked)
