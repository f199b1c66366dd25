"""Words that say that something is over, where no new value follows: "last day at the bakery", "gave up the cello". Pure.

What they end is decided beside what is known (:mod:`tenuto.ingest.reconcile.ended`): without a memory of the same person
that speaks of that thing they end nothing, so a clause too many costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenuto.ingest.extract.exchange import Ending
from tenuto.ingest.extract.marked import Marked
from tenuto.language.mentions import SELF
from tenuto.records.reading import Mark
from tenuto.text import patterns

_NP = r"(?P<what>(?:[\w'’&-]+ ){0,4}[\w'’&-]+)"
_OUR = r"(?:the |my |our |his |her |their |all |el |la |los |las |mi |le |les |mon |ma |o |a |os |as |meu |minha |die |der |das |dem |den |meine[nm]? )*"
_CUES = {
    "work": patterns.compile(
        r"\b(?:(?:last|final) (?:day|shift|week) (?:at|in|with|for)|(?:quit|resigned from|leaving|left|laid off (?:from|by)|fired from|sacked from)|"
        r"no longer (?:work|working|works) (?:at|for|in|with)|letzte[rn]? (?:arbeits)?(?:tag|woche) (?:bei|im|in|am)|gekündigt bei|"
        r"[uú]ltimo d[ií]a en|ya no trabaj\w+ (?:en|para)|dernier jour (?:à|chez|au)|travaille plus (?:à|chez|au|pour)|"
        r"[uú]ltimo dia (?:em|no|na)|j[áa] n[ãa]o trabalh\w+ (?:em|no|na|para)) " + _OUR + _NP,
        "i",
    ),
    "home": patterns.compile(
        r"\b(?:(?:moved|moving|move) out of|(?:good)?bye(?:[ -]?bye)?,?|farewell,?|no longer liv\w+ (?:in|at)|ausgezogen aus|nicht mehr in|"
        r"ya no viv\w+ en|adiós,?|n'habit\w+ plus (?:à|en|au)|adieu,?|j[áa] n[ãa]o mor\w+ (?:em|no|na)|adeus,?) "
        + _OUR
        + _NP,
        "i",
    ),
    "doing": patterns.compile(
        r"\b(?:(?:gave|given|giving) up(?: on)?|quit|stopped|packed in|dropped out of|done with|no longer|cancell?ed|sold|got rid of|gave away|"
        r"(?:switch\w*|chang\w*|swap\w*|mov\w*) from|(?:is|are|am|'s|'m|'re|got|taken?) (?:\w+ )?off|came off|come off|deleted|aufgehört mit|aufgegeben|verkauft|abgesetzt|"
        r"(?:he |ha )?dejad?[oóé] (?:de )?|ya no|vend[ií]|arrêté (?:de |d')?|vendu|deixei (?:de )?|parei (?:de |com )?|j[áa] n[ãa]o|larguei) "
        + _OUR
        + _NP,
        "i",
    ),
    "death": patterns.compile(
        r"\b(?P<own>(?:my|our|mein\w*|unser\w*|mi|nuestr\w|mon|ma|notre|meu|minha|nosso|nossa) )?(?P<what>[\w'’-]+) (?:has |just |was |got |is |had to be |ha |está |est |foi )*(?:died|dead|passed away|passed on|put down|put to sleep|run over|"
        r"gestorben|tot|eingeschläfert|muri[óo]|mort|morte|morreu)\b",
        "i",
    ),
    "role": patterns.compile(
        r"\b(?P<what>(?:(?:dr|mr|mrs|ms|prof|frau|herr)\.? )?[\w'’-]+(?: [A-Z][\w'’-]+)?) (?:has |have |is |hat |ist |ha |a |est |se |foi )*"
        r"(?:retired|retiring|retires|no longer (?:my|our)|left|leaving|moved on|in rente|im ruhestand|jubilad[oa]|jubil[óo]|à la retraite|reformou-se|"
        r"aposentou-se)\b",
        "i",
    ),
}
_PARTED = patterns.compile(
    r"(?:\b(?:we|i|me and [\w'-]+|[\w'-]+ and (?:i|me)|us)(?:'ve| have| just| finally| both| got| are| are getting)* "
    r"(?:broke up|broken up|split up|split|divorced|separated)|^\W*(?:just |finally )?(?:broke up|split up|split) with|"
    r"\bi (?:just |finally |have )?(?:broke up|split up|split) with|\bdumped me|\bi dumped|"
    r"\b(?:wir (?:haben|sind)|ich hab\w*|[\w-]+ und ich (?:haben|sind))\b.{0,40}\b(?:getrennt|schluss gemacht)|"
    r"\bhemos roto|\brompimos|\blo dejamos|\bon s'est séparés|\bon a rompu|\bterminámos|\bseparámo-nos)\b",
    "i",
)
_BORN = patterns.compile(
    r"\b(?:had|has had|have had) (?:her|the|our|my|their|a) (?:\w+ )?(?:baby|babies|twins|boy|girl)\b|\bgave birth\b|"
    r"\b(?:baby|twins) (?:is|are|was|were|has|have|'s)? ?(?:here|born|arrived)\b|\bentbunden\b|\bbaby (?:bekommen|ist da)\b|\bdio a luz\b|"
    r"\btuvo (?:al|a la|su) beb[ée]\b|\ba accouché\b|\bdeu à luz\b|\bteve o beb[ée]\b",
    "i",
)
_NOT_SO = patterns.compile(
    r"\?|\b(?:if|nearly|almost|might|may|could|would|should|want|wanted|wish|thinking|considering|never|not|don't|didn't|haven't|won't|can't|cannot|"
    r"will|going to|gonna|planning|about to|dream\w*|pretend\w*|joke|wenn|fast|vielleicht|möchte|will|würde|si|casi|quiero|quizás?|presque|voudrais|"
    r"se|quase|quero|talvez)\b[^,;]{0,40}$",
    "i",
)
_CLAUSE = patterns.compile(r"[,;!.(]\s|\s(?:but|so|because|and|aber|weil|und|pero|porque|mais|mas)\s", "i")
_TAIL = patterns.compile(
    r"\s(?:today|yesterday|tomorrow|now|was|is|last|this|on|for|in|at|since|because|after|before|altogether|completely|forever|finally|any|anymore|"
    r"heute|gestern|ayer|hoy|hier|ontem|hoje|para siempre|with|and|from|to|when|as|it)\b.*$",
    "i",
)
MOST = 6
"""Endings of one message."""


def endings_in(message: Marked) -> Iterator[Ending]:
    """What a message says is over."""
    if not message.own:
        return
    count = 0
    for first, last in message.spans:
        sentence = message.text[first:last].replace("’", "'")
        if sentence.rstrip().endswith("?"):
            continue
        for kind, pattern in _CUES.items():
            for match in pattern.finditer(sentence):
                if _NOT_SO.search(sentence[: match.start()]) or count >= MOST:
                    continue
                what = _TAIL.sub("", _CLAUSE.split(match["what"])[0]).strip(" ,.!'")
                if not what:
                    continue
                count += 1
                begins = max([0, *(cut.end() for cut in _CLAUSE.finditer(sentence) if cut.end() <= match.start())])
                owned = kind == "death" and bool(match["own"])
                yield Ending(
                    kind="own_death" if owned else kind,
                    what=what,
                    subject=_subject(message, first + begins, last),
                    text=sentence.strip(),
                )
        if (born := _BORN.search(sentence)) and not _NOT_SO.search(sentence[: born.start()]):
            yield Ending(kind="birth", what="", subject=_subject(message, first, last), text=sentence.strip())
        if _PARTED.search(sentence) and not _NOT_SO.search(sentence[: _start(_PARTED, sentence)]):
            named = [one.label for one in message.people if first <= one.start < last and one.named]
            yield Ending(kind="parted", what=named[0] if named else "", subject=SELF, text=sentence.strip())


def _start(pattern: patterns.Pattern, text: str) -> int:
    match = pattern.search(text)
    return match.start() if match else 0


def _subject(message: Marked, start: int, end: int) -> str:
    """Whom a clause is about: the one it begins with, or the speaker."""
    person = message.inside(Mark("clause", "fact", start, end, "self", "now", 1.0))
    return message.speaker.subject if person is None else person.id
