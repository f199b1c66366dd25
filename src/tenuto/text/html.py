"""HTML as the text that a person would read. Reads once from start to end, so nesting costs nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

SILENT = ("script", "style", "head", "title", "template", "noscript", "svg")
BREAKS = (
    "p",
    "div",
    "br",
    "li",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "table",
    "ul",
    "ol",
    "hr",
)
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")
_BLANK = re.compile(r"\n[ \n]*\n")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)|<!\[.*?(?:\]>|$)", re.DOTALL)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0
        self._quoted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self._silent += 1
        elif tag == "blockquote":
            self._quoted += 1
        if tag in BREAKS:
            self._break("- " if tag == "li" else "")

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "blockquote":
            self._quoted = max(0, self._quoted - 1)
        if tag in BREAKS:
            self._break()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(_SPACES.sub(" ", data.replace("\n", " ")))

    def _break(self, mark: str = "") -> None:
        self.parts.append("\n" + "> " * min(self._quoted, 3) + mark)


def to_text(html: str) -> str:
    """The text of an HTML document; quotations get ``>`` at the start of their lines, as in plain mail."""
    reader = _Text()
    reader.feed(_COMMENT.sub("", html))
    reader.close()
    lines = [line.strip() for line in "".join(reader.parts).split("\n")]
    kept = ["" if line in (">", "> >", "> > >", "-") else line for line in lines]
    return _BLANK.sub("\n\n", "\n".join(kept)).strip()
