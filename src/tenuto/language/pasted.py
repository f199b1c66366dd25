"""What of a message was pasted in: a mail to be summarised, a text to be translated, a chat log. Pure and linear.

Whoever asks for something to be done with a text does not say what stands in it: "Translate this: I am allergic to nuts"
tells nothing of the speaker. A stretch counts as pasted where the words around it say so (a task for a text, a thing
that was received, a speech that is quoted), or where its own form does (the head of a mail, a letter, lines of a chat).
In doubt the rest of the message counts as pasted: what is left out there is only not taken as the speaker's own.
"""

from __future__ import annotations

from tenuto.text import patterns

CHAT_LINES = 2
"""Lines of a chat, by at least two speakers or with times, that make it a log."""
SENTENCE = 4
"""Words of a quotation that says something; fewer are a name or a term."""

_WORDED = (
    r"summari[sz]\w*|sum up|translat\w+|proof-?read\w*|re-?write|rephrase|reword|paraphrase|shorten|simplify|polish|"
    r"annotate|tl;?dr|make (?:me )?(?:a )?(?:summary|bullet points?|flash ?cards?) (?:of|from)|"
    r"(?:fass|übersetz|korrigier|umschreib|formulier|kürz)\w*|(?:traduc|traduz|traduis|corrig|reescrib|reescrev|"
    r"reformul|résum|relis)\w*|traduire|resum(?:e|a|ir) (?:el|la|lo|este|esta|esto|o|a|isto|isso)"
)
"""Tasks that are about a text and nothing else."""
_TASK = (
    rf"{_WORDED}|edit|correct|fix|review|check|explain|analy[sz]e|improve|format|convert|classify|grade|critique|debug|"
    r"extract|look at|read|reply to|respond to|answer|(?:write|draft) (?:me )?(?:a |an )?(?:reply|answer|response) to|"
    r"make \w+(?: \w+){0,2} (?:shorter|clearer|politer|nicer|formal|friendlier)|turn|what (?:does|do|is|are)|"
    r"what do you (?:think|make)|is (?:this|that|it)|does (?:this|that|it)|how (?:does|would) (?:this|that)|rate|"
    r"(?:erklär|prüf|verbesser)\w*|antwort\w* auf|was (?:heißt|bedeutet)|(?:revisa|explica|expliqu|mejora|melhor|améliore)\w*|"
    r"qué (?:significa|quiere decir)|o que (?:significa|quer dizer)|que (?:veut dire|signifie)"
)
_TEXTS = (
    r"e-?mails?|mails?|messages?|texts?|texte|textos?|sms|letters?|articles?|posts?|tweets?|threads?|chats?|logs?|"
    r"transcripts?|conversations?|paragraphs?|passages?|sentences?|essays?|cover letters?|contracts?|notes?|reviews?|"
    r"quotes?|poems?|lyrics|songs?|story|stories|speech|scripts?|bios?|ads?|listings?|postings?|job descriptions?|"
    r"recipes?|pages?|documents?|docs?|reports?|abstracts?|drafts?|comments?|captions?|descriptions?|announcements?|"
    r"newsletters?|prompts?|code|snippets?|functions?|errors?|output|stack ?traces?|voicemails?|excerpts?|quotations?|"
    r"statements?|replies|reply|dialogues?|minutes|press releases?|terms|"
    r"nachricht\w*|briefe?|artikel|absatz|satz|sätze|gespräch|verlauf|entwurf|mensajes?|correos?|cartas?|artículos?|"
    r"párrafos?|frases?|conversaci[oó]n|courriels?|lettres?|phrases?|paragraphes?|mensagens?|mensagem|artigos?|"
    r"parágrafos?|conversa"
)
_THIS = (
    r"this|these|that|the following|the (?:\w+ ){0,2}below|below|it|following|folgende\w*|das|diese\w*|dies|esto|este|esta|"
    r"lo siguiente|el siguiente|la siguiente|ça|ceci|cela|ce|cette|le (?:\w+ )?suivant|la (?:\w+ )?suivante|isto|isso|"
    r"o seguinte|a seguinte"
)
_ASKED = (
    patterns.compile(rf"\b(?:{_TASK})\b[^\n:]{{0,80}}\b(?:{_THIS}|{_TEXTS})\b[^\n:.!?]{{0,60}}:\s*", "i"),
    patterns.compile(rf"\b(?:{_THIS}|{_TEXTS})\b[^\n:.!?]{{0,60}}\b(?:{_WORDED})\b[^\n:.!?]{{0,30}}:\s*", "i"),
    patterns.compile(
        rf"\b(?:{_WORDED})\b[^\n:]{{0,80}}\b(?:{_THIS}|{_TEXTS})\b[^\n:.!?]{{0,60}}[.?!]?[ \t]*\n\s*", "i"
    ),
    patterns.compile(rf"\b(?:{_TASK})\b[^\n:]{{0,80}}\b(?:{_TEXTS})\b[^\n:.!?]{{0,60}}[.?!]?[ \t]*\n\s*", "i"),
)
"""A task for a text, and then the text."""
_SHOWN = r"here(?:'s| is| are)|this is|these are|below is|following|hier ist|aquí está|voici|aqui está"
_GIVEN = (
    patterns.compile(
        rf"\b(?:got|received|found|saw|read|sent|wrote|writes|texted|emailed|posted|says|said|replied|answered|forwarded|"
        rf"left|{_SHOWN}|bekommen|erhalten|geschrieben|schrieb|schreibt|recib[ií]|escribi[oó]|mand[oó]|reçu|écrit|recebi|"
        rf"escreveu|mandou)\b[^\n:.!?]{{0,60}}\b(?:{_TEXTS})\b[^\n:.!?]{{0,60}}:\s*",
        "i",
    ),
    patterns.compile(rf"\b(?:{_SHOWN})\b[^\n:.!?]{{0,60}}\b(?:{_TEXTS})\b[^\n:.!?]{{0,60}}[.]?[ \t]*\n\s*", "i"),
)
"""A text that was received or is shown, and then the text."""
_SAID = patterns.compile(
    r"\b(?:wrote|writes|texted|messaged|emailed|posted|tweeted|dm'?d|replied|(?:sent|wrote|texted) (?:me|us) this|"
    r"(?:page|website|site|article|book|sign|bot|tool|manual|doctor's note|leaflet|label|author|narrator|speaker) "
    r"(?:says|said|reads|wrote)|it (?:says|said|reads)|geschrieben|schrieb|schreibt|escribió|écrit|escreveu)"
    r"(?: (?:me|us|back|this|that|mir|uns|me|nos)){0,2}:[ \t]*\n?",
    "i",
)
"""Somebody else's writing, and then it."""
_BEHIND = patterns.compile(
    rf"\n[ \t]*\n[ \t]*(?:[^\n]{{0,40}}\b)?(?:{_TASK})\b[^\n]{{0,60}}(?:\b(?:this|that|it|above|text|email|message|article|"
    rf"das|dies|esto|ça|cela|isto|isso|texto|texte|mail)\b[^\n]{{0,40}})?\s*\Z",
    "i",
)
"""The text first, and then what is wanted of it."""
_ABOVE = patterns.compile(
    r"\b(?:this|that|it|above|tl;?dr|das|dies|esto|ça|cela|isto|isso|texto?|texte|e?-?mail|article|message)\b", "i"
)
_QUOTED_TASK = patterns.compile(
    rf"\b(?:{_TASK}|how (?:do|would|can) (?:i|you|we) (?:say|write|spell|pronounce)|wie sagt man|wie schreibt man|cómo se dice|"
    rf"comment (?:dit|dire)|como se diz|"
    r"say|spell|sentence|phrase|slogan|headline|caption|lyrics?|line)\b[^\n\"“”«»„]{0,60}"
    r"(?P<quote>\"[^\"]{3,1000}\"|“[^“”]{3,1000}”|«[^«»]{3,1000}»|„[^„“”]{3,1000}[“”])",
    "i",
)
_INTO = patterns.compile(
    r"(?:^|[.!?\n])[ \t]*(?:please |can you |could you |hey,? )*translate (?P<what>[^\n]{3,400}?) (?:in)?to "
    r"(?:english|german|french|spanish|portuguese|italian|dutch|japanese|chinese|korean|polish|russian|arabic|turkish|"
    r"swedish|hindi|greek|norwegian|danish|finnish|czech)\b",
    "i",
)
_SUBJECTS = ("subject", "betreff", "asunto", "objet", "assunto")
_HEAD = patterns.compile(r"^[ \t>*]*(?:subject|betreff|asunto|objet|assunto|from|von|de)[*]*:[^\n]{1,300}$", "im")
_HEADS = patterns.compile(
    r"^[ \t>*]*(?:subject|betreff|asunto|objet|assunto|from|to|date|sent|cc|von|an|para|à)[*]*:[^\n]{1,300}$", "im"
)
_LETTER = patterns.compile(
    r"^[ \t]*(?:dear|sehr geehrte\w*|liebe[rs]?|estimad[oa]s?|querid[oa]s?|ch[eè]re?s?|prezad[oa]s?|car[oa]s?|to whom it may "
    r"concern)\b[^\n]{0,60}[,:]?[ \t]*$",
    "im",
)
_CLOSE = patterns.compile(
    r"^[ \t]*(?:(?:best|kind|warm)(?: regards| wishes)?|regards|sincerely|yours(?: \w+)?|cheers|love|mit freundlichen grüßen|"
    r"viele grüße|saludos|un saludo|atentamente|cordialement|bien à vous|atenciosamente|abraços)\b[^\n]{0,30}$",
    "im",
)
_CHAT = patterns.compile(
    r"^[ \t]*(?:\[?(?P<time>\d{1,4}[./:-]\d{1,2}[^\]\n]{0,24}?)\]?[ ,-]+)?(?P<who>[A-Z][\w.' -]{0,24}?)(?: ?\((?P<at>\d{1,2}:\d\d[^)\n]{0,6})\))?: ?\S[^\n]*$",
    "m",
)
_LIST_HEADS = frozenset(
    """
    update note question ps p.s. edit fyi problem goal goals idea plan name age job home allergies allergy
    medication medications diet email phone address birthday likes dislikes hobbies pets family kids wife
    husband mum mom dad reminder todo todos today tomorrow yesterday monday tuesday wednesday thursday friday
    saturday sunday breakfast lunch dinner morning evening re context background summary english german work
    city country height weight blood type emergency contact meds conditions doctor dentist school pro con pros
    cons
    """.split()  # noqa: SIM905 - a word list
)
"""What a person's own list is headed with: nobody speaks there."""


def pasted(text: str) -> list[tuple[int, int]]:
    """The stretches of a message that were pasted in, in order, without overlap."""
    found = [*_after_leads(text), *_quoted(text), *_by_form(text)]
    if _ends_with_task(text):
        found.append((0, len(text)))
    return _joined(found)


def without_pasted(text: str) -> str:
    """The message without what was pasted into it."""
    kept, at = [], 0
    for start, end in pasted(text):
        kept.append(text[at:start])
        at = end
    return "\n".join([*kept, text[at:]]) if at else text


def _after_leads(text: str) -> list[tuple[int, int]]:
    """What stands behind a lead: a quotation where there is one, else everything to the end. A task goes with its text."""
    found = []
    for lead in (*_ASKED, *_GIVEN, _SAID):
        match = lead.search(text)
        if match is not None and text[match.end() :].strip():
            found.append((match.start() if lead in _ASKED else match.end(), _end(text, match.end())))
    return found


_QUOTATION = patterns.compile(r"\s*(?:\"[^\"]{2,}\"|“[^“”]{2,}”|«[^«»]{2,}»|„[^„“”]{2,}[“”]|'[^'\n]{12,}')")
_RULE = patterns.compile(r"\n[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|\"{3}|<<<|>>>)[ \t]*\n")


def _end(text: str, start: int) -> int:
    """Where a pasted text ends: with its quotation marks, or with a line that sets it apart; else with the message."""
    quotation = _QUOTATION.match(text, start)
    if quotation is not None:
        return quotation.end()
    ruled = _RULE.search(text, start)
    return ruled.start() if ruled is not None and text[start : ruled.start()].strip() else len(text)


def _quoted(text: str) -> list[tuple[int, int]]:
    """Quotations that a task is about, and what is to be translated without quotation marks."""
    found = [match.span("quote") for match in _QUOTED_TASK.finditer(text) if len(match["quote"].split()) >= SENTENCE]
    return found + [match.span("what") for match in _INTO.finditer(text)]


def _by_form(text: str) -> list[tuple[int, int]]:
    """Mail with its head, letters, and logs of a chat."""
    found = []
    heads = list(_HEADS.finditer(text))
    first = _HEAD.search(text)
    if first is not None and (len(heads) > 1 or first.group().lstrip(" \t>*").lower().startswith(_SUBJECTS)):
        found.append((min(match.start() for match in (first, *heads)), len(text)))
    letter = _LETTER.search(text)
    if letter is not None:
        close = _CLOSE.search(text, letter.end())
        if close is not None:
            found.append((letter.start(), len(text)))
    lines = [match for match in _CHAT.finditer(text) if not _own_head(match["who"])]
    speakers = {match["who"].strip().casefold() for match in lines}
    timed = sum(match.has("time") or match.has("at") for match in lines)
    in_turn = len(speakers) > 1 and (len(lines) > len(speakers) or bool(speakers & _TALKERS))
    if len(lines) >= CHAT_LINES and (in_turn or timed >= CHAT_LINES):
        found.append((lines[0].start(), lines[-1].end()))
    return found


_TALKERS = frozenset(
    """
    me you user assistant bot ai system human agent customer support him her them boss ich er sie yo ella moi
    lui eu ele ela
    """.split()  # noqa: SIM905 - a word list
)


def _own_head(who: str) -> bool:
    words = who.strip().casefold().split()
    return not words or len(words) > 3 or words[0] in _LIST_HEADS or " ".join(words) in _LIST_HEADS


def _ends_with_task(text: str) -> bool:
    """Whether the last paragraph asks for something to be done with what stands above it."""
    match = _BEHIND.search(text)
    return match is not None and _ABOVE.search(match.group()) is not None


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return joined
