"""Count tokens offline, a little too many rather than too few.

No model's own tokenizer is at hand (they are large, secret or downloaded), so the pack's WordPiece tokenizer counts,
and what it does not see is added. WordPiece ignores case and white space, and gives one ``[UNK]`` for any run of signs
that it does not know:

    tokens = ⌈ 1.06 · pieces + 0.75 · line starts + 1 · gaps + 0.2 · capitals + Σ cost(script of a sign) ⌉

where a sign outside ASCII is not given to WordPiece at all but costs what its script costs, and an ASCII run that
WordPiece does not know (over 100 signs without a break) costs one token per sign.

Measured against o200k (GPT-4o and later) and the last public Claude tokenizer (newer ones are secret), on texts that
had no part in choosing the numbers. "Too few": how many texts were under-counted, and by how many tokens at most:

    text                             counted / o200k   too few        counted / Claude   too few
    3,882 chat turns, English              1.18        2, by 1              1.12         19, by ≤ 2
    2,000 requests and answers             1.22        0                    1.14         18, by ≤ 6
    442 pieces of Python, 20 lines         1.39        0                    1.30         0
    217 pieces of JavaScript and prose     1.57        4, by ≤ 22           1.37         4, by ≤ 2
    600 program messages each, in
      German, French                       1.30, 1.37  39, by ≤ 2           1.10, 1.14   173, by ≤ 4
      Chinese, Japanese, Korean            1.6–2.2     0                    1.3–1.7      6, by ≤ 2
      Russian, Arabic, Hindi, Thai         2.4–4.3     0                    1.1–1.5      11, by ≤ 3

So a single short text of rare names can be a few tokens short, but a context, a sum of many texts, is not: every kind
of text is over-counted on the whole, by 10 % at least. Scripts are priced for the costlier of the two tokenizers, which
is why o200k needs half or less of what is counted for some.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from tenuto.providers import embed_pack

# All costs in hundredths of a token.
PIECE: Final = 106
LINE_START: Final = 75
SPACES: Final = 100
CAPITAL: Final = 20
UNKNOWN_ID: Final = 100

# Per sign, from this code point on.
SCRIPTS: Final = (
    (0x0080, 75),  # Latin with accents
    (0x0250, 85),  # Greek, Cyrillic, Armenian, Hebrew
    (0x0600, 125),  # Arabic
    (0x0900, 200),  # the scripts of India and South-East Asia
    (0x10A0, 150),
    (0x2000, 100),  # dashes, quotes
    (0x2070, 300),  # signs, arrows, mathematics, dingbats
    (0x2E80, 175),  # Chinese, Japanese
    (0xA4D0, 200),
    (0xAC00, 175),  # Korean, full-width forms
    (0x10000, 300),  # emoji, rare ideographs
)
_STARTS = [start for start, _ in SCRIPTS]

_FOREIGN = re.compile(r"[^\x00-\x7f]")
_SPACES = re.compile(r"(?<![\n \t])(?:[ \t]{2,}|\t)")
_CAPITAL = re.compile(r"[A-Z]")
_CACHED = 16_384


class LocalTokens:
    """Loads the tokenizer (not the model) on the first count. Safe to use from many threads.

    Counts line by line, which gives the same sum because WordPiece never joins two lines: most lines of a context were
    in the last one too, and a line that was counted once is not read again. Neither is a text of several lines: the
    stable text of a session is the same at every turn.
    """

    def __init__(self) -> None:
        # Keyed by hash and length: what was counted is not kept.
        self._costs: dict[tuple[int, int], int] = {}

    def count(self, text: str) -> int:
        if not text:
            return 0
        return max(1, -(-(self._several(text) if "\n" in text else self._cost(text)) // 100))

    def _several(self, text: str) -> int:
        key = (hash(text), -len(text))
        known = self._costs.get(key)
        if known is None:
            first, *rest = text.split("\n")
            known = self._cost(first) + sum(LINE_START + self._cost(line.lstrip(" \t")) for line in rest)
            self._keep(key, known)
        return known

    def _cost(self, line: str) -> int:
        key = (hash(line), len(line))
        known = self._costs.get(key)
        if known is None:
            known = _cost(line)
            self._keep(key, known)
        return known

    def _keep(self, key: tuple[int, int], cost: int) -> None:
        if len(self._costs) >= _CACHED:
            self._costs.clear()
        self._costs[key] = cost


def _cost(line: str) -> int:
    """Hundredths of a token."""
    foreign = _FOREIGN.findall(line)
    ascii_ = _FOREIGN.sub(" ", line) if foreign else line
    encoding = embed_pack.tokenizer().encode(ascii_, add_special_tokens=False)
    pieces = len(encoding.ids)
    if UNKNOWN_ID in encoding.ids:
        unknown = (span for id_, span in zip(encoding.ids, encoding.offsets, strict=True) if id_ == UNKNOWN_ID)
        pieces += sum(end - start - 1 for start, end in unknown)
    cost = PIECE * pieces + CAPITAL * len(_CAPITAL.findall(ascii_)) + sum(map(_script_cost, foreign))
    return cost + SPACES * len(_SPACES.findall(line))


def _script_cost(sign: str) -> int:
    return SCRIPTS[bisect_right(_STARTS, ord(sign)) - 1][1]
