"""May a proposed memory stand? Its quote, its names, numbers and dates, who says it, of whom, and how it is meant. Pure.

A model words freely, also in another language, so words are not compared one by one. What is asked is whether the
proposal follows from the messages shown and what is known: the quote is the user's own word; names, numbers and dates
are there or follow by code; what was denied, doubted, supposed, asked or joked is not stated; what was said of one
person is not told of another; what only the assistant said is not the user's. What is free of objections but not
spelled out is kept as inferred.
"""
# Over 400 lines: every objection to a proposal stands in one place, and each is a few lines.

from __future__ import annotations

from collections.abc import Sequence

from tenuto.ingest.extract import check_values
from tenuto.ingest.extract.claims import SELF, Claim, Line, Shown, Verdict, View, flat, quote_of, same
from tenuto.ingest.extract.subjects import foreign_word, wrong_person
from tenuto.language import stance
from tenuto.language.quantities import clocks, often
from tenuto.language.quantities import numbers as numbers_in
from tenuto.language.sentences import straighten
from tenuto.language.support import Said, Word, folded, keywords, kin, words
from tenuto.text import patterns

SPELLED_OUT = 0.5
"""Share of a note's words that stand in the messages; with less it is inferred."""
MOSTLY_TOLD = 0.7
"""Share of a note's words that the user said or that are known, where its quote holds none of them."""
_SECRET = patterns.compile(
    r"\b(?:passwor[dt]|passwort|kennwort|contraseña|mot de passe|senha|passphrase|pin code|cvv)\b", "i"
)


def check(claim: Claim, shown: Shown) -> Verdict:
    """Whether a proposal may stand."""
    place, reason = quote_of(claim.quote, claim.message, shown)
    if place is None:
        return Verdict(reason)
    view = View(claim, shown, place)
    for objection in (
        _whose_words,
        _modality,
        _polarity,
        _people,
        _assistant,
        check_values.names,
        check_values.dates,
        check_values.numbers,
        check_values.invented,
    ):
        if (wrong := objection(view)) is not None:
            return Verdict(wrong, place)
    return Verdict(None, place, view.inferred or view.support < SPELLED_OUT, view.unconfirmed, view.named)


def _whose_words(view: View) -> str | None:
    middle = (view.start + view.end) // 2
    raw = view.text
    if any(start <= view.start and view.end <= end for start, end in stance.quoted(raw)) or any(
        start < middle < end and start <= view.start + 1 for start, end in stance.quoted(raw)
    ):
        return "its quote repeats somebody else's words"
    if view.line.text.count("\n") and any(
        flat(view.claim.quote) in flat(view.line.text[start:end]) for start, end in stance.quoted(view.line.text)
    ):
        return "its quote repeats somebody else's words"
    if _SECRET.search(view.content):
        return "a password is not kept"
    return None


def _modality(view: View) -> str | None:
    sentences = {one.sentence for one in view.clauses}
    whole = " ".join(view.text[a:b] for a, b in sorted(sentences))
    after = view.text[max((b for _, b in sentences), default=0) :][:60]
    if stance.says("joke", whole, view.language) or stance.opens("joke", after, view.language):
        return "it was a joke, or the opposite was meant"
    if stance.says("wants", view.content, view.tongue):
        return None
    supposed = [one for one in view.relevant if stance.supposed(one, view.text, view.language)]
    if len(supposed) == len(view.relevant) and view.claim.attribute != "emergency_contact":
        if not view.critical or any(stance.never_so(one, view.text, view.language) for one in supposed):
            return "it was only supposed, not stated"
        view.unconfirmed = True
    if all(stance.asks(view.text[a:b], view.language) for a, b in sentences) and not _ground(view):
        return "it was asked, not stated"
    if all(_doubted(one.text, view) for one in view.relevant):
        return "it was said to be possible, not to be so"
    if not view.critical and all(stance.would(one.text, view.language) for one in view.relevant):
        return "it was imagined, not stated"
    return _opinion(view)


def _doubted(clause: str, view: View) -> bool:
    match = stance.pattern("doubt", view.language).search(clause)
    if match is None:
        return False
    behind = clause[match.end() :].strip().split(" ")[0]
    counted = bool(numbers_in(behind, view.language)) or bool(often(behind))
    return not counted


def _ground(view: View) -> bool:
    """Inside a question only its ground is stated: "given he's on blood thinners"."""
    for one in view.clauses:
        first, last = one.sentence
        place = max(0, view.start - first)
        if stance.grounded_in_question(view.text[first:last], place, view.language):
            return True
        if view.critical and _owned(view, view.text[first:last]):
            return True
        opener = view.text[first : view.start]
        if view.critical and any(
            stance.opens("suppose", part, view.language) for part in (view.text[view.start : view.end], opener[-12:])
        ):
            view.unconfirmed = True
            return True
    return False


_OWN = patterns.compile(r"\b(?:my|mein\w*|mis?|mon|ma|mes|meus?|minhas?)(?: \w+)? $", "i")


def _owned(view: View, question: str) -> bool:
    """ "Can I fly with my pacemaker?" says that there is one."""
    value = [one for one in words(view.claim.value or "") if len(one.plain) > 3]
    return view.claim.about.casefold() in SELF and any(
        same(one, word) and _OWN.search(question[: word.start]) for word in words(question) for one in value
    )


def _opinion(view: View) -> str | None:
    """What somebody else thinks that the user is or should do."""
    if view.claim.about.casefold() not in SELF or view.critical:
        return None
    pattern = stance.pattern("thinks", view.language)
    for one in view.clauses:
        match = pattern.search(one.text)
        if (
            match
            and not stance.says("self", one.text[: match.start()], view.language)
            and patterns.search(
                r"\b(?:i|me|ich|mich|yo|me|je|moi|eu) (?:should|ought|must|need|look|soll|sollte|debería|devrais|devia|deveria)\b|\bshould\b",
                one.text[match.end() :],
                "i",
            )
        ):
            return "it is somebody else's opinion"
    return None


def _polarity(view: View) -> str | None:
    """What was denied is not stated, and what was stated is not denied."""
    language, tongue = view.language, view.tongue
    stated = " ".join(one.text for one in view.clauses)
    if (elsewhere := _denied_elsewhere(view)) is not None and not view.denies:
        return f"the message says that it is not so ({elsewhere})"
    if not view.denies and not _spurns(view.content, tongue, stated):
        matched = [
            (one, stance.denied_at(clause.text, word.start, language))
            for clause in view.clauses
            for word in words(clause.text)
            for one in view.keywords
            if same(one, word) and not _is_whom(one, clause.text[: word.start], view)
        ]
        plain = {one.plain for one, denied in matched if not denied}
        lost = next((one for one, denied in matched if denied and one.plain not in plain), None)
        if lost is not None:
            return f"the message says that it is not so ({lost.said})"
        if view.translated and not plain and all(stance.denials(one.text, language) for one in view.clauses):
            return "the message says that it is not so"
        return None
    explicit = bool(stance.denials(view.content, tongue) or stance.ends(view.content, tongue))
    denied = (
        stance.denials(stated, language) or stance.over(stated, language) or _spurns(stated, language, view.content)
    )
    if (
        explicit
        and not denied
        and not view.translated
        and not stance.opens("no", view.text, language)
        and _denied_alone(view)
    ):
        return "it denies what the message states"
    return None


def _spurns(text: str, language: str, other: str) -> bool:
    """Whether a text says "not" by a word that the other text does not use."""
    there = Said([other])
    return any(not there.has(folded(one)) for one in stance.spurning(text, language))


def _denied_elsewhere(view: View) -> str | None:
    """A word of the content that the rest of the message denies and nothing states."""
    quoted = {one.start for one in view.clauses}
    stated = {folded(one) for line in view.shown.lines if line.own for one in _undenied(line, view)}
    for clause in stance.clauses(view.text):
        if clause.start in quoted:
            continue
        for word in words(clause.text):
            if not stance.denied_at(clause.text, word.start, view.language):
                continue
            here = [one for one in view.keywords if not _is_whom(one, clause.text[: word.start], view)]
            hit = next((one for one in here if same(one, word)), None)
            if (
                hit is not None
                and hit.plain not in stated
                and not any(same(hit, other) for other in words(" ".join(stated)))
            ):
                return hit.said
    return None


def _is_whom(one: Word, before: str, view: View) -> bool:
    """Whether a word only says whom a clause is about, and what is denied of them comes behind it."""
    about = kin(one.plain) is not None or any(one.plain == part.plain for part in words(view.claim.about))
    return about and not stance.denials(before, view.language)


def _undenied(line: Line, view: View) -> list[str]:
    text = " ".join(straighten(line.text).split())
    return [
        word.plain
        for clause in stance.clauses(text)
        for word in words(clause.text)
        if not stance.denied_at(clause.text, word.start, view.language)
    ]


def _denied_alone(view: View) -> bool:
    """Whether the content denies a word that the quote states."""
    for clause in stance.clauses(view.content):
        for word in keywords(clause.text):
            if stance.denied_at(clause.text, word.start, view.tongue) and view.quoted.has(word.plain):
                return True
    return False


def _people(view: View) -> str | None:
    return wrong_person(
        view.claim.about, view.claim.value, view.content, view.text, view.clauses, view
    ) or foreign_word(view)


def _assistant(view: View) -> str | None:
    """What only the assistant said is the user's only where the user answered so."""
    own, all_ = view.shown.told, view.shown.said
    borrowed = [
        one for one in view.keywords if not own.has(one.plain) and all_.has(one.plain) and kin(one.plain) is None
    ]
    numbers = _foreign_numbers(view)
    if not borrowed and not numbers:
        if _gives(view):
            return None
        view.inferred = True
        return None if _told(view) >= MOSTLY_TOLD else "nothing of it is in its quote"
    turn = view.before
    own_part = any(
        view.quoted.has(one.plain)
        for one in view.keywords
        if one.plain not in {name.plain for name in [*view.names, *words(view.claim.about)]}
    )
    if turn is None or not _all_in(borrowed, turn):
        return None if len(borrowed) == 1 and not numbers and own_part else "the assistant said it, the user did not"
    if stance.opens("no", view.text, view.language) and patterns.match(
        r"\W*(?:\w+\s*[,.!]|\w+ \w+\s*[,.!]|\w+$)", view.text
    ):
        return None if view.denies or stance.spurning(view.content, view.tongue) else "the user denied it"
    if stance.opens("yes", view.text, view.language):
        return None
    question = "?" in turn.text
    if question and _gives(view):
        return None
    if len(borrowed) == 1 and not numbers and _gives(view):
        return None
    return "the assistant said it, the user did not"


def _told(view: View) -> float:
    """Share of the content's words that the user said or that are known."""
    weighed = [one.plain for one in view.keywords]
    return sum(view.shown.told.has(one) for one in weighed) / len(weighed) if weighed else 0.0


def _all_in(borrowed: Sequence[Word], turn: Line) -> bool:
    said = Said([turn.text])
    return all(said.has(one.plain) for one in borrowed)


def _foreign_numbers(view: View) -> list[float]:
    """Numbers of the content that only the assistant named."""
    own = {one.value for line in view.shown.lines if line.own for one in numbers_in(line.text)}
    theirs = {one.value for line in view.shown.lines if not line.own for one in numbers_in(line.text)} - own
    return [one.value for one in numbers_in(view.content, view.tongue) if one.value in theirs and one.value > 2]


def _gives(view: View) -> bool:
    """Whether the quote itself gives something of the content: a word, a name, a number, or words of another language."""
    quote = view.text[view.start : view.end]
    if any(view.quoted.has(one.plain) for one in [*view.keywords, *view.names]) or view.translated:
        return True
    if stance.opens("yes", view.text, view.language):
        return True
    mine = {one.value for one in numbers_in(quote)}
    if mine & {one.value for one in numbers_in(view.content, view.tongue)}:
        return True
    named = [one for one in words(view.content) if kin(one.plain) and view.quoted.has(one.plain)]
    given = view.claim.value is not None and any(
        view.quoted.has(one.plain) for one in words(view.claim.value) if len(one.plain) > 2
    )
    return bool(named) or given or bool(clocks(quote) & clocks(view.content)) or not view.keywords
