"""Words that say something is no longer as it was: "switched from X to Y", "no longer", "quit", "replaced X with Y".

A statement with such a marker may retire what it changes even where no attribute names it; without one, two statements
stand side by side. ``before`` holds the words for what was true until now, where the sentence gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    before: str | None
    after: str | None
    marker: str


_FROM_TO = re.compile(
    r"\b(?:switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|chang(?:ed|ing)|transition(?:ed|ing)|upgrad(?:ed|ing)|downgrad(?:ed|ing)|convert(?:ed|ing)|shift(?:ed|ing)|refinanc(?:ed|ing)|rebalanc(?:ed|ing)|relocat(?:ed|ing)|graduat(?:ed|ing)|progress(?:ed|ing))\b"
    r"(?P<what> (?!from|off|away|to\b|into)(?:my|our|the|all|his|her|their)? ?[\w' ]{0,40}?)?(?: (?:from|off|away from) (?P<before>[\w' .&-]{2,50}?))? (?:over |entirely |completely |back |fully |mostly |up |down )*(?:in)?to (?P<after>.{2,80})",
    re.I,
)
_REPLACED = re.compile(r"\b(?:replac(?:ed|ing)|swap(?:ped|ping)?|trad(?:ed|ing)(?: in)?|exchang(?:ed|ing)|substitut(?:ed|ing)|ditch(?:ed|ing)|dropp(?:ed|ing)|abandon(?:ed|ing)) (?P<before>.{2,60}?)(?:,? (?:with|for|by|in favou?r of|and (?:switched|moved|went) to|and now (?:use|uses|have|drive|drink|eat)) (?P<after>.{2,80})|$)", re.I)
_STOPPED = re.compile(
    r"\b(?:quit|quitting|stopped|gave up|given up|giving up|cut out|gone off|went off|kicked|cancel(?:l)?ed|sold|left|no longer|don't .{2,40} any ?more|doesn't .{2,40} any ?more|not .{2,40} any ?more|done with|over with|got rid of|shut down|closed|resigned from|retired from|ended|broke up with|divorced|unsubscribed from|dropped out of)(?: (?P<before>.{2,80}))?",
    re.I,
)
_NOW = re.compile(
    r"\b(?:now|these days|nowadays|from now on|as of (?:today|now|this \w+)|currently)\b.*\b(?:exclusively|only|instead|every day|always|fully)\b|\b(?:instead of|rather than) (?P<before>.{2,50})|"
    r"\b(?:i|we)(?:'m| am|'re| are| have|'ve)? now\b|\bnow(?:adays)? (?:i|we|my|our|exclusively|only|use|run|work|live|drive|drink|eat|have|prefer|take|am|is)\b|\bnot? longer\b|\b(?:is|are) now\b|\b\w+ (?:now|instead|these days|nowadays)[.!]*$|\bmy new \w+ is\b|\bis my new\b|\bturns out\b|\bactually,? (?:i|my|it)\b.*\b(?:not|now|instead)\b",
    re.I,
)
_AGAIN = re.compile(r"\b(?:started|began|went back to|back to|returned to|resumed|took up|picked up)\b.*\b(?:again|after)\b|\bi(?:'ve| have)? (?:recently |just )?(?:converted|become|became|turned (?:in)?to)\b|\b(?:was|were|been|got) (?:promoted|transferred|reassigned|moved|prescribed|diagnosed)\b", re.I)


def change(text: str) -> Change | None:
    """The change that a sentence states, or ``None``."""
    if re.search(r"\b(?:might|may|could|would|thinking (?:of|about)|considering|want to|plan(?:ning)? to|going to|gonna|will|'ll|if|wish|hope)\b", text, re.I):
        return None
    if match := _FROM_TO.search(text):
        before = match["before"] or _thing(match["what"])
        return Change(before, match["after"], "from … to …")
    if match := _REPLACED.search(text):
        return Change(match["before"], match["after"], "replaced")
    if match := _STOPPED.search(text):
        return Change(_thing(match["before"]), None, "stopped")
    if match := _AGAIN.search(text):
        return Change(None, None, "changed")
    if match := _NOW.search(text):
        return Change(match["before"], None, "now")
    return None


def _thing(words: str | None) -> str | None:
    cleaned = re.sub(r"\b(?:my|our|the|all|his|her|their|any ?more|last \w+|this \w+|\w+ (?:days|weeks|months|years) ago|in \d{4})\b|,? (?:and|but|so|because|when|after|since)\b.*$", " ", words or "", flags=re.I)
    cleaned = " ".join(cleaned.split()).strip(" .,!")
    return cleaned or None
