"""What one session contributes to the trajectory: counts and sums over its messages, kept with its record.

Additive, like the tally of feelings, so that a session can be read in parts. Nothing here is a judgement; the formulas
are in :mod:`tenuto.lifecycle.trajectory` and docs/trajectory.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenuto.lifecycle import sentence_kinds
from tenuto.lifecycle.additive import Sums
from tenuto.lifecycle.session_affect import feel
from tenuto.records.conversation import Message, Role
from tenuto.text import patterns

_LEANS_ON = patterns.compile(
    r"\b(?:only you|you'?re (?:the only one|all i have)|no ?(?:one|body) else (?:understands|listens"
    r"|cares|to talk)|i need you"
    r"|can'?t (?:cope|sleep|do (?:this|it)) without (?:you|talking)|don'?t leave me"
    r"|promise (?:me )?you(?:'ll| will) (?:stay|always))\b",
    "i",
)
_HANDS_OVER = patterns.compile(
    r"\b(?:what should i (?:do|say|wear|eat|choose|pick|write)|should i\b|tell me what to|decide for me"
    r"|you decide|just tell me"
    r"|which (?:one )?should i|what would you do|i can'?t decide (?:without|anything))",
    "i",
)
_OTHER_VIEW = patterns.compile(
    r"\b(?:on the other hand|from (?:his|her|their) (?:side|point of view|perspective)|(?:he|she"
    r"|they) (?:thinks?|feels?|says?|said|sees?|believes?)"
    r"|maybe i(?:'m| am| was)|i (?:can|could) see (?:why|how)|to be fair|another way|then again"
    r"|i might be wrong|in (?:his|her|their) shoes)\b",
    "i",
)
_OTHERS = patterns.compile(
    r"\b(?:we|us|he|she|they|him|her|them|my (?:mom|mum|mother|dad|father|sister|brother|wife|husband"
    r"|partner|boyfriend|girlfriend|son"
    r"|daughter|boss|manager|friends?|family|colleagues?|team|therapist|doctor|roommate|neighbou?rs?))\b",
    "i",
)
_ABSOLUTE = patterns.compile(
    r"\b(?:always|never|everyone|every ?body|no ?body|no one|nothing|everything|completely|totally"
    r"|impossible|all of them|ruined|doomed)\b",
    "i",
)
_GROUNDED = patterns.compile(
    r"\d|\b(?:today|yesterday|tomorrow|last (?:week|month|night|year)|this (?:morning|week|month)|monday"
    r"|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|i (?:went|called|met|did|made|wrote|finished|started|booked|asked|talked|visited))\b",
    "i",
)
_CHALLENGES = patterns.compile(
    r"\b(?:have you considered|another (?:way|view|angle)|on the other hand|are you sure|what (?:if"
    r"|makes you|evidence)|i see it differently"
    r"|i(?:'d| would) push back|i disagree|not (?:so )?sure (?:that|about|i agree)|could it be"
    r"|how do you know|what would (?:\w+ )?(?:say|think)"
    r"|who else|have you (?:talked|spoken) (?:to|with)|might (?:also )?be that)\b",
    "i",
)
_AGREES = patterns.compile(
    r"\b(?:you(?:'re| are) (?:absolutely |so |totally |completely )?right|i (?:completely |totally "
    r"|fully )?agree|exactly|of course you|great (?:idea|point|choice)"
    r"|that'?s (?:so |absolutely )?(?:true|right|valid|amazing|wonderful|great)|you deserve|absolutely)\b",
    "i",
)
LOW = -0.25
"""Valence from which a message counts as low."""
LIFT = 0.25
"""A later message at least this much higher counts as having recovered."""


@dataclass(frozen=True, slots=True)
class Signals(Sums):
    """Sums over a session; ``last`` is the valence of its last felt user message, for the step to the next part."""

    turns: int = 0
    answers: int = 0
    felt: int = 0
    valence: float = 0.0
    steps: int = 0
    step_squares: float = 0.0
    last: float = 0.0
    lows: int = 0
    recovered: int = 0
    leans: int = 0
    hands_over: int = 0
    views: int = 0
    others: int = 0
    absolutes: int = 0
    grounded: int = 0
    challenges: int = 0
    agreements: int = 0


def read(messages: Sequence[Message], before: Signals | None = None) -> Signals:
    """The signals of a session after these messages."""
    total = (before or Signals()).to_plain()
    ordered = sorted(messages, key=lambda message: (message.at, message.seq))
    low_open = total["lows"] > total["recovered"]
    for message in ordered:
        if message.role is Role.ASSISTANT:
            total["answers"] += 1
            total["challenges"] += bool(_CHALLENGES.search(message.content))
            total["agreements"] += bool(_AGREES.search(message.content))
        elif message.role is Role.USER:
            low_open = _user_turn(total, message.content, low_open)
    return Signals.from_plain(total)


def _user_turn(total: dict[str, float], text: str, low_open: bool) -> bool:
    total["turns"] += 1
    total["leans"] += bool(_LEANS_ON.search(text))
    total["hands_over"] += bool(_HANDS_OVER.search(text))
    total["views"] += bool(_OTHER_VIEW.search(text))
    total["others"] += bool(
        _OTHERS.search(text) or any(sentence_kinds.names(sentence) for sentence in sentence_kinds.sentences(text))
    )
    total["absolutes"] += bool(_ABSOLUTE.search(text))
    total["grounded"] += bool(_GROUNDED.search(text))
    valence = feel(text).valence
    if valence == 0.0:
        return low_open
    if total["felt"]:
        total["steps"] += 1
        total["step_squares"] += (valence - total["last"]) ** 2
        if low_open and valence - total["last"] >= LIFT:
            total["recovered"] += 1
            low_open = False
    total["felt"] += 1
    total["valence"] += valence
    total["last"] = valence
    if valence <= LOW and not low_open:
        total["lows"] += 1
        low_open = True
    return low_open
