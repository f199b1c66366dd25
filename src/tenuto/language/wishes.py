"""What the user allows: "don't save this", "forget that", "don't bring this up again", "remember this", "you can
mention it", "just between us". Obeyed by rules, never by a model, and reported in the receipt.

Each verb is an exact family of phrases. Look-alikes ("I'll never forget that", "don't forget to…", "forget it, let's
go") are told apart, because a wrong *forget* loses something and a missed one keeps what was not wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tenuto.language.sentences import opened
from tenuto.language.wish_phrases import JUST_SAID, forgotten, lifted, off_record, silenced
from tenuto.text import patterns


class Wish(StrEnum):
    DO_NOT_SAVE = "do_not_save"
    FORGET = "forget"
    DO_NOT_BRING_UP = "do_not_bring_up"
    REMEMBER = "remember"
    MAY_MENTION = "may_mention"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """One wish. ``about`` is what it is about in the user's words; empty for "this" and "that".

    ``statement`` is what is to be kept, for "remember that …". ``previous`` says that the message before is meant.
    """

    wish: Wish
    quote: str
    about: str = ""
    statement: str = ""
    previous: bool = False


_THIS = (
    r"(?:this|that|it|any of (?:this|that)|what i(?:'m about to say|(?:'ve| have)? just (?:said|told you)| "
    r"said| told you)|this (?:conversation|chat|message|part|one)|my last message|the last (?:thing|message)|"
    r"anything i say)"
)
_PLEASE = (
    r"^(?:(?:please|pls|hey|ok|okay|actually|and|but|so|also|oh|um|hmm|just|no|wait|sorry),? )*(?:(?:can|could|"
    r"would|will) you (?:please )?|i(?:'d| would) (?:like|prefer) (?:you|it if you) to |i want you to |i need "
    r"you to |you (?:can|should|must|may) |let's )?(?:please )?"
)
_DO_NOT_SAVE = patterns.compile(
    _PLEASE + rf"(?:(?:don't|do not|dont|never|not) (?:save|store|record|remember|keep|memori[sz]e|write down|log|"
    rf"note(?: down)?|retain|put) {_THIS}(?: (?:down|anywhere|in (?:your )?memory|to memory))?|"
    r"(?:this|that|the following|what i'm about to say) (?:is|stays|should be|must stay|has to stay) off(?:[- "
    r"]the[- ]record)|off[- ]the[- ]record\b|don't (?:let this|make this) (?:be|get) (?:saved|remembered|"
    r"stored)|keep (?:this|that|it) (?:out of (?:your )?(?:memory|memories|the record)|off the record)|"
    r"(?:this|that) (?:should(?:n't| not)|must not|mustn't) be (?:saved|stored|remembered|recorded|kept))",
    "i",
)
_FORGET = patterns.compile(
    _PLEASE + rf"(?:forget|erase|delete|unremember|scratch|wipe|remove|strike) (?:(?P<this>{_THIS}|everything i just "
    rf"said|that last (?:part|bit|one|message))(?: (?:from (?:your |my )?(?:memory|memories|record|records)|"
    rf"please|ok|okay|now|completely|entirely))*[.! ]*$|"
    r"(?:that i(?: once)?(?: told you| said)?(?: that)? |that my |that |about (?:that |the fact that )?|"
    r"(?:everything|anything|all|what(?:ever)?) (?:you (?:know|remember|have)|i(?:'ve| have)? (?:told you|"
    r"said)) about |my |the (?:thing|part|fact|memory|memories) (?:about|that|of) |i (?:ever )?(?:said|told "
    r"you|mentioned) )(?P<about>.+))",
    "i",
)
_NOT_FORGET = patterns.compile(
    r"\b(?:never|not|don't|won't|can't|cannot|couldn't|didn't|do not|will not|almost|always|i|you|we|they|he|"
    r"she) (?:ever )?forget\b|^forget about it\b",
    "i",
)
_LET_GO = patterns.compile(r"^forget it[,!.]? ", "i", not_before="please")
_BRING_UP = patterns.compile(
    _PLEASE + r"(?:(?:don't|do not|dont|never|stop|quit|no need to|let's not|let us not|not) (?:ever )?(?:(?:bring|"
    r"bringing) (?:up )?(?P<a1>.+?)(?: up)?|(?:mention|mentioning|raise|raising|discuss|discussing|"
    r"ask(?:ing)? (?:me )?about|remind(?:ing)? me (?:of|about)|talk(?:ing)? about|refer(?:ring)? to) "
    r"(?P<a2>.+?))(?: (?:again|any ?more|ever|ever again|to me|with me|unless i (?:do|ask|bring it up)(?: "
    r"first)?|from now on|in (?:the )?future|please|around me|unprompted))*[.! ]*$|"
    r"i (?:really )?(?:don't|do not) (?:want|like|wish) (?:to (?:talk|speak|hear|be reminded|be asked)(?: "
    r"(?:about|of))?|you (?:to (?:mention|bring up|talk about|ask about)|bringing up|mentioning)) "
    r"(?P<a3>.+?)(?: (?:again|any ?more|ever|ever again))*[.! ]*$)",
    "i",
)
_REMEMBER = patterns.compile(
    _PLEASE + r"(?:(?:remember|note|keep in mind|bear in mind|make a note|take note|don't (?:ever )?forget|never "
    r"forget|save|store|record|memori[sz]e|write down|know)(?: (?:this|the following|it))?(?:,)?(?: for "
    r"(?:me|later|next time|the future))?(?: please)?(?:(?: that)|:|,| -)? (?P<statement>.{4,}))",
    "i",
)
_REMEMBER_THIS = patterns.compile(
    _PLEASE + rf"(?:remember|save|store|keep|note|write down|memori[sz]e) {_THIS}(?: (?:down|in (?:your )?memory|for "
    r"(?:me|later|next time)|please|forever))*[.! ]*$",
    "i",
)
_NO_STATEMENT = patterns.compile(
    r"(?:to|when|me|how|us|about|if|the time|the day|what|where|who|why|for|your|that time|in (?:your )?memory|please|"
    r"and|last|those|you)\b",
    "i",
)
"""What is to be done rather than kept, or says no more than "this"."""
_TASK = patterns.compile(
    _PLEASE + r"(?:save|store|record|write down|memori[sz]e|know|note)",
    "i",
    not_before=r" (?:that|this|it|the following)\b|:",
)
"""Without "that", these ask for work as often as for memory: "write down the equation"."""
_MAY_MENTION = patterns.compile(
    _PLEASE + r"(?:(?:you|u)(?:'re| are)? (?:can|may|could|are (?:allowed|free|welcome) to|allowed to|free to|welcome "
    r"to) (?:still |always |now |totally |definitely |freely )*(?:mention|bring(?: up)?|talk about|ask (?:me "
    r")?about|remind me (?:of|about)|raise|refer to|use|discuss) (?P<about>.+?)(?: up)?(?: (?:again|any "
    r"?time|whenever(?: you (?:want|like))?|if you (?:want|like)|now|too|as much as you (?:want|like)|freely|"
    r"when relevant))*[.! ]*$|"
    r"(?:it's|its|it is|that's|i'm|i am) (?:ok|okay|fine|alright|all right|totally fine|cool|comfortable)(?: "
    r"with me)?(?: if you| to| for you to| with you|you) ?(?:mention(?:ing)?|bring(?:ing)?(?: up)?|"
    r"talk(?:ing)? about|ask(?:ing)? about|discuss(?:ing)?) (?P<about2>.+?)(?: up)?(?: (?:again|any ?time|now|"
    r"whenever))*[.! ]*$|"
    r"feel free to (?:mention|bring(?: up)?|talk about|ask about|discuss) (?P<about3>.+?)(?: up)?(?: (?:again|"
    r"any ?time|now|whenever))*[.! ]*$|"
    r"(?:mention|bring(?: up)?) (?P<about4>it|this|that)(?: up)? (?:any ?time|whenever|as (?:much|often) as "
    r"you (?:want|like))[.! ]*$)",
    "i",
)
_PRIVATE = patterns.compile(
    r"\b(?:just |strictly |only |this (?:is|stays) |keep (?:this|it|that) )?between (?:us|you and me|the two "
    r"of us)\b|\b(?:don't|do not|dont|never) (?:tell|share (?:this |that |it )?with|let) (?:anyone|anybody|the "
    r"others?|others|(?:any |the )?other (?:personas?|assistants?|bots?|agents?|coaches)|my (?:other "
    r")?(?:coach|assistant|tutor|therapist|personas?)|the (?:coach|tutor|assistant))\b|"
    r"\b(?:this is |it's |that's )?(?:our (?:little )?secret|a secret between us)\b|\bfor your (?:eyes|ears) "
    r"only\b|\bkeep (?:this|it|that) (?:a secret|to yourself|private|confidential)\b|\bonly you (?:should|may|"
    r"can) know\b",
    "i",
)
_VAGUE = patterns.compile(
    rf"^(?:{_THIS}|anything|something|them|these things|the subject|this topic|that topic|the topic|this again|that again|(?:the |that )?(?:last )?(?:one|bit|part|thing))$",
    "i",
)


_THING = r"(?:das|dies|es|eso|esto|ello|ça|cela|ce que je (?:viens de dire|t'ai dit)|isso|isto|was ich (?:gerade )?gesagt habe|lo que (?:te )?dije|o que eu disse)"
_OTHER_LANGUAGES: tuple[tuple[Wish, patterns.Pattern], ...] = (
    (
        Wish.DO_NOT_SAVE,
        patterns.compile(
            rf"\b(?:(?:bitte )?nicht (?:ab)?speichern\b|bitte nicht (?:merken|notieren|aufschreiben)\b|n'en gardez? rien|ne gardez? rien|speicher\w* {_THING} (?:bitte )?nicht|merk\w* dir {_THING} (?:bitte )?nicht|no (?:lo )?guardes(?: {_THING})?|"
            rf"no (?:lo )?recuerdes {_THING}|n'enregistre pas|ne (?:garde|retiens|note) pas|não (?:guarde?s?|salv[ae]s?|grave?s?|memorize) {_THING})",
            "i",
        ),
    ),
    (
        Wish.FORGET,
        patterns.compile(
            rf"^(?:bitte |por favor,? |s'il te plaît,? )?(?:vergiss|olvida|olvídate de|oublie|esque[cç][ea]s?|apaga|lösch\w*|borra|efface)"
            rf"(?: bitte)?,? (?:{_THING}\b.{{0,24}}$|(?:über |dass |que |qu'|lo de |lo que (?:te )?dije (?:de|sobre) |ce que j'ai dit (?:de|sur) |"
            rf"o que (?:eu )?(?:te )?disse (?:sobre|da|do|de) |was ich (?:über|von) |a história (?:da|do) )(?P<about>.+))",
            "i",
        ),
    ),
    (
        Wish.DO_NOT_BRING_UP,
        patterns.compile(
            r"\b(?:erwähn\w* (?P<a1>.+?) (?:bitte )?(?:nicht|nie)(?: mehr| wieder)*|sprich (?:mich )?(?:bitte "
            r")?(?:nicht|nie)(?: mehr)? "
            r"(?:auf|über|von) (?P<a2>.+?)(?: an)?|no (?:me )?(?:menciones|hables|saques)(?: más| nunca)*(?: el "
            r"tema)?(?: de| sobre| a)* (?P<a3>.+?)|"
            r"ne (?:me )?(?:parle|reparle|mentionne)(?:s)?(?: plus| pas| jamais)+ (?:de |du |d')?(?P<a4>.+?)|"
            r"não (?:me )?(?:fale?s?|mencione?s?|toque?s?)(?: mais| nunca)*(?: no assunto)?(?: n?[doa]s?| em| "
            r"de| sobre)* (?P<a5>.+?))[.! ]*$",
            "i",
        ),
    ),
    (Wish.PRIVATE, patterns.compile(r"\b(?:unter uns|entre nosotros|entre nous|entre nós)\b", "i")),
)
"""The plainest wordings in the other languages that are read; the reader knows the rest."""


LONGEST = 600
"""Characters of the longest sentence in which plain words for a wish are looked for."""


def wish_of(sentence: str) -> Consent | None:
    """The wish that one sentence states in plain words, or ``None``: the net under the reader."""
    if len(sentence) > LONGEST:
        return None
    return _english(sentence) or _plain(sentence) or _other(sentence)


def _plain(sentence: str) -> Consent | None:
    said = sentence.strip()
    if off_record(said):
        return Consent(wish=Wish.DO_NOT_SAVE, quote=said, previous=bool(JUST_SAID.search(said)))
    for wish, found in ((Wish.FORGET, forgotten), (Wish.DO_NOT_BRING_UP, silenced), (Wish.MAY_MENTION, lifted)):
        if (about := found(said)) is not None and not (wish is Wish.FORGET and _lets_go(said)):
            return Consent(wish=wish, quote=said, about=about, previous=not about)
    return None


def _other(sentence: str) -> Consent | None:
    for wish, pattern in _OTHER_LANGUAGES:
        if match := pattern.search(sentence.strip()):
            about = next((part for part in match.groupdict().values() if part), "").strip(" .!?,")
            about = "" if patterns.fullmatch(_THING, about, "i") else about
            previous = wish in (Wish.FORGET, Wish.DO_NOT_BRING_UP) and not about
            return Consent(wish=wish, quote=sentence.strip(), about=about, previous=previous)
    return None


def _english(sentence: str) -> Consent | None:
    plain = opened(sentence).strip()
    if _DO_NOT_SAVE.search(plain):
        past = bool(patterns.search(r"just (?:said|told)|last (?:message|thing)|\bi said\b|\bi told you\b", plain, "i"))
        return Consent(wish=Wish.DO_NOT_SAVE, quote=sentence, previous=past)
    if (match := _FORGET.search(plain)) and not _lets_go(plain):
        about = _about(match["about"])
        return Consent(wish=Wish.FORGET, quote=sentence, about=about, previous=not about)
    if match := _BRING_UP.search(plain):
        about = _about(match["a1"] or match["a2"] or match["a3"])
        return Consent(wish=Wish.DO_NOT_BRING_UP, quote=sentence, about=about, previous=not about)
    if _PRIVATE.search(plain):
        return Consent(wish=Wish.PRIVATE, quote=sentence)
    if match := _MAY_MENTION.search(plain):
        about = _about(match["about"] or match["about2"] or match["about3"] or match["about4"])
        return Consent(wish=Wish.MAY_MENTION, quote=sentence, about=about, previous=not about)
    if sentence.rstrip().endswith("?") and not patterns.match(r"(?:can|could|would|will) you\b", plain, "i"):
        return None
    statement = _statement(plain)
    if statement or _REMEMBER_THIS.match(plain):
        if statement and _TASK.match(plain) and not patterns.match(r"(?:i|i'm|i've|my|our|we)\b", statement, "i"):
            return None
        return Consent(wish=Wish.REMEMBER, quote=sentence, statement=statement, previous=not statement)
    return None


def _lets_go(text: str) -> bool:
    """ "I'll never forget", "forget it, let's go": no wish to have anything forgotten."""
    return _NOT_FORGET.search(text) is not None or _LET_GO.search(text) is not None


def _statement(text: str) -> str:
    """What is to be remembered, in so many words."""
    match = _REMEMBER.match(text)
    if match is None or _NO_STATEMENT.match(match["statement"]):
        return ""
    return match["statement"].strip(" .!?")


def without_privacy(text: str) -> str:
    """What was confided, without the asking for confidence."""
    rest = _PRIVATE.sub("", text)
    rest = patterns.sub(
        r"^[\s,:;.!-]+|[\s,:;!-]*\b(?:but|and|so|please|keep (?:this|it|that))[\s,]*[.!]*$", "", rest, flags="i"
    )
    return patterns.sub(r"^(?:but|and|that) ", "", rest.strip(" ,:;"), flags="i")


def _about(words: str | None) -> str:
    cleaned = (words or "").strip(" .!?,")
    cleaned = patterns.sub(
        r" (?:up|again|any ?more|ever|please|from (?:your |my )?(?:memory|memories|records?)|ok|okay)$",
        "",
        cleaned,
        flags="i",
    ).strip()
    return "" if not cleaned or _VAGUE.match(cleaned) else cleaned
