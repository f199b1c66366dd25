"""Text that memory itself put in front of a model must not be learnt again.

What a context shows stands between two marks (``<<memory 0badc0ffee11>>`` … ``<<end 0badc0ffee11>>``). A model that
quotes them, or a client that sends them back as its own, would make old evidence look newly said: dates would move,
and what somebody once wrote in a mail would come back as the user's word. So marked text is taken out of everything
that is kept.
"""

from __future__ import annotations

from tenuto.text import patterns

_OPENING = patterns.compile(r"<<memory ([0-9a-f]{4,64})>>")
_STRAY = patterns.compile(r"<<(?:memory|end) [0-9a-f]{4,64}>>")


def marks(fence: str) -> tuple[str, str]:
    """The two lines around evidence."""
    return f"<<memory {fence}>>", f"<<end {fence}>>"


def without_marked(text: str) -> str:
    """``text`` without anything that stands between marks; one that was cut off reaches to the end."""
    if "<<" not in text:
        return text
    kept: list[str] = []
    at = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < at:
            continue
        kept.append(text[at : opening.start()])
        _, end = marks(opening[1])
        found = text.find(end, opening.end())
        at = found + len(end) if found >= 0 else len(text)
    return _STRAY.sub("", "".join([*kept, text[at:]])).strip()
