"""When a todo is done: only when what was said fits one open todo well enough.

First by words (the action and its object, irregular verbs included), then by meaning where words leave it open. When
several fit about as well nobody guesses: the receipt names them and asks. A habit that comes back is never done for
ever; each time is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from tenuto.ingest.lexicon import ordered
from tenuto.ingest.sentences import Sentence, Speech
from tenuto.ingest.todos import action_of
from tenuto.records.memory import Todo, TodoKind, TodoStatus
from tenuto.text.words import tokens

MARGIN = 0.15
"""Two open todos whose fit differs by less than this are both plausible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What one sentence did to the open todos: at most one is completed, or several are asked about."""

    todo: Todo | None
    confidence: float
    reason: str
    plausible: tuple[Todo, ...] = ()
    cancelled: bool = False


_IRREGULAR = dict(pair.split(":") for pair in ordered("irregular"))
_SAME = {
    "phone": "call",
    "ring": "call",
    "mail": "email",
    "e-mail": "email",
    "complet": "finish",
    "hand": "submit",
    "purchas": "buy",
    "mom": "mother",
    "mum": "mother",
    "dad": "father",
    "doc": "doctor",
}
_HANDED_OVER = frozenset(
    {"submit", "send", "call", "pay", "buy", "book", "email", "text", "return", "order", "tell", "ask", "sell"}
)
"""Finishing something is not yet handing it over."""
_DONE_VERB = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)?(?: just| finally| already| also| actually)*|just|finally|already) "
    r"(?P<verb>finished|completed|did|done|got done|wrapped up|took care of|taken care of|checked off|crossed "
    r"off|sorted(?: out)?|managed to)(?: with)? (?P<v>.+)|"
    r"^(?:all )?(?:done|finished|through) with (?P<v2>.+)|^(?P<v3>.+?)(?: is|'s| are| has been)? (?:finally |"
    r"all |now |already )*(?:done|finished|complete|completed|sorted|taken care of|handled|submitted|paid|"
    r"booked|sent)(?: now| already| too)?[.!]*$",
    re.I,
)
_BARE = re.compile(
    r"^(?:(?:all|it's|it is|that's|ok|okay|yep|yes|i'm|finally),? )*(?:done|finished|did it|i did it|completed|"
    r"all done|finished it|got it done|mission accomplished|check)(?: with (?:it|that))?[.! ✅]*$",
    re.I,
)
_PAST = re.compile(
    r"^(?:[\w' ]{0,30}?,? )?(?:i|we)(?:'ve| have)?(?: just| finally| already| also| actually| went and| "
    r"managed to)* (?P<v>\w+(?:ed|t|d|n|ought|ot|ook|ade|ave|an|ent|et|id|oke|old|ote)?\b.+)|^(?:just |finally "
    r"|already )+(?P<v2>.+)|^(?P<v3>(?:\w+ed|paid|bought|sent|wrote|made|took|got|met|spoke|ran|gave|found|"
    r"built|sold|brought|rang|fed|read|did) .+)",
    re.I,
)
_DROPPED = re.compile(
    r"\b(?:i )?(?:don't|do not|no longer) (?:need|have|want) to (?P<v>.+?)(?: any ?more)?[.!]*$|^(?:never "
    r"?mind|forget) (?:about )?(?P<v2>.{4,})|^cancel (?:the |my )?(?:reminder|task|todo)(?: (?:to|about|for))? "
    r"(?P<v3>.+)",
    re.I,
)
_FUTURE = re.compile(
    r"\b(?:will|'ll|going to|gonna|need to|have to|tomorrow|later|should|must|want to|plan|might|could|would)\b", re.I
)


def completion(
    sentence: Sentence,
    open_todos: Sequence[Todo],
    now: datetime,
    *,
    threshold: float,
    meaning: Mapping[str, float] | None = None,
) -> Completion | None:
    """What a sentence completes (or cancels). ``meaning`` gives a cosine per todo id where vectors are at hand.

    Meaning alone completes nothing: it settles a match that words left between one third and the threshold.
    """
    text = sentence.plain
    alive = [todo for todo in open_todos if todo.status is TodoStatus.OPEN and todo.kind is not TodoKind.THREAD]
    if (
        not alive
        or sentence.reported_by
        or sentence.speech in (Speech.QUESTION, Speech.HYPOTHETICAL, Speech.JOKE, Speech.QUOTATION)
    ):
        return None
    if dropped := _DROPPED.search(text):
        return _settle(_object(dropped), alive, threshold, None, action=True, cancelled=True)
    if _BARE.match(text):
        return _bare(alive, now)
    if sentence.negated or sentence.speech not in (Speech.STATEMENT, Speech.FRAGMENT, Speech.REACTION):
        return None
    if (match := _DONE_VERB.search(text)) and not _FUTURE.search(text):
        said = match.group() if match["v3"] else _object(match)
        return _settle(said, alive, threshold, meaning, action=False)
    if (match := _PAST.match(text)) and not _FUTURE.search(text):
        return _settle(_object(match), alive, threshold, meaning, action=True)
    return None


def may_complete(sentence: Sentence) -> bool:
    """Could this sentence say that something is done? Asked before any todo is read."""
    if sentence.reported_by or sentence.speech in (
        Speech.QUESTION,
        Speech.HYPOTHETICAL,
        Speech.JOKE,
        Speech.QUOTATION,
    ):
        return False
    text = sentence.plain
    if _DROPPED.search(text) or _BARE.match(text):
        return True
    if sentence.negated or sentence.speech not in (Speech.STATEMENT, Speech.FRAGMENT, Speech.REACTION):
        return False
    return not _FUTURE.search(text) and bool(_DONE_VERB.search(text) or _PAST.match(text))


def _object(match: re.Match[str]) -> str:
    return next(
        (part for name, part in match.groupdict().items() if name.startswith("v") and name != "verb" and part), ""
    )


def _bare(alive: list[Todo], now: datetime) -> Completion | None:
    tasks = [todo for todo in alive if todo.by == "user" and todo.kind is not TodoKind.FRICTION]
    if len(tasks) == 1:
        return Completion(todo=tasks[0], confidence=0.85, reason="said to be done, and only this was open")
    due = [todo for todo in tasks if todo.due and todo.due <= now + timedelta(days=1)]
    if len(due) == 1:
        return Completion(todo=due[0], confidence=0.8, reason="said to be done, and only this was due")
    return (
        Completion(todo=None, confidence=0.0, reason="said to be done without saying what", plausible=tuple(tasks[:5]))
        if tasks
        else None
    )


def _settle(
    said: str,
    alive: list[Todo],
    threshold: float,
    meaning: Mapping[str, float] | None,
    *,
    action: bool,
    cancelled: bool = False,
) -> Completion | None:
    words = stems(said)
    if not words:
        return None
    scored = sorted(
        ((_fit(words, todo, action=action, meaning=meaning), todo) for todo in alive), key=lambda pair: -pair[0]
    )
    best, todo = scored[0]
    plausible = tuple(other for score, other in scored if score >= max(threshold, best - MARGIN))
    if best < threshold:
        return None
    if len(plausible) > 1:
        return Completion(
            todo=None, confidence=best, reason="several open todos fit", plausible=plausible, cancelled=cancelled
        )
    what = "no longer needed" if cancelled else "said to be done"
    return Completion(
        todo=todo, confidence=round(best, 2), reason=f"{what}: {said.strip(' .!')!r}", cancelled=cancelled
    )


def _fit(words: frozenset[str], todo: Todo, *, action: bool, meaning: Mapping[str, float] | None) -> float:
    """The share of the todo's words that were said; its verb counts only where the sentence names the action itself."""
    wanted = stems(todo.content)
    other_verb = False
    if not action:
        first = _base(next(iter(tokens(todo.content)), ""))
        other_verb = first in _HANDED_OVER and first not in words
        wanted = (wanted - {first}) or wanted
    if not wanted:
        return 0.0
    shared = wanted & words
    fit = len(shared) / len(wanted)
    if action and len(shared) < 2 and len(wanted) > 1:
        fit = min(fit, 0.5)
    if other_verb:
        fit = min(fit, 0.7)
    cosine = (meaning or {}).get(todo.id, 0.0)
    return max(fit, min(0.95, cosine)) if fit >= 1 / 3 else fit


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Words as stems with irregular verbs in their base form; times and filler are left out."""
    cleaned = action_of(re.sub(r"['’]s\b", "", text), None)
    return frozenset(_base(token) for token in tokens(cleaned))


@lru_cache(maxsize=4096)
def _base(token: str) -> str:
    base = _IRREGULAR.get(token, token)
    base = next(iter(tokens(base)), base)
    return _SAME.get(base, base)


def recurring(todo: Todo) -> bool:
    """Done once is not done for ever."""
    return todo.kind is TodoKind.HABIT or todo.recurrence is not None
