"""What somebody says of themselves, told in the third person: "I do Anki every morning" → "does Anki every morning".

One clause at a time, in the five languages that are read. The speaker as subject is dropped and the verb beside it
takes the third person; possessives and objects follow. It is small grammar with a table of irregular verbs, not a
parser: a verb that the table does not know takes the ending of the regular ones.

What would break it: a clause in which "I" stands inside somebody else's words. Quotes are taken out before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tenuto.language.lexicon import packaged
from tenuto.text import patterns

LANGUAGES = ("en", "de", "es", "fr", "pt")
_TOKEN = patterns.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:]\d+)*|\s+|.", "")
_SHORT = {
    "i'm": ("i", "am"), "im": ("i", "am"), "i've": ("i", "have"), "ive": ("i", "have"), "i'd": ("i", "would"),
    "i'll": ("i", "will"), "we're": ("we", "are"), "we've": ("we", "have"), "we'll": ("we", "will"),
    "we'd": ("we", "would"),
}  # fmt: skip
_ADVERBS = frozenset(
    [
        "always",
        "usually",
        "often",
        "never",
        "now",
        "just",
        "still",
        "also",
        "only",
        "really",
        "normally",
        "mostly",
        "currently",
        "already",
        "recently",
        "actually",
        "generally",
        "sometimes",
        "finally",
        "both",
        "basically",
        "literally",
        "absolutely",
        "definitely",
        "kinda",
        "probably",
    ]
)


@dataclass(frozen=True, slots=True)
class _Table:
    subject: str
    words: dict[str, str]
    verbs: dict[str, str]


@lru_cache(maxsize=8)
def _table(language: str) -> _Table:
    data = packaged("voice")[language]
    return _Table(data["subject"], _pairs(data["words"]), _pairs(data["verbs"]))


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":", 1) for pair in text.split())


def third_person(clause: str, language: str, *, verbs: bool = True) -> str:
    """The clause told of somebody else. Languages without a table are read as English.

    ``verbs`` says that a verb without its subject may be in the first person; in a task or an order none is."""
    table = _table(language if language in LANGUAGES else "en")
    parts = _split(clause.strip(), language)
    if table.subject == "i":
        _english(parts, table)
    else:
        _other(parts, table, language, verbs)
    for index, part in enumerate(parts):
        if (word := table.words.get(part.lower())) is not None:
            parts[index] = _cased(word, part)
    told = patterns.sub(r"\s{2,}", " ", "".join(parts)).strip()
    return patterns.sub(r"\s+([,.;!?])", lambda match: match[1], told)


def _split(clause: str, language: str) -> list[str]:
    parts: list[str] = []
    for token in _TOKEN.findall(clause):
        plain = token.replace("’", "'").lower()
        if language == "en" and plain in _SHORT:
            first, second = _SHORT[plain]
            parts += [first, " ", second]
        elif language == "fr" and plain.startswith("j'"):
            parts += ["je", " ", token[2:]]
        elif language == "fr" and plain.startswith("n'"):
            parts += ["n'", token[2:]]
        elif language == "fr" and plain.startswith("m'"):
            parts += ["s'" + token[2:]]
        else:
            parts.append(token)
    return parts


def _next_word(parts: list[str], index: int, step: int = 1) -> int | None:
    index += step
    while 0 <= index < len(parts):
        if parts[index][:1].isalpha():
            return index
        if parts[index] and not parts[index].isspace():
            return None
        index += step
    return None


def _english(parts: list[str], table: _Table) -> None:
    dropped = False
    for index, part in enumerate(parts):
        if part.lower() != "i":
            continue
        before = _next_word(parts, index, -1)
        if not dropped and before is not None and parts[before].lower() in ("and", "n", "or"):
            parts[index] = "the user"  # "Tess and I broke up": the verb is that of several
            continue
        verb = _next_word(parts, index)
        while verb is not None and parts[verb].lower() in _ADVERBS:
            verb = _next_word(parts, verb)
        if dropped:
            parts[index] = "they"
            if verb is not None and parts[verb].lower() in ("am", "was"):
                parts[verb] = {"am": "are", "was": "were"}[parts[verb].lower()]
            continue
        parts[index], dropped = "", True
        if verb is not None:
            parts[verb] = _english_verb(parts[verb], table)


def _english_verb(word: str, table: _Table) -> str:
    low = word.lower().replace("’", "'")
    if low in table.verbs:
        return table.verbs[low]
    if low.endswith(("ed", "n't", "ing", "ught")):
        return low
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return low + "es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return low[:-1] + "ies"
    return low + "s"


def _other(parts: list[str], table: _Table, language: str, verbs: bool) -> None:
    """Where the subject is written its verb stands beside it; where it is dropped the first word that is a known
    first-person verb is meant."""
    found = [index for index, part in enumerate(parts) if part.lower() == table.subject]
    if found:
        for index in found:
            verb = _verb_beside(parts, index, table, language)
            if verb is not None:
                parts[verb] = _cased(_third(parts[verb].lower(), table, language), parts[verb])
            parts[index] = ""
    if verbs and (not found or language in ("es", "pt")):
        dropped = not found and language in ("es", "pt")
        for index, part in enumerate(parts):
            if language == "de" and index and part[:1].isupper():
                continue  # a noun
            if (told := table.verbs.get(part.lower())) is not None and told != part.lower():
                parts[index], dropped = _cased(told, part), False
            elif dropped and index < 4 and _first_person(part.lower(), language):
                parts[index], dropped = _cased(_third(part.lower(), table, language), part), False


def _verb_beside(parts: list[str], index: int, table: _Table, language: str) -> int | None:
    after, before = _next_word(parts, index), _next_word(parts, index, -1)
    if language == "fr":
        while after is not None and parts[after].lower() in ("ne", "n'", "me", "se", "le", "la", "les", "y", "en"):
            after = _next_word(parts, after)
        return after
    for place in (before, after) if language == "de" else (after, before):
        if place is not None and (parts[place].lower() in table.verbs or _first_person(parts[place].lower(), language)):
            return place
    if language != "de":
        return None
    words = [i for i, part in enumerate(parts) if part[:1].isalpha()]
    last = words[-1] if words else None
    known = last is not None and (parts[last].lower() in table.verbs or _first_person(parts[last].lower(), language))
    return last if known else None


_NO_VERB = {
    "de": frozenset(["eine", "keine", "meine", "diese", "heute", "gerne", "viele"]),
    "es": frozenset(["pero", "cuando", "como", "solo", "otro", "todo", "mucho", "poco", "año", "niño"]),
    "pt": frozenset(["quando", "outro", "todo", "muito", "pouco", "ano", "segundo"]),
}


def _first_person(word: str, language: str) -> bool:
    """Whether a word looks like a verb in the first person."""
    endings = {"de": ("e",), "es": ("é", "í", "o"), "pt": ("ei", "o")}.get(language, ())
    return len(word) > 2 and word.endswith(endings) and word not in _NO_VERB.get(language, ())


def _third(word: str, table: _Table, language: str) -> str:
    if word in table.verbs:
        return table.verbs[word]
    if language == "de":
        if word.endswith("te"):
            return word
        stem = word.removesuffix("e")
        return stem + ("et" if stem.endswith(("t", "d")) else "t") if word.endswith("e") else word
    if language == "es":
        if word.endswith("é"):
            return word[:-1] + "ó"
        if word.endswith("í"):
            return word[:-1] + "ió"
        return word[:-1] + "a" if word.endswith("o") else word
    if language == "pt":
        if word.endswith("ei"):
            return word[:-2] + "ou"
        return word[:-1] + "a" if word.endswith("o") else word
    if word.endswith("ais"):
        return word[:-1] + "t"
    if word.endswith("rai"):
        return word[:-1]
    return word[:-1] + "t" if word.endswith("s") and not word.endswith(("es", "ss")) else word


def _cased(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
