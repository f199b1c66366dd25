"""Whether a text is what a condition speaks of: "when work comes up, or money", "in front of the children". Pure.

A condition names one or several occasions, set apart by commas, semicolons or "or". One of them is met when at least
half of its words that carry meaning occur in the text.
"""

from __future__ import annotations

from tenuto.text.words import distinct_tokens

_APART = str.maketrans({sign: "," for sign in ";/\n"})
_OR = (" or ", " oder ", " ou ")
_FRAME = distinct_tokens(
    "when whenever if while during only use used mention mentioned talk talks talking speak speaks speaking ask asks "
    "asked asking about come comes coming up topic subject conversation conversations user person bring brings brought "
    "discuss discussing discussed"
)
"""Words that frame an occasion and name none."""


def meets(condition: str, text: str) -> bool:
    """Whether the text is about one of the occasions."""
    said = distinct_tokens(text)
    occasions = condition.casefold().translate(_APART)
    for word in _OR:
        occasions = occasions.replace(word, ",")
    for occasion in occasions.split(","):
        named = distinct_tokens(occasion) - _FRAME
        if named and 2 * len(named & said) >= len(named):
            return True
    return False
