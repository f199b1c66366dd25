"""What a query says about time, in rules: is it about the past, and does it prefer some days?"""

from __future__ import annotations

import re

_PAST = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used\s+to|once|earlier|originally|in\s+the\s+past|back\s+then|back\s+when|"
    r"at\s+(?:first|the\s+time)|past|old|ex|prior|no\s+longer|anymore|any\s+more|ago|until|history|changed?|instead\s+of|"
    r"first(?:ly)?|initially|at\s+one\s+point|in\s+(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


def about_past(query: str) -> bool:
    """Whether what was true before may answer."""
    return bool(_PAST.search(query))
