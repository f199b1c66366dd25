"""How something is said: plainly, with a hedge, as a limit, of somebody else, or not at all.

Lists of words and small decisions over them. A value is *stated* only where every word around it is known to leave it
as it is; a word that nobody listed makes it a proposal, which is shown and needs a yes. So the lists may be short
without being unsafe.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenuto.language.consent import Consent, consent
from tenuto.text import patterns
from tenuto.workflow.reading import blanked, clauses, texts, words


def _list(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN = _list(
    """
    number a an the of to from in on at for with and so then just only exactly please pls thanks thank you ok
    okay well yes yeah no hi hello um uh hm hmm oh ah now it its it's that's that is are be will would i i'd
    i'll i'm id im we we'd we'll we're us me let let's lets like love want need prefer make makes do use using
    go going take pick choose plan switch change set give try start instead actually total there them those
    these say should has perfect great good fine nice plenty enough best right sounds works here cool alright
    our this next coming ones one by leave leaves leaving return arrive fly bitte danke ja gern gerne oui merci
    por favor gracias si s'il te vous plait plaît et y und e
    """
)
"""Words beside which a value stays as stated."""
LEAD = _list(
    "plus i i'm im am we we're are also and oh too yes well so please just still ok okay um by the way btw a bit"
)
"""Words before a relation of the person's own: "oh and I'm also" allergic to."""
NEGATIONS = _list(
    """
    not never without except nor neither cannot dont doesnt isnt wont cant aint avoid hate hates skip drop nicht
    kein keine keinen pas sans sin nunca
    """
)
_NEAR_NEGATIONS = _list("no from than")
"""Negations only right before a value, or one word away from it."""
SENTENCE = _list(
    """
    i i'm i'd i'll i've you you're he she we we're they me him her us them my your his their our it this that
    these those is are was were be been am has have had do does did will would can could should because when
    while who which what there here gave told said wants want used as hurts
    """
)
"""Words of a sentence: an answer that has one of them says more than a value."""
VAGUE = _list(
    """
    somewhere anywhere everywhere nowhere something anything everything someone somebody anyone whatever
    wherever whichever lot lots bunch various home usual same different other others else some any few several
    many
    """
)
_HEDGES = (
    "maybe", "perhaps", "might", "possibly", "not sure", "unsure", "i guess", "could be", "probably", "thinking about",
    "thinking of", "what if", "i think", "i suppose", "i believe", "if", "unless", "kind of", "ideally", "hopefully",
    "vielleicht", "wahrscheinlich", "peut être", "quizás", "quizas", "tal vez", "talvez", "forse",
)  # fmt: skip
_PAST = ("used to", "last time", "last year", "last week", "years ago", "yesterday", "had", "was", "were")
_CORRECTIONS = ("no wait", "wait", "sorry", "i mean", "make that", "scratch that", "correction", "or rather")
_REFUSALS = (
    "rather not say", "rather not tell", "rather not answer", "rather not share", "rather not give", "prefer not",
    "prefer to not", "not telling", "won't say", "won't tell", "don't want to say", "don't want to answer",
    "don't want to tell", "do not want to say", "do not want to answer", "none of your business", "not your business",
    "no comment", "that's private", "it's private", "is private", "that's personal", "it's personal", "too personal",
    "decline to", "refuse to", "not comfortable", "keep that to myself", "möchte ich nicht", "will ich nicht sagen",
    "geht sie nichts an", "lieber nicht", "préfère ne pas", "prefiero no", "prefiro não",
)  # fmt: skip
LONGEST_REFUSAL = 14
"""Words: a longer message that has such a phrase says something else too."""
_GREETINGS = _list(
    """
    hello hi hey lol haha hehe omg wow ugh yay huh oops there good morning afternoon evening night day thanks
    thank you very much many so bye goodbye cheers welcome nice to meet how are doing again everyone all hola
    buenos buenas días dias tardes noches hallo guten tag morgen abend grüß gott servus moin bonjour bonsoir
    salut ciao buongiorno olá ola bom boa dia tarde merci danke gracias
    """
)
_SHRUG = patterns.compile(
    r"^\W*(?:i\s+(?:don'?t|do not|can'?t|cannot|couldn'?t)\s+(?:know|care|mind|remember|recall|decide|say|tell|"
    r"think of)|i forgot|can'?t (?:decide|remember|say)|i'?m not sure|i have no|no idea|no clue|no preference|"
    r"not sure|dunno|idk|skip|next|pass|whatever|whichever|later|help|what|why|how|when|where|who|hm+|wait|"
    r"hold on|one moment|one sec|a moment|let me|sorry|oops|ignore|give me|see|read above|check|refer to|not yet|"
    r"haven't|have not|tell me|show me|explain|can you|can't you|could you|would you|do you|do i|did you|are you|"
    r"is it|is that|you (?:decide|choose|pick|tell|know)|surprise me|up to you|your (?:choice|call)|ask|"
    r"as (?:many|much|soon|long|few)|it depends|depends|the (?:usual|same)|same as|anything|any|doesn't matter|"
    r"does not matter|i'?ll|weiß nicht|keine ahnung|egal|je ne sais pas|no s[eé])\b",
    "i",
)
_ABOUT = _list("about around roughly approximately approx circa ca nearly almost like ungefähr etwa environ unos cerca")
_LIMITS = (
    "more than", "less than", "fewer than", "greater than", "higher than", "lower than", "bigger than", "smaller than",
    "other than", "at least", "at most", "up to", "under", "over", "above", "below", "max", "maximum", "min", "minimum",
    "between", "within", "no more than", "as many as", "mindestens", "höchstens", "maximal", "au moins", "au plus",
    "al menos", "más de", "menos de", "plus de", "moins de", "mehr als", "weniger als", "bis zu",
)  # fmt: skip
_LIMITS_BEHIND = (
    "or more", "or less", "or fewer", "or so", "max", "maximum", "minimum", "at most", "at least", "tops", "or under",
    "or over", "plus", "ish",
)  # fmt: skip


def has(said: Sequence[str], phrases: Iterable[str]) -> bool:
    """Does one of the phrases stand in these words?"""
    joined = f" {' '.join(said)} "
    return any(f" {phrase} " in joined for phrase in phrases)


def hedged(said: Sequence[str]) -> bool:
    return has(said, _HEDGES)


def past(said: Sequence[str]) -> bool:
    """Told of another time."""
    return has(said, _PAST)


def corrects(said: Sequence[str]) -> bool:
    """Does the person take back what they have just said?"""
    return has(said, _CORRECTIONS)


def negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def away(before: Sequence[str]) -> bool:
    """Do the words of the clause before a value turn it away? "Not", "instead of", "anything but"."""
    if any(negation(word) for word in before) or has(before, ("used to",)):
        return True
    near = list(before[-2:])
    if any(word in _NEAR_NEGATIONS for word in near):
        return True
    return near[-2:] in (["instead", "of"], ["rather", "than"])


def about(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Is a number only roughly meant?"""
    return any(word in _ABOUT for word in before[-2:]) or has(behind[:2], ("or so", "ish"))


def limit(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Is a number a limit and not a value? "At least 3", "5 or more"."""
    return has(before[-4:], _LIMITS) or has(behind[:2], _LIMITS_BEHIND)


def plain(said: Iterable[str], known: Iterable[str]) -> bool:
    """Are all of these words known to leave a value as it is?"""
    also = set(known)
    return all(word in PLAIN or word in also for word in said)


def without_fillers(text: str, known: Iterable[str]) -> str:
    """The text with clauses crossed out that say nothing by themselves: what is left around words that were read."""
    also, found = set(known), words(text)
    empty = [
        (found[one.first].start, found[one.last - 1].end)
        for one in clauses(text)
        if all(
            word.text in LEAD or word.text in PLAIN or word.text in also or word.text in ("my", "our")
            for word in found[one.first : one.last]
        )
    ]
    return blanked(text, empty)


def declines(text: str) -> bool:
    """Does the person say that they will not say?"""
    said = texts(words(text))
    return len(said) <= LONGEST_REFUSAL and "?" not in text and (has(said, _REFUSALS) or said[-2:] == ["rather", "not"])


def no_answer(text: str) -> bool:
    """Not a free answer: a greeting, a request, a shrug, or something that begins with yes or no."""
    said = texts(words(text))
    if not said or all(word in _GREETINGS for word in said) or declines(text):
        return True
    if any(consent(part) is not Consent.UNCLEAR for part in (text, said[0])):
        return True
    return "\n" in text.strip() or bool(_SHRUG.match(text.replace("’", "'")))
