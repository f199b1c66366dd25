"""A mail's body taken apart, line by line: what its sender wrote, what they only quoted or passed on, the signature.

Everything below a line that introduces an earlier mail is somebody else's, and so is every line that begins with ``>``.
When in doubt, text counts as quoted. Each line is looked at once, and only its beginning.
"""

from __future__ import annotations

from tenuto.text import patterns

LOOKED_AT = 300
"""Characters of a line that are looked at."""
WRAPPED = 3
"""Lines over which "On … wrote:" may be spread."""
SIGNATURE_LINES = 8
"""Longer is no signature below a closing such as "Best regards"."""
SIGNATURE_WIDTH = 80

_SEPARATOR = patterns.compile(
    r"^[\s>]*(?:-{2,}\s*(?:forwarded message|original message|original appointment|weitergeleitete nachricht|"
    r"ursprüngliche nachricht|message transféré|message d'origine|messaggio inoltrato|messaggio originale|"
    r"mensaje reenviado|mensaje original|mensagem encaminhada|mensagem original|doorgestuurd bericht|"
    r"oorspronkelijk bericht|wiadomość oryginalna|vidarebefordrat meddelande|ursprungligt meddelande|"
    r"oprindelig meddelelse|videresendt meddelelse)\b.*|-{8,}\s*forwarded.*|begin forwarded message:.*|"
    r"[_-]{32,}\s*)$",
    "i",
)
_STARTS = patterns.compile(
    r"^[\s>*]*(?:(?:on|am|le|il|el|op|em|w dniu|dnia|den)\b|(?:pon|wt|sr|czw|pt|sob|niedz|man|tir|ons|tor|fre|lor|son)"
    r"\.,? |\d{4}-\d\d-\d\d)",
    "i",
)
_ENDS = patterns.compile(
    r"(?:\b(?:wrote|écrit|scritto|escribió|escreveu|napisał(?:\(a\))?)\s*:|"
    r"\b(?:schrieb|schreef|skrev|napisał(?:\(a\))?)\b.{0,200}:|<[^<>\s]{1,100}@[^<>\s]{1,100}>:)\s*$",
    "i",
)
_WHEN = patterns.compile(r"[0-9@]")
_FROM = patterns.compile(r"^[\s>*]*(?:from|von|de|da|van|od|från|fra)\*?\s?:\*?\s*\S", "i")
_HEADER = patterns.compile(
    r"^[\s>*]*(?:sent|to|subject|date|cc|reply-to|gesendet|an|betreff|datum|kopie|envoyé|à|objet|inviato|a|oggetto|"
    r"data|enviado|enviada em|para|asunto|fecha|assunto|verzonden|aan|onderwerp|wysłano|do|temat|skickat|till|ämne|"
    r"sendt|til|emne|dato)\*?\s?:",
    "i",
)
_QUOTED = patterns.compile(r"^\s{0,3}>")
_DASHES = patterns.compile(r"^(?:--|__|—)\s*$")
_SENT_FROM = patterns.compile(
    r"^(?:sent from (?:my|outlook|mail|yahoo|proton)|get outlook for|gesendet von|von meinem .{2,30} gesendet|"
    r"envoyé de mon|envoyé depuis|inviato da|enviado desde mi|enviado do meu|verzonden vanaf|skickat från|sendt fra|"
    r"wysłane z)\b.{0,80}$",
    "i",
)
_CLOSING = patterns.compile(
    r"^(?:(?:best|kind|warm|many)?\s?regards|best(?: wishes)?|all the best|(?:many )?thanks|thank you|cheers|"
    r"sincerely|yours(?: \w+)?|love|(?:mit )?(?:freundlichen|besten|herzlichen|lieben|vielen) (?:grüßen|grüssen|"
    r"gruessen)|(?:liebe|viele|beste|herzliche) (?:grüße|grüsse|gruesse)|(?:lg|vg|mfg)|grüße|gruß|cordialement|"
    r"bien à (?:toi|vous)|cordiali saluti|saluti|un saludo|saludos|atentamente|abraços?|atenciosamente|"
    r"met vriendelijke groet(?:en)?|groetjes|pozdrawiam|med vänliga hälsningar|hälsningar|"
    r"(?:med )?venlig hilsen|mvh)\s*[,.!]?\s*$",
    "i",
)
_NAME_LINE = patterns.compile(r"^(?:-|–|—)\s?[A-Z]\w*(?: [A-Z]\w*){0,2}\s*$")


def split(body: str) -> tuple[str, str, str]:
    """(own words, quoted or forwarded words, signature)."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    heads = [line[:LOOKED_AT] for line in lines]
    cut = next((at for at in range(len(lines)) if _begins_earlier(heads, at)), len(lines))
    mine, theirs = _without_quotes(lines[:cut])
    mine, signature = _without_signature(mine)
    quoted = "\n".join(part for part in ("\n".join(theirs).strip(), "\n".join(lines[cut:]).strip()) if part)
    return "\n".join(mine).strip(), quoted, "\n".join(signature).strip()


def _begins_earlier(heads: list[str], at: int) -> bool:
    """Whether an earlier mail begins at this line."""
    line = heads[at]
    if not line.strip() or line.lstrip().startswith(">"):
        return False
    if _SEPARATOR.search(line):
        return True
    if _FROM.search(line):
        return any(_HEADER.search(one) for one in heads[at + 1 : at + 5])
    return _introduces(heads, at) and _has_a_date(heads, at)


def _introduces(heads: list[str], at: int) -> bool:
    """ "On Monday Ben wrote:", also when it runs over a few lines."""
    if not _STARTS.search(heads[at]):
        return False
    text = ""
    for line in heads[at : at + WRAPPED]:
        if not line.strip():
            return False
        text = f"{text} {line.strip()}"
        if _ENDS.search(text):
            return True
    return False


def _has_a_date(heads: list[str], at: int) -> bool:
    """A date or an address; or what follows is quoted."""
    following = next((line for line in heads[at + 1 : at + 1 + WRAPPED] if line.strip()), "")
    return any(_WHEN.search(line) for line in heads[at : at + WRAPPED]) or following.lstrip().startswith(">")


def _without_quotes(lines: list[str]) -> tuple[list[str], list[str]]:
    """Lines that begin with ``>`` are somebody else's wherever they stand, with the line that introduces them."""
    mine: list[str] = []
    theirs: list[str] = []
    for line in lines:
        if _QUOTED.match(line[:LOOKED_AT]):
            while mine and not mine[-1].strip():
                mine.pop()
            if mine and _introduces([mine[-1][:LOOKED_AT]], 0):
                theirs.append(mine.pop())
            theirs.append(line)
        else:
            mine.append(line)
    return mine, theirs


def _without_signature(lines: list[str]) -> tuple[list[str], list[str]]:
    said = len(lines)
    while said and not lines[said - 1].strip():
        said -= 1
    for at in range(said):
        line = lines[at].strip()[:LOOKED_AT]
        if _DASHES.match(line) or _SENT_FROM.match(line):
            return lines[:at], lines[at:]
    for at in range(max(1, said - SIGNATURE_LINES), said):
        line = lines[at].strip()[:LOOKED_AT]
        last = at == said - 1
        if (_CLOSING.match(line) and all(len(one) <= SIGNATURE_WIDTH for one in lines[at:said])) or (
            last and _NAME_LINE.match(line)
        ):
            return lines[:at], lines[at:]
    return lines, []
