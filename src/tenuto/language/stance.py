"""What a speaker does with words: state, deny, end, doubt, suppose, ask, joke, or repeat somebody else. Pure.

Small pattern tables per language (``lexicons/stance.toml``) tell each apart inside one clause. They serve the checks of
what a model proposes; nothing is found by them, they only object.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

from tenuto.language.lexicon import packaged
from tenuto.language.sentences import spans, straighten
from tenuto.text import patterns

LANGUAGES = ("en", "de", "es", "fr", "pt")
_CUT = patterns.compile(
    r"(?P<sign>[,;:()–—!?\n])(?:\s|$)|\s-\s|"
    r"(?P<gap>\s)(?:but|while|whereas|because|cos|so|although|though|aber|sondern|weil|während|obwohl|pero|sino|porque|aunque|mientras|"
    r"mais|parce que|car|alors que|mas|porém|embora|enquanto)\s",
    "i",
)
_AND = patterns.compile(
    r"\s(?:and|und|y|et|e|or|oder|o|ou)\s(?:i|i'm|i've|he|she|they|we|it|you|the|my|our|ich|er|sie|wir|mein\w*|yo|él|ella|mi|je|j'\w+|il|elle|on|"
    r"mon|ma|eu|ele|ela|meu|minha|if|when|wenn|falls|si|se|quand|quando)\b|\s(?:and|und|y|et|e)\s[A-Z]"
)
_QUOTED = (
    patterns.compile(r"[“\"„«]([^“”\"„«»]{2,})[”\"“»]"),
    patterns.compile(r"['‘]([^'’\n]{12,400})['’]", not_after=r"\w", not_before=r"\w"),
    patterns.compile(r"`([^`]{2,})`", not_after="`", not_before="`"),
)
_FENCED = patterns.compile(r"```.*?(?:```|\Z)|^[ \t]*>.*$", "sm")
_OWN_QUOTE = patterns.compile(
    r"\b(?:i|ich|yo|je|eu|we)(?:\s+\w+){0,3}\s+(?:said|say|told|wrote|answered|sagte|gesagt|geschrieben|dije|ai dit|disse)\b[^\"“„«]{0,24}$",
    "i",
)
_TAG = patterns.compile(
    r",? (?:right|you know|isn't it|aren't i|don't i|haven't i|remember|ok|okay|huh|eh|yeah|innit|can'?t (?:he|she|they|we|i)|oder|gell|ne|¿no|¿verdad|"
    r"non|hein|né|não é)\s*\?+\s*$",
    "i",
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a text between its cuts; ``sentence`` is where the whole sentence lies."""

    text: str
    start: int
    end: int
    sentence: tuple[int, int]


def clauses(text: str) -> list[Clause]:
    """The clauses of a text in order."""
    found: list[Clause] = []
    for first, last in spans(text) or [(0, len(text))]:
        cuts = sorted(_cuts(text, first, last))
        places = [first, *[cut for cut in cuts if first < cut < last], last]
        for start, end in itertools.pairwise(places):
            found += [
                Clause(text[a:b], a, b, (first, last)) for a, b in _at_and(text, start, end) if text[a:b].strip(" ,.;:")
            ]
    return found


def _cuts(text: str, start: int, end: int) -> set[int]:
    """Where clauses end: behind a sign with a space behind it, and before a word that begins another clause."""
    found, at = set(), start
    while (cut := _CUT.search(text, at, end)) is not None:
        at = max(cut.end("sign"), cut.end("gap")) if cut["sign"] or cut["gap"] else cut.end()
        found.add(at)
    return found


def _at_and(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut before "and" where a clause stands before it and a new subject behind it; "Ann and Bob sing" is one."""
    places = [start]
    for match in _AND.finditer(text, start, end):
        if len(text[places[-1] : match.start()].split()) > 3:
            places.append(match.start())
    return list(zip(places, [*places[1:], end], strict=True))


@lru_cache(maxsize=256)
def pattern(name: str, language: str) -> patterns.Pattern:
    """One of the tables as a pattern of whole words."""
    table = packaged("stance")[language if language in LANGUAGES else "en"]
    listed = table[name].replace("n't|", "", 1) if table[name].startswith("not|n't|") else table[name]
    extra = "|\\w+n't" if listed is not table[name] else ""
    return patterns.compile(rf"(?:{listed}{extra})\b", "i", not_after=r"[\w']")


def says(name: str, text: str, language: str) -> bool:
    """Whether a text holds a word of a table."""
    return bool(pattern(name, language).search(straighten(text)))


_SHORT_WOULD = patterns.compile(
    r"\b(?:i|we|he|she|they|you|it|that)'d\b",
    "i",
    not_after=r"[\w']",
    not_before=r" (?:been|had|gone|better|never|already|just|\w+ed)\b",
)


def would(text: str, language: str) -> bool:
    """Whether a text says what would be; "I'd been" says what was."""
    return says("would", text, language) or _SHORT_WOULD.search(straighten(text)) is not None


def denials(text: str, language: str) -> list[int]:
    """Where a text denies something, idioms left out."""
    plain = _without_idioms(text, language)
    return [match.start() for match in pattern("deny", language).finditer(plain)]


def ends(text: str, language: str) -> list[int]:
    """Where a text says "no longer"."""
    return [match.start() for match in pattern("over", language).finditer(_without_idioms(text, language))]


def _without_idioms(text: str, language: str) -> str:
    return pattern("idiom", language).sub(lambda match: " " * len(match[0]), straighten(text))


def denied_at(clause: str, place: int, language: str) -> bool:
    """Whether the word at a place of a clause stands under a denial. German denies behind the word, too."""
    found = denials(clause, language) + ends(clause, language)
    return bool(found) and (language == "de" or min(found) <= place)


def spurning(text: str, language: str) -> list[str]:
    """Words that say "not" by themselves: avoids, dislikes, is allergic to."""
    return [match[0] for match in pattern("spurns", language).finditer(straighten(text))]


def over(text: str, language: str) -> bool:
    """Whether a text says that something has ended."""
    return bool(ends(text, language)) or says("ended", text, language)


def quoted(text: str) -> list[tuple[int, int]]:
    """Stretches that repeat somebody else: quotation marks around more than three words, code, quoted lines."""
    found = [match.span() for match in _FENCED.finditer(text)]
    for match in (match for pattern in _QUOTED for match in pattern.finditer(text)):
        if len(match[1].split()) > 3 and not _OWN_QUOTE.search(straighten(text[: match.start()])):
            found.append(match.span())
    return found


def asks(sentence: str, language: str) -> bool:
    """Whether a sentence asks something. A tag ("…, right?") does not."""
    plain = straighten(sentence).strip(" \"'”)»¿")
    if _TAG.search(plain):
        return False
    return bool(plain.endswith("?"))


def opens(name: str, text: str, language: str) -> bool:
    """Whether a text begins with a word of a table, small words before it left out."""
    plain = straighten(text).strip(" \"'“”¿¡-–—,.…")
    return bool(_opening(name, language).match(plain))


@lru_cache(maxsize=256)
def _opening(name: str, language: str) -> patterns.Pattern:
    return patterns.compile(
        rf"^(?:(?:and|but|so|then|even|well|oh|ah|haha+|lol|hm+|omg|und|aber|also|tja|y|pero|pues|et|mais|alors|bon|e|mas|então|bem)[\s,]+)*(?:{pattern(name, language).pattern})",
        "i",
    )


def _parts(text: str) -> list[str]:
    places = [0, *sorted(_cuts(text, 0, len(text))), len(text)]
    return [text[start:end].strip(" ,;:()–—!?\n-") for start, end in itertools.pairwise(places)]


def supposed(clause: Clause, text: str, language: str) -> bool:
    """Whether a clause hangs on a condition: it is one, follows one in its sentence, or ends in one."""
    said = straighten(clause.text)
    before = straighten(text[clause.sentence[0] : clause.start])
    after = straighten(text[clause.end : clause.sentence[1]])
    if opens("suppose", said, language) or pattern("never_so", language).search(said):
        return True
    if any(opens("suppose", part, language) for part in _parts(before)):
        return True
    return (trailing_condition(said, language) and bool(_COMING.search(said))) or (
        language == "de" and opens("suppose", after, language) and "," not in said
    )


_COMING = patterns.compile(
    r"\b(?:will|'ll|going to|gonna|(?:am|is|are|'m|'re|'s) \w+ing|werde|wird|werden|voy a|vamos a|vais|vas|vou|vamos|\w+rai|\w+ré|\w+rei)\b",
    "i",
)
"""What is yet to come hangs on its condition; what is so now does not ("has the key if I don't answer")."""


def trailing_condition(clause: str, language: str) -> bool:
    """Whether a clause ends in a condition."""
    inner = pattern("suppose", language).search(clause)
    if language in ("es", "pt", "fr") and inner and inner[0].lower() in ("si", "se", "caso"):
        inner = patterns.search(
            rf"\s{inner[0]}\s+(?:me|te|yo|eu|je|on|il|elle|el|la|o|a|hay|tengo|puedo|no|não)\b", clause, "i"
        )
    return bool(inner)


def never_so(clause: Clause, text: str, language: str) -> bool:
    """Whether the condition is one that is only imagined."""
    whole = straighten(text[clause.sentence[0] : clause.sentence[1]])
    return bool(pattern("never_so", language).search(whole))


def grounded_in_question(sentence: str, place: int, language: str) -> bool:
    """Whether what stands at a place of a question is its ground ("given he's on blood thinners"), not what it asks."""
    before = straighten(sentence[:place])
    found = [match for match in pattern("given", language).finditer(straighten(sentence)) if match.start() <= place + 1]
    return bool(found) and bool(before.strip() or found[0].start() > 0) and found[-1].start() > 0
