"""What a marked time means: a day, a span or an instant, counted from when it was said, in every language that is read.

The rules for time expressions are English (:mod:`tenuto.language.times`); the time words of the other languages are
put into English first, word by word, and the few orders that differ ("vor drei Wochen", "hace dos años", "el lunes que
viene") are turned round. Only a short stretch that the reader marked comes here, never a whole message.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache

from dateutil.relativedelta import relativedelta

from tenuto.language import times
from tenuto.language.lexicon import packaged
from tenuto.text import patterns

LONGEST = 120
"""Characters of a time expression that are looked at."""
_AGO = {
    "de": patterns.compile(r"\bvor (?P<n>\w+) (?P<unit>tag|tagen|woche|wochen|monat|monaten|jahr|jahren|stunden?)\b"),
    "es": patterns.compile(r"\bhace (?P<n>\w+) (?P<unit>d[ií]as?|semanas?|mes|meses|años?|horas?)\b"),
    "fr": patterns.compile(r"\bil y a (?P<n>\w+) (?P<unit>jours?|semaines?|mois|ans?|années?|heures?)\b"),
    "pt": patterns.compile(r"\bh[áa] (?P<n>\w+) (?P<unit>dias?|semanas?|m[eê]s|meses|anos?|horas?)\b"),
}
_SINCE_FOR = {
    "de": patterns.compile(r"\bseit (?P<n>\w+) (?P<unit>tag|tagen|woche|wochen|monat|monaten|jahr|jahren)\b"),
    "es": patterns.compile(r"\bdesde hace (?P<n>\w+) (?P<unit>d[ií]as?|semanas?|mes|meses|años?)\b"),
    "fr": patterns.compile(r"\bdepuis (?P<n>\w+) (?P<unit>jours?|semaines?|mois|ans?|années?)\b"),
}
"""Portuguese says "há três anos" of both: it is a time ago."""
_AFTER = patterns.compile(r"\b(?P<what>\w+) (?P<which>next|last)~")
_HOUR = patterns.compile(r"\b(\d{1,2})\s*:00\b|\b(\d{1,2})\s*h\b")
_DAY_FIRST = patterns.compile(r"\b(\d{1,2})\.\s?([a-z])")
_NUMERIC = patterns.compile(r"\b(?P<d>[0-3]?\d)[./](?P<m>[01]?\d)(?:[./](?P<y>\d{4}|\d\d))?\.?", not_before=r"\d")
_END_OF = patterns.compile(r"\bend ((?:month|week|year)\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))")
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


@dataclass(frozen=True, slots=True)
class Moment:
    """A resolved time: ``text`` says it for people ("14 May 2026, 10:40"); ``relation`` is at, since, until or by."""

    start: datetime
    end: datetime
    precision: str
    relation: str
    text: str


def resolve(
    text: str, sentence: str, at: datetime, zone: tzinfo | None, language: str, *, ahead: bool = False
) -> Moment | None:
    """The time that a marked stretch means, or ``None``. ``ahead`` says that it lies in the future."""
    said = _END_OF.sub(lambda match: f"end of {match[1]}", in_english(text[:LONGEST], language)).replace(
        "over the weekend", "this weekend"
    )
    lead = _lead(sentence, text, language)
    if ahead and (day := _day_of_month(said, at, lead, language)) is not None:
        return day
    past = lead == "since" or said.startswith("since") or (not ahead and _told_as_past(sentence, language))
    tense = "will " if ahead else "was " if past else ""
    word = "since" if lead == "since" else "in"
    found = times.find(tense + said, at, zone) or times.find(f"{tense}{word} {said}", at, zone)
    if not found:
        return _day_of_month(said, at, lead, language) or _lasting(said, sentence, at, language)
    when = max(
        found, key=lambda one: (any(char.isdigit() for char in one.text) and one.precision != "year", -one.position)
    )
    relation = when.relation if when.relation != "at" else lead
    return Moment(
        when.start, when.end, when.precision, relation, spoken(when.start, when.end, when.precision, language)
    )


def since(moment: Moment, language: str) -> Moment:
    """The time at which something began that goes on; of a week only its month is sure."""
    precision = moment.precision if moment.precision in ("day", "month", "year") else "month"
    return replace(moment, relation="since", text=spoken(moment.start, moment.end, precision, language))


_DOM = patterns.compile(
    r"^(?:(?:on|by|from|until|till|before|to|at|auf|zum|next|this|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?) )*"
    r"(?:the )?(?:(?P<d>[0-3]?\d)(?:st|nd|rd|th)|(?P<day>day )?(?P<n>[0-3]?\d)\.?)$"
)


def _day_of_month(said: str, at: datetime, lead: str, language: str) -> Moment | None:
    """ "The 16th" is the coming one; in other languages a number alone is one, too."""
    match = _DOM.match(said.strip())
    if match is None or (match["n"] and not match["day"] and language == "en"):
        return None
    wanted = int(match["d"] or match["n"])
    months = (at.replace(day=1, hour=0, minute=0, second=0, microsecond=0) + relativedelta(months=n) for n in range(3))
    days = (month + timedelta(days=wanted - 1) for month in months)
    day = next((one for one in days if one.day == wanted and one.date() >= at.date()), None)
    if day is None:
        return None
    begins = {"by": "by", "before": "by", "until": "until", "till": "until", "from": "since"}.get(said.split()[0])
    lead = begins or lead
    return Moment(day, day + timedelta(days=1), "day", lead, spoken(day, day, "day", language))


def _lasting(said: str, sentence: str, at: datetime, language: str) -> Moment | None:
    """ "For three years" of what still goes on is since then."""
    if language != "en" or not said.startswith("for ") or (began := times.lasting_since(sentence, at)) is None:
        return None
    precision = next((unit for unit in ("year", "month") if unit in said), "day")
    return Moment(began, at, precision, "since", spoken(began, at, precision))


_PAST = {
    "de": patterns.compile(
        r"\b(?:war|waren|hatte\w*|wurde\w*|ging\w*|kam\w*|fing\w*|zog\w*|starb\w*|"
        r"(?:habe|hab|hat|haben|habt|bin|ist|sind|seid)\b.*\b\w*(?:ge\w+(?:t|en)|iert|ver\w+t|be\w+t))\b",
        "i",
    ),
    "es": patterns.compile(
        r"(?:\b(?:he|has|ha|hemos|han) \w+(?:ado|ido|to|cho)\b|\b\w{2,}(?:aron|ieron|abas?|aban|abamos)\b|"
        r"\b(?:fui|fue|fueron|era|tuve|tuvo|hizo|hice|vino|deje|empece)\b)",
        "i",
    ),
    "fr": patterns.compile(
        r"(?:\b(?:ai|as|a|avons|avez|ont|suis|es|est|sommes|êtes|sont|étai\w+|avai\w+)\s+(?:\w+\s+)?"
        r"(?:\w+(?:é|ée|és|ées|u|us|ue|ert|ort)|mis|pris|fait|dit|partie?s?|finie?s?|choisie?s?)(?:\W|$)|"
        r"\b(?:était|étais|avait|avais|fut|mort|morte)\b)",
        "i",
    ),
    "pt": patterns.compile(
        r"(?:\b\w{2,}(?:aram|eram|iram|ava|avam|ámos|ei|ou|eu|iu)\b|\b(?:fui|foi|foram|era|tive|teve|fiz|fez|veio|vim|morreu)\b)",
        "i",
    ),
}
_FUTURE = {
    "de": patterns.compile(
        r"\b(?:werde|wirst|wird|werden|will|wollen|muss|müssen|soll\w*|plane\w*|demnächst|bald)\b", "i"
    ),
    "es": patterns.compile(
        r"\b(?:voy|vas|va|vamos|van) a\b|\b(?:tengo|tiene|tenemos|tienen|hay) que\b|\b(?:quiero|pienso|próxim\w+|viene)\b",
        "i",
    ),
    "fr": patterns.compile(
        r"\b(?:vais|vas|va|allons|allez|vont) \w+(?:er|ir|re)\b|\b(?:dois|doit|devons|faut|prochaine?s?|veux|compte)\b",
        "i",
    ),
    "pt": patterns.compile(
        r"\b(?:vou|vai|vamos|vão) \w+r\b|\b(?:tenho|tem|temos) (?:de|que)\b|\b(?:quero|preciso|próxim\w+)\b", "i"
    ),
}


_NO_VERBS = frozenset(["qué", "porqué", "café", "bebé", "josé", "té", "sé", "dé", "esté", "olé"])
"""Spanish words that end like a verb in the past."""


def _told_as_past(sentence: str, language: str) -> bool:
    lowered = sentence.lower()
    if language in _PAST:
        ended = language == "es" and any(
            word.endswith(("é", "ó")) and word not in _NO_VERBS for word in lowered.replace(",", " ").split()
        )
        return (ended or bool(_PAST[language].search(lowered))) and not _FUTURE[language].search(lowered)
    return bool(times.PAST.search(lowered)) and not times.FUTURE.search(lowered)


def _lead(sentence: str, text: str, language: str) -> str:
    """The word before the marked stretch: "by", "since", "until"."""
    place = sentence.find(text)
    before = in_english(sentence[max(0, place - 24) : place].strip(), language).split()[-2:] if place > 0 else []
    for word in reversed(before):
        if word in ("since", "from", "until", "till", "by", "before", "starting"):
            return {"from": "since", "starting": "since", "till": "until", "before": "by"}.get(word, word)
    return "at"


_ORDINALS = {
    word: number
    for number, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
            "twenty-first",
            "twenty-second",
            "twenty-third",
            "twenty-fourth",
            "twenty-fifth",
            "twenty-sixth",
            "twenty-seventh",
            "twenty-eighth",
            "twenty-ninth",
            "thirtieth",
            "thirty-first",
        ],
        1,
    )
}
_ORDINAL = patterns.compile(
    r"\b(" + "|".join(sorted(_ORDINALS, key=len, reverse=True)) + r") (?:of )?(" + "|".join(_MONTHS) + r")\b"
)


def in_english(text: str, language: str) -> str:
    """A time expression of another language in the words that the rules know."""
    lowered = text.lower().replace("’", "'")
    if language not in _AGO:
        return _ORDINAL.sub(lambda m: f"{_ORDINALS[m[1]]} of {m[2]}", lowered)
    words = _words(language)
    if language in _SINCE_FOR:
        lowered = _SINCE_FOR[language].sub(lambda m: f"since {m['n']} {m['unit']} ago", lowered)
    lowered = _AGO[language].sub(lambda m: f"{m['n']} {m['unit']} ago", lowered)
    lowered = _NUMERIC.sub(_numeric, lowered)
    lowered = _pattern(language).sub(lambda m: words.get(m[0], m[0]), lowered)
    lowered = _AFTER.sub(lambda m: f"{m['which']} {m['what']}", lowered).replace("~", "")
    lowered = _HOUR.sub(lambda m: f"{m[1] or m[2]}:00", lowered)
    lowered = _DAY_FIRST.sub(lambda match: f"{match[1]} {match[2]}", lowered)
    return patterns.sub(r"\s{2,}", " ", patterns.sub(r"\b(?:of|the)\b", " ", lowered)).strip()


def _numeric(match: patterns.Match) -> str:
    day, month = int(match["d"]), int(match["m"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match[0]
    year = match["y"] or ""
    return f"{day} {_MONTHS[month - 1]} {('20' + year) if len(year) == 2 else year} ".replace("  ", " ")


@lru_cache(maxsize=8)
def _words(language: str) -> dict[str, str]:
    pairs = [
        pair.split("=", 1)
        for line in packaged("timewords")[language].split("\n")
        for pair in line.split("|")
        if "=" in pair
    ]
    return {one.strip(): other for one, other in pairs}


@lru_cache(maxsize=8)
def _pattern(language: str) -> patterns.Pattern:
    listed = sorted((patterns.escape(word) for word in _words(language)), key=len, reverse=True)
    return patterns.compile(rf"(?:{'|'.join(listed)})\b", not_after=r"[\w']", not_before="'")


def spoken(start: datetime, end: datetime, precision: str, language: str = "en") -> str:
    """A date as people read it in their language: "14 May 2026", "Mai 2026", "2026", "14 May 2026, 10:40"."""
    table = packaged("render")
    said = table[language if language in table else "en"]

    def shown(at: datetime, form: str) -> str:
        return str(said[form]).format(d=at.day, m=said["months"].split()[at.month - 1], y=at.year)

    if precision in ("hour", "minute"):
        return f"{shown(start, 'day')}, {start:%H:%M}"
    if precision in ("day", "part"):
        return shown(start, "day")
    if precision == "month":
        return shown(start, "month")
    if precision == "year":
        return f"{start:%Y}"
    last = end - (end - start) / max(1, (end - start).days or 1)
    return str(said["span"]).format(a=shown(start, "day"), b=shown(last, "day"))


def day_of_year(at: datetime, language: str) -> str:
    """A day without its year: a birthday."""
    return spoken(at, at, "day", language).removesuffix(str(at.year)).removesuffix(" de ").strip()
