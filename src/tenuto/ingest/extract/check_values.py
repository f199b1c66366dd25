"""Do the names, dates, numbers and reasons of a proposal follow from what was said and what is known? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.ingest.extract.claims import NO_NAME, SELF, View
from tenuto.language import stance
from tenuto.language.claimed_dates import claims, follows, meant, names_a_time
from tenuto.language.detect import language_of
from tenuto.language.quantities import clocks, often, phones, replaced, same_phone, without_clocks
from tenuto.language.quantities import numbers as numbers_in
from tenuto.language.support import Word, folded, keywords, kin, words
from tenuto.text import patterns

DOSES = ("mcg", "mg", "g", "ml", "l", "iu", "kg")
_REASON = patterns.compile(
    r"\b(?:because|due to|owing to|weil|wegen|porque|debido a|parce que|à cause d\w+|por causa d\w+)\b(?P<why>.*)$",
    "i",
)


def names(view: View) -> str | None:
    said = view.shown.said
    about = (
        []
        if view.claim.about.casefold() in SELF
        else [
            Word(one.said, one.plain, 0)
            for one in words(view.claim.about)
            if one.said[:1].isupper() and kin(one.plain) is None and one.plain not in NO_NAME
        ]
    )
    for one in [*view.names, *about]:
        if any(char.isdigit() for char in one.plain) and any(
            one.plain in folded(text) for text in (*(line.text for line in view.shown.lines), *view.shown.known)
        ):
            continue
        if one.plain in said or any(part in said for part in patterns.split(r"[-&']", one.plain) if len(part) > 2):
            continue
        if one.said.isupper() and len(one.said) <= 5 and _initials(one.said, view):
            continue
        return f"nobody named {one.said}"
    if view.claim.attribute == "name" and view.claim.about.casefold() in SELF:
        return _own_name(view)
    return None


def _initials(letters: str, view: View) -> bool:
    for line in view.shown.lines:
        run = "".join(one.plain[:1] for one in words(line.text))
        if letters.casefold() in run:
            return True
    return False


def _own_name(view: View) -> str | None:
    """A name that the user calls the assistant by is not the user's."""
    for one in words(view.claim.value or ""):
        called = patterns.search(
            rf"\b(?:hi|hey|hello|hallo|hola|salut|bonjour|olá|oi|thanks|thank you|danke|gracias|merci|obrigad[oa]|morning|dear|yo)[ ,]+{patterns.escape(one.plain)}\b",
            folded(view.text),
        )
        introduced = any(
            patterns.search(
                rf"\b(?:i'm|i am|my name is|this is|ich bin|soy|je suis|sou)\s+{patterns.escape(one.plain)}\b",
                folded(line.text),
            )
            for line in view.shown.lines
            if not line.own
        )
        if called or introduced:
            return f"{one.said} is whom the user speaks to"
    return None


def dates(view: View) -> str | None:
    found, _ = claims(view.content, view.tongue, view.line.at)
    if not found:
        return None
    zone = view.shown.zone
    spans = [
        span
        for line in view.shown.lines
        for span in meant(line.text, line.at, language_of(line.text, line.language), zone)
    ]
    for known in view.shown.known:
        spans += claims(known, language_of(known), view.line.at)[0]
    quote = " ".join(view.text[a:b] for a, b in sorted({one.sentence for one in view.clauses}))
    untimed = not names_a_time(quote, view.language, view.line.at)
    at = view.line.at.astimezone(zone) if zone is not None else view.line.at
    wrong = next((one for one in found if not follows(one, spans, at, untimed=untimed)), None)
    return None if wrong is None else f"the date {wrong.text} does not follow from the messages"


def numbers(view: View) -> str | None:
    _, rest = claims(view.content, view.tongue, view.line.at)
    texts = [*(line.text for line in view.shown.lines), *view.shown.known]
    whole = "\n".join(texts)
    heard = phones(whole)
    for phone in phones(rest):
        if not any(same_phone(phone, other) for other in heard):
            return f"the number {phone} is in none of the messages"
    if phones(rest):
        return None
    hours = {one.value for text in texts for one in numbers_in(text)}
    times = set().union(*(clocks(text, view.language) for text in texts)) if texts else set()
    for clock in clocks(rest, view.tongue):
        if clock not in times and not (clock % 60 == 0 and ({clock / 60, clock / 60 + 12} & hours)):
            return f"the time {clock // 60}:{clock % 60:02d} is in none of the messages"
    return _counts(view, without_clocks(rest), texts)


def _counts(view: View, rest: str, texts: Sequence[str]) -> str | None:
    heard = [one for text in texts for one in numbers_in(text)]
    values = {one.value for one in heard}
    for one in numbers_in(rest, view.tongue):
        if one.value in values or one.value == 1 or _counted_since(one.value, view) or _ordinal(rest, one.end):
            units = {other.unit for other in heard if other.value == one.value and other.unit in DOSES}
            if one.unit in DOSES and units and one.unit not in units:
                return f"the unit of {one.value:g} is another in the messages"
            continue
        if one.value in often(rest) and one.value in set().union(*(often(text) for text in texts)):
            continue
        return f"the number {one.value:g} is in none of the messages"
    for old, new in (pair for text in texts for pair in replaced(text)):
        stated = {one.value for one in numbers_in(rest, view.tongue)}
        if old in stated and new not in stated and not stance.over(view.content, view.tongue):
            return f"{old:g} is what it was before, not what it is now"
    return _frequency(view, rest)


def _ordinal(text: str, end: int) -> bool:
    return bool(patterns.match(r"(?:st|nd|rd|th)\b", text[end:]))


def _counted_since(value: float, view: View) -> bool:
    """ "30 years old" of somebody born so long ago."""
    year = view.line.at.year - value
    return value == int(value) and any(one.value == year for line in view.shown.lines for one in numbers_in(line.text))


def _frequency(view: View, rest: str) -> str | None:
    claimed = often(rest) - {0}
    if not claimed:
        return None
    heard = (
        set().union(*(often(line.text) for line in view.shown.lines), *(often(known) for known in view.shown.known))
        if view.shown.lines
        else set()
    )
    said = heard - {0}
    counts = {one.value for line in view.shown.lines for one in numbers_in(line.text)}
    for count in claimed:
        if count in said or (not said and (count == 1 or count in counts)):
            continue
        return "how often is another in the messages"
    return None


def invented(view: View) -> str | None:
    """A danger, a reason, a diagnosis or a medicine that nobody spoke of."""
    own = " ".join(line.text for line in view.shown.lines) + " " + " ".join(view.shown.known)
    if stance.says("grave", view.content, view.tongue):
        languages = {view.language, view.tongue}
        if not any(stance.says("danger", own, language) for language in languages):
            return "nobody said that it is so serious"
    if not view.translated:
        reason = _REASON.search(view.content)
        told = keywords(reason["why"]) if reason else []
        if told and not any(view.shown.said.has(one.plain) for one in told):
            return "nobody gave that reason"
        if view.critical and view.claim.attribute != "emergency_contact":
            named = [one for one in keywords(view.claim.value or "")]
            if named and not any(view.shown.said.has(one.plain) for one in named):
                return f"nobody spoke of {view.claim.value}"
    elif view.critical and not any(view.shown.said.has(one.plain) for one in keywords(view.claim.value or "")):
        view.unconfirmed = True
    return None
