"""A net under the reader for what must never be lost: plain words for allergies, and medicines with a dose.

The reader generalises; it may still miss the plainest sentence once. What is said in so many words ("allergic to
penicillin", "metformin 500 mg") is therefore marked by rules as well, in every language that is read, unless the reader
has marked that place. Jokes ("allergic to Mondays"), denials and questions about others are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.language.lexicon import word_list
from tenuto.language.medicines import is_medicine
from tenuto.records.reading import Mark
from tenuto.text import patterns

PLAIN, HEDGED = 0.75, 0.5
LOOKED_AT = 20_000
"""Characters of a message that are searched."""
_ALLERGIC = patterns.compile(
    r"\b(?P<not>not |nicht |no (?:soy|es|somos) |n'est pas |ne suis pas |não (?:sou|é) |isn't |never )?"
    r"(?P<how>(?:[a-zäöüéí]+ly )?(?:allergic|anaphylactic)|allergisch|al[eé]rgic[oa]s?|allergiques?|allerg(?:y|"
    r"ies)|allergie|alergia)"
    r"\s+(?:to|gegen|auf|al?|à|aux?|aos?|às)\s+(?:the |den |die |das |los |las |la |el |l'|les |le |all |any )?"
    r"(?P<what>[^\s.,;:!?()\n][^.;:!?()\n]{0,79})",
    "i",
)
_BEFORE = patterns.compile(
    r"\b(?P<what>[a-zäöüéçñ-]{3,20}(?: [a-z]{3,12})?) allerg(?:y|ies)\b|"
    r"\b(?P<joined>[A-ZÄÖÜ][a-zäöüß]{3,20})allergie\b",
    "i",
)
_END = patterns.compile(
    r"\s+(?:and (?:i|he|she|we|they|it|my|his|her|that|so|has|had|is|was|then|also|now|carries|takes)\b|but|so|"
    r"because|since|when|which|who|if|"
    r"apparently|though|too|now|as well|by the way|btw|lol|und (?:ich|er|sie|das|hat|ist)|aber|weil|seit|y "
    r"(?:yo|él|ella|me|lo|ha|es)|pero|porque|"
    r"et (?:je|il|elle|ça)|mais|parce|depuis|e (?:eu|ele|ela)|mas|desde)\b.*$",
    "i",
)
_AND = patterns.compile(r",|/|&|\band\b|\bor\b|\bund\b|\boder\b|\by\b|\bo\b|\bet\b|\bou\b|\be\b", "i")
_JOKE = word_list("no_allergens")
"""What nobody is allergic to but in jest, and words that break off."""
_DOSE = patterns.compile(
    r"\b(?P<med>[A-Za-z][A-Za-z-]{3,24})\s+(?P<dose>(?:\d+(?:[.,]\d+)?)\s?(?:mg|mcg|µg|micrograms?|units?|einheiten|unidades|iu|ie|ml|puffs?)\b)",
    "i",
)
_QUESTION = patterns.compile(
    r"\b(?:are you|anyone|anybody|do you|is anyone|bist du|sind sie|eres|es usted|tu es|vous êtes|és|você é)\b", "i"
)
_HEDGE = patterns.compile(
    r"\b(?:might|maybe|perhaps|possibly|i think|could be|vielleicht|quizás|tal vez|peut-être|talvez|acho que)\b", "i"
)
_FIRST = patterns.compile(
    r"\b(?:i|i'm|im|my|we|ich|mein\w*|wir|yo|soy|mi|tengo|je|j'|mon|ma|eu|sou|minha|meu|tenho)\b", "i"
)
_CARED_FOR = patterns.compile(r"(?:\bthe |^)(?P<who>patient|client|resident)\b", "i")
_THIRD = patterns.compile(
    r"\b(?:he|she|he's|she's|er|sie|él|ella|il|elle|ele|ela|patient\w*|the client|the resident)\b", "i"
)


def plain_marks(text: str, marks: Sequence[Mark], sentences: Sequence[tuple[int, int]]) -> list[Mark]:
    """The marks that plain words for life-critical things add to the reader's."""
    found: list[Mark] = []
    for start, end in sentences:
        if start >= LOOKED_AT:
            break
        said = text[start:end]
        found += _allergies(said, start, marks)
        found += _doses(said, start, marks)
        found += _taken_medicines(said, start, marks)
        found += _bad_for(said, start, marks)
        found += _harmed(said, start, marks)
        found += _names(said, start, marks)
        found += _jobs(said, start, marks)
        found += [
            Mark("value", "rel", start + one.start("who"), start + one.end("who"), "self", "now", PLAIN)
            for one in _CARED_FOR.finditer(said)
            if not any(mark.start <= start + one.start("who") < mark.end for mark in marks)
        ]
    return [one for one in found if not _taken(one, marks)]


_NAME = patterns.compile(
    r"\b(?:my name is|my name's|ich hei(?:ß|ss)e|mein name ist|me llamo|mi nombre es|je m'appelle|mon nom est|(?:eu )?me chamo|chamo-me|(?:o )?meu nome é)"
    r"\s+(?P<name>[^\W\d_][\w'’-]{1,30}(?: [A-Z][\w'’-]{1,30}){0,2})",
    "i",
)


CALLED = patterns.compile(
    r"(?:\b(?:i'?m|i am|call me|names?(?:'s|’s| is)?|it'?s|this is|says?|goes by|go by|known as|calls me|called|ich bin|hei(?:ß|ss)e|hier ist|nenn\w* mich|"
    r"nennen mich|soy|me llamo|me dicen|dime|llámame|je suis|m'appelle|appelle-moi|sou (?:o|a)|sou|chamo|chama-me|me chama)|\(|aka)\W*$",
    "i",
)
"""What stands before a name that somebody says to be theirs."""
_NICKNAME = patterns.compile(
    r"\b(?:(?:everyone|everybody|people|friends|they all|most people|my friends|mates) (?:just |always |literally )?(?:says?|calls? me)|call me|i go by|nenn(?:t|en)? mich|"
    r"alle nennen mich|todos me (?:llaman|dicen|chamam)|ll[aá]mame|tout le monde m'appelle|appelle-moi|toda a gente me chama|me chama de|chama-me)"
    r"\s+(?P<name>[^\W\d_][\w'’-]{1,20})\b",
    "i",
)


_INTRODUCED = patterns.compile(
    r"(?:(?:hi|hello|hey|hallo|hola|salut|bonjour|olá|oi)[,!. ]+)?(?P<name>[A-Z][\w'’-]{1,20}(?: [A-Z][\w'’-]{1,20}){1,2})"
    r"(?:,| –| -) (?:I|I'm|I’m|ich|yo|soy|je|eu|sou)\b"
)
_EXCLAIMED = frozenset(
    ["god", "lord", "oh", "well", "thank", "thanks", "good", "yes", "no", "dear", "happy", "merry", "new", "ok", "okay", "so", "holy", "my", "mein", "gott",
     "dios", "mon", "dieu", "meu", "deus", "last", "this", "next", "guten", "buenos", "buenas", "bom", "boa", "hey", "hi", "hello"]
)  # fmt: skip
"""Words of what somebody calls out, or greets with, before "I"."""
_BUT_CALLED = patterns.compile(
    r"\b(?:i'?m|i am|ich bin|soy|je suis|sou) (?P<name>[^\W\d_][\w'’-]{1,20}),? (?:but|aber|pero|mais|mas) (?:\w+ )?(?:everyone|everybody|people|friends|alle|"
    r"todos|tout le monde|toda a gente) (?:just |always |literally )?(?:says?|calls? me|nennen mich|me (?:llaman|dicen|chamam?)|m'appelle)\b",
    "i",
)


def _names(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    """The speaker's own name, and what they are called, in so many words."""
    known = [mark for mark in marks if mark.type == "name"]
    found = [] if known else [*_NAME.finditer(said), *_BUT_CALLED.finditer(said)]
    if not known and start == 0 and (introduced := _INTRODUCED.match(said)) is not None:
        found += [] if _EXCLAIMED.intersection(introduced["name"].casefold().split()) else [introduced]
    found += [one for one in _NICKNAME.finditer(said) if one["name"].casefold() not in _NO_NICKNAME]
    return [
        Mark("value", "name", start + one.start("name"), start + one.end("name"), "self", "now", PLAIN)
        for one in found
        if not any(mark.start < start + one.end("name") and start + one.start("name") < mark.end for mark in known)
    ]


_NO_NICKNAME = word_list("small_words") | {
    "back", "when", "later", "tomorrow", "today", "tonight", "crazy", "now", "out", "names", "an", "biased", "old", "once", "maybe", "after", "mañana",
    "luego", "demain", "plus", "morgen", "später", "amanhã", "depois",
}  # fmt: skip


_TAKES = patterns.compile(
    r"\b(?:takes?|taking|(?:is|am|are|'s|'m|was put|put (?:her|him|me)) on|been on|nimmt|nehme|tom[ao]|prends?|prend)\s+(?:the |her |his |my |"
    r"some |jetzt |du |de la |el |la |o |a )?(?P<med>[A-Za-z][A-Za-z-]{3,24})\b",
    "i",
)
_BAD_FOR = patterns.compile(
    r"\b(?:(?:can'?t|cannot|mustn'?t|must not|isn'?t allowed to|not allowed to) (?:take|have|eat|be given)|(?:bad|severe|terrible|"
    r"allergic) reactions? to|reacts? (?:badly |severely )?to|darf (?:kein\w*|nie)|verträgt (?:kein\w*)|no puede tomar|no tolera|"
    r"reacción (?:alérgica )?a|ne (?:peut|supporte|tolère) pas|réaction (?:allergique )?(?:à|au)|não pode tomar|não tolera|reação a)\s+"
    r"(?:any |the |el |la |los |las |le |les |du |de la |o |a )?(?P<what>[A-Za-z][A-Za-z-]{2,24})",
    "i",
)
_ROLE = patterns.compile(
    r"\b(?:i'm|i am|im) (?:an?|the) (?P<role>[a-z][a-z -]{2,40}?)(?:[.,!;]|$| (?:at|in|for|from|and|by|with|here|now|who)\b)",
    "i",
)


def _taken_medicines(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    """ "Takes metformin": a medicine that a list knows, with a word that says that somebody takes it."""
    if "?" in said or _NOT.search(said):
        return []
    return [
        Mark(
            "value",
            "med",
            start + one.start("med"),
            start + one.end("med"),
            _owner(said, one.start(), start, marks),
            "now",
            PLAIN,
        )
        for one in _TAKES.finditer(said)
        if is_medicine(one["med"]) and not _DOSE.match(said, one.start("med"))
    ]


def _bad_for(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    """ "Can't take aspirin", "a bad reaction to codeine": something that is known to harm people."""
    found = [one for one in _BAD_FOR.finditer(said) if is_medicine(one["what"]) or _allergen(one["what"])]
    return [
        Mark(
            "value",
            "allergy",
            start + one.start("what"),
            start + one.end("what"),
            _owner(said, one.start(), start, marks),
            "now",
            HEDGED,
        )
        for one in found
        if "?" not in said
    ]


_HARMED = patterns.compile(
    r"\b(?P<what>[A-Za-z][A-Za-z-]{3,24}) (?:(?:nearly|almost) (?:killed|finished)|(?:is|are|'s) (?:completely |strictly )?(?:off.limits|forbidden|banned)|"
    r"(?:me|le|lhe) (?:la |lo )?(?:tienen|tiene) prohibid[oa]|casi (?:me|lo|la) mata|quase (?:me|o|a) mat\w+|(?:est|sont) interdite?s?|a failli (?:me|le|la) tuer|"
    r"(?:ist|sind) (?:für mich |streng )?verboten|geht (?:bei (?:mir|ihm|ihr)|gar) (?:gar )?nicht)",
    "i",
)


def _harmed(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    """ "Penicillin nearly killed me", "ibuprofen is off limits": something that is known to harm people."""
    return [
        Mark(
            "value",
            "allergy",
            start + one.start("what"),
            start + one.end("what"),
            _owner(said, one.end(), start, marks),
            "now",
            HEDGED,
        )
        for one in _HARMED.finditer(said)
        if "?" not in said and (is_medicine(one["what"]) or _allergen(one["what"]))
    ]


def _allergen(word: str) -> bool:
    low = word.casefold()
    return bool({low, low.removesuffix("s")} & word_list("allergens"))


def _jobs(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    """ "I'm a teacher." in so many words."""
    if "?" in said or any(one.type == "job" for one in marks):
        return []
    return [
        Mark("value", "job", start + one.start("role"), start + one.end("role"), "self", "now", PLAIN)
        for one in _ROLE.finditer(said)
        if one["role"].casefold().split()[-1] in word_list("roles")
    ]


_NOT = patterns.compile(
    r"\b(?:not|never|no longer|off|stopp?\w*|nicht|ya no|no|pas|plus|não|if|would|might|should|could|wenn|si|se)\b|n't\b",
    "i",
)


def _taken(one: Mark, marks: Sequence[Mark]) -> bool:
    return any(
        mark.layer == "value"
        and mark.type in ("allergy", "med", "dose", "limit", "topic")
        and one.start < mark.end
        and mark.start < one.end
        for mark in marks
    )


def _allergies(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    found: list[Mark] = []
    if _QUESTION.search(said) and "?" in said:
        return found
    score = HEDGED if _HEDGE.search(said) or "?" in said or said.lstrip().lower().startswith("if ") else PLAIN
    for match in _ALLERGIC.finditer(said):
        what = _END.sub("", match["what"])
        place = match.start("what")
        if what.split()[0].casefold().strip(",") in _JOKE:
            continue
        for part in _parts(what):
            begin = place + what.index(part)
            if _JOKE.intersection(part.casefold().split()[:2]) or len(part.split()) > 4:
                continue
            state = "neg" if match["not"] else "now"
            found.append(
                Mark(
                    "value",
                    "allergy",
                    start + begin,
                    start + begin + len(part),
                    _owner(said, match.start(), start, marks),
                    state,
                    score,
                )
            )
    for match in _BEFORE.finditer(said):
        name = "what" if match["what"] else "joined"
        word = match[name].split()[-1].casefold()
        if word in word_list("small_words") or word in (
            "food",
            "bad",
            "severe",
            "an",
            "any",
            "no",
            "the",
            "my",
            "his",
            "her",
            "drug",
            "season",
            "pollen's",
        ):
            continue
        begin = start + match.start(name) + len(match[name]) - len(match[name].split()[-1])
        found.append(
            Mark(
                "value",
                "allergy",
                begin,
                start + match.end(name),
                _owner(said, match.start(), start, marks),
                "now",
                score,
            )
        )
    return found


def _parts(what: str) -> list[str]:
    return [part.strip() for part in _AND.split(what) if len(part.strip()) > 2]


def _doses(said: str, start: int, marks: Sequence[Mark]) -> list[Mark]:
    found: list[Mark] = []
    if _QUESTION.search(said):
        return found
    for match in _DOSE.finditer(said):
        name = match["med"].casefold()
        if not is_medicine(name):
            continue
        owner = _owner(said, match.start(), start, marks)
        found.append(Mark("value", "med", start + match.start("med"), start + match.end("med"), owner, "now", HEDGED))
        found.append(
            Mark("value", "dose", start + match.start("dose"), start + match.end("dose"), owner, "now", HEDGED)
        )
    return found


def _owner(said: str, place: int, start: int, marks: Sequence[Mark]) -> str:
    """Whose it is: of the speaker and the others named before it, whoever stands nearest."""
    own = max((match.start() for match in _FIRST.finditer(said[:place])), default=-1)
    others = [
        mark.start - start
        for mark in marks
        if mark.type in ("person", "rel", "pet") and start <= mark.start < start + place
    ]
    other = max([*others, *(match.start() for match in _THIRD.finditer(said[:place]))], default=-1)
    return "other" if other > own else "self"
