"""Whether what reads like a life-critical statement is meant as one. Pure.

"Allergic to Mondays", "if I were diabetic", a character's illness, a leaflet's warning and the cat's tablets are marked
by the same words as the real thing. What is meant as a statement about somebody stays; what may be one stays unsure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tenuto.language.lexicon import word_list
from tenuto.language.medicines import is_medicine
from tenuto.records.reading import Mark
from tenuto.text import patterns


class Meant(StrEnum):
    """How a statement about health is meant."""

    SAID = "said"
    UNSURE = "unsure"
    ANIMAL = "animal"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Said:
    """A marked value with its sentence. ``sure``: its clause says whom it is about; ``asked``: the question it answers."""

    text: str
    mark: Mark
    first: int
    last: int
    sure: bool
    asked: str = ""
    pet: bool = False
    reacted: bool = False
    """A reaction is told beside it."""

    @property
    def value(self) -> str:
        return self.text[self.mark.start : self.mark.end]

    @property
    def before(self) -> str:
        return self.text[self.first : self.mark.start]

    @property
    def sentence(self) -> str:
        return self.text[self.first : self.last]


JUDGED = frozenset({"allergy", "med", "cond", "blood", "reaction"})
SURE_OF_STRANGE = 0.85
"""How sure the reader must be of an allergen that no list knows."""
SURE_WITHOUT_SIGN = 0.8
"""How sure the reader must be of an allergy that nothing in the message speaks of."""
SEEN = 400
"""Characters before a sentence in which a frame such as "let's role play" is looked for."""

_PLAYED = patterns.compile(
    r"\b(?:pretend|imagine|suppose|let'?s say|role.?play\w*|what if|translat\w+|how (?:do|would|can) (?:i|you|one) say|fix (?:the|my) grammar|proofread|"
    r"correct (?:this|the) sentence|half (?:of )?my|most of my|some of my|(?:write|make up|invent) (?:me )?an? (?:\w+ )?(?:poem|story|song|joke|sketch|dialogue)|"
    r"stell dir vor|angenommen|ubersetz\w*|wie sagt man|schreib\w* (?:mir )?ein\w* (?:gedicht|geschichte)|"
    r"imagin[ae]\w*|supon\w*|traduc[ei]\w*|traduz\w*|como se di(?:ce|z)|escrib\w+ un (?:poema|cuento)|"
    r"supposons|tradui\w*|comment (?:dit-on|on dit)|ecris\w* un|escrev\w+ um)\b",
    "i",
)
_TOLD_ABOUT = patterns.compile(
    r"\b(?:novel|story|stories|character|protagonist|detective|film|movie|book|episode|series|documentary|poem|essay|screenplay|sitcom|"
    r"advert\w*|ads?|commercial|leaflet|package insert|label|article|reddit|twitter|tiktok|instagram|headline|news|podcast|website|textbook|wikipedia|"
    r"horoscope|celebrity|actor|singer|influencer|roman|geschichte|figur|werbung|anzeige|beipackzettel|packungsbeilage|artikel|novela|cuento|personaje|"
    r"pelicula|anuncio|prospecto|articulo|personnage|publicite|notice|romance|personagem|filme|livro|bula|artigo)\b",
    "i",
)
_SUPPOSED = patterns.compile(
    r"\b(?:if (?:i|he|she|we|they|my|someone|somebody|you)\b[^.:;!?]{0,30}?\b(?:were|was|had|ever got|got|ever had)|(?:wenn|falls) [^.;!?]{0,40}(?:ware|hatte|wurde)|"
    r"si (?:yo )?(?:fuera|fuese|tuviera|tuviese)|si (?:j'etais|j'avais|il etait|elle etait)|se (?:eu )?(?:fosse|tivesse))\b",
    "i",
)
_NO_ONE = patterns.compile(
    r"\b(?:people|someone|somebody|anyone|anybody|everyone|everybody|nobody|folks|humans|adults?|most kids|some kids|half (?:of )?my \w+|a lot of|"
    r"lots of|many|leute|menschen|jemand|darf man|kann man|man (?:darf|kann)|viele|la gente|alguien|muchos|mucha gente|les gens|quelqu'un|on peut|beaucoup de|"
    r"pessoas|alguem|muita gente|se pode)\b",
    "i",
)
_TO_YOU = patterns.compile(
    r"\b(?:you(?:'re| are| must| might| look| can't| have)|are you|bist du|du bist|sind sie|eres|tu es|vous etes|es-tu|voce e|tu es)\b[^.,;!?]{0,20}$",
    "i",
)
_ANIMAL = patterns.compile(
    r"\b(?:my|our|the|his|her|their|a|unser\w*|mein\w*|der|die|mi|nuestr[ao]|el|la|mon|ma|notre|le|o meu|a minha|o|a) (?:\w+ )?"
    r"(?:dogs?|cats?|pupp(?:y|ies)|pups?|kittens?|horses?|pony|rabbits?|bunny|hamsters?|parrots?|guinea pigs?|hund|hundin|katze|kater|pferd|hase|"
    r"kaninchen|perr[oa]s?|gat[oa]s?|caballo|conejo|chien(?:ne)?|chat(?:te)?|cheval|lapin|cao|cachorr[oa]|cavalo|coelho)\b(?:'s)?[^.;!?]*$",
    "i",
)
_VET = patterns.compile(
    r"\b(?:the|our|a|der|die|el|la|le|o) (?:vet|tierarzt|tierarztin|veterinari[oa]|veterinaire)\b", "i"
)
_OVER = patterns.compile(
    r"\b(?:used to (?:be|have|take|get)|outgr\w+|gr[eo]wn? out of|no longer|fruher|ya no|de (?:nino|nina)|antes|ja nao|en mi infancia|quand j'etais petite?)\b",
    "i",
)
_AFTER_OVER = patterns.compile(
    r"\b(?:outgr\w+|gr[eo]wn? out of|langst weg|nicht mehr|n'est plus|went away|cleared up)\b", "i"
)
_TAKEN_ONCE = patterns.compile(
    r"\b(?:took|taken|had|popped|taking|having|hab\w*|tome|he tomado|j'ai pris|tomei)\s+(?:an?|some|two|one|a couple of|eine?|un[ae]?|dos|du|deux|uma?|dois|my)?\s*(?:of )?(?:a )?$",
    "i",
)
_REGULAR = patterns.compile(
    r"\b(?:every|daily|twice|once a|each|mg|mcg|units|on it|weekly|regularly|taglich|jeden|zweimal|cada|al dia|todos os|chaque|par jour|por dia|puffs?)\b",
    "i",
)
_OVER_THE_COUNTER = frozenset(
    [
        "paracetamol",
        "acetaminophen",
        "ibuprofen",
        "aspirin",
        "lemsip",
        "tylenol",
        "advil",
        "nurofen",
        "panadol",
        "antihistamine",
        "doliprane",
        "painkiller",
        "painkillers",
        "ibuprofeno",
        "aspirina",
        "ibuprofene",
        "calpol",
        "alka-seltzer",
        "gaviscon",
        "rennie",
        "strepsils",
        "aspirine",
    ]
)
_SIGN = patterns.compile(
    r"allerg|alerg|anaphyla|anafil|intoler|unvertr|vertrag|\breact|\breag|reacci|swell|swollen|schwill|hinch|gonfl|\binch[ao]|throat|\bhals\b|"
    r"gargant|gorge|hives|\brash|itch|welt|urticar|nessel|breath|airway|\batem|respir|sem ar|hospital|\ba&e|\ber\b|intensive|ambulance|krankenhaus|"
    r"notauf|urgenc|epi.?pen|injector|adrenal|shock|schock|\bchoc\b|choque|\bill\b|\bsick|vomit|throw(?:s|ing)? up|faint|collaps|\blips?\b|\bface\b|tongue|\bblue\b|"
    r"hallucin|deadly|deathly|dangerous|toler|supporte|can'?t (?:have|eat|take|touch|do|stand near|go)|cannot|mustn|must n|never again|never give|"
    r"not allowed|no puede|ne peut|nao pode|darf|coeliac|celiac|celia|zoliak|stomach|upsets|closes?\b|blows? up|trouble|\bdrip\b|brings? (?:me|him|her) out|"
    r"off limits|no pued\w+|\bcan'?t\b|nicht essen|ne peut pas|prohib|proib|interdit|verboten|ronchas|ausschlag|erstick|urgence|glote|matou|mata\b|tuer|lands? in|landet|fatal|\bkills?\b|in bed for|bad for|welts",
    "i",
)
_DIET = patterns.compile(
    r"\b(?:don'?t eat|do not eat|doesn'?t eat|never eat|eat no|vegan|vegetarian|veggie|pescatarian|halal|kosher|jain|religio\w*|esse kein\w*|"
    r"no como|ne mange pas|nao como|don'?t like|hate|taste)\b",
    "i",
)
_IN_JEST = patterns.compile(
    r"\bi swear\b|\blol\b|\blmao\b|haha|jaja|kkk|\bmust be\b|\bpractically\b|\bbasically\b|\bhonestly\b|\bapparently\b|😂|🤣|🧽|🙃|😅|\bmdr\b",
    "i",
)
_ABSTRACT = patterns.compile(
    r"^(?:the |my |his |her |your |being |doing |getting |buying |[a-z]{3,}ing\b|[a-z]{4,}(?:ar|er|ir)$)", "i"
)
_ASKS = patterns.compile(
    r"^\W*(?:is|are|am|does|do|did|was|has|have|can|could|should|would|how|what|which|why|ist|sind|hat|hast|nimmt|darf|kann|wie|es|son|tiene|toma|cuant\w+|"
    r"puede|est-ce|est|sont|combien|peut|e|sao|tem|quant\w+|pode)\b",
    "i",
)
_WITHIN = patterns.compile(
    r"\b(?:when|because|who|since|given|with|as|though|but|and|bc|cuz|cos|that|weil|mit|und|con|que|porque|avec|qui|et|com|por|y|wenn)\b",
    "i",
)
_QUOTED = patterns.compile(r'["“”„«»]')


def meant(said: Said) -> Meant:
    """How a marked value is meant, by the words around it."""
    mark = said.mark
    if mark.state in ("end", "neg"):
        return Meant.SAID
    if _framed(said) or _asked_only(said) or _once(said):
        return Meant.NOT
    if said.pet or _VET.search(said.sentence) or (not said.sure and _ANIMAL.search(said.before)) or _own_animal(said):
        return Meant.ANIMAL
    if _OVER.search(said.before) or _AFTER_OVER.search(said.sentence):
        return Meant.NOT
    return _allergy(said) if mark.type == "allergy" else Meant.SAID


def _own_animal(said: Said) -> bool:
    """ "Our dog is allergic …": the animal stands right before the verb."""
    found = _ANIMAL.search(said.before)
    return found is not None and len(said.before[found.start() :].split()) <= 6


def _framed(said: Said) -> bool:
    """Inside a game, a story, a leaflet, a supposition, a quote, or said of nobody in particular."""
    earlier = said.text[max(0, said.first - SEEN) : said.mark.start]
    if _PLAYED.search(earlier) or _SUPPOSED.search(said.before) or _TO_YOU.search(said.before):
        return True
    if len(_QUOTED.findall(said.before)) % 2 == 1 and _QUOTED.search(said.text[said.mark.end : said.last]):
        return True
    return not said.sure and bool(_TOLD_ABOUT.search(said.before) or _NO_ONE.search(said.sentence))


def _asked_only(said: Said) -> bool:
    """A question that states nothing: "Is penicillin an antibiotic?"."""
    if "?" not in said.sentence[-4:]:
        return False
    if not said.sure:
        return True
    return bool(_ASKS.match(said.sentence)) and not _WITHIN.search(said.before)


def _once(said: Said) -> bool:
    """ "Took a paracetamol this morning" is no treatment."""
    if said.mark.type != "med" or said.value.casefold() not in _OVER_THE_COUNTER:
        return False
    return bool(_TAKEN_ONCE.search(said.before)) and not _REGULAR.search(said.sentence)


def _allergy(said: Said) -> Meant:
    near = said.text[max(0, said.first - SEEN // 2) : said.last + SEEN // 2]
    sign = said.reacted or bool(_SIGN.search(near) or _SIGN.search(said.asked))
    if is_allergen(said.value):
        if sign:
            return Meant.SAID
        return Meant.NOT if _DIET.search(said.sentence) or said.mark.score < SURE_WITHOUT_SIGN else Meant.UNSURE
    if _IN_JEST.search(said.sentence) or _ABSTRACT.search(_with_article(said)) or not sign:
        return Meant.NOT
    return Meant.SAID if said.mark.score >= SURE_OF_STRANGE else Meant.NOT


def _with_article(said: Said) -> str:
    article = next((word for word in ("the ", "my ", "his ", "her ") if said.before.casefold().endswith(word)), "")
    return article + said.value


def is_allergen(value: str) -> bool:
    """Whether something is known to harm people: a medicine, or a word of the list in any of the languages."""
    return any(
        _listed(word) or is_medicine(word) for word in value.casefold().replace("-", " ").replace("'", " ").split()
    )


def _listed(word: str) -> bool:
    known = word_list("allergens")
    bare = word.strip('.,;:!?()’"')
    forms = (
        bare,
        bare.removesuffix("s"),
        bare.removesuffix("es"),
        bare.removesuffix("n"),
        bare.removesuffix("en"),
        bare.removesuffix("e"),
    )
    if any(part in bare for part in ("allerg", "alerg", "intoleran", "unverträglich")):
        return True
    return any(form in known for form in forms) or (bare.endswith("ies") and f"{bare[:-3]}y" in known)


_BARRED = patterns.compile(
    r"\b(?:no|not|nothing|never|can'?t|cannot|cant|mustn'?t|avoid\w*|kein\w*|nicht|nie|ohne|sin|ni|pas|ne|sans|d'|nao|sem|nem|off)\b",
    "i",
)
_HARM = patterns.compile(
    r"allerg|alerg|anaph|anaf|intoler|vertrag|unvertr|toler|supporte|react|reag|reacci|swell|swollen|schwill|hinch|gonfl|inch[ao]|throat|\bhals\b|gargant|"
    r"gorge|hives|rash|itch|welt|urticar|breath|airway|\batem|respir|hospital|\ba&e|\ber\b|intensive|ambulance|krankenhaus|notauf|urgenc|epi.?pen|injector|"
    r"adrenal|shock|schock|\bchoc\b|choque|\bill\b|very sick|vomit|throws? up|faint|collaps|\blips?\b|tongue|turns? blue|deadly|balloon|blows? up|\boler\b|"
    r"coeliac|celiac|celia|zoliak|in bed for|drip\b|ausschlag|ronchas|erstick|glote",
    "i",
)
NEAR = 160
"""Characters around a limit in which the harm is told."""


def barred_allergens(text: str, limit: Mark) -> list[Mark]:
    """ "Nothing with sesame, she turns blue": what a limit bars because it harms is an allergy."""
    said = text[limit.start : limit.end]
    around = text[max(0, limit.start - NEAR) : limit.end + NEAR]
    if not _BARRED.search(text[max(0, limit.start - 24) : limit.end]) or not _HARM.search(around):
        return []
    found: list[Mark] = []
    at = limit.start
    for word in said.split():
        at = text.index(word, at)
        bare = word.strip(".,;:!?()")
        bare = bare[2:] if bare.casefold().startswith(("d'", "d’", "l'", "l’")) else bare
        if bare and _listed(bare.casefold()) and not is_medicine(bare):
            start = text.index(bare, at)
            new = Mark("value", "allergy", start, start + len(bare), limit.owner, "now", min(limit.score, BARRED_SURE))
            if found and text[found[-1].end : start] == " ":
                new = replace(new, start=found.pop().start)
            found.append(new)
        at += len(word)
    return found


BARRED_SURE = 0.7
"""How sure an allergy is at most that only a limit tells."""
