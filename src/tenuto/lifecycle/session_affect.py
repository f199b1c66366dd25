"""How something feels, by words, and what a session does to the persona's axes.

A small hand-made lexicon gives each word a valence (−1…1) and an arousal (0…1). A negation within the three words
before turns the valence round at 0.6 of its size, an intensifier scales both. A text's valence is Σv / (1 + Σ|v|), so
one strong word moves it to about half and many words saturate it; its arousal is the strongest word, raised by
exclamation marks.

The deltas of a session come from a :class:`Tally`, which can be added up: classifying a session in parts gives the same
deltas as classifying it at once, and only the difference to what was applied before is ever applied. Each is bounded
per session: mood ±0.3, connection ±0.1, attunement ±0.1.

What would break it: reading the assistant's own warmth as the user's. Only the user's turns are felt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from tenuto.lifecycle.additive import Sums
from tenuto.records.conversation import Message, Role
from tenuto.text import patterns
from tenuto.text.words import words

_LEXICON = """
0.9 0.8: ecstatic overjoyed thrilled elated wonderful amazing fantastic incredible euphoric
0.8 0.6: love loved adore happy joy joyful delighted excited exciting awesome great brilliant won celebrate celebrated
0.7 0.4: proud grateful thankful glad blessed beautiful success succeeded hopeful laughed fun engaged promoted
0.5 0.2: good nice better enjoy enjoyed enjoying pleased relieved calm peaceful content warm kind comfortable relaxed
0.4 0.2: fine okay well easy helpful improved improving progress recovered healthy safe support supported
-0.9 0.9: devastated terrified horrified furious suicidal hopeless despair unbearable traumatic panic
-0.8 0.8: angry hate hated rage scared afraid crisis attack abused died death dying dead grief heartbroken
-0.7 0.6: anxious anxiety depressed miserable awful terrible horrible crying cried stressed stress overwhelmed fight
-0.6 0.4: sad lonely alone hurt pain painful upset worried worry ashamed guilty fail failed failing lost broke sick
-0.5 0.3: tired exhausted frustrated annoyed annoying disappointed difficult struggle struggling stuck bad worse hard
-0.4 0.2: bored nervous unsure confused regret miss missed missing problem problems ache headache cold
"""
_NEGATING = """
not no never don't didn't doesn't isn't wasn't can't cannot won't without hardly don didn isn
"""
_NEGATIONS = frozenset(_NEGATING.split())
_INTENSIFIERS = {
    "very": 1.3,
    "so": 1.2,
    "really": 1.3,
    "extremely": 1.5,
    "super": 1.3,
    "absolutely": 1.4,
    "totally": 1.3,
}
_SOFTENERS = {"bit": 0.6, "little": 0.6, "slightly": 0.5, "somewhat": 0.6, "kinda": 0.7}


def _read_lexicon(text: str) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for line in text.strip().splitlines():
        numbers, _, listed = line.partition(":")
        valence, arousal = (float(number) for number in numbers.split())
        found.update((word, (valence, arousal)) for word in listed.split())
    return found


LEXICON = _read_lexicon(_LEXICON)

_WARM = patterns.compile(
    r"\b(?:thank(?:s| you)|i appreciate|means a lot|glad you|good talking|love talking"
    r"|you'?re (?:the best|great|kind|sweet)"
    r"|miss(?:ed)? (?:you|talking)|talk (?:soon|tomorrow|later)|good ?night)\b",
    "i",
)
_COLD = patterns.compile(
    r"\b(?:leave me alone|stop (?:talking|asking|it)|shut up|you'?re (?:useless|annoying|no help)"
    r"|forget it|whatever\.?$"
    r"|none of your business)\b",
    "i",
)
_DISCLOSES = patterns.compile(
    r"\b(?:i(?:'m| am| feel| felt| was| have been|'ve been) (?:so |very |really )?(?:scared|afraid|sad"
    r"|lonely|anxious|happy|proud"
    r"|worried|ashamed|excited|depressed|angry|hurt|grateful|stressed|overwhelmed)|i(?:'ve"
    r"| have) never told|to be honest"
    r"|i trust you|between us|my (?:biggest|worst) fear|i need to tell)\b",
    "i",
)
_UNDERSTOOD = patterns.compile(
    r"\b(?:exactly|you(?:'re| are) right|good (?:point|idea|question)|that help(?:s|ed)|makes sense"
    r"|you (?:get|got|understand)"
    r" (?:it|me)|spot on|well said|i never thought of)\b",
    "i",
)
_MISREAD = patterns.compile(
    r"\b(?:that'?s not what|not what i (?:meant|said|asked)|i (?:already|just) (?:told|said)"
    r"|you (?:don'?t|didn'?t) (?:get|understand|listen)"
    r"|you(?:'re| are) wrong|you forgot|no,? i (?:meant|said))\b",
    "i",
)


@dataclass(frozen=True, slots=True)
class Feeling:
    valence: float
    arousal: float


NEUTRAL = Feeling(0.0, 0.0)


def feel(text: str) -> Feeling:
    """Valence −1…1 and arousal 0…1 of a text; neutral where no word says anything."""
    listed = words(text)
    total = size = arousal = 0.0
    for position, word in enumerate(listed):
        known = LEXICON.get(word)
        if known is None:
            continue
        valence, excitement = known
        for before in listed[max(0, position - 3) : position]:
            if before in _NEGATIONS:
                valence, excitement = -0.6 * valence, 0.6 * excitement
            scale = _INTENSIFIERS.get(before) or _SOFTENERS.get(before) or 1.0
            valence, excitement = valence * scale, excitement * scale
        total, size, arousal = total + valence, size + abs(valence), max(arousal, excitement)
    if not size:
        return NEUTRAL
    return Feeling(round(total / (1.0 + size), 4), round(min(1.0, arousal + 0.05 * min(text.count("!"), 4)), 4))


@dataclass(frozen=True, slots=True)
class Tally(Sums):
    """What a session's user turns add up to. Additive, so that a session can be classified in parts."""

    turns: int = 0
    valence: float = 0.0
    felt: int = 0
    warm: int = 0
    cold: int = 0
    disclosed: int = 0
    understood: int = 0
    misread: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Tally)))


@dataclass(frozen=True, slots=True)
class Deltas:
    mood: float = 0.0
    connection: float = 0.0
    attunement: float = 0.0

    def minus(self, other: Deltas) -> Deltas:
        """The net difference that is still to be applied."""
        return Deltas(self.mood - other.mood, self.connection - other.connection, self.attunement - other.attunement)


MOST = Deltas(mood=0.3, connection=0.1, attunement=0.1)
"""The furthest that one session moves each axis."""


def tally(messages: Iterable[Message]) -> Tally:
    """The user's turns of these messages, added up."""
    total = Tally()
    for message in messages:
        if message.role is not Role.USER:
            continue
        text = message.content
        feeling = feel(text)
        total += Tally(
            turns=1,
            valence=feeling.valence,
            felt=int(feeling != NEUTRAL),
            warm=int(bool(_WARM.search(text))),
            cold=int(bool(_COLD.search(text))),
            disclosed=int(bool(_DISCLOSES.search(text))),
            understood=int(bool(_UNDERSTOOD.search(text))),
            misread=int(bool(_MISREAD.search(text))),
        )
    return total


def deltas(total: Tally) -> Deltas:
    """What the session as a whole does to the axes: cumulative, bounded by :data:`MOST`."""
    if not total.turns:
        return Deltas()
    mood = 0.5 * total.valence / max(total.felt, 2)
    presence = 0.01 * min(total.turns, 10) / 10
    connection = presence + 0.02 * (total.warm + total.disclosed) - 0.04 * total.cold
    attunement = 0.02 * total.understood + 0.005 * total.disclosed - 0.03 * total.misread
    return bounded(Deltas(mood, connection, attunement))


def bounded(wanted: Deltas) -> Deltas:
    """Within what one session may move; also for what a model proposes."""
    return Deltas(
        round(max(-MOST.mood, min(MOST.mood, wanted.mood)), 4),
        round(max(-MOST.connection, min(MOST.connection, wanted.connection)), 4),
        round(max(-MOST.attunement, min(MOST.attunement, wanted.attunement)), 4),
    )


def tone(total: Tally) -> str:
    """The emotional quality in one or two words."""
    if not total.felt:
        return "warm" if total.warm > total.cold else "neutral"
    mean = total.valence / total.felt
    if total.cold + total.misread >= 2:
        return "tense"
    if mean > 0.35:
        return "joyful"
    if mean > 0.1:
        return "warm" if total.warm or total.disclosed else "positive"
    if mean < -0.35:
        return "distressed"
    if mean < -0.1:
        return "heavy"
    return "mixed" if total.felt > 1 else "neutral"
