"""From a message to its sentences, each with what kind of speech it is.

Only the speaker's own statements may become memories, so everything else has to be recognised first: questions,
requests, greetings, reactions, hypotheticals, other people's words, jokes. The rules are word lists and short patterns
that a person can read; each sentence carries the reason for its class. What would break this: a pattern that needs to
look at the whole message again and again. Work is bounded: at most ``MOST`` sentences of ``LONGEST`` characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tenuto.language.own_words import own_words
from tenuto.text import patterns

MOST = 240
"""Sentences of one message that are looked at."""
LONGEST = 600
"""Characters of one sentence that are looked at."""


class Speech(StrEnum):
    """What a sentence does."""

    STATEMENT = "statement"
    QUESTION = "question"
    REQUEST = "request"
    GREETING = "greeting"
    REACTION = "reaction"
    HYPOTHETICAL = "hypothetical"
    QUOTATION = "quotation"
    JOKE = "joke"
    FRAGMENT = "fragment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """``text`` is the speaker's own wording; ``plain`` the same with straight apostrophes and openers removed."""

    text: str
    plain: str
    speech: Speech
    reason: str = ""
    negated: bool = False
    hedged: bool = False
    reported_by: str | None = None


_QUOTE_SPAN = patterns.compile(r"[“\"](?P<said>[^“”\"\n]{2,500})[”\"]")
_SINGLE_QUOTED = patterns.compile(r"'[^'\n]{12,300}'", not_after=r"\w", not_before=r"\w")
_ABBREVIATION = patterns.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|sr|jr|vs|etc|e\.g|i\.e|a\.m|p\.m|no|inc|ltd|co|corp|approx|dept|est|fig|u\.s|"
    r"u\.k|ph\.d|"
    r"jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|[a-z])\.$",
    "i",
)
_BREAK = patterns.compile(r"[.!?…]+[)\"'”’\]]*|\n+|[。！？]+|[-–—]{1,2}|;")
"""What may end a sentence; :func:`_breaks` sees whether it does."""
_OPENER = patterns.compile(
    r"(?P<it>(?:hey|hi|hello|yo|hiya|howdy|oh|ah|aw+|wow|well|so|ok|okay|yeah|yep|yup|yes|no|nope|nah|sure|um+|"
    r"uh+|hmm+|man|dude|gosh|"
    r"btw|by the way|anyway|anyways|also|actually|honestly|basically|oh and|thanks|thank you|cool|great|nice|"
    r"right|true|"
    r"fyi|lol|haha+|hah|hehe|omg|good news|guess what|you know(?: what)?|i mean|look|listen|to be honest|tbh|for sure|"
    r"speaking of which|funny enough|unfortunately|fortunately|luckily|sadly|thankfully|same here|me too|plus|"
    r"and|but|then|"
    r"quick update|update|good morning|good evening|good afternoon|absolutely|definitely|totally|of course|"
    r"exactly|recently|lately)"
    r"(?:,? [A-Z][a-z]{1,14})?)(?:(?P<mark>\s*[,!.:…]+\s*)|(?P<gap>\s+)(?:i|i'm|i've|i'd|i'll|my|we|our|me|it|the)\b|$)",
    "i",
)
_VOCATIVE = patterns.compile(r"^(?P<name>[A-Z][a-z]{1,14}, )(?:I|I'm|I've|my|we|our)\b")
_EXPLAINED = patterns.compile(r"^[A-Z][a-z]{1,14}, (?:my|our) (?:[\w-]+ ){0,2}[\w-]+, ")
"""A name that is called; not one that is explained ("John, my cofounder, …")."""


_GREETING = patterns.compile(
    r"^(?:(?:hey|hi|hello|yo|hiya|howdy|good (?:morning|evening|afternoon|night|day)|morning|evening|bye|"
    r"goodbye|good night|"
    r"see (?:you|ya)|talk (?:to you )?(?:soon|later)|take care|thanks?|thank you|cheers|welcome|congrat\w*|"
    r"happy (?:birthday|"
    r"new year|holidays)|merry christmas|sorry to hear|long time no see|(?:it'?s |so )?(?:good|great|nice|"
    r"lovely) to (?:see|hear|meet|"
    r"talk|chat)|sweet dreams|sleep well|have a (?:good|great|nice|lovely)|cya|ttyl|gn|gm|later|catch you|"
    r"until next time|"
    r"see you|speak soon|no (?:problem|worries)|you'?re welcome|my pleasure|glad to (?:hear|help)|hope you|"
    r"hope it|hope that|"
    r"i hope you|i hope your|hope your|good luck|best of luck|all the best|nice chatting|great chatting|good "
    r"chatting)\b)",
    "i",
)
_QUESTION_WORD = patterns.compile(
    r"^(?:and |but |so |or )?(?:who|whom|whose|what|when|where|why|how|which|what's|who's|where's|how's|when's|"
    r"why's|whats|hows)\b",
    "i",
)
_INVERSION = patterns.compile(
    r"^(?:and |but |so |or )?(?:(?:is|are|does|did|was|were|should|could|would|isn't|aren't|wasn't|doesn't|didn't) \w+|"
    r"(?:do|don't|am|can|will|shall|may|might|must|have|has|had|haven't|hasn't|won't|wouldn't|can't|couldn't|"
    r"shouldn't) "
    r"(?:you|i|we|they|he|she|it|this|that|there|your|my|our|his|her|their|someone|anyone|everyone|anybody)\b)",
    "i",
)
_TAG = patterns.compile(
    r",? (?:right|you know|isn't it|aren't i|don't i|haven't i|remember|no|ok|okay|huh|eh|yeah|can you believe "
    r"(?:it|that))\?+$",
    "i",
)
_REQUEST = patterns.compile(
    r"^(?:please |pls |kindly |just |ok(?:ay)?,? )*(?:tell|give|show|help|write|make|send|remind|let me know|"
    r"let's|lets|let us|find|"
    r"explain|translate|summari[sz]e|book|list|draft|create|generate|suggest|recommend|compare|describe|check|"
    r"search|look up|"
    r"play|set|open|turn|stop|start|continue|try|add|remove|delete|fix|convert|calculate|imagine|keep|use|"
    r"don't|do not|never|always|"
    r"answer|reply|respond|speak|talk|call|schedule|plan|pick|choose|read|rewrite|edit|proofread|shorten|"
    r"expand|ask|act|"
    r"pretend|ignore|forget|remember|note|save|store|wait|hold on|go|come|take|bring|enjoy|feel free|say|watch|"
    r"listen|be|have|"
    r"get|put|run|guess|trust|believe|picture|think|consider|let|walk me|teach|count|define|review|share|email|text)\b",
    "i",
    not_before=r" (?:is|was|are|has|had)\b",
)
_WANTED = patterns.compile(
    r"^(?:so |and |but |now |ok(?:ay)? |then )*(?:i|we)(?:'d| would| just| really| also| still)* (?:need|want|"
    r"like|require) (?:you\b|your\b|to (?:see|know|understand|hear|"
    r"make sure|be sure|confirm|check|find out|figure out|ask)\b|help\b|some help\b|(?:a|an|the) (?:list|"
    r"summary|draft|plan|table|answer|version|outline|breakdown|overview|script|template)\b)",
    "i",
)
"""What is wanted from the assistant here and now."""
_PLEASE = patterns.compile(
    r"^(?:can|could|would|will) you\b|\bplease\b.{0,40}[.!]?$|^i(?:'d| would) (?:like|want) you to\b|^i need you to\b",
    "i",
)
_HYPOTHETICAL = patterns.compile(
    r"^(?:but |and |so |then |even |well |like )*(?:if|what if|suppose|supposing|imagine|assuming|assume|let's "
    r"say|lets say|say (?:i|we|my|"
    r"someone)|pretend|hypothetically|in theory|theoretically|unless|in case|had i|were i|in another life|if only|"
    r"for example|for instance|e\.g|as an example|picture this)\b"
    r"|\bi wish\b|\bif i (?:was|were|had|could|ever|won|did)\b|\b(?:i|we|he|she|they) (?:would|could|should|"
    r"might) have\b|"
    r"\bwouldn't (?:it|that|i|you)\b|"
    r"\bpretend (?:i|that|we|you)\b|\bhypothetical|\bin a (?:parallel|different) (?:universe|life|world)\b|"
    r"\bwould be (?:nice|great|cool|fun|"
    r"awesome|amazing|lovely|good|perfect)\b|\bit'd be\b",
    "i",
)
_WOULD = patterns.compile(
    r"\b(?:i|we|he|she|they)(?:'d| would) (?:be|have|do|go|move|buy|live|quit|die|kill|never|probably|rather|say|need|"
    r"choose|pick|take|get|give|become|try)\b",
    "i",
    not_before=r" to (?:see|hear)\b",
)
_JOKE_HARD = patterns.compile(
    r"\b(?:just kidding|only kidding|i'?m (?:just |only )?(?:kidding|joking)|jk|j/k|just joking|not "
    r"really\b[.! ]*$|sike|psych!|sarcasm|"
    r"that was a joke|it'?s a joke|no i'?m not,? (?:lol|haha)|(?:got|had) you there)\b|(?:^|\s)/s(?:\s|$)",
    "i",
)
_JOKE_SOFT = patterns.compile(
    r"(?:\b(?:lol|lmao|rofl|haha+|hehe+|lolz|xd)|[😂🤣😜😝🤪😏🙃])[\s.!😂🤣😜😝🤪😏🙃]*$", "i"
)
_HYPERBOLE = patterns.compile(
    r"\b(?:a million|a billion|a thousand times|literally (?:die|dying|dead)|so hungry i could|could eat a "
    r"horse|to death|forever and ever|"
    r"dying of|going to kill|gonna kill|killing me|i'?m (?:dead|dying)\b|million years|rule the world)\b",
    "i",
)
_REACTION = patterns.compile(
    r"^(?:(?:wow|woah|whoa|yay|aw+|ugh|oof|omg|gosh|damn|cool|nice|great|awesome|amazing|lovely|sweet|perfect|"
    r"exactly|absolutely|"
    r"definitely|totally|agreed|indeed|true|right|sure|ok|okay|yeah|yep|yes|no|nope|haha+|lol|hmm+|interesting|"
    r"fantastic|wonderful|"
    r"incredible|brilliant|excellent|impressive|beautiful|gorgeous|cute|good|well done|good (?:job|call|idea|"
    r"point|for you)|"
    r"fair enough|makes sense|got it|i see|me too|same|no way|of course|you bet|woohoo|congrats|glad|"
    r"k|kk|fine)\b"
    r"[\s,!.]*)+(?:[A-Z][a-z]+)?[\s,!.]*$"
    r"|^(?:that|this|it|those|these|they|what a|how|such|so|looks?|sounds?|seems?|must|your|you)(?:'s|'re|'ll|'d|s)?\b",
    "i",
)
_EMPTY_SELF = patterns.compile(
    r"^(?:i|i'm|i'll|i'd|i've|we|we'll|we're)\b[' ]?(?: (?:really|totally|completely|just|also|so|too|do|am|"
    r"definitely|fully|truly|always|"
    r"still|even|can|can't|could|will|would|all|both))* ?(?:agree|understand|see|know|think so|guess|hope so|"
    r"feel you|get it|hear you|appreciate|thank|bet|"
    r"promise you|swear|mean it|mean|believe in you|admire|respect|don't know|dunno|love (?:it|that|this|your|"
    r"you|how|the way|those|these|hearing|seeing)|like "
    r"(?:it|that|this|your|how|those|these)|hate (?:it|that|this|when)|enjoy(?:ed)? (?:it|that|this|our|"
    r"talking|chatting)|glad|happy (?:to hear|for you)|proud of you|sorry|so "
    r"(?:glad|sorry|happy for)|excited for you|thrilled for you|sure|not sure|wondering|curious|all ears|here "
    r"for you|rooting|"
    r"wait to (?:hear|see|try)|look forward|looking forward|keep (?:you|that|it)|let you know|see|be (?:fine|"
    r"ok|okay|right|there|here|back)|"
    r"tell you|say|have no idea|forgot|remember(?: that)? (?:you|your|when you)|imagine|relate|talk to "
    r"you|check it|couldn't agree|can only imagine|had no idea|wonder|never (?:knew|thought|"
    r"seen|heard)|would too|feel that|feel the same|owe you|care about you|miss you|was (?:just )?(?:kidding|"
    r"wondering|thinking about you)|need (?:it|that|this)|want (?:it|that|this)|"
    r"figured|suppose|doubt|believe (?:it|that|so|you)|support you|trust you|in[.!]*$|(?:am|'m)? ?(?:good|fine|"
    r"ok|okay|great|well|alright|back|here|listening|doing (?:well|good|great|fine|ok))[.,! ]*(?:thanks?.*)?$)",
    "i",
)
_REPORTED = patterns.compile(
    r"^(?P<who>(?:my |our |the |his |her |their |a |one |some |this )?[\w'. ]{1,40}?|he|she|they|people|"
    r"everyone|someone|somebody|rumou?r has it) "
    r"(?:(?:once|always|just|also|recently|often) )?(?:said|says|say|tells? (?:me|us)|told (?:me|us|him|her|"
    r"them|everyone)|claims?|claimed|thinks?|thought|believes?|"
    r"insists?|insisted|reckons?|jokes?|joked|asked|suggest(?:s|ed)?|mention(?:s|ed)|wrote|argues?|argued|"
    r"swears?|pretends?|accused|called me|calls me|"
    r"reported|announced|has it|keeps? (?:saying|telling))\b",
    "i",
)
_NO_TELLER = patterns.compile(r"^(?:i|we)$|\b(?:you|before|after|if|when|what|that|to)\b", "i")
"""Words that no one who says something is called: "One thing before you suggest …" tells of nobody."""
_HEARSAY = patterns.compile(
    r"^(?:apparently|supposedly|allegedly|i (?:heard|read (?:that|online|somewhere|about|in)|saw (?:that|"
    r"online|on)|was told)|rumou?r|they say|"
    r"someone (?:mentioned|told|said))\b",
    "i",
)
_HEDGE = patterns.compile(
    r"\b(?:maybe|perhaps|might|probably|possibly|i guess|i think|not sure|kind of|sort of|i suppose|could be|"
    r"may be|i believe|thinking (?:of|about)|considering|"
    r"seems? (?:like|to))\b",
    "i",
)
_NEGATION = patterns.compile(
    r"\b(?:not|never|no longer|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|can't|cannot|couldn't|"
    r"wouldn't|haven't|hasn't|hadn't|"
    r"shouldn't|nor|neither|none|without|dont|doesnt|didnt|isnt|cant|wont|havent|hardly|stopped|quit|gave up|"
    r"ain't)\b",
    "i",
)
_NO = patterns.compile(r"\bno ", "i", not_before=r"matter|one knows|wonder|\W|$")
_WORD = patterns.compile(r"[^\W\d_]{2,}")


def straighten(text: str) -> str:
    """Typographic apostrophes and back-ticks made straight, one for one, so that offsets stay."""
    return text.replace("’", "'").replace("‘", "'").replace("`", "'").replace("\u00a0", " ")


def spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends, in order, at most ``MOST``."""
    found: list[tuple[int, int]] = []
    start = 0
    for mark in _breaks(text):
        if mark.group() == "." and _no_end(text, mark.start(), mark.end()):
            continue
        if text[start : mark.end()].strip():
            found.append((start, mark.end()))
        start = mark.end()
        if len(found) >= MOST:
            return found
    if text[start:].strip():
        found.append((start, len(text)))
    return found


_MONTH_NEXT = patterns.compile(r" ?(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-zä]*", "i")


def _no_end(text: str, start: int, end: int) -> bool:
    """Whether a full stop belongs to an abbreviation, or to a day of a German date: "am 9. Januar"."""
    before = text[max(0, start - 8) : start]
    ordinal = before[-1:].isdigit() and _MONTH_NEXT.match(text, end)
    return bool(ordinal or _ABBREVIATION.search(before + text[start:end]))


def _breaks(text: str) -> Iterator[patterns.Match]:
    """The signs that end a sentence where they stand: with a space behind them, dashes also with one before."""
    for mark in _BREAK.finditer(text):
        sign, start, end = mark[0][0], *mark.span()
        spaced = end == len(text) or text[end].isspace()
        if (
            sign in "\n。！？"
            or (sign in ".!?…" and spaced)
            or (end < len(text) and spaced and (sign == ";" or (start and text[start - 1].isspace())))
        ):
            yield mark


def split(text: str) -> list[str]:
    """Sentences in order, at most ``MOST``, none longer than ``LONGEST``."""
    found: list[str] = []
    start = 0
    for mark in _breaks(text):
        piece = text[start : mark.end()]
        if mark.group().startswith(".") and len(mark.group()) == 1 and _no_end(text, mark.start(), mark.end()):
            continue
        start = mark.end()
        _keep(piece, found)
        if len(found) >= MOST:
            return found
    _keep(text[start:], found)
    return found[:MOST]


def _keep(piece: str, found: list[str]) -> None:
    cleaned = patterns.sub(r"^(?:[-*•–—]|\d{1,3}[.)])\s+", "", " ".join(piece.split())).strip(" -–—;")
    if _WORD.search(cleaned):
        found.append(cleaned[:LONGEST])


def read(text: str) -> list[Sentence]:
    """The sentences of a message with their class. A joke marker also takes back the sentence before it."""
    found: list[Sentence] = []
    for raw in split(own_words(text)):
        sentence = classify(raw)
        if sentence.speech is Speech.JOKE and _JOKE_HARD.search(sentence.plain) and found:
            last = found[-1]
            found[-1] = Sentence(text=last.text, plain=last.plain, speech=Speech.JOKE, reason="taken back as a joke")
        found.append(sentence)
    return found


def classify(raw: str) -> Sentence:
    """One sentence with its class and the reason for it."""
    straight = straighten(raw)
    unquoted = _QUOTE_SPAN.sub(lambda m: " " if len(m.group().split()) > 3 else m["said"], straight)
    unquoted = _SINGLE_QUOTED.sub(" ", unquoted)
    plain = _TAG.sub("", opened(" ".join(unquoted.split())))
    speech, reason = _speech(straight, plain, unquoted != straight)
    reported = _REPORTED.match(plain)
    teller = reported.group("who") if reported and not _NO_TELLER.search(reported.group("who")) else None
    return Sentence(
        text=raw,
        plain=plain,
        speech=speech,
        reason=reason,
        negated=bool(_NEGATION.search(plain) or _NO.search(plain)),
        hedged=bool(_HEDGE.search(plain)),
        reported_by=teller or ("hearsay" if _HEARSAY.match(plain) else None),
    )


def opened(text: str) -> str:
    """Without "Hey John!", "Oh, by the way," and the like; never emptied."""
    at = 0
    while (opener := _OPENER.match(text, at)) is not None and opener.end("it") > at:
        at = max(opener.end("it"), opener.end("mark"), opener.end("gap"))
    without = text[at:]
    if (called := _VOCATIVE.match(without)) is not None and not _EXPLAINED.match(without):
        without = without[called.end("name") :]
    return without if _WORD.search(without) else text


def _speech(straight: str, plain: str, had_quote: bool) -> tuple[Speech, str]:
    if _JOKE_HARD.search(straight):
        return Speech.JOKE, "marked as a joke"
    if had_quote and len(_WORD.findall(plain)) < 4:
        return Speech.QUOTATION, "someone's words in quotation marks"
    if _is_question(straight, plain):
        return Speech.QUESTION, "a question"
    if _HYPOTHETICAL.search(plain) or _WOULD.search(plain):
        return Speech.HYPOTHETICAL, "a hypothetical"
    if _JOKE_SOFT.search(straight) and (_HYPERBOLE.search(plain) or len(plain) < 90):
        return Speech.JOKE, "ends in laughter"
    if _HYPERBOLE.search(plain):
        return Speech.JOKE, "hyperbole"
    if _GREETING.match(plain):
        return Speech.GREETING, "a greeting or a courtesy"
    if _REQUEST.match(plain) or _PLEASE.search(plain) or _WANTED.match(plain):
        return Speech.REQUEST, "a request"
    if _REACTION.match(plain) or _EMPTY_SELF.match(plain):
        return Speech.REACTION, "a reaction"
    if len(plain.split()) < 2 or plain.endswith(":"):
        return Speech.FRAGMENT, "a fragment"
    return Speech.STATEMENT, "a statement"


def _is_question(straight: str, plain: str) -> bool:
    if straight.rstrip(" \"'”)").endswith("?"):
        tag = _TAG.search(straight)
        return not (tag and patterns.match(r"(?:i|i'm|i've|my|we|our)\b", plain, "i"))
    return bool(
        _QUESTION_WORD.match(plain) and not patterns.match(r"(?:when|what|where|how|who) (?:i|my|we)\b.*,", plain, "i")
    ) or bool(_INVERSION.match(plain))
