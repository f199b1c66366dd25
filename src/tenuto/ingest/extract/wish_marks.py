"""What the person asks of memory itself, out of the reader's marks: forget, do not bring up, do not save. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tenuto.ingest.candidate import Candidate
from tenuto.language.people import Person
from tenuto.language.pronouns import fits
from tenuto.language.sentences import straighten
from tenuto.language.topics import says_something, subject, topic_of
from tenuto.language.voice import third_person
from tenuto.language.wish_phrases import spoken_of
from tenuto.language.wishes import Consent, Wish, wish_of
from tenuto.records.memory import Domain, Kind, Proactive
from tenuto.records.reading import Mark
from tenuto.text import patterns

if TYPE_CHECKING:
    from tenuto.ingest.extract.propositions import _Reading

MOST = 64
"""Sentences that are looked at for wishes."""
_WISHES = {
    "forget": Wish.FORGET,
    "silence": Wish.DO_NOT_BRING_UP,
    "unsilence": Wish.MAY_MENTION,
    "offrec": Wish.DO_NOT_SAVE,
    "private": Wish.PRIVATE,
    "keep": Wish.REMEMBER,
}
LEAST = {"offrec": 0.9}
USUAL = 0.75
"""How sure the reader must be of a wish that the plainest words do not say. *Off the record* removes the message."""
_NEGATIVE = patterns.compile(
    r"\b(?:no|not|never|don'?t|stop|without|avoid|kein\w*|nicht|nie|ohne|no|nunca|sin|pas|jamais|sans|não|nunca|"
    r"sem|para de)\b",
    "i",
)


def wishes_in(text: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> tuple[Consent, ...]:
    """The wishes of a message, in order. "That" without a topic is what the message says besides, or the one before.

    What the plainest words say counts for more than a mark: a wrong *remember* for a *forget* must not happen.
    """
    found: list[Consent] = []
    for start, end in list(spans)[:MOST]:
        plain = wish_of(straighten(text[start:end]))
        marked = [_wish(text, one, marks, (start, end)) for one in marks if _is_wish(one) and start <= one.start < end]
        if plain is not None and plain.wish not in {one.wish for one in marked}:
            found.append(plain)
            marked = [one for one in marked if one.wish is Wish.PRIVATE]
        elif plain is not None and plain.about:
            named = replace(plain, about=subject(plain.about))
            marked = [named if one.wish is plain.wish and _says_more(named, one) else one for one in marked]
        found += marked
    meant = [one for one in found if not _only_sounds_like_it(one)]
    return tuple(_with_topic(one, text) for one in _pointing_back(meant, text))


def _says_more(plain: Consent, marked: Consent) -> bool:
    """Whether the plain words name what is meant, and the mark nothing or only some of it."""
    return marked.about.casefold() in plain.about.casefold()


def _pointing_back(found: Sequence[Consent], text: str) -> list[Consent]:
    """Not saving "that", in a message that says nothing else: the message before is meant."""
    rest = text
    for one in found:
        rest = rest.replace(one.quote, " ")
    if says_something(rest):
        return list(found)
    back = [replace(one, previous=True) if one.wish is Wish.DO_NOT_SAVE and _bare(one) else one for one in found]
    return list({(one.wish, one.about, one.previous): one for one in back}.values())


def _bare(wish: Consent) -> bool:
    """Whether a wish not to save something says nothing of what that is."""
    return not says_something(_ASKING.sub(" ", wish.quote))


_ASKING = patterns.compile(
    r"\b(?:off|the|record|save|store|keep|memory|notes?|file|remember|out|please|okay|write|down|anywhere|said|just|"
    r"bitte|nicht|speichern|merken|aufschreiben|das|dir|no|lo|guardes|apuntes|anotes|eso|esto|por|favor|ne|n'enregistre|"
    r"enregistre|pas|garde|note|ca|nao|guarde?s?|grave?s?|anote?s?|salve?s?|isso|isto|para|guardar|gravar)\b",
    "i",
)


_SOUNDS_LIKE_IT = patterns.compile(
    r"\bkeep(?:ing)?\s+(?:(?:it|this|that|them)\s+(?:up|going|to (?:your|him|her|my)self|from|simple|short|real|together|in mind|waiting|"
    r"open|on|alive|down|in\b|at\b|for\b|with\b|near|close|away|under|there|here)|me|us|him|her|you|doing|on|going|the|a|an|my|your|any)\b|"
    r"\b(?:store|put|record|note|log) (?:it|this|that|them) (?:in (?:the|a|my)|on (?:the|a|my)|there|under|as)\b|"
    r"\b(?:das|dies|es) nicht (?:falsch|so|anders|als|zu)\b|\bno (?:lo )?(?:guardes|recuerdes) (?:el|la|los|las|mi|mis|tu|tus|un|una|rencor|mal)\b|"
    r"\bne (?:garde|note|retiens) pas (?:le|la|les|mon|ma|mes|ton|ta|tes|un|une|rancune|mal)\b|"
    r"\bnão (?:guarde?s?|salv[ae]s?|grave?s?) (?:o|a|os|as|meu|minha|seu|sua|um|uma|rancor)\b",
    "i",
)
"""What holds the words of "do not save this" and asks something else. Off the record removes a message: better once too little."""


def _only_sounds_like_it(wish: Consent) -> bool:
    return wish.wish is Wish.DO_NOT_SAVE and bool(_SOUNDS_LIKE_IT.search(wish.quote))


def _with_topic(wish: Consent, text: str) -> Consent:
    """A wish about "it", where the message says what it spoke about before."""
    if wish.wish not in (Wish.FORGET, Wish.DO_NOT_BRING_UP):
        return wish
    if wish.about and not _PRONOUN.search(wish.about) and not topic_of(wish.about):
        wish = replace(wish, about="", previous=True)
    if wish.about or not (about := spoken_of(text)):
        return wish
    return replace(wish, about=about, previous=False)


_PRONOUN = patterns.compile(
    r"(?:^|\b(?:de|of|about|von|uber) |d')(?P<who>him|her|ihn|ihm|ihr|sie|el|ella|lui|elle|ele|ela|dele|dela)$", "i"
)
_OF_PERSON = patterns.compile(
    r"\b(?:about|of|bring|mention|erwahn\w*|uber|von|nach|de|del|sobre|d'|menciones?|nombres?) "
    r"(?P<who>him|her|ihn|ihm|ihr|sie|el|ella|lui|elle|ele|ela)\b|\b(?P<whose>dele|dela|nele|nela)\b",
    "i",
)


def naming(wishes: Sequence[Consent], people: Sequence[Person]) -> tuple[Consent, ...]:
    """Wishes about "him" or "her", under the name of whom was spoken of last."""
    return tuple(_named_person(one, people) for one in wishes)


def _named_person(wish: Consent, people: Sequence[Person]) -> Consent:
    if wish.wish not in (Wish.FORGET, Wish.DO_NOT_BRING_UP, Wish.MAY_MENTION):
        return wish
    if not (_PRONOUN.search(wish.about) or (not wish.about and _OF_PERSON.search(wish.quote))):
        return wish
    spoken = _PRONOUN.search(wish.about)
    found = spoken or _OF_PERSON.search(wish.quote)
    assert found is not None
    word = found.group("who" if found.has("who") else "whose")
    gender = "f" if word.casefold() in _SHE else "m"
    person = next((one for one in reversed(people) if one.label and fits(one, gender)), None)
    if person is None:
        return replace(wish, about="", previous=True)
    return replace(wish, about=person.label, previous=False)


_SHE = frozenset(["her", "ihr", "sie", "ella", "elle", "ela", "dela", "nela"])


def _is_wish(mark: Mark) -> bool:
    return mark.layer == "clause" and mark.type in _WISHES and mark.score >= LEAST.get(mark.type, USUAL)


def _wish(text: str, mark: Mark, marks: Sequence[Mark], span: tuple[int, int]) -> Consent:
    wish = _WISHES[mark.type]
    topic = next((one for one in marks if one.type == "topic" and mark.start <= one.start < mark.end), None)
    named = topic is not None and wish not in (Wish.PRIVATE, Wish.REMEMBER)
    about = _topic(text, topic) if topic is not None and named else ""
    rest = (text[: mark.start] + " " + text[mark.end :]).strip(" .,!?:;-")
    unsaid = len(rest.split()) < 2
    previous = unsaid if wish is Wish.DO_NOT_SAVE else not about and wish not in (Wish.PRIVATE, Wish.REMEMBER)
    statement = _statement(text, mark, span) if wish is Wish.REMEMBER else ""
    return Consent(
        wish=wish, quote=text[span[0] : span[1]].strip(), about=about, statement=statement, previous=previous
    )


def _topic(text: str, mark: Mark) -> str:
    """What a wish is about, with the name that stands right behind it: "my sister Ailsa"."""
    end = mark.end
    for word in text[mark.end : mark.end + 60].split(" ")[1:3] if text[mark.end : mark.end + 1] == " " else ():
        if not word[:1].isupper():
            break
        end += 1 + len(word)
        if not word[-1].isalnum():
            break
    return text[mark.start : end].strip(" .,!?")


def _statement(text: str, mark: Mark, span: tuple[int, int]) -> str:
    """What is to be remembered: the rest of the sentence, or else what the message said before it."""
    rest = text[span[0] : mark.start].strip() or text[mark.end : span[1]]
    rest = patterns.sub(r"^(?:that|dass|que)\s+", "", rest.strip(" ,:;.!?-"), flags="i")
    return rest if len(rest.split()) > 1 else text[: span[0]].strip(" ,:;.!?-\n")


def privately(wishes: Sequence[Consent], marks: Sequence[Mark]) -> bool:
    """Whether what a message says stays with the persona that heard it."""
    return any(one.wish is Wish.PRIVATE for one in wishes) or any(one.type == "private" for one in marks)


def unsaved(wishes: Sequence[Consent]) -> bool:
    """Whether nothing of this very message may be kept."""
    return any(one.wish is Wish.DO_NOT_SAVE and not one.previous for one in wishes)


_ALL = patterns.compile(
    r"\b(?:all of you|every one of you|all (?:the )?(?:personas|assistants|bots)|everybody here|ihr alle|alle von euch|"
    r"todos (?:vosotros|ustedes|voces)|vous tous)\b",
    "i",
)
_SUBJECTS = tuple(
    (name, patterns.compile(pattern, "i"))
    for name, pattern in (
        (
            "answer_name",
            r"\bcall me\b|\baddress me\b|\bmy name\b|\bnenn\w* mich\b|\bllamame\b|\bappelle-moi\b|\bchama-me\b|\bme cham[ae]\b",
        ),
        (
            "answer_language",
            r"\b(?:in|auf|en|em) (?:english|german|french|spanish|portuguese|italian|dutch|deutsch|englisch|franzosisch|spanisch|"
            r"portugiesisch|ingles|aleman|frances|espanol|portugues|anglais|allemand|espagnol|portugais|alemao|espanhol|\w+ again)\b|"
            r"\bbritish (?:english|spelling)\b|\bamerican (?:english|spelling)\b",
        ),
        (
            "answer_form",
            r"\bbullets?\b|\bbullet points?\b|\blists?\b|\bprose\b|\bparagraphs?\b|\btables?\b|\bmarkdown\b|\bheadings?\b|"
            r"\bstichpunkt\w*|\baufzahl\w*|\blistas?\b|\bvinetas\b|\blistes?\b|\bpuces\b|\btopicos\b",
        ),
        (
            "answer_length",
            r"\bshort(?:er)?\b|\bbrief\b|\bconcise\b|\blong(?:er)?\b|\bdetail(?:ed|s)?\b|\bsentences?\b|\bwords?\b|\bkurz\w*|"
            r"\blang\b|\bausfuhrlich\w*|\bcort[oa]s?\b|\bbreves?\b|\blarg[oa]s?\b|\bcourte?s?\b|\blongue?s?\b|\bcurt[oa]s?\b",
        ),
        (
            "answer_tone",
            r"\bformal\w*|\bcasual\w*|\bpolite\w*|\bblunt\b|\bgentle\b|\bfriendly\b|\bdirect\b|\btone\b|\bduz\w*|\bsiez\w*|"
            r"\btutoie\w*|\bvouvoie\w*|\btutea\w*|\bsarcas\w*|\bhumou?r\b|\bjok(?:e|es|ing)\b",
        ),
    )
)


def rule_subject(said: str) -> str | None:
    """What of an answer a rule is about, where that is one of the things that have one rule at a time."""
    return next((name for name, pattern in _SUBJECTS if pattern.search(said)), None)


_FROM_NOW = patterns.compile(
    r"^(?:from now on|going forward|ab jetzt|von jetzt an|in zukunft|a partir de ahora|de ahora en adelante|désormais|"
    r"dorénavant|à partir de maintenant|a partir de agora|daqui em diante)\b[\s,:]*",
    "i",
)
"""Since when a rule holds is no part of it."""


def rules_in(reading: _Reading) -> list[Candidate]:
    """Rules about answers become guidance, in the person's words. One replaces another about the same: the language, the
    length, the form, the tone, the name. It holds for the persona that was told, unless all are meant."""
    found = []
    for mark in reading.marks:
        if mark.layer != "clause" or mark.type != "rule":
            continue
        said = _FROM_NOW.sub("", reading.text[mark.start : mark.end].strip(" ,.;:!"))
        if len(said.split()) < 2:
            continue
        negative, about = bool(_NEGATIVE.search(said)), rule_subject(said)
        content = third_person(said, reading.language, verbs=False)
        message = reading.message
        found.append(
            Candidate(
                content=content[:1].upper() + content[1:],
                domain=Domain.PROFILE,
                kind=Kind.BOUNDARY if negative and about is None else Kind.STYLE_ADJUSTMENT,
                attribute=about,
                value=said if about else None,
                single=about is not None,
                at=message.at,
                importance=7.0,
                confidence=round(min(0.95, mark.score), 2),
                trust=message.trust,
                source=message.source,
                surface=message.channel,
                made_by="reader",
                rule="taught",
                persona=None if _ALL.search(reading.text) else message.persona,
                session_id=message.session_id,
                message_id=message.id,
                channel=message.channel,
                quote=said,
                proactive=Proactive.YES,
                should_do=said[:1].upper() + said[1:] if message.source == "conversation" else None,
            )
        )
    return found
