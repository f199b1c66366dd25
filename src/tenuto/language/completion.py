"""Which open todo words like "dentist done" or "scrap the tent thing" are about, if any.

Words and meaning are asked together: what was said must name the thing that the todo is about and no other of its kind,
and the rarer a word is among what is open the more it counts; a cosine settles the rest. When two fit about as well
nobody guesses: the receipt names them and asks.
A habit that comes back is never done for ever; each time is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tenuto.language.doings import another_thing, came_to_me, does, is_said, parts, stems
from tenuto.records.memory import Todo, TodoKind, TodoStatus

FITS = 0.5
"""From this fit on a todo is closed."""
MARGIN = 0.1
"""Two open todos whose fit differs by less than this are both plausible."""
HALF, SOME = 0.5, 0.25
"""Shares of what a todo is about that a report must name: without its doing, and with it."""
SAME_MEANING, RELATED = 0.6, 0.45
"""Cosines from which a report that shares no word, or only some, is about the todo all the same."""
FEW = 4
"""Words of a report that says nothing but the doing: "Registered!"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What was said of the open todos: at most one is closed, or several are asked about."""

    todo: Todo | None
    confidence: float
    reason: str
    plausible: tuple[Todo, ...] = ()
    cancelled: bool = False


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
    fits = [(_fit(said, todo, common, meaning.get(todo.id, 0.0), told, reported), todo) for todo in alive]
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


def _fit(said: str, todo: Todo, common: Counter[str], cosine: float, told: bool, reported: bool) -> float:
    """How well a report fits a todo, 0 to 1; from ``FITS`` on it closes it.

    What was said must name the thing that the todo is about, or nothing that the todo does not hold; what is only told
    as past must say the doing as well.
    """
    what, words = parts(todo.content), stems(said)
    again = stems(todo.recurrence or "")
    about = what.about - again
    heard = {stem for stem in about if is_said(stem, words)}
    doing = does(what.doing, said)
    if not about:
        return 0.9 if doing and len(words) <= FEW else 0.0
    if not heard:
        return cosine if cosine >= SAME_MEANING and not told and not (what.doing and doing) else 0.0
    if another_thing(what, said) or came_to_me(what.doing, said):
        return 0.0
    weights = {stem: 1.0 / common[stem] for stem in about}
    share = sum(weights[stem] for stem in heard) / sum(weights.values())
    strange = {word for word in words if not is_said(word, about | {what.doing})}
    rare = any(common[stem] == 1 and len(stem) > 2 for stem in heard)
    thing = [stem for stem in what.thing if stem in about]
    named = not thing or any(stem in heard and (common[stem] == 1 or share >= HALF) for stem in thing)
    contained = not strange and rare
    if told:
        fits = doing and (contained or (named and share >= SOME))
    elif contained and (named or not reported):
        fits = True
    elif named:
        fits = share >= HALF or (rare and (doing or cosine >= RELATED) and share >= SOME)
    else:
        fits = not doing and rare and share >= HALF
    return min(1.0, FITS + 0.3 * share + (0.1 if doing else 0.0) + 0.1 * max(0.0, cosine)) if fits else 0.0


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


def recurring(todo: Todo) -> bool:
    """Done once is not done for ever."""
    return todo.kind is TodoKind.HABIT or todo.recurrence is not None
