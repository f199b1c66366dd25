"""Is this message a plain yes, a plain no, or something else?

A message counts as a consent or a refusal only if *all* of its words are covered by known phrases of one side and
polite fillers. One word more ("yes but make it three"), both sides at once ("ok, no"), a question ("yes?") or a
number leaves it undecided, and an undecided message changes nothing. So the list may be short without being unsafe:
what is not on it asks again.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum

from tenuto.text import patterns


class Consent(StrEnum):
    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


_YES = """
yes | y | yep | yup | yeah | yea | yes yes | aye | sure | sure thing | of course | certainly | absolutely
definitely
ok | okay | k | okey | alright | all right | fine | fine by me | fine with me | sounds good | looks good | lgtm
good | perfect | great
correct | that's correct | that is correct | right | that's right | that is right | exactly | agreed | i agree
confirm | confirmed | i confirm | i do | please do | do it | do that | go ahead | go for it | go on | proceed
apply it | apply | approve | approved
change it | yes change it | update it | make it so | make the change | accept | accepted | i accept
affirmative | indeed | works for me
ja | jawohl | jep | klar | na klar | gerne | genau | richtig | stimmt | passt | einverstanden | mach das
mach es | in ordnung | bestätigt | bestätige
oui | ouais | d'accord | bien sûr | parfait | vas y | allez y | c'est bon | je confirme | confirmé | exactement
sí | si | claro | claro que sí | vale | de acuerdo | adelante | hazlo | confirmo | confirmado | correcto
por supuesto
sì | certo | va bene | d'accordo | procedi | fallo | confermo | confermato | esatto
sim | claro que sim | pode ser | está bem | de acordo | pode fazer | isso mesmo
ja graag | prima | akkoord | doe maar | ga je gang | klopt | bevestigd
tak | oczywiście | zgoda | potwierdzam | да | конечно | хорошо | согласен | согласна | подтверждаю | верно
evet | tamam | olur | onaylıyorum | はい | お願いします | いいです | それでお願いします | 是 | 是的 | 好 | 好的
可以 | 确认 | 네 | 예 | 좋아요 | نعم | موافق | हाँ | हां | ठीक है
"""
_NO = """
no | n | nope | nah | no no | no way | never | don't | do not | don't do it | do not do it | don't do that
do not do that | don't change it
do not change it | don't change anything | do not change anything | no change | no changes | leave it
leave it as it is | leave it as is | leave it be | leave it alone | keep it
keep it as it is | keep it as is | keep it that way | keep as is | keep the old one | keep the old value
keep what i have | as it was | as before | i refuse | refuse | refused | reject | rejected
decline | declined | cancel | cancel it | cancel that | stop | abort | undo that | forget it | never mind
nevermind | not now | not really | wrong | that's wrong | that is wrong | incorrect | negative
i don't | i don't want that | i do not want that | i don't want to | discard | discard it | drop it | skip it
nein | ne | nee | nicht | nicht ändern | lass es | lass es so | lass das | behalten | so lassen | abbrechen
abgelehnt | falsch | auf keinen fall | lieber nicht
non | pas du tout | surtout pas | laisse | laisse comme ça | laissez | ne change rien | annule | annuler
refusé | garde le
déjalo | déjalo así | no lo cambies | mejor no | para nada | cancela | cancelar | rechazo | incorrecto
lascia stare | lascia così | non cambiare | annulla | rifiuto | meglio di no
não | nao | deixa estar | deixa assim | não mude | recuso | melhor não
laat maar | laat zo | niet doen | niet veranderen | annuleer
nie | zostaw | anuluj | odrzucam | нет | не надо | оставь | оставьте | отмена | не меняй
hayır | iptal | kalsın | いいえ | やめて | そのままで | 不 | 不是 | 不要 | 不用 | 取消 | 아니요 | 아니오 | 취소
لا | नहीं
"""
_FILLERS = """
please | pls | plz | thanks | thank you | thx | ty | many thanks | then | now | so | well | oh | ah | um | uh
hm | hmm | just | and | that one | it | that | with that | for me | go | i think so
bitte | danke | dann | mal | merci | s'il te plaît | s'il vous plaît | gracias | por favor | grazie | per favore
obrigado | obrigada | dank je | alstublieft | proszę | dziękuję | спасибо | пожалуйста | teşekkürler
"""
_HANDS = {"👍": "yes", "✅": "yes", "✔": "yes", "👌": "yes", "👎": "no", "❌": "no", "🚫": "no", "✖": "no"}
_DECORATION = dict.fromkeys(
    [0xFE0F, 0x200D, *range(0x1F3FB, 0x1F400), *range(0x1F600, 0x1F60B), *range(0x1F642, 0x1F650)]
)
"""Smiles, the colours of hands, and what joins them: they say neither yes nor no."""
_WORD = patterns.compile(r"[^\W_]+(?:'[^\W_]+)*")
LONGEST = 120
"""Characters: whoever writes more says more than yes or no."""


def _table(*groups: tuple[str, str]) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for side, phrases in groups:
        for phrase in phrases.replace("\n", "|").split("|"):
            if words := _words(phrase):
                found[words] = side
    return found


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("`", "'")
    return tuple(_WORD.findall(unicodedata.normalize("NFC", plain)))


_PHRASES = _table(("filler", _FILLERS), ("no", _NO), ("yes", _YES))
_MOST_WORDS = max(len(words) for words in _PHRASES)


def consent(text: str) -> Consent:
    """What a short reply says, whatever it is asked about."""
    if len(text) > LONGEST:
        return Consent.UNCLEAR
    shown = text.translate(_DECORATION)
    for hand, word in _HANDS.items():
        shown = shown.replace(hand, f" {word} ")
    if any(mark in shown for mark in "?？؟") or any(_unspoken(char) for char in shown):
        return Consent.UNCLEAR
    words, place, sides = _words(shown), 0, set()
    while place < len(words):
        for length in range(min(_MOST_WORDS, len(words) - place), 0, -1):
            if side := _PHRASES.get(words[place : place + length]):
                sides.add(side)
                place += length
                break
        else:
            return Consent.UNCLEAR
    sides.discard("filler")
    if sides == {"yes"}:
        return Consent.YES
    return Consent.NO if sides == {"no"} else Consent.UNCLEAR


def _unspoken(char: str) -> bool:
    """Signs that carry meaning which the words do not: digits, symbols, brackets, quotation marks at line starts."""
    return unicodedata.category(char) in {"Nd", "Sm", "Sc", "So", "Ps", "Pe", "Cc"} and char not in "\n\r\t"
