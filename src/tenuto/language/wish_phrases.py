"""The plainest wordings of wishes in five languages: a net under the reader. Pure.

A wish stands at the beginning of a clause and is said to the persona, so "I never mention Petra" is none, and "can you
just not bring Petra up" is one. What a wish is about is what follows, cut where the sentence goes on about something
else (:func:`tenuto.language.topics.subject`). Accents are folded where patterns look.
"""

from __future__ import annotations

from tenuto.language.topics import subject
from tenuto.text import patterns

_X = r"(?P<about>[^.!?;\n]{1,80}?)"
_END = r"(?:,? (?:again|any ?more|ever|please|pls|ok|okay|to me|with me|for now|from now on|around me|unless .*|until .*|" \
    r"till .*|like ever|mehr|bitte|nunca|mas|por favor|plus|jamais|mais|de novo|s'il te plait))*[\s,.!?]*$"  # fmt: skip
_NOT = (
    r"(?:do(?:n'?t| not)|never|not|stop|quit|no more|rather (?:you )?(?:did(?:n'?t| not)|not)|"
    r"prefer (?:it )?(?:if )?(?:you )?(?:not(?: to)?|did(?:n'?t| not))|want you to (?:not )?|let'?s not|lets not|no need to|avoid)"
)
SILENCE = tuple(
    patterns.compile(pattern, "i")
    for pattern in (
        rf"\b(?:rather|can we|could we|let'?s|prefer(?: to)?) not (?:talk|speak|discuss|think|hear)(?: any ?more)?(?: about| of)? {_X}{_END}",
        rf"\b(?:rather|prefer(?: to)?|like(?: to)?|want(?: to)?) not(?: to)? be (?:reminded|asked|told)(?: again)? (?:about|of) {_X}{_END}",
        rf"\b(?:drop|let'?s leave|change) the (?:subject|topic|matter)(?: of| about)? {_X}{_END}",
        rf"^(?:und |aber |y |et |e )*{_X} (?:ist|sind|bleibt|es|son|est|sont|e|sao) (?:ein |un |um )?(?:tabu|tabou|tabuthema|kein thema|tema prohibido|assunto proibido)\b.*",
        rf"\blass(?:en wir|t uns)? (?:bitte )?(?:das thema|die sache mit|das mit) {_X}(?: sein| ruhen| weg| beiseite)?{_END}",
        rf"^(?:(?:bitte|kannst du|konntest du|konnen wir|du sollst|ich mochte, dass du) )*{_X} (?:bitte )?(?:einfach )?(?:nicht|nie)(?: mehr| wieder)* "
        r"(?:erwahnen|ansprechen|thematisieren|aufbringen|zur sprache bringen|bereden|besprechen)\b.*",
        rf"\b(?:nicht|nie)(?: mehr| wieder)* (?:uber|von) {_X} (?:reden|sprechen)\b.*",
        rf"\bno quiero (?:volver a )?(?:oir hablar|saber nada|oir nada|oir|saber)(?: mas)?(?: del?| sobre)* {_X}{_END}",
        rf"\bdejemos (?:el tema|lo)(?: del?)* {_X}{_END}",
        rf"\b(?:vamos deixar|deixemos|deixa)(?: o assunto| o tema)(?: d[aeo]s?)* {_X}{_END}",
        rf"\b(?:laissons|laisse)(?: tomber)?(?: le sujet| l'histoire)(?: de| du| d')* ?{_X}{_END}",
        rf"\b(?:no more|not a word|nothing more) (?:about|of|on) {_X}{_END}",
        rf"\b(?:leave|keep) {_X} (?:out of (?:it|this|our talks?)|alone)\b.*",
        rf"^(?:and |but |so |please |ok )*{_X} (?:is|are) (?:off[ -]limits|a no[ -]go|taboo|tabu|none of your business)\b.*",
        rf"\b(?:kein wort|nichts)(?: mehr)? (?:uber|von|zu) {_X}{_END}",
        rf"\blass {_X} (?:bitte )?(?:aus dem spiel|weg|in ruhe|draussen)\b.*",
        rf"\b(?:mejor no hablemos|ni una palabra(?: mas)?|no toques el tema)(?: del?| sobre)* {_X}{_END}",
        rf"\b(?:on ne parle plus|n'en parlons plus|pas un mot|plus un mot|evite le sujet)(?: de| du| sur| d')* ?{_X}{_END}",
        rf"\b(?:nem mais uma palavra|nem uma palavra|melhor nao falar(?:mos)?|nao toques no assunto)(?: n?[doa]s?| de| sobre)* {_X}{_END}",
        rf"\b{_NOT}(?: ever| just| please| pls| even)* bring(?:ing)? {_X} up\b.*",
        rf"\b{_NOT}(?: ever| just| please| pls| even)* (?:bring(?:ing)? up|mention(?:ing)?|rais(?:e|ing)|discuss(?:ing)?|"
        rf"ask(?:ing)? (?:me )?about|talk(?:ing)?(?: to me)? about|remind(?:ing)? me (?:of|about)|speak(?:ing)? (?:of|about)|"
        rf"refer(?:ring)? to) {_X}{_END}",
        rf"\bi (?:really )?(?:do(?:n'?t| not)|never) (?:want|wanna|wish|like)(?: to)? (?:talk|speak|hear|think|be reminded|"
        rf"be asked)(?: \w+)? (?:about|of) {_X}{_END}",
        rf"\b(?:erwahn\w*|erwaehn\w*) {_X} (?:bitte )?(?:nicht|nie)\b.*",
        rf"\b(?:sprich|red\w*|frag\w*|erinner\w*)(?: mich| mir| mit mir)?(?: bitte)? (?:nicht|nie)(?: mehr| wieder)* "
        rf"(?:auf|uber|von|nach|an) {_X}(?: an)?{_END}",
        rf"\b(?:sprich|red\w*|frag\w*|erinner\w*)(?: mich| mir)?(?: bitte)? (?:auf|uber|von|nach|an) {_X} (?:bitte )?"
        r"(?:nicht|nie)\b.*",
        rf"\b(?:ich )?(?:will|mochte|mag)(?: ich)? (?:nicht|nie)(?: mehr)? (?:uber|von|an) {_X} (?:reden|sprechen|horen|denken|"
        r"erinnert werden)\b.*",
        rf"\b(?:ich )?(?:will|mochte|mag)(?: ich)? (?:uber|von|an) {_X} (?:nicht|nie)(?: mehr)? (?:reden|sprechen|horen|denken)\b.*",
        rf"\bno (?:me )?(?:vuelvas a )?(?:menciones|mencionar|hables|hablar|saques|sacar|preguntes|preguntar|recuerdes|nombres)"
        rf"(?: mas| nunca| nada)*(?: el tema)?(?: del?| sobre| por| a)* {_X}{_END}",
        rf"\b(?:no quiero|prefiero no|deja de|no hace falta)(?: volver a)? (?:hablar|oir|pensar|preguntar|mencionar)(?: mas)?"
        rf"(?: del?| sobre| en| por)* {_X}{_END}",
        rf"\bne (?:me |m')?(?:parle|reparle|mentionne|evoque|demande|rappelle)s?(?: plus| pas| jamais)+ (?:de |du |des |d'|la "
        rf"question de )?{_X}{_END}",
        rf"\b(?:je (?:ne )?veux (?:plus|pas)|je prefere ne pas|arrete de|evite de)(?: que tu)? (?:parler|parles|entendre parler|"
        rf"reparler|mentionner)(?: de| du| des| d')* ?{_X}{_END}",
        rf"\bnao (?:me )?(?:fal[ae]s?|mencion[ae]s?|toqu[ea]s?|pergunt[ea]s?|lembr[ea]s?)(?: mais| nunca)*(?: no assunto)?"
        rf"(?: n?[doa]s?| em| de| sobre| por)* {_X}{_END}",
        rf"\b(?:nao quero|prefiro nao|para de|deixa de)(?: mais)? (?:falar|ouvir falar|pensar|perguntar|mencionar)(?: mais)?"
        rf"(?: n?[doa]s?| em| de| sobre)* {_X}{_END}",
        rf"\b(?:sprich|bring|lass) {_X} (?:bitte )?(?:nicht|nie)(?: mehr| wieder)*(?: an| zur sprache| auf)\b.*",
    )
)
_ABOUT = (
    r"(?:(?:that|the|this|all|everything|anything|whatever|what) )?(?:(?:whole|stupid|silly|dumb) )?"
    r"(?:(?:thing|bit|part|stuff|story|fact|memory|memories|conversation|joke|point)s? )?"
    r"(?:(?:you (?:know|remember|have|heard)|i(?:'ve| have)? (?:ever )?(?:just )?(?:said|told you|mentioned|wrote)) )?"
)
FORGET = tuple(
    patterns.compile(pattern, "i")
    for pattern in (
        rf"\b(?:pretend|act like|act as if) i (?:never|didn'?t|did not|hadn'?t) (?:said|say|told|tell|mentioned?)(?: you)?(?: anything)? about {_X}{_END}",
        rf"\b(?:ignore|disregard|unsee) {_ABOUT}about {_X}{_END}",
        rf"\b(?:forget|erase|delete|wipe|unremember) {_ABOUT}(?:about|on|with|of) {_X}{_END}",
        rf"\b(?:forget|erase|delete|wipe) what i(?:'ve| have)? (?:said|told you|wrote|written|posted|mentioned) (?:in|on|at|to|during) {_X}{_END}",
        rf"\b(?:vergiss|losch\w*|streich\w*)(?: bitte)?,? (?:alles |das |was |die sache |die geschichte )*(?:(?:ich |du )?(?:uber|von|"
        rf"mit|zu) ){_X}(?: (?:gesagt|erzahlt|weisst|gesagt habe|erzahlt habe))*{_END}",
        rf"\b(?:olvida(?:te)?|borra|elimina)(?: todo)? (?:(?:de )?lo de|(?:de )?lo que (?:te )?(?:dije|conte) (?:del?|sobre)|de|sobre) {_X}{_END}",
        rf"\b(?:oublie|efface|supprime)(?: tout)? (?:ce que (?:je t'ai|j'ai) (?:dit|raconte) (?:de|du|sur|a propos de)|l'histoire de|"
        rf"a propos de|sur) {_X}{_END}",
        rf"\b(?:esquec[ea]|apaga|elimina)(?: tudo)? (?:o que (?:eu )?(?:te )?(?:disse|contei) (?:sobre|d[aeo]s?)|a historia d[aeo]s?|"
        rf"sobre|d[aeo]s?) {_X}{_END}",
    )
)
FORGET_THAT = patterns.compile(
    r"\b(?:forget (?:that )?i (?:ever )?(?:said|mentioned|told you)(?: that| this| it| anything)?|"
    r"(?:pretend|act like|act as if) i (?:never|didn'?t|did not|hadn'?t) (?:said|say|told you|tell you|mentioned?)(?: that| this| it| anything)?|"
    r"tu so,? als hatte ich (?:das )?(?:nie|nichts|nicht) gesagt|haz como si no (?:lo )?hubiera dicho(?: nada| eso)?|"
    r"fais comme si je n'avais rien dit|faz de conta que (?:eu )?nao disse(?: nada| isso)?|(?:forget|erase|delete|unremember|strike|remove|scrap|scratch) (?:that|this|it)(?: (?:last )?(?:one|bit|part|thing|message))?|wipe (?:that|this|it)(?: out| off| away)?|"
    r"(?:vergiss|losch\w*|streich\w*)(?: bitte)? (?:das|es)|(?:olvida|borra|olvidalo|borralo)(?: eso| esto)?|"
    r"(?:oublie|efface)(?: ca| cela)|oublie-le|efface-le|(?:esquece|apaga)(?: isso| isto))"
    r"(?:,? (?:please|pls|bitte|wieder|por favor|s'il te plait|again|ok|now|completely|out|from (?:your |my )?\w+))*[\s,.!?]*(?:$|,)",
    "i",
)
OFF_RECORD = patterns.compile(
    r"\b(?:do(?:n'?t| not)|never|please not) (?:save|store|record|remember|memori[sz]e|keep|log|note|write|put) "
    r"(?:any of )?(?:that|this|it|what i (?:just )?(?:said|told you))(?: (?:part|bit|one|message|down|anywhere|on file|in (?:your )?"
    r"memory|please|pls|ok|though))*[\s,.!?]*$|"
    r"\b(?:do(?:n'?t| not)) put (?:that|this|it) in (?:your )?(?:notes?|memory|file|records?)\b|"
    r"\bkeep (?:that|this|it) out of (?:your )?(?:notes?|memory|file|records?)\b|\bnot for (?:the record|your notes|your memory)\b|"
    r"\bdas (?:bitte )?nicht (?:speichern|merken|aufschreiben|notieren)\b|\bnicht (?:abspeichern|mitschreiben)\b|"
    r"\beso no lo (?:guardes|apuntes|anotes)\b|\bnao e para (?:guardar|gravar)\b|"
    r"\b(?:this|that|it)(?:'s| is| stays| should be)? (?:strictly )?off[ -]the[ -]record\b|^off[ -]the[ -]record\b|"
    r"\b(?:speicher\w*|merk\w* dir|notier\w*|schreib\w*) (?:das|dies|es)(?: bitte)? nicht(?: auf)?\b|"
    r"\bdas (?:sollst|darfst) du (?:dir )?nicht (?:speichern|merken|aufschreiben)\b|"
    r"\bno (?:lo |la )?(?:guardes|apuntes|anotes|registres|recuerdes)(?: (?:eso|esto|nada de esto))?\b|\bque no quede registrad[oa]\b|"
    r"\b(?:n'(?:enregistre|ecris|inscris)|ne (?:garde|retiens|note|sauvegarde)) pas\b|"
    r"\bnao (?:guard[ae]s?|salv[ae]s?|grav[ae]s?|memoriz[ae]s?|anot[ae]s?|regist[ae]s?)(?: isso| isto)?\b",
    "i",
)
JUST_SAID = patterns.compile(r"\b(?:just (?:said|told)|last (?:message|thing)|i told you)\b", "i")
LIFT = tuple(
    patterns.compile(pattern, "i")
    for pattern in (
        rf"\byou (?:can|may|could) (?:\w+ ){{0,2}}?(?:mention|bring up|talk about|ask(?: me)? about|speak of|raise) {_X} again{_END}",
        rf"\bdu (?:darfst|kannst) (?:\w+ )?(?:wieder )?(?:uber|von|nach) {_X} (?:wieder )?(?:reden|sprechen|fragen)\b.*",
        rf"\bdu (?:darfst|kannst) {_X} (?:wieder )?(?:erwahnen|ansprechen)\b.*",
        rf"\b(?:ya )?puedes (?:volver a )?(?:hablar(?:me)?|mencionar|preguntar(?:me)?)(?: otra vez| de nuevo)?(?: del?| sobre| por| a)* "
        rf"{_X}(?: otra vez| de nuevo)?{_END}",
        rf"\btu peux (?:de nouveau |a nouveau )?(?:reparler|parler|mentionner|reevoquer)(?: de| du| d')* ?{_X}(?: a nouveau| de nouveau)?{_END}",
        rf"\b(?:ja )?pod(?:es|e) (?:voltar a )?(?:falar|mencionar|perguntar)(?: n?[doa]s?| de| sobre)* {_X}(?: de novo| outra vez)?{_END}",
    )
)
_OWN = patterns.compile(
    r"\b(?:i|we|they|he|she|people|everybody|nobody|who|that|ich|wir|er|sie|yo|je|il|elle|eu|ele|ela|(?:me|him|her|us|them) to)(?: \w+)?\s*$",
    "i",
)
"""Who says of themselves that they do not do something asks for nothing."""
_VAGUE = patterns.compile(
    r"^(?:it|this|that|them|him|her|these things|the subject|this topic|das|es|darauf|eso|esto|ello|ca|cela|isso|isto)$",
    "i",
)
_TELLING = patterns.compile(r"^i\b", "i")
_SAID_ABOUT = patterns.compile(
    r"\b(?:said|told you|wrote|mentioned)(?: \w+){0,3} about (?P<about>[^.!?;,\n]{2,60})|"
    r"\b(?:uber|sobre|a propos de) (?P<other>[^.!?;,\n]{2,60}?) (?:gesagt|dije|dit|disse)\b",
    "i",
)


def silenced(sentence: str) -> str | None:
    """What a sentence asks not to be brought up: its words, empty for "that"; ``None`` where it asks nothing."""
    return _first(SILENCE, sentence)


def forgotten(sentence: str) -> str | None:
    """What a sentence asks to be forgotten, in the same way."""
    if (about := _first(FORGET, sentence)) is not None:
        return about
    found = FORGET_THAT.search(sentence)
    return "" if found is not None and not _OWN.search(sentence[: found.start()]) else None


def off_record(sentence: str) -> bool:
    """Whether a sentence asks that nothing of this is kept."""
    found = OFF_RECORD.search(sentence)
    return found is not None and not _OWN.search(sentence[: found.start()])


def lifted(sentence: str) -> str | None:
    """What a sentence allows to be brought up again."""
    return _first(LIFT, sentence)


def spoken_of(text: str) -> str:
    """Whom or what a message says that it spoke about: "I said something unkind about my neighbour"."""
    found = _SAID_ABOUT.search(text)
    if found is None:
        return ""
    return subject(next((found.group(name) for name in ("about", "other") if found.has(name)), ""))


def _first(listed: tuple[patterns.Pattern, ...], sentence: str) -> str | None:
    for pattern in listed:
        found = pattern.search(sentence)
        if found is None:
            continue
        if _OWN.search(sentence[: found.start()]) and not _TELLING.search(sentence[found.start() :]):
            continue
        about = found.group("about").strip(" ,.!?") if found.has("about") else ""
        return "" if _VAGUE.search(about) else subject(about)
    return None
