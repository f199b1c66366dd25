"""What of a message the speaker said themselves: without code, links, and what was quoted or pasted. Pure and linear."""

from __future__ import annotations

from tenuto.language.pasted import without_pasted
from tenuto.text import patterns

LONGEST_LINE = 600
"""Characters of a line that are looked at to tell whether it is code."""
_FENCE = patterns.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", "s")
_SCRIPT_LINE = patterns.compile(r"^[ \t]{0,8}(?:\*\*[^*\n]{1,60}\*\*:?|#{1,6} |\|).*$", "m")
"""A speaker's line in a pasted script, a heading, a table row."""
_QUOTED_LINE = patterns.compile(r"^[ \t]*>.*$", "m")
_MAIL_HEAD = patterns.compile(
    r"^(?:On .{5,200} wrote:|-{2,} ?(?:Original|Forwarded) message ?-{2,}.*|From: .{1,200}\n(?:Sent|Date|To): )", "mi"
)
_URL = patterns.compile(r"(?:https?://|www\.)\S+|\b[\w.-]+\.(?:com|org|net|io)/\S*", "i")
_RUN = patterns.compile(r"\S{41,}")
_INLINE_CODE = patterns.compile(r"`[^`\n]{1,300}`")
_BRACKET = patterns.compile(r"\[[^\[\]\n]{1,400}\]")
_CODE_LINE = patterns.compile(
    r"(?:def|class|function|fn|func)\s+\w+\s*[({:]|(?:const|let|var)\s+\w+\s*[:=]|return\b[^.!?]*;$|"
    r"import\s+[\w.{},* ]+(?:;|$|from\b)|"
    r"from\s+[\w.]+\s+import\b|(?:public|private|static|protected)\s+\w+.*[({;]|#include\b|SELECT\s.+\sFROM\b|"
    r"INSERT\s+INTO\b|"
    r"UPDATE\s+\w+\s+SET\b|(?:if|for|while|switch)\s*\(.*\)\s*\{?$|[{}\])]+[;,]?$|//|/\*|<[?!/]?\w+[^<>]*>|"
    r"\S+\s*=\s*\S+;|"
    r".{0,200}[;{}]$|\$ \S|>>> |Traceback \(|File \"",
)


def own_words(text: str) -> str:
    """The message without code, links, blobs, bracketed stage directions, quoted mail, quoted lines and pasted text."""
    text = without_pasted(_FENCE.sub("\n", text))
    head = _MAIL_HEAD.search(text)
    if head:
        text = text[: head.start()]
    text = _SCRIPT_LINE.sub("\n", _QUOTED_LINE.sub("\n", text))
    text = _BRACKET.sub(" ", text)
    text = _RUN.sub(lambda run: " " if run.group().isascii() else run.group(), _URL.sub(" ", text))
    text = "\n".join(line for line in text.split("\n") if not _CODE_LINE.match(line.strip()[:LONGEST_LINE]))
    return _INLINE_CODE.sub(" ", text)
