"""Which open todo words like "dentist done" or "scrap the tent thing" are about, if any.

Words and meaning are asked together: a word of the todo that is said again counts much, and the rarer it is among what
is open the more; a cosine settles the rest. When two fit about as well nobody guesses: the receipt names them and asks.
A habit that comes back is never done for ever; each time is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from tenuto.language.lexicon import ordered
from tenuto.records.memory import Todo, TodoKind, TodoStatus
from tenuto.text.words import tokens

FITS = 0.5
"""From this fit on a todo is closed."""
MARGIN = 0.1
"""Two open todos whose fit differs by less than this are both plausible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What was said of the open todos: at most one is closed, or several are asked about."""

    todo: Todo | None
    confidence: float
    reason: str
    plausible: tuple[Todo, ...] = ()
    cancelled: bool = False


_IRREGULAR = dict(pair.split(":") for pair in ordered("irregular"))
_SAME = {
    "phone": "call", "ring": "call", "mail": "email", "e-mail": "email", "complet": "finish", "hand": "submit",
    "purchas": "buy", "mom": "mother", "mum": "mother", "dad": "father", "doc": "doctor", "speak": "talk", "chat": "talk",
    "reserv": "book", "schedul": "book", "repair": "fix", "enrol": "regist", "inscrib": "regist", "sign": "regist",
}  # fmt: skip
_SAYS_NOTHING = frozenset(
    stem
    for word in [
        "done",
        "finish",
        "finally",
        "sorted",
        "today",
        "yesterday",
        "week",
        "month",
        "day",
        "morning",
        "now",
        "just",
        "get",
        "got",
        "do",
        "thing",
        "stuff",
        "make",
        "back",
        "new",
        "first",
        "need",
        "fertig",
        "erledigt",
        "gemacht",
        "heute",
        "hecho",
        "listo",
        "hoy",
        "ya",
        "fait",
        "fini",
        "aujourd'hui",
        "feito",
        "pronto",
        "hoje",
        "hay",
        "una",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "el",
        "la",
        "le",
        "les",
    ]
    for stem in (tokens(word) or [word])
)


def completion(
    said: str,
    open_todos: Sequence[Todo],
    now: datetime,
    meaning: Mapping[str, float],
    *,
    cancelled: bool = False,
    told: bool = False,
    reported: bool = False,
) -> Completion | None:
    """The open todo that was closed; ``meaning`` gives a cosine per todo id where vectors are at hand.

    ``told`` says that the words only tell something as past: then they must say the doing itself. ``reported`` says
    that they tell a result ("the book went back"): then the things that the todo is about are enough.
    """
    alive = [todo for todo in open_todos if todo.status is TodoStatus.OPEN and todo.kind is not TodoKind.THREAD]
    words = stems(said)
    common = Counter(stem for todo in alive for stem in stems(todo.content))
    if told or reported:
        alive = [todo for todo in alive if todo.by == "user"]
    if not alive:
        return None
    if not words:
        return None if told or reported else _bare(alive, now, cancelled)
    if told or reported:
        fits = [(_reported_fit(words, todo, common, told), todo) for todo in alive]
    else:
        fits = [(_fit(words, todo, common, meaning.get(todo.id, 0.0)), todo) for todo in alive]
    scored = sorted(fits, key=lambda pair: -pair[0])
    best, todo = scored[0]
    if best < FITS:
        return None
    plausible = tuple(other for score, other in scored if score >= best - MARGIN and score >= FITS)
    if len(plausible) > 1 and len({stems(one.content) for one in plausible}) > 1:
        return Completion(
            todo=None, confidence=best, reason="several open todos fit", plausible=plausible, cancelled=cancelled
        )
    what = "no longer needed" if cancelled else "said to be done"
    return Completion(
        todo=todo, confidence=round(best, 2), reason=f"{what}: {said.strip(' .!')!r}", cancelled=cancelled
    )


def _fit(words: frozenset[str], todo: Todo, common: Counter[str], cosine: float) -> float:
    wanted = stems(todo.content)
    if not wanted:
        return cosine if cosine >= FITS else 0.0
    weights = {stem: 1.0 / common[stem] for stem in wanted}
    shared = wanted & words
    share = sum(weights[stem] for stem in shared) / sum(weights.values())
    if not shared:
        return cosine if cosine >= 0.6 else 0.0
    rare = max(weights[stem] for stem in shared)
    return min(1.0, 0.3 * rare + 0.45 * share + 0.45 * max(0.0, cosine))


def _bare(alive: list[Todo], now: datetime, cancelled: bool) -> Completion | None:
    """ "Done!" alone: what is due, or the only thing that is open."""
    tasks = [todo for todo in alive if todo.by == "user" and todo.kind is not TodoKind.FRICTION]
    due = [todo for todo in tasks if todo.due and todo.due <= now + timedelta(days=1)]
    for able, why in ((tasks, "only this was open"), (due, "only this was due")):
        if len(able) == 1:
            return Completion(todo=able[0], confidence=0.8, reason=f"said to be done, and {why}", cancelled=cancelled)
    if not tasks:
        return None
    return Completion(
        todo=None, confidence=0.0, reason="said to be done without saying what", plausible=tuple(tasks[:5])
    )


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The words that tell todos apart, as stems with irregular verbs in their base form."""
    return frozenset(_base(token) for token in tokens(text)) - _SAYS_NOTHING


@lru_cache(maxsize=4096)
def _base(token: str) -> str:
    base = _IRREGULAR.get(token, token)
    base = next(iter(tokens(base)), base)
    return _SAME.get(base, base)


HALF, SOME = 0.5, 0.25
"""Shares of the things that a todo is about which a report must name: without its doing, and with it."""


def _reported_fit(words: frozenset[str], todo: Todo, common: Counter[str], told: bool) -> float:
    """How well a report fits a todo: what it is about, weighed by how rare it is among what is open, and its doing."""
    doing = _doing(todo.content)
    things = stems(todo.content) - stems(todo.recurrence or "") - {doing}
    does = not doing or any(_alike(doing, word) for word in words)
    if not things:
        return 0.9 if does and len(words) <= FEW else 0.0
    weights = {stem: 1.0 / common[stem] for stem in things}
    said = [stem for stem in things if any(_alike(stem, word) for word in words)]
    share = sum(weights[stem] for stem in said) / sum(weights.values())
    rare = any(common[stem] == 1 and len(stem) > 2 for stem in said)
    if (told and not does) or not said:
        return 0.0
    if share >= HALF or (does and rare and share >= SOME):
        return min(1.0, FITS + 0.4 * share + (0.15 if does else 0.0))
    return 0.0


SHORT = 4
"""Letters of a word below which only the same word counts."""
FEW = 4
"""Words of a report that says nothing but the doing: "Registered!"."""
_DETERMINERS = frozenset(
    ["der", "die", "das", "den", "dem", "ein", "eine", "einen", "meine", "meinen", "zum", "zur", "beim"]
)


def _doing(content: str) -> str:
    """The stem of the verb: a todo begins with it, and in German it may end with it."""
    said = content.split()
    if not said:
        return ""
    last = said[0].casefold() in _DETERMINERS or (len(said) > 1 and said[0][:1].isupper() and said[-1].endswith("en"))
    return next(iter(stems(said[-1] if last else said[0])), "")


def _alike(one: str, other: str) -> bool:
    """Two forms of a word: "llamar" and "llamé", "anrufen" and "angerufen"."""
    if one == other:
        return True
    if min(len(one), len(other)) < SHORT:
        return False
    short, long = sorted((one, other.replace("ge", "", 1) if "ge" in other[:5] else other), key=len)
    same = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return same >= max(3, 0.6 * len(short))


def recurring(todo: Todo) -> bool:
    """Done once is not done for ever."""
    return todo.kind is TodoKind.HABIT or todo.recurrence is not None
