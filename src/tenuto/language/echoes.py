"""Text that Tenuto itself handed out must not come back as news.

Two ways it comes back. Verbatim: a context block or recalled lines are pasted or quoted into a message; the blocks are
fenced (``<<memory …>> … <<end …>>``), so they are cut out before anything reads the message, together with lines that
have the dated form in which evidence is rendered. Paraphrased: an assistant repeats what it was shown; its words are
compared with what is known, by words and by meaning, and what is close is an echo. Without this an engine feeds on its
own output, and one hallucination becomes hundreds of copies.
"""

from __future__ import annotations

from tenuto.text import patterns
from tenuto.text.words import tokens

_BLOCK = patterns.compile(r"<<memory [^<>\n]{1,64}>>.*?(?:<<end [^<>\n]{1,64}>>|\Z)", "s")
_OPENED = patterns.compile(r"^.*?<<end [^<>\n]{1,64}>>", "s")
_LINE = patterns.compile(
    r"^[ \t]{0,8}(?:[-*•][ \t]{0,8})?(?:\[?\d{4}-\d\d-\d\d(?: \d\d:\d\d)?\]?[ ,]*(?:\((?:operator|confirmed|"
    r"said|inferred|outside)\)|"
    r"(?:operator|confirmed|said|inferred|outside))\b.*|\[(?:person|place|org|project):\w+\]:.*)$",
    "m",
)
_ROLES = frozenset({"user", "person", "client"})
CLOSE = 0.75
"""Share of a sentence's words that must occur in a known one for it to be an echo of it."""


def without_injected(text: str) -> tuple[str, bool]:
    """The message without what Tenuto put into it, and whether there was any."""
    cleaned = _BLOCK.sub("\n", text)
    if "<<end " in cleaned and "<<memory " not in cleaned:
        cleaned = _OPENED.sub("\n", cleaned)
    cleaned = _LINE.sub("", cleaned)
    return (cleaned, True) if cleaned != text else (text, False)


def echoes(said: str, known: str, similarity: float, reinforce: float) -> bool:
    """Is ``said`` a close paraphrase of ``known``?"""
    mine, theirs = set(tokens(said)) - _ROLES, set(tokens(known))
    if not mine or not theirs:
        return False
    return similarity >= reinforce or len(mine & theirs) / len(mine) >= CLOSE
