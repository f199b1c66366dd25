"""Which of the languages that are read a text is in, by its small words.

Short texts are often in no language at all ("Tuesdays, 8 pm"): then the language of the talk before decides.
"""

from __future__ import annotations

from tenuto.text import patterns

_WORD = patterns.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LOOKED_AT = 2000
"""Characters that are looked at."""
_SMALL = {
    "en": "am no never need want live work the and is i my to of it a in that was for you on with but not have are at be this he she we they me im don't so if can what just his her she's he's i'm it's an as from or do did had has been there when",
    "de": "in was ihr kein keine nie wohne arbeite nehme muss möchte will gegen jeden der die das und ist ich nicht ein eine mit zu auf für war mein meine er sie wir es den dem im am bin habe hat auch noch aber von bei sich wenn nur schon mir mich kann muss oder dass wie bitte heute einen einem seit nach beim zum zur hallo danke heiße heißt nimmt jetzt",
    "es": "a quiero cada mañana nunca trabajo tengo que soy sin son mucho el la los las y es que no de en mi un una me con por para lo su se yo muy pero está estoy tengo soy del al como más ya hoy nos le porque cuando sin todo mis esta este ha he fue hay también eso hola gracias llamo tomo vivo ahora antes",
    "fr": "à aux j'aime chaque jamais veux travaille habite faut demain le la les et est je que ne pas de un une mon ma mes pour dans il elle nous on au du des en avec sur mais suis ai c'est j'ai d'un qui plus très bien aussi depuis chez cette ce se lui être fait moi quand bonjour merci j'habite prends maintenant m'appelle",
    "pt": "quero cada amanhã nunca trabalho gosto preciso ter às à olá oi obrigado obrigada tomo moro agora antes o a os as e é que não de em meu minha um uma com por para eu muito mas está estou tenho sou do da no na ao como mais já hoje isso ele ela se foi sem também você pra dos das às quando nos lhe só tá",
}
_SETS = {language: frozenset(words.split()) for language, words in _SMALL.items()}
_LETTERS = {"de": "äöüß", "es": "ñ¿¡", "fr": "çœèêàù", "pt": "ãõ"}


def language_of(text: str, default: str = "en") -> str:
    """The language whose small words the text uses most; ``default`` where there are too few to tell."""
    said = [word.lower().replace("’", "'") for word in _WORD.findall(text[:LOOKED_AT])]
    if not said:
        return default
    counts = {language: float(sum(word in small for word in said)) for language, small in _SETS.items()}
    for language, letters in _LETTERS.items():
        counts[language] += 0.75 * sum(text.count(letter) > 0 for letter in letters)
    best = max(counts, key=lambda language: (counts[language], language == default))
    return best if counts[best] >= 1 and counts[best] > counts.get(default, 0.0) else default
