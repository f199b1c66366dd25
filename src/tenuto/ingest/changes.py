"""Words that say something is no longer as it was: "switched from X to Y", "no longer", "quit", "replaced X with Y".

A statement with such a marker may retire what it changes even where no attribute names it; without one, two statements
stand side by side. ``before`` holds the words for what was true until now, where the sentence gives them. A *weak*
marker ("I now …", "… instead") only retires a statement about the same doing. Stories are full of "now" and "gave up",
so plans, denials ("I won't quit"), and set phrases ("ended up", "right now") are no change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    before: str | None
    after: str | None
    marker: str
    weak: bool = False


_VERB = (
    r"(?:switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|chang(?:ed|ing)|transition(?:ed|ing)|upgrad(?:ed|"
    r"ing)|downgrad(?:ed|ing)|convert(?:ed|ing)|shift(?:ed|ing)|"
    r"refinanc(?:ed|ing)|rebalanc(?:ed|ing)|rais(?:ed|ing)|increas(?:ed|ing)|decreas(?:ed|ing)|lower(?:ed|ing)|"
    r"reduc(?:ed|ing)|extend(?:ed|ing)|expand(?:ed|ing)|grew|cut|went up|"
    r"went down|gone up|gone down|dropped|renam(?:ed|ing)|rebrand(?:ed|ing)|correct(?:ed|ing)|updat(?:ed|ing)|"
    r"pivot(?:ed|ing)|transferr(?:ed|ing)|promoted)"
)
_FROM_TO = re.compile(
    rf"\b{_VERB}\b(?P<what> (?!from\b|off\b|away\b|to\b|into\b|as\b)(?:my|our|the|all|his|her|their)? ?[\w' "
    rf"-]{{0,40}}?)?(?: (?:from|off|away from) (?P<before>[\w' .&+-]{{2,50}}?))?"
    r" (?:over |almost |entirely |completely |back |fully |mostly |up |down )*(?:to|into|as) (?P<after>(?!be\b|"
    r"do\b|go\b|get\b|make\b|help\b|see\b|tears\b|the next\b|that\b|find\b|know\b|keep\b|learn\b|have\b|"
    r"give\b).{2,80})",
    re.I,
)
_REPLACED = re.compile(
    r"\b(?:replac(?:ed|ing)|swap(?:ped|ping)?|trad(?:ed|ing)(?: in)?|exchang(?:ed|ing)|substitut(?:ed|ing)|"
    r"ditch(?:ed|ing)|abandon(?:ed|ing)) (?P<before>.{2,60}?)(?:,? (?:with|for|by|in favou?r of|"
    r"and (?:switched|moved|went) to|and now (?:use|uses|have|drive|drink|eat)) (?P<after>.{2,80})|$)",
    re.I,
)
_STOPPED = re.compile(
    r"(?<!not )(?<!n't )(?<!never )\b(?:quit|stopped|gave up|given up|cut out|kicked|cancell?ed|sold|got rid "
    r"of|shut down|resigned from|retired from|broke up with|divorced|unsubscribed from|"
    r"dropped out of|am done with|'m done with|no longer)(?! with you\b)(?: (?P<before>(?!me\b|"
    r"it\b|us\b|off\b|up\b|by\b|in\b|on\b|early\b|home\b|the house\b|for\b).{2,80}))",
    re.I,
)
_LEFT = re.compile(
    r"\b(?:i|we|he|she|they)(?:'ve| have| has)?(?: just| finally| recently)? left (?P<before>(?!for\b|early\b|"
    r"home\b|it\b|off\b|me\b|at\b|in\b).{2,60})",
    re.I,
)
_NOT_ANY_MORE = re.compile(
    r"\b(?:don't|doesn't|do not|does not|not|isn't|am not|'m not) (?P<before>.{2,50}?) (?:any ?more|any longer)\b", re.I
)
_TURNED = re.compile(
    r"\b(?:started|began|went back to|back to|returned to|resumed)\b (?P<after>.{2,60}?) again\b|\b(?:i|we|he|"
    r"she)(?:'ve| have| has)? (?:been|was|were|got)? ?(?:promoted|transferred|reassigned|moved|prescribed)\b|"
    r"^(?:it )?turns out\b",
    re.I,
)
_WEAK = re.compile(
    r"^(?:i|we|he|she|they|my [\w ]{2,20}?)(?:'m| am|'re| are|'ve| have|'s| is| has)? now\b(?! (?:that|and "
    r"then))|^now(?:adays)?,? (?:i|we) (?:only|exclusively|always|mostly|mainly|use|run|work|live|drive|drink|"
    r"eat|take|have|read|listen|sleep|weigh|speak|play)\b|"
    r"\b(?:instead of|rather than) (?P<before>[\w' -]{2,40})|\binstead[.!]*$|(?<!right )(?<!while )(?<!years "
    r")(?<!months )(?<!by )(?<!until )(?<!for )\bnow[.!]*$|\b(?:these days|nowadays)[.!]*$|\bexclusively\b|"
    r"\bfrom now on\b",
    re.I,
)
_PROGRESSIVE = re.compile(
    r"^(?:i'm|i am|we're|we are|i've been|i have been|we've been)(?: \w+ly| now| also)* "
    r"\w+ing\b",
    re.I,
)
_PLANNED = re.compile(
    r"\b(?:might|may|could|would|won't|will not|thinking (?:of|about)|considering|want to|wanna|plan(?:ning)? "
    r"to|going to|gonna|will|'ll|if|wish|hope|never (?:quit|stop|give up)|not giving up|trying to|about to|"
    r"tempted to|almost)\b",
    re.I,
)


def change(text: str) -> Change | None:
    """The change that a sentence states, or ``None``."""
    if _PLANNED.search(text):
        return None
    if match := _FROM_TO.search(text):
        return Change(match["before"] or _thing(match["what"]), match["after"], "from … to …")
    if match := _REPLACED.search(text):
        return Change(_thing(match["before"]), match["after"], "replaced")
    if (match := _NOT_ANY_MORE.search(text)) or (match := _STOPPED.search(text)) or (match := _LEFT.search(text)):
        return Change(_thing(match["before"]), None, "stopped")
    if _TURNED.search(text):
        return Change(None, None, "changed")
    if (match := _WEAK.search(text)) and not (_PROGRESSIVE.match(text) and not match["before"]):
        return Change(_thing(match["before"]), None, "now", weak=True)
    return None


def _thing(words: str | None) -> str | None:
    """The bare name of what was: without possessives, times and what follows."""
    cleaned = re.sub(
        r"\b(?:my|our|the|all|his|her|their|being|a|an|any ?more|last \w+|this \w+|\w+ (?:days|weeks|months|"
        r"years) ago|in \d{4})\b|"
        r",? (?:and|but|so|because|when|after|since|on my|for my|to)\b.*$",
        " ",
        words or "",
        flags=re.I,
    )
    cleaned = " ".join(cleaned.split()).strip(" .,!")
    return cleaned or None
