"""Clauses that report a result: something is done, need not be done any more, or was put off. Pure.

People rarely say "done". They say "the drill finally went back", "the papers have gone to Solveig", "Steuer ist
abgegeben". Such a clause is found by the words that tell results in the five languages that are read; which todo it
closes is decided beside the open ones (:mod:`tenuto.language.completion`), so a clause too many costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenuto.text import patterns

MOST = 24
"""Sentences of a message that are looked at."""
LONGEST = 300
"""Characters of a sentence that are looked at."""


@dataclass(frozen=True, slots=True)
class Report:
    """A clause with what it tells: ``done``, ``dropped``, ``moved``, or ``told`` (only told as past)."""

    text: str
    kind: str
    start: int
    end: int


_CUT = patterns.compile(
    r"[;(–—]\s*|\s-\s|,?\s(?:so|but|because|cos|although|though|aber|weil|pero|porque|mais|mas)\s|"
    r",\s(?:(?:and|which|who|one of|und|y|et|e)\s)?",
    "i",
)
_DONE = patterns.compile(
    r"\b(?:done|sorted|booked|paid|sent|signed|renewed|posted|submitted|bought|ordered|picked (?:it |them )?up|"
    r"dropped (?:it |them )?off|handed (?:it |them )?(?:in|back|over)|returned|swapped|"
    r"registered|enrolled|applied|fixed|repaired|cleaned|washed|packed|printed|scanned|filed|filled (?:in|out)|arranged|"
    r"confirmed|settled|cleared|collected|delivered|installed|set up|ticked|crossed off|"
    r"over with|out of the way|eaten|taken care of|dealt with|went (?:back|out|off|in|through)|"
    r"(?:is|are|was|were|both|all|it's|that's) (?:up|in|out|off|back|over|live)|has gone|have gone|gone (?:to|out|off|in|back)|"
    r"in the post|off to|said (?:yes|no)|agreed|approved|accepted|passed|took \d+ minutes|did the|got the|learnt|written|made|found|"
    r"serviced|signed off|had (?:his|her|its|my|our|their|the)|"
    r"(?:is|are|was|were|'s|been|all|got|finally|gets) (?:\w+ly |now |all |finally |also )?\w{2,}(?:ed|nt|lt)|"
    r"erledigt|fertig|gemacht|abgegeben|bezahlt|überwiesen|verschickt|abgeschickt|gebucht|angerufen|gekauft|verlängert|"
    r"unterschrieben|geschafft|geklärt|abgeholt|gebracht|bestellt|eingereicht|angemeldet|gekündigt|repariert|vereinbart|"
    r"ist (?:da|raus|durch|weg)|"
    r"hech[oa]s?|list[oa]s?|pagad[oa]s?|enviad[oa]s?|renovad[oa]s?|comprad[oa]s?|entregad[oa]s?|firmad[oa]s?|reservad[oa]s?|"
    r"ya (?:est[áa]|lo hice|llamé|pagué|envié|compré|mandé|pedí|renové|fui|hablé)|terminad[oa]s?|arreglad[oa]s?|solucionad[oa]s?|"
    r"faite?s?|fini[es]*|réglée?s?|payée?s?|envoyée?s?|renouvelée?s?|achetée?s?|rendue?s?|signée?s?|réservée?s?|est passée?|terminée?s?|"
    r"appelée?s?|rangée?s?|réparée?s?|"
    r"feit[oa]s?|pront[oa]s?|pag[oa]s?|marcad[oa]s?|tratad[oa]s?|entregues?|assinad[oa]s?|resolvid[oa]s?|"
    r"já (?:est[áa]|liguei|paguei|enviei|comprei|fui|falei|marquei|mandei|fiz|tratei))\b|[✓✔☑✅]",
    "i",
)
_DROPPED = patterns.compile(
    r"\b(?:scrap|forget (?:about )?(?:the|that)|drop the|bin the|never mind|no need (?:to|for)|(?:don't|do not|needn't|doesn't) "
    r"(?:need|have)|not needed|no longer needs?|called off|cancell?ed|is off|decided against|changed my mind|skip the|after all|"
    r"(?:is|are|was|has|have|'s) (?:taking|taken) (?:it |that |this )?over|took (?:it |that |this )?over|takes over|not my (?:job|problem|turn)|"
    r"(?:off|isn't on|not on) my (?:list|plate)|(?:isn't|is not|not) necessary|no (?:\w+ )?(?:needed|required|necessary)|"
    r"vergiss|nicht mehr nötig|muss (?:ich )?(?:doch )?nicht(?: mehr)?|brauch\w* (?:(?:ich|wir|man) )?(?:doch |jetzt |ja )*(?:nicht|kein\w*)|übernimmt|abgesagt|hat sich erledigt|fällt aus|"
    r"ya no (?:hace falta|tengo que|hay que)|olvida (?:el|la|lo)|cancelad[oa]|anulad[oa]|"
    r"plus besoin|plus la peine|laisse tomber|annulée?|oublie (?:le|la)|"
    r"já não (?:é preciso|preciso|tenho)|não preciso mais|esquece [oa]|deixa (?:lá|para lá))\b",
    "i",
)
_MOVED = patterns.compile(
    r"\b(?:moved|moves|postponed|pushed (?:back )?|rescheduled|put (?:off|back)|delayed|shifted|slip(?:s|ped)|extended|changed to|"
    r"can wait|brought forward|verschoben|verlegt|vorverlegt|"
    r"aplazad[oa]|aplazaron|pospuest[oa]|cambiad[oa] (?:a|para)|movid[oa]|repoussée?|reportée?|décalée?|avancée?|adiad[oa]|"
    r"adiaram|remarcad[oa]|passou para)\b",
    "i",
)
_PAST = patterns.compile(
    r"^\W*(?:(?:ok|okay|so|and|yes|yeah|yep|btw|also|finally|just|actually|well|oh|n|then|right)\b[\s,!.]*)*"
    r"(?:(?:i|we|i've|we've|i have|we have) )?(?:just |finally |already |also |actually |even )*(?:\w{2,}ed|\w+[aeo]ught|paid|sent|wrote|"
    r"did|made|took|got|went|met|spoke|told|ran|swam|gave|found|drove|sold|chose|left|ate|read|rang|saw|said|set|put|cut|spent)\b",
    "i",
)
_PAST_OF = {
    "de": patterns.compile(
        r"\b(?:hab(?:e|en)?|bin|sind)\b.{0,120}\b(?:ge\w+|\w+ge\w+|\w+iert|(?:be|ver|er|über)\w+)\W*$", "i"
    ),
    "es": patterns.compile(r"\b(?:he|hemos) \w+(?:ado|ido|cho|to)\b", "i"),
    "fr": patterns.compile(r"\b(?:j'ai|on a|nous avons|je suis|c'est) (?:\w+ )?\w+(?:é|ée|és|i|u|is|it)\b", "i"),
    "pt": patterns.compile(r"^\W*(?:\w+ ){0,2}?\w{2,}ei\b", "i"),
}
"""What somebody says that they did."""
_OPEN = patterns.compile(
    r"\?|\b(?:not|never|no|haven't|hasn't|isn't|aren't|didn't|couldn't|don't|won't|can't|forgot|almost|nearly|half|halfway|partly|most of|need|needs|needed|"
    r"have to|has to|had to|must|gotta|wanted|want|wanna|will|gonna|going to|should|would|tomorrow|tmrw|still|left|if|"
    r"nicht|nie|kein\w*|fast|muss\w*|sollte|will|morgen|wenn|noch|nunca|casi|tengo que|tenía|mañana|todavía|quiero|falta|"
    r"pas|jamais|presque|dois|devais|demain|encore|não|quase|tenho de|tenho que|amanhã|ainda|falta|preciso)\b",
    "i",
)


def is_moved(clause: str) -> bool:
    """Whether a clause says that something was put off or moved."""
    return bool(_MOVED.search(clause))


def is_done(clause: str) -> bool:
    """Whether a clause tells a result, and neither that it is not needed nor that it was put off."""
    return bool(_DONE.search(clause)) and not _DROPPED.search(clause) and not is_moved(clause)


def reports(text: str, spans: Sequence[tuple[int, int]], language: str) -> Iterator[Report]:
    """The clauses of a message that report something, in order."""
    for first, last in list(spans)[:MOST]:
        last = min(last, first + LONGEST)
        whole = text[first:last]
        for start, end in _clauses(whole):
            said = whole[start:end].replace("’", "'")
            kind = _kind(said, language)
            if kind is not None:
                yield Report(whole[start:end].strip(), kind, first + start, first + end)


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    at = 0
    for cut in _CUT.finditer(sentence):
        if cut.start() > at:
            yield at, cut.start()
        at = cut.end()
    if at < len(sentence):
        yield at, len(sentence)


def _kind(clause: str, language: str) -> str | None:
    if "?" in clause:
        return None
    if _DROPPED.search(clause):
        return "dropped"
    if _MOVED.search(clause):
        return "moved"
    if _OPEN.search(clause):
        return None
    if _DONE.search(clause):
        return "done"
    return "told" if _told_as_past(clause, language) else None


def _told_as_past(clause: str, language: str) -> bool:
    pattern = _PAST_OF.get(language, _PAST)
    first = [word.strip(" ,.!") for word in clause.casefold().split()[:3]]
    return bool(pattern.search(clause)) or (language == "es" and any(word.endswith(("é", "í")) for word in first))
