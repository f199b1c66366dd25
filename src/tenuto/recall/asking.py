"""Does a text only ask, or does it tell something? Pure.

A query that tells something is a message in a running conversation: "Scene 3 is done and nails the tension. What is
next?" goes on with what was said lately, "What is my blood type?" asks about all that was ever said. Words decide, in
the languages that Tenuto knows best; a search by keywords only asks.
"""

from __future__ import annotations

from collections.abc import Collection

from tenuto.text import patterns

TELLS = 5
"""Words from which a sentence that does not ask tells something."""
_SENTENCE = patterns.compile(r"[^.!?\n]+[.!?\n]*")
_ASKS = patterns.compile(
    r"^\W*(?:and |so |but |please |also )*(?:who|whom|whose|what|when|where|why|how|which|can|could|would|will|"
    r"shall|should|do|does|did|is|are|am|was|were|has|have|had|tell|list|show|give|summari[sz]e|describe|name|find|search|look|"
    r"remind|recall|remember|explain|walk|wer|wen|wem|was|wann|wo|wohin|woher|warum|wieso|wie|welche[rsn]?|kannst|"
    r"konntest|weisst|hast|habe|hat|ist|sind|zeig|nenn|sag|erzahl|quien|que|cual|cuando|donde|por que|como|cuanto|"
    r"puedes|dime|qui|quel|quelle|quand|ou|pourquoi|comment|combien|peux|dis|est-ce)\b",
    "i",
)


REPEATS = 0.75
"""Share of common words from which one question is another one again."""


def asked_again(text: str, own: Collection[str], query: Collection[str]) -> bool:
    """Whether a message only puts the question that is asked now. ``own`` and ``query`` are the words of both."""
    if not text.rstrip().endswith("?") or tells(text):
        return False
    common = len(set(own) & set(query))
    return common >= REPEATS * (len(set(own)) + len(set(query)) - common) > 0


def tells(query: str) -> bool:
    """Whether some sentence of a query says something by itself."""
    for match in _SENTENCE.finditer(query):
        sentence = match.group().strip()
        if not sentence.endswith("?") and len(sentence.split()) >= TELLS and not _ASKS.search(sentence):
            return True
    return False
