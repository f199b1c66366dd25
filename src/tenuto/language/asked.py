"""Questions whether something is done, and answers that say yes. Pure: "Did you pay the cleaner?" — "yep, yesterday"."""

from __future__ import annotations

from tenuto.text import patterns

_ASKED = {
    "en": patterns.compile(
        r"\b(?:did you|have you|did we|have we|were you able to|was|is|has|are|were)\b(?: (?:ever|already|manage to|get round to|get around to|"
        r"get to|remember to|get a chance to|find time to|get))*\s+(?P<what>[^?]+)\?",
        "i",
    ),
    "de": patterns.compile(r"\b(?:hast du|habt ihr|ist|sind|konntest du|wurde)\s+(?P<what>[^?]+)\?", "i"),
    "es": patterns.compile(r"(?:\bya\b|\bhas\b|\bhab[ée]is\b|\bpudiste\b|\best[áa]\b)\s+(?P<what>[^?]+)\?", "i"),
    "fr": patterns.compile(r"(?:\bas-tu|\btu as|\bavez-vous|\best-ce que tu as|\bc'est)\s+(?P<what>[^?]+)\?", "i"),
    "pt": patterns.compile(r"(?:\bjá|\bconseguiste|\bconseguiu|\bfoi|\best[áa])\s+(?P<what>[^?]+)\?", "i"),
}
_YES = patterns.compile(
    r"^\W*(?:(?:oh|haha|lol|um|erm|well|ah|phew|finally) ?,? )?"
    r"(?:y(?:es|ep|up|eah|eh|ess+)|i did|we did|all done|done|sorted|sure did|of course|course|indeed|it is|they are|it has|aye|affirmative|"
    r"ja+|jup|jo|klar|erledigt|hab ich|habe ich|s[ií]|claro|hecho|listo|por supuesto|oui|ouais|bien s[uû]r|c'est fait|sim|claro|j[áa]|feito)\b",
    "i",
)
_BUT_NO = patterns.compile(
    r"\b(?:no|not|n't|never|but|almost|half|will|gonna|going to|tomorrow|later|soon|should|need|nicht|noch|aber|morgen|pero|mañana|todav[ií]a|"
    r"mais|demain|pas|mas|amanh[ãa]|ainda)\b",
    "i",
)


def asked_whether_done(question: str, language: str) -> str | None:
    """What a question asks about, where it asks whether something is done."""
    match = _ASKED.get(language, _ASKED["en"]).search(question) or _ASKED["en"].search(question)
    return match["what"].strip() if match and not _OPEN.search(question[: match.start()]) else None


_OPEN = patterns.compile(
    r"\b(?:how|what|why|when|where|who|which|wie|was|warum|wann|wo|wer|cómo|qué|cuándo|dónde|comment|quand|où|quoi|como|o que|quando)\s*$",
    "i",
)
"""Words that ask for more than yes or no."""


def says_yes(answer: str) -> bool:
    """Whether an answer begins with yes and takes nothing of it back."""
    first = answer.split(".")[0].split("\n")[0].replace("’", "'")
    return bool(_YES.match(first)) and not _BUT_NO.search(first)
