"""Is a clause a statement, or only a piece of one ("an hour and a half", "Wednesday to Friday")? Pure.

A piece that begins like a time, a number or a place and holds no verb says nothing by itself.
"""

from __future__ import annotations

from tenuto.language.lexicon import word_list
from tenuto.text import patterns

LONGEST = 7
"""Words from which a clause is taken to say something."""
_BEGINS = patterns.compile(
    r"^(?:\d|an?\b|the\b|one|two|three|four|five|six|seven|eight|nine|ten|half|twice|once|every|each|on|at|in|from|until|by|with|and|or|"
    r"mon|tue|wed|thu|fri|sat|sun|week|daily)",
    "i",
)
_VERB = patterns.compile(
    r"\b(?:i|we|he|she|they|you|it|is|are|am|was|were|be|been|has|have|had|do|does|did|can|can't|will|won't|would|must|may|might|should|go|goes|went|live|lives|"
    r"work|works|take|takes|took|make|makes|get|gets|got|come|comes|run|runs|play|plays|eat|eats|drink|drinks|like|likes|love|loves|hate|"
    r"hates|need|needs|want|wants|keep|keeps|use|uses|start|starts|stop|stops|learn|learns|teach|teaches|pay|pays|cost|costs|own|owns|"
    r"know|knows|speak|speaks|study|studies|moved?|moves|meets?|leaves?|left|lasts?|opens?|closes?|expires?|belongs?|sings?|reads?|writes?|"
    r"walks?|swims?|cycles?|drives?|sleeps?|calls?|visits?|helps?|looks?|feels?|thinks?|says?|said|tells?|told|\w{3,}ed|\w{3,}ing)\b|['’](?:s|re|m|ve|ll|d)\b",
    "i",
)


def is_fragment(clause: str, language: str) -> bool:
    """Whether a clause is too little to stand alone. In other languages than English only its length and times tell."""
    plain = clause.strip(" ,.;:!?-–")
    if len(plain.split()) > LONGEST:
        return False
    if language != "en":
        return all(
            word.strip(",") in word_list("time_words") or not word.isalpha() for word in plain.casefold().split()
        )
    return bool(_BEGINS.match(plain)) and not _VERB.search(plain)
