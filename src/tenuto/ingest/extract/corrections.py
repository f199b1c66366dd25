"""Marks set right by the words around them: what the reader cut too short, or took for over where it goes on. Pure.

"Eliquis went down to 2.5 mg" is a new dose, not an end; "Jardiance instead of metformin" ends the second; where
somebody moved to is where they live; what has lasted for years is not planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenuto.language.lexicon import word_list
from tenuto.language.medicines import is_medicine, substance_of
from tenuto.records.reading import Mark
from tenuto.text import patterns

_UNIT = patterns.compile(
    r"^[ -]?(?:mg|mcg|µg|micrograms?|units?|einheiten|unidades|unités|iu|ie|ml|puffs?|hub|g)\b", "i"
)
_STOPPED = patterns.compile(
    r"\b(?:off|stop\w*|no longer|any ?more|came off|quit|without|abgesetzt|nicht mehr|ya no|dejó|dejé|ne .{1,12} plus|arrêt\w*|já não|deixou|"
    r"parou|instead of|(?:switch\w*|swap\w*|chang\w*|mov\w*) from|finish\w*|done with|(?:gave|given) up|drop\w*|cut out|discontinu\w*|over|"
    r"kein\w*|terminé|acabé|fini|acabei|suspend\w*)\b",
    "i",
)
_INSTEAD = patterns.compile(
    r"\b(?:instead of|rather than|in place of|statt|anstatt|anstelle von|en vez del?|en lugar del?|au lieu d[eu]|à la place d[eu]|"
    r"em vez d[eoa]|no lugar d[eoa]|replac\w+|substitu\w+|sustitu\w+|remplac\w+)\s+(?:the |her |his |my |el |la |le |l'|o |a )?$",
    "i",
)
_SWAPPED = patterns.compile(
    r"\b(?:from|von|cambi\w+|troc\w+|mud\w+|pass\w+|wechsel\w+|gewechselt von|swap\w+|switch\w+)\s+(?:from |von |de |do |da |the |her |his |my |el |la |le |o |a )*$",
    "i",
)
_FOR = patterns.compile(r"^\s*(?:\d[^,.;]{0,24}?)?\s*(?:to|auf|zu|por|para|for|pour|par|à|a)\s", "i")
_MOVED_TO = patterns.compile(
    r"(?:\b(?:moved|relocated|settled|settling)\b[^.,;!?]{0,16}\b(?:to|into|in)|\bmud(?:é|ado|amos|ei|ámos|ámo|ou)(?:-me|-nos)? (?:a|para)|"
    r"\b(?:déménagé|emménagé|installée?s?) (?:à|en|au|dans))\s+(?:the |la |le |o )?$",
    "i",
)
_MOVED_AFTER = patterns.compile(r"^[^.,;!?]{0,12}\b(?:um)?gezogen\b", "i")
_LASTING = patterns.compile(
    r"\b(?:for (?:the (?:last|past) )?\w+ (?:years|months)|since|seit|desde|depuis|há \w+ anos)\b", "i"
)


_FROM_TO = patterns.compile(
    r"\b(?:from|von|del?|do|da)\s[^,.;!?]{1,40}\s(?:to|zu|auf|a|à|para)\s+(?:the |la |le |o )?$", "i"
)
_FOR_NOW = patterns.compile(
    r"^\W*(?:for (?:the|a|this|an?other) (?:weekend|week|few|couple|night|day|long)|on holiday|till |until |this week|today|tonight|right now|at the moment|"
    r"übers wochenende|am wochenende|für (?:ein|eine|das|die|ein paar) |este fin de semana|de vacaciones|ce week-end|en vacances|este fim de semana|de férias)",
    "i",
)
NEAR = 28
"""Characters around a value that tell how long it has been so."""


def corrected(text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[Mark]:
    """The marks of a message as they are meant."""
    wide = _one_medicine(text, _as_medicines(text, _joined_times(text, [_widened(text, one) for one in marks]), spans))
    found = [_state(text, one, wide, _span(spans, one.start, len(text))) for one in _recurring(text, wide, spans)]
    return [*found, *moved_events(text, found, spans)]


_AGAIN = patterns.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|every|each|daily|weekly|monthly|of the month|jede[nrs]?|(?:mon|diens|donners|frei|sams|sonn)tags|"
    r"mittwochs|cada|todos los|todas las|chaque|tous les|toutes les|todos os|todas as)\b",
    "i",
)
LONGEST_HABIT = 24
"""Words of a sentence that is told as a habit."""


def _recurring(text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[Mark]:
    """What comes back every week is a habit and no appointment: "the meeting is on Wednesdays at 11"."""
    found: list[Mark] = []
    for one in marks:
        first, last = _span(spans, one.start, len(text))
        whens = [mark for mark in marks if mark.type == "when" and first <= mark.start < last]
        again = any(_AGAIN.search(text[mark.start : mark.end + 12]) for mark in whens)
        if one.type != "event" or not again or len(text[first:last].split()) > LONGEST_HABIT:
            found.append(one)
        elif not any(mark.type in ("habit", "todo") and first <= mark.start < last for mark in found):
            found.append(replace(one, layer="clause", type="habit", start=first, end=last, state="now"))
    whole = [one for one in found if one.type == "habit" and any(one.start == a and one.end == b for a, b in spans)]
    return [
        one
        for one in found
        if one.type != "habit" or one in whole or not any(big.start <= one.start < big.end for big in whole)
    ]


def _joined_times(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Two times with nothing but a point between them are one: "20" and "Januar"."""
    found: list[Mark] = []
    for one in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        last = next((mark for mark in reversed(found) if mark.type == "when"), None)
        if (
            one.type == "when"
            and last is not None
            and text[last.end : one.start].strip(" .") == ""
            and one.start >= last.end
        ):
            found[found.index(last)] = replace(last, end=one.end)
        else:
            found.append(one)
    return found


_SWAP = patterns.compile(
    r"\b(?:switch\w*|swap\w*|chang\w+|umgestellt|gewechselt|umgestiegen|cambi\w+|troc\w+|remplac\w+|replac\w+|mud(?:ou|aram|ei))\b",
    "i",
)
_REACTS = patterns.compile(r"allerg|alerg|anaph|react|reag|vertr|toler|swell|hives|rash|throat", "i")


_TAKES_IT = patterns.compile(
    r"\b(?:takes?|taking|is on|are on|i'm on|nimmt|nehme|nehmen|tom[ao]|tomam|toman|prends?|prend)\s+(?:\w+\s+)?$", "i"
)


def _as_medicines(text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[Mark]:
    """What a list knows as a medicine is one, also where the reader took it for a condition, or a swap for an allergy."""
    named = {(one.start, one.end) for one in marks if one.type == "med"}
    found = []
    for one in marks:
        if one.type in ("cond", "allergy") and substance_of(text[one.start : one.end]) is not None:
            start, end = _span(spans, one.start, len(text))
            taken = _SWAP.search(text[start:end]) or _TAKES_IT.search(text[start : one.start])
            if one.type == "cond" or (taken and not _REACTS.search(text[start:end])):
                if (one.start, one.end) in named:
                    continue
                one = replace(one, type="med")
        found.append(one)
    return found


def _one_medicine(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """ "Insulin, glargine" is one medicine by two names."""
    found: list[Mark] = []
    for one in sorted(marks, key=lambda one: (one.start, -one.end)):
        last = next((other for other in reversed(found) if other.type == "med"), None)
        if one.type == "med" and last is not None and text[last.end : one.start].strip(" ,(") == "":
            kind = substance_of(text[one.start : one.end]) or ""
            if kind.startswith(f"{substance_of(text[last.start : last.end])} "):
                found[found.index(last)] = replace(last, end=one.end)
                continue
        found.append(one)
    return found


_SWAPPED_TO = patterns.compile(
    r"\b(?:switch\w*|swap\w*|chang\w+|mov\w+|put|umgestellt|gewechselt|wechsel\w*|cambi\w+|pas(?:s|é|ó)\w*|troc\w+|mud\w+)\b[^.,;!?]{0,24}?"
    r"\b(?:to|onto|over to|auf|zu|a|por|à|au|para|pra)\s+(?:the |el |la |le |o )?$",
    "i",
)
_SWAPPED_AFTER = patterns.compile(r"^[^.,;!?]{0,24}\b(?:umgestellt|gewechselt|umgestiegen)\b", "i")


_STARTED = patterns.compile(
    r"\b(?:start\w*|began|begun|put|prescribed|angefangen|begonnen|verschrieben|empe[cz]\w+|recetó|recetaron|commenc\w+|prescrit|comec\w+|receitou)\b",
    "i",
)


def begun(text: str, mark: Mark, span: tuple[int, int]) -> bool:
    """ "Started on it last week", "switched to it in May": the time is when a medicine began, not how long it lasted."""
    started = mark.type == "med" and mark.state == "now" and bool(_STARTED.search(text[span[0] : span[1]]))
    return started or swapped_to(text, mark, span)


def swapped_to(text: str, mark: Mark, span: tuple[int, int]) -> bool:
    """ "Mum got switched to apixaban": the new medicine is named, the one that it replaces is not."""
    if mark.type != "med" or mark.state != "now":
        return False
    before, after = text[span[0] : mark.start], text[mark.end : span[1]]
    return bool(_SWAPPED_TO.search(before) or (before.endswith("auf ") and _SWAPPED_AFTER.match(after)))


def _span(spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    return next(((a, b) for a, b in spans if a <= start < b), (0, end))


def _widened(text: str, mark: Mark) -> Mark:
    """Up to the ends of its words: "2" of "2.5 mg" is "2.5 mg"."""
    if mark.layer != "value":
        return mark
    start, end = mark.start, mark.end
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and end > 0 and _goes_on(text, end):
        end += 1
    if (
        mark.type == "dose"
        and text[end - 1 : end].isdigit()
        and (unit := _UNIT.match(text[end : end + 16])) is not None
    ):
        end += unit.end()
    return mark if (start, end) == (mark.start, mark.end) else replace(mark, start=start, end=end)


def _goes_on(text: str, at: int) -> bool:
    if text[at].isalnum():
        return text[at - 1].isalnum() or (
            text[at].isdigit() and text[at - 1] in ".," and text[at - 2 : at - 1].isdigit()
        )
    decimal = text[at] in ".," and text[at - 1].isdigit()
    return decimal and at + 1 < len(text) and text[at + 1].isdigit()


_JOB_OVER = patterns.compile(
    r"\b(?:left|leav\w+|quit\w*|last|final|former\w*|ex|old|previous|no longer|not|any ?more|resign\w*|fired|sacked|laid off|redundan\w*|notice|used to|"
    r"stop\w*|retir\w*|was|were|been|had|gave up|instead|from|until|goodbye|bye|kündig\w*|gekündigt|nicht mehr|früher|ehemalig\w*|letzte\w*|war|verlass\w*|"
    r"ya no|dej\w+|antes|renunci\w*|último|era|plus|quitt\w+|ancien\w*|dernier|était|já não|deix\w+|saí\w*|antig\w+)\b|n't\b|-ed\b",
    "i",
)
"""Words without which no work is over: "first days at the mill done" says that it began."""
_ALLERGY_OVER = patterns.compile(
    r"\boutgr\w+|\bgr[eo]wn? out|\bwent away|\bgone\b|\bused to\b|\bfrüher\b|\bantes\b|"
    r"(?:\bno longer|\bnot|n't|\bnicht mehr|\bnicht|\bya no|\bno|\bplus|\bpas|\bjá não|\bnão)\b.{0,24}(?:allerg|alérg|intoler)|"
    r"(?:allerg|alérg|intoler).{0,24}\b(?:any ?more|mehr|más|plus|mais)\b|"
    r"\b(?:can|kann|puede|puedo|peut|peux|pode|posso)\b.{0,30}\b(?:again|wieder|de nuevo|otra vez|à nouveau|de novo)\b",
    "i",
)
"""Words without which nobody says that an allergy is over: "can't eat gluten any more" says that it began."""


def _state(text: str, mark: Mark, marks: Sequence[Mark], span: tuple[int, int]) -> Mark:
    if mark.type == "med":
        return _medicine(text, mark, marks, span)
    if mark.type == "allergy" and mark.state == "end" and not _ALLERGY_OVER.search(text[span[0] : span[1]]):
        return replace(mark, state="now")  # "never again" ends the eating, not the allergy
    if mark.type in ("job", "employer") and mark.state == "end" and not _JOB_OVER.search(text[span[0] : span[1]]):
        return replace(mark, state="now")
    if mark.type == "home" and mark.state in ("end", "plan"):
        before, after = text[max(0, mark.start - 48) : mark.start], text[mark.end : mark.end + 32]
        german = before.endswith(" nach ") and _MOVED_AFTER.match(after)
        return replace(mark, state="now") if german or _MOVED_TO.search(before) else mark
    if mark.state == "end" and mark.layer == "value" and _FROM_TO.search(text[span[0] : mark.start]):
        return replace(mark, state="now")
    near = text[max(span[0], mark.start - NEAR) : min(span[1], mark.end + NEAR)]
    if mark.state == "plan" and mark.type in ("job", "employer", "home", "study") and _LASTING.search(near):
        return replace(mark, state="now")
    return mark


def _medicine(text: str, mark: Mark, marks: Sequence[Mark], span: tuple[int, int]) -> Mark:
    before, after = text[span[0] : mark.start], text[mark.end : span[1]]
    others = any(one.type == "med" and span[0] <= one.start < span[1] and one is not mark for one in marks)
    if mark.state in ("now", "plan") and others:
        if before.endswith(("von ", "from ")) and _SWAP.search(text[span[0] : span[1]]):
            return replace(mark, state="end")
        swapped = _SWAPPED.search(before) and _FOR.match(after)
        return replace(mark, state="end") if swapped or _INSTEAD.search(before) else mark
    to = _SWAPPED_TO.search(before) or (before.endswith("auf ") and _SWAPPED_AFTER.match(after))
    if mark.state == "end" and to:
        return replace(mark, state="now")
    if mark.state == "end" and not others and not _STOPPED.search(text[span[0] : span[1]]):
        return replace(mark, state="now")
    return mark


TAKES = patterns.compile(
    r"\b(?:tak\w+|took|on|off|prescri\w+|tablets?|pills?|capsules?|inhaler|inject\w*|jabs?|dos\w+|medic\w*|meds|puffs?|drops|cream|start\w*|"
    r"nimm\w*|nehm\w*|tablette\w*|verschr\w+|spritz\w*|tom[ao]\w*|pastillas?|receta\w*|inyec\w*|prend\w*|pris|comprim\w+|prescrit\w*|"
    r"ordonnance|comprimidos?|receit\w+|remédio\w*)\b",
    "i",
)


_GUESSED = patterns.compile(
    r"\b(?:might|may|could|maybe|perhaps|possibly|probably|suspects?|suspected|not sure (?:if|whether)|vielleicht|könnte|vermutlich|womöglich|verdacht|"
    r"quizás?|puede que|podría|sospech\w+|peut-être|pourrait|soupçonn\w+|talvez|pode ser|poderia|suspeit\w+)\b[^.;!?]{0,40}$",
    "i",
)


def guessed(text: str, mark: Mark, span: tuple[int, int]) -> bool:
    """Whether the words before say that somebody only thinks so: "I might have diabetes"."""
    return bool(_GUESSED.search(text[span[0] : mark.start]))


_AGE_THEN = patterns.compile(
    r"\b(?:at|when (?:i|he|she|they) (?:was|were)|since (?:i|he|she|they) (?:was|were)|since|mit|als \w+|seit|a los|con|desde los|à|quand \w+ avai[st]|"
    r"aos|com|quando \w+ tinha)\s+(?:the age of )?$",
    "i",
)


def past_age(text: str, mark: Mark) -> bool:
    """ "Diagnosed at 19": an age of then, not of now."""
    return mark.type == "age" and bool(_AGE_THEN.search(text[max(0, mark.start - 32) : mark.start]))


_SIDE = patterns.compile(r"^(?:my |the )?(?:left|right|linke\w*|rechte\w*) ", "i")
_NO_PERSON = frozenset({"home", "origin", "job", "employer", "med", "allergy", "cond"})
_PLACED = patterns.compile(
    r"\b(?:mov(?:e|ed|ing)|liv(?:e|es|ed|ing)|settl\w+|based) (?:back )?(?:to|in) $|\b(?:nach|wohn\w* in|vive en|mudé a) $",
    "i",
)
"""What stands before a place, and never before a person."""


def plausible(
    text: str, mark: Mark, marks: Sequence[Mark], span: tuple[int, int], known: frozenset[str], *, asked: bool = False
) -> bool:
    """Whether a value can be what it was marked as: a person is no place, and what nobody takes is no medicine.

    ``asked``: it answers the question what somebody takes."""
    said = text[mark.start : mark.end].strip(" ,.;:!?")
    placed = mark.type in ("home", "origin") and bool(_PLACED.search(text[max(0, mark.start - 24) : mark.start]))
    if mark.type in _NO_PERSON and said.casefold() in known and not placed:
        return False
    moved = mark.type == "home" and bool(_MOVED_TO.search(text[max(0, mark.start - 48) : mark.start]))
    if mark.type == "home" and mark.state == "now" and not moved and _FOR_NOW.match(text[mark.end : span[1]]):
        return False
    if past_age(text, mark) or (mark.type == "cond" and _SIDE.sub("", said.casefold()) in word_list("body_parts")):
        return False
    if mark.type != "med" or any(is_medicine(word) for word in said.split()):
        return True
    dosed = any(one.type == "dose" and span[0] <= one.start < span[1] for one in marks)
    if said.casefold().split()[-1:] and said.casefold().split()[-1] in word_list("any_medicine"):
        named = any(one.type == "med" and one is not mark and span[0] <= one.start < span[1] for one in marks)
        return dosed and not named
    return (dosed or asked or bool(TAKES.search(text[span[0] : span[1]]))) and mark.score >= SURE_OF_UNKNOWN


SURE_OF_UNKNOWN = 0.5
"""How sure the reader must be of a medicine that no list knows."""


_LIVES = (
    r"liv(?:e|es|ing|ed)|based|mov(?:e|es|ed|ing)|home|flat|apartment|house|room|place|settl\w+|stay\w*|wohn\w*|zieh\w*|zog\w*|\w*gezogen|"
    r"zuhause|haus|viv\w+|mud\w+|casa|piso|habit\w+|déménag\w+|emménag\w+|appart\w*|maison|mor[ao]\w*|apartamento"
)
_WORKS = (
    r"work\w*|jobs?|hired|join\w*|start\w*|offices?|shifts?|boss|colleagues?|manager|employ\w*|contract|intern\w*|firm|company|arbeit\w*|"
    r"firma|stelle|büro|chef\w*|schicht\w*|trabaj\w*|empresa|oficina|turnos?|jefe|jefa|travail\w*|boulot|entreprise|bureau|poste|"
    r"trabalh\w*|escritório|emprego"
)
_IS_A = r"(?:i'm|i’m|im|am|is|as|became|become|bin|als|soy|como|es|suis|comme|sou|é) (?:(?:an?|ein\w*|une?|uma?) )?"
_CUES = {
    "home": patterns.compile(rf"\b(?:{_LIVES})\b", "i"),
    "employer": patterns.compile(rf"\b(?:{_WORKS})\b", "i"),
    "job": patterns.compile(rf"\b(?:{_WORKS})\b|\b{_IS_A}", "i"),
}
SETTLED = 0.75
"""How sure the reader must be of where somebody lives or works when no word of the sentence speaks of living or working:
on lines that it had not seen two of three such marks below this were wrong."""


def supported(text: str, mark: Mark, span: tuple[int, int]) -> bool:
    """Whether a home or a workplace is one: the reader is sure, or the sentence speaks of living or working."""
    cue = _CUES.get(mark.type)
    return cue is None or mark.score >= SETTLED or bool(cue.search(text[span[0] : span[1]]))


_WAS_MOVED = patterns.compile(
    r"(?P<what>(?:[\w'’-]+ ){0,3}[\w'’-]+) (?:(?:is|are|was|were|has|have|had|been|got|now|being|'s|ist|wurde|sind|ha|han|sido|a|est|été|foi|já|se) )*"
    r"(?:moved|moves|postponed|pushed|rescheduled|put (?:off|back)|delayed|slips|slipped|verschoben|verlegt|aplazad[oa]|pospuest[oa]|reportée?|repoussée?|"
    r"décalée?|adiad[oa]|remarcad[oa])\b",
    "i",
)
_DETERMINER = patterns.compile(
    r"^(?:(?:the|my|our|a|an|and|so|but|der|die|das|mein|meine|el|la|mi|le|mon|ma|o|os|meu|minha|[\w-]+['’]s)\s+)+", "i"
)
_WHO = patterns.compile(
    r"(?:^|\s)(?:i|we|he|she|they|you|ich|wir|er|sie|yo|nosotros|él|ella|je|nous|on|il|elle|eu|nós|ele|ela)(?:'ve|'s)?$",
    "i",
)
CLOSE = 12
"""Characters between "put back" and the day to which."""
MOVED_SURE = 0.7
"""How sure an appointment is that is said to be put off to a day."""


def moved_events(text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[Mark]:
    """Appointments that are said to be moved to a day and that the reader took for nothing more than dropped."""
    found: list[Mark] = []
    for first, last in spans:
        match = _WAS_MOVED.search(text[first:last])
        here = [one for one in marks if first <= one.start < last]
        if match is None or any(one.type in ("event", "todo", "home", "employer") for one in here):
            continue
        after = first + match.end()
        days = [one for one in here if one.type == "when" and one.state != "neg"]
        if _WHO.search(match["what"]) or not any(0 <= one.start - after <= CLOSE for one in days):
            continue
        lead = _DETERMINER.match(match["what"])
        start = first + match.start("what") + (lead.end() if lead else 0)
        end = first + match.end("what")
        others = any(one.type in ("rel", "person") and first <= one.start < end for one in here)
        if start < end:
            found.append(Mark("value", "event", start, end, "other" if others else "self", "now", MOVED_SURE))
    return found
