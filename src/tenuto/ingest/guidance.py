"""Rules that the user teaches the persona: "from now on answer in German", "keep it short", "never use emojis with me".

A positive rule becomes ``should_do``. A negative one is kept as a boundary in the user's words and always in view, but
``should_not_do`` stays empty: restrictions are set by hand, never collected on the side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenuto.ingest.sentences import Sentence, Speech, classify
from tenuto.records.memory import Kind


@dataclass(frozen=True, slots=True)
class Taught:
    kind: Kind
    should_do: str | None


_STANDING = re.compile(
    r"\b(?:from now on|in (?:the )?future|always|every time|whenever (?:i|we|you)|going forward|as a rule|in "
    r"general|by default|for all (?:your )?(?:answers|replies|responses)|with me|when (?:you (?:answer|reply|"
    r"respond|talk|write)|talking to me))\b",
    re.I,
)
_MANNER = re.compile(
    r"^(?:please |pls |and |just )*(?:keep (?:your |it |the |things |all )?(?:answers?|repl(?:y|ies)|"
    r"responses?|messages?|it|things)? ?(?:short|brief|concise|simple|formal|casual|light)|be (?:more |less |"
    r"as )?(?:concise|brief|direct|formal|casual|honest|blunt|gentle|patient|specific|detailed|playful|"
    r"strict)(?: with me)?|"
    r"(?:answer|reply|respond|speak|talk|write)(?: to me)? (?:only |always |mostly )?(?:in|with|using|like|"
    r"more|less|as) |use (?:metric|imperial|celsius|fahrenheit|bullet points|simple words|plain language|"
    r"markdown|british|american|my name|the 24|24-hour|a \w+ tone)|address me as|call me by|give me (?:short|"
    r"brief|concise|direct|honest) (?:answers|replies|feedback))",
    re.I,
)
_NEGATIVE = re.compile(
    r"^(?:please |pls |and |just )*(?:don't|do not|dont|never|stop|avoid|quit|no more) (?:ever )?(?:us(?:e|"
    r"ing)|say(?:ing)?|call(?:ing)? me|giv(?:e|ing) me|start(?:ing)?|end(?:ing)?|repeat(?:ing)?|"
    r"apologi[sz](?:e|ing)|lectur(?:e|ing)|send(?:ing)? me|ask(?:ing)? me|interrupt(?:ing)?|answer(?:ing)? "
    r"with|writ(?:e|ing)|sugar[- ]?coat(?:ing)?|suggest(?:ing)?|recommend(?:ing)?|compar(?:e|ing)|emojis?|joking)\b.*",
    re.I,
)


_FELT = re.compile(
    r"^(?:i|it) (?:really |absolutely |honestly |just )*(?P<how>hate|dislike|can't stand|cannot stand|don't like|"
    r"do not like|annoys me|bothers me|like|love|appreciate|prefer)(?: it)? (?:when|if|that) you (?P<rule>.{3,160})",
    re.I,
)
"""What the user likes and dislikes about how one talks with them: "I hate it when you use bullet points"."""
_ONCE = re.compile(r"^(?:said|told|did|were|was|went|came|got|made|gave|wrote|asked|explained|had)\b", re.I)
"""What happened once is no rule."""
_LIKED = ("like", "love", "appreciate", "prefer")


def taught(sentence: Sentence) -> Taught | None:
    """The rule that a sentence teaches, or ``None``. A single request ("write me a poem") is no rule."""
    text = sentence.plain
    if sentence.reported_by or len(text) > 240:
        return None
    told = sentence.speech in (Speech.STATEMENT, Speech.REACTION)
    if told and (felt := _FELT.match(text)) and not _ONCE.search(felt["rule"]):
        liked = felt["how"].lower() in _LIKED
        return Taught(Kind.STYLE_ADJUSTMENT, _sentence(felt["rule"])) if liked else Taught(Kind.BOUNDARY, None)
    if sentence.speech not in (Speech.REQUEST, Speech.STATEMENT):
        return None
    standing = bool(_STANDING.search(text))
    if _NEGATIVE.match(text) and (
        standing or re.search(r"\b(?:never|stop|any ?more|again|ever|please)\b", text, re.I) or len(text.split()) <= 6
    ):
        return Taught(Kind.BOUNDARY, None)
    if _MANNER.match(text) and (
        standing
        or not re.search(
            r"\b(?:this|the following|these|that) (?:text|one|question|email|letter|essay|paragraph|time)\b", text, re.I
        )
    ):
        return Taught(Kind.STYLE_ADJUSTMENT, _sentence(text))
    rest = re.sub(
        r"^(?:from now on|in (?:the )?future|going forward|as a rule|by default|in general),? *", "", text, flags=re.I
    )
    if (
        standing
        and classify(rest).speech is Speech.REQUEST
        and not re.match(r"(?:don't|do not|never|stop)\b", rest, re.I)
    ):
        return Taught(Kind.STYLE_ADJUSTMENT, _sentence(rest))
    if re.match(r"^(?:from now on|going forward),? ", text, re.I) and re.match(
        r"(?:please )?(?:don't|do not|never|stop)\b", rest, re.I
    ):
        return Taught(Kind.BOUNDARY, None)
    return None


def _sentence(text: str) -> str:
    cleaned = re.sub(r"^(?:please|pls|just|and)\s+", "", text, flags=re.I).strip(" .!")
    return cleaned[:1].upper() + cleaned[1:]
