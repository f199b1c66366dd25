"""How much of a medicine, and how often: "2 puffs … before I run", "18 units at bedtime". Pure.

The reader marks doses, sometimes only half of one. Amounts and times of taking are therefore also found by their form,
in every language that is read; what belongs to a medicine is what stands nearest to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.records.reading import Mark
from tenuto.text import patterns

REACH = 60
"""Characters between a medicine and what is said of its dose."""
LONGEST = 12
"""Words of a dose."""
_NUMBER = (
    r"(?:\d+(?:[.,/]\d+)?|half an?|an?|one and a half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty(?:[ -]\w+)?|thirty|forty|fifty|eine?|zwei|drei|vier|un[ao]?|une|dos|tres|deux|trois|quatre|"
    r"dois|duas|uma?|quatro|cuatro)"
)
_UNIT = (
    r"(?:mg|mcg|µg|ug|micrograms?|microgrammes?|mikrogramm|milligrams?|milligramm|grams?|grammes?|gramm|gramos?|g|ml|units?|iu|ie|einheiten|unidades|unites|"
    r"puffs?|hub|hube|hubs|bouffees?|inhalaciones|jatos?|bombadas|drops?|tropfen|gotas|gouttes|tablets?|pills?|tabletten?|pastillas?|comprimidos?|comprimes?|"
    r"capsules?|kapseln?|sprays?)"
)
_AMOUNT = patterns.compile(rf"\b{_NUMBER}[ -]?{_UNIT}\b", "i")
_OFTEN = patterns.compile(
    r"\b(?:(?:once|twice|three times|two times|four times|one time|\d ?(?:x|times))(?: (?:a|per|each|every) (?:day|week|month)| daily| weekly)?|daily|weekly|nightly|"
    r"every (?:single )?(?:morning|night|evening|day|other day|week|month|\d+ hours|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|each (?:morning|night|evening|day)|"
    r"(?:in the|every) (?:mornings?|evenings?|afternoons?)|(?:at|before) (?:bed ?time|night|bed|lunch|noon|breakfast|dinner)|"
    r"mornings? (?:and|n|&) (?:nights?|evenings?|bedtime)|a day|"
    r"before (?:(?:i|he|she|we|they) )?(?:run\w*|exercis\w+|sports?|training|train|meals?|eating|eats?|meals|sleep\w*|swim\w*|gym|the gym)|"
    r"with (?:meals|food|breakfast|lunch|dinner|every meal)|after (?:meals|food|dinner)|(?:as|when|if) needed|"
    r"(?:ein|zwei|drei)mal (?:am tag|taglich|pro tag|die woche|pro woche|wochentlich)|taglich|morgens(?: und abends)?|abends|mittags|nachts|"
    r"vor dem (?:schlafengehen|schlafen|essen|sport|laufen)|zu den mahlzeiten|bei bedarf|jeden (?:morgen|abend|tag)|"
    r"(?:una vez|dos veces|tres veces) (?:al dia|por semana|a la semana)|cada (?:\d+ horas|manana|noche|dia)|por la (?:manana|noche|tarde)|al dia|"
    r"antes de (?:dormir|comer|correr|acostar\w*|deitar)|con las comidas|al acostar\w*|"
    r"(?:une|deux|trois) fois par (?:jour|semaine)|par jour|matin et soir|le (?:matin|soir|midi)|tous les (?:matins|soirs|jours)|chaque (?:matin|soir|jour)|"
    r"avant (?:le sport|de courir|de dormir|les repas)|au coucher|"
    r"(?:uma vez|duas vezes|tres vezes) (?:ao|por) dia|de manha|a noite|todos os dias|todas as (?:manhas|noites)|ao deitar|por dia)\b",
    "i",
)
_OF = patterns.compile(r"^\s*(?:of|de|d'|von|do|da)\b", "i")


def dose_of(text: str, medicine: Mark, span: tuple[int, int], marks: Sequence[Mark]) -> str:
    """What a sentence says of the dose of one of its medicines; empty where it says nothing."""
    first, last = span
    said = text[first:last]
    pieces = [(first + one.start(), first + one.end()) for one in _AMOUNT.finditer(said)]
    pieces += [(first + one.start(), first + one.end()) for one in _OFTEN.finditer(said)]
    pieces += [(one.start, one.end) for one in marks if one.type == "dose" and first <= one.start < last]
    medicines = [one for one in marks if one.type == "med" and first <= one.start < last]
    joined = _joined(
        text, [one for one in pieces if not any(med.start < one[1] and one[0] < med.end for med in medicines)]
    )
    own = [one for one in joined if _belongs(text, one, medicines) is medicine]
    words = " ".join(" ".join(text[start:end].split()).strip(" ,;:()") for start, end in own).split()
    return " ".join(words[:LONGEST])


def _joined(text: str, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pieces that touch become one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if found and (start <= found[-1][1] or text[found[-1][1] : start].strip(" ,") == ""):
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _belongs(text: str, piece: tuple[int, int], medicines: Sequence[Mark]) -> Mark | None:
    """The medicine of a piece: what follows "of", or else the one before it."""
    start, end = piece
    if _OF.match(text[end : end + 6]):
        behind = [one for one in medicines if one.start >= end and one.start - end <= REACH]
        if behind:
            return min(behind, key=lambda one: one.start)
    near = [one for one in medicines if max(start - one.end, one.start - end) <= REACH]
    return min(
        near, key=lambda one: max(start - one.end, one.start - end) + (0 if one.start < start else 6), default=None
    )
