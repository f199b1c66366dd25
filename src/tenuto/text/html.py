"""HTML as the text that a person would read.

Only the tokens are looked at, in order, as a browser would make them; no tree is built, because the rules by which a
browser builds one take quadratic time and memory for some pages.
"""

from __future__ import annotations

from turbohtml import TokenType, tokenize

from tenuto.text import patterns

SILENT = frozenset({"script", "style", "head", "title", "template", "noscript", "svg"})
BREAKS = frozenset(
    {
        *("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"),
        *("pre", "table", "ul", "ol", "hr"),
    }
)
_SPACES = patterns.compile(r"\s+")
_BLANK = patterns.compile(r"\n[ \n]*\n")


class _Text:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self._silent = 0
        self._quoted = 0

    def start(self, tag: str) -> None:
        if tag in SILENT:
            self._silent += 1
        elif tag == "blockquote":
            self._quoted += 1
        if tag in BREAKS:
            self._break("- " if tag == "li" else "")

    def end(self, tag: str) -> None:
        if tag in SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "blockquote":
            self._quoted = max(0, self._quoted - 1)
        if tag in BREAKS:
            self._break()

    def text(self, text: str) -> None:
        if not self._silent:
            self.parts.append(_SPACES.sub(" ", text))

    def _break(self, mark: str = "") -> None:
        self.parts.append("\n" + "> " * min(self._quoted, 3) + mark)


def to_text(html: str) -> str:
    """The text of an HTML document; quotations get ``>`` at the start of their lines, as in plain mail."""
    reader = _Text()
    for token in tokenize(html, capture_attributes=False):
        if token.type is TokenType.TEXT:
            reader.text(token.data or "")
        elif token.type is TokenType.START_TAG and not (token.self_closing and token.tag in SILENT):
            reader.start(token.tag or "")
        elif token.type is TokenType.END_TAG:
            reader.end(token.tag or "")
    lines = [line.strip() for line in "".join(reader.parts).split("\n")]
    kept = ["" if line in (">", "> >", "> > >", "-") else line for line in lines]
    return _BLANK.sub("\n\n", "\n".join(kept)).strip()
