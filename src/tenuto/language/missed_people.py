"""People whom the reader passed over: names that are known, and relation words with an owner. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.language.lexicon import word_list
from tenuto.language.mentions import Registry
from tenuto.language.people import known_person
from tenuto.language.relations import kin_words
from tenuto.records.reading import Mark
from tenuto.text import patterns

_WORD = patterns.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_OWNED = patterns.compile(
    r"(?:\b(?:my|our|his|her|their|mein|meine[rmn]?|unsere?[rmn]?|seine?[rmn]?|ihre?[rmn]?|mis?|su|nuestr[ao]|mon|ma|mes|notre|son|sa|"
    r"(?:o |a )?(?:meu|minha|seu|sua))\s|(?P<whose>['’]s\s))(?:(?:little|big|older|younger|old|new|late|best|kleine[rn]?|große[rn]?) )?$",
    "i",
)


def missed_people(text: str, marks: Sequence[Mark], registry: Registry) -> list[Mark]:
    """Marks for those whom the reader passed over: names that are known, and "my cousin" or "Tom's mother"."""
    taken = [(one.start, one.end) for one in marks if one.layer == "value"]
    found: list[Mark] = []
    words = kin_words()[0]
    for match in _WORD.finditer(text[:LOOKED_AT]):
        said = patterns.sub(r"['’]s?$", "", match[0])
        low, start, end = said.casefold(), match.start(), match.start() + len(said)
        if any(a < end and start < b for a, b in taken):
            continue
        if (
            low == "little"
            and text[end : end + 4].casefold() == " one"
            and _OWNED.search(text[max(0, start - 28) : start])
        ):
            found.append(Mark("value", "rel", start, end + 4, "self", "now", MISSED))
        elif low in words and len(low) > 2 and (owned := _OWNED.search(text[max(0, start - 28) : start])) is not None:
            found.append(Mark("value", "rel", start, end, "other" if owned["whose"] else "self", "now", MISSED))
        elif (known_person(low, registry) or "") and low not in words and (said[0].isupper() or _only_a_name(low)):
            found.append(Mark("value", "person", start, end, "self", "now", MISSED))
    return found


MISSED = 0.6
LOOKED_AT = 4000
"""Characters of a message in which passed over people are looked for."""


def _only_a_name(low: str) -> bool:
    """Whether a name that is typed without a capital is no word of every day."""
    listed = ("small_words", "common_words", "name_words", "no_person", "weekdays", "months")
    return len(low) > 1 and not any(low in word_list(name) for name in listed)
