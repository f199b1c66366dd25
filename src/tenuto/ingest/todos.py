"""What is to be done: promises, tasks, reminders, habits, threads and frictions, and when one of them is done.

Finding is by how people say it ("I need to…", "remind me to…", "I keep failing at…"). A todo is completed only when what
was said fits one open todo well enough: first by words (the action and its object, irregular verbs included), then by
meaning where words leave it open. When several fit about as well nobody guesses: the receipt names them and asks.
A habit that comes back is never done for ever; each time is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from tenuto.ingest import times
from tenuto.ingest.patterns import EMPTY_PLAN
from tenuto.ingest.sentences import Sentence, Speech
from tenuto.records.memory import Todo, TodoKind, TodoStatus
from tenuto.text.words import tokens

MARGIN = 0.15
"""Two open todos whose fit differs by less than this are both plausible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A todo before it has an id."""

    kind: TodoKind
    content: str
    quote: str
    by: str = "user"
    due: datetime | None = None
    recurrence: str | None = None
    importance: float = 5.0
    confidence: float = 0.8
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What one sentence did to the open todos: at most one is completed, or several are asked about."""

    todo: Todo | None
    confidence: float
    reason: str
    plausible: tuple[Todo, ...] = ()
    cancelled: bool = False


_ACTION = (
    r"(?:call|phone|ring|text|email|e-mail|mail|message|send|pay|buy|get|order|book|schedule|make|finish|complete|submit|hand in|turn in|file|renew|cancel|"
    r"return|pick|drop|clean|wash|fix|repair|replace|write|prepare|prep|study|review|read|practice|practise|sign|register|enroll|enrol|visit|apply|print|pack|plan|"
    r"talk|speak|ask|check|update|reply|respond|answer|meet|take|bring|move|sell|organi[sz]e|water|feed|walk|cook|bake|install|download|upload|deploy|ship|"
    r"release|publish|present|test|debug|refactor|draft|edit|proofread|translate|record|edit|train|run|exercise|work out|go|leave|start|set up|find|look for|"
    r"research|decide|choose|confirm|arrange|invite|remind|tell|give|do|learn|build|paint|file|close|open|back up|charge|fill|deliver|follow up|sort|see|stop|quit|save|wrap|attend)\b"
)
_REMINDER = re.compile(
    r"^(?:please |can you |could you |would you |will you |hey,? |ok,? |and )*(?:remind me|don't let me forget|make sure i don't forget|set (?:me )?a reminder)"
    r"(?: again)?(?P<when>.{0,40}?) (?:to|about|that|of|for) (?P<v>.+)",
    re.I,
)
_REMEMBER_TO = re.compile(r"^(?:please )?(?:remember|don't forget) to (?P<v>.+)", re.I)
_TASK = re.compile(rf"\b(?:i|we)(?:'ve| have)?(?: really| still| also| just| definitely| absolutely)* (?:need to|have to|has to|must|gotta|got to|should(?! have)|ought to|am supposed to|'m supposed to) (?:also |really |still |finally |probably )?(?P<v>{_ACTION}.+)", re.I)
_LISTED = re.compile(r"^(?:to-?do|task|action item|note to self)s?:? +(?P<v>.+)", re.I)
_PROMISE = re.compile(r"\bi(?: really| hereby)? (?:promise|swear|vow|commit|pledge)(?: you| myself)?,? (?:to|that i(?:'ll| will)|i(?:'ll| will)) (?P<v>.+)", re.I)
_WILL = re.compile(rf"\b(?:i|we)(?:'ll| will| am going to|'m going to|'m gonna|'re going to| are going to| gonna|'m planning to| plan to| intend to) (?:definitely |also |finally |really |just |try to )?(?P<v>{_ACTION}.+)", re.I)
_HABIT = re.compile(r"\b(?:i|we)(?:'m| am|'ve|'d| would| have)? (?:want to|wanna|like to|trying to|try to|going to|gonna|will|'ll|plan to|planning to|need to|committed to|decided to|started to|started|starting|aim to|been trying to) (?P<v>.+)|\bi(?:'ll| will) (?P<v2>.+)|\bmy (?:new )?(?:habit|goal|resolution) is (?:to )?(?P<v3>.+)", re.I)
_THREAD = re.compile(
    r"\b(?:let's|lets|we should|we can|we could|can we|could we|i want to|i'd like to|i'll|i will|remind me to) (?:continue|keep talking about|talk (?:more )?about|come back to|get back to|pick (?:this|it|that) (?:back )?up|"
    r"discuss|revisit|finish (?:talking about|discussing)|tell you (?:more |all )?about)(?P<v>.*?)(?:\b(?:later|tomorrow|next time|another time|soon|again|tonight|some other time|next week|another day))\b",
    re.I,
)
_FRICTION = re.compile(
    r"\b(?:i(?:'m| am)|we(?:'re| are)) (?:still |really |totally |completely |constantly |always )*(?:struggling (?:with|to)|stuck (?:on|with|at|in)|having (?:a lot of )?(?:trouble|problems|issues|difficulty|a hard time)(?: with)?|fed up with|frustrated (?:with|by|about)) (?P<v>.+)|"
    r"\bi (?:just )?(?:can't|cannot|can not) (?:seem to |get |figure out |manage to |stop |focus on |concentrate on )(?P<v2>.+)|"
    r"^(?P<v3>.{3,60}?) (?:keeps?|kept) (?:\w+ )?(?:crashing|failing|breaking|freezing|happening|interrupting|waking me|disconnecting|bothering me|annoying me|getting worse)\b|"
    r"^(?P<v4>.{3,60}?) (?:is|are) (?:driving me (?:crazy|nuts|insane|mad)|a constant (?:struggle|pain)|wearing me (?:out|down))\b",
    re.I,
)
_DUE = re.compile(r"^(?P<v>(?:my|the|our|this) .{2,60}?) (?:is|are|'s) due\b.{0,40}$|\b(?:deadline for|due date (?:for|of)) (?P<v2>.{2,60}?) (?:is|'s)\b", re.I)
_ASSISTANT = re.compile(r"\bi(?:'ll| will| promise to|'m going to) (?:definitely |be sure to |make sure to )?(?P<v>(?:remind|check in|check back|follow up|send|get back|look into|ask you|keep an eye|prepare|draft|let you know|remember to|bring|ping|message|update you|share|write|put together|find out)\b.+)", re.I)
_VAGUE = re.compile(r"^(?:do (?:it|that|this|something|so|better|my best)|see|know|think|say|go\b.{0,3}$|be\b|get (?:it|going|there|better|back to you|used)|make (?:it|sure)|take (?:it|care|a (?:look|break|shot|nap))|tell you|ask you|give (?:it|you|up)|find (?:out|it|that)|talk to you|check (?:it|that|this) out|look (?:at|into) (?:it|that)|start(?:ing)?$|stop$|leave$|run$|go now|see (?:you|how|if|what|it)|learn more|do more|meet you|move on|send you (?:love|hugs)|visit you|try)\b", re.I)
_RECUR_TAIL = re.compile(r",? ?\b(?:every|each) (?:single |other )?\w+.*$|,? ?\b(?:daily|weekly|monthly)\b.*$|,? ?\b(?:once|twice|\w+ times) (?:a|per) \w+.*$", re.I)


def find(sentence: Sentence, at: datetime, *, zone: tzinfo | None = None, by_assistant: bool = False) -> Draft | None:
    """The todo that a sentence states, or ``None``."""
    text = sentence.plain
    if by_assistant:
        match = _ASSISTANT.search(text)
        return _draft(TodoKind.COMMITMENT, match, sentence, at, zone, "assistant promise", by="assistant", confidence=0.8) if match and sentence.speech is Speech.STATEMENT else None
    if sentence.speech in (Speech.JOKE, Speech.HYPOTHETICAL, Speech.QUOTATION) or sentence.reported_by:
        return None
    if (match := _REMINDER.match(text)) or (match := _REMEMBER_TO.match(text)):
        return _draft(TodoKind.REMINDER, match, sentence, at, zone, "asked to be reminded", importance=6.5, confidence=0.95)
    if (match := _THREAD.search(text)) and (match["v"].strip() or "pick" in match.group().lower()):
        return _draft(TodoKind.THREAD, match, sentence, at, zone, "to be taken up again", confidence=0.75, whole=True)
    if sentence.speech not in (Speech.STATEMENT, Speech.FRAGMENT) or (sentence.hedged and not re.search(r"\bneed to|have to|must\b", text, re.I)):
        return None
    return _stated(sentence, text, at, zone)


def _stated(sentence: Sentence, text: str, at: datetime, zone: tzinfo | None) -> Draft | None:
    if match := _LISTED.match(text):
        return _draft(TodoKind.TASK, match, sentence, at, zone, "listed as a task", confidence=0.9)
    if match := _FRICTION.search(text):
        return _draft(TodoKind.FRICTION, match, sentence, at, zone, "something is in the way", importance=6, confidence=0.75, whole=True)
    if match := _DUE.search(text):
        draft = _draft(TodoKind.TASK, match, sentence, at, zone, "has a deadline", importance=6.5, confidence=0.85)
        return draft if draft and draft.due else None
    if sentence.negated and not re.search(r"\bforget\b|\bpromise\b|\bstop\b|\bquit\b", text, re.I):
        return None
    again = times.recurrence(text)
    if again and (match := _HABIT.search(text)):
        return _draft(TodoKind.HABIT, match, sentence, at, zone, "meant to recur", recurrence=again, confidence=0.8)
    if match := _PROMISE.search(text):
        return _draft(TodoKind.COMMITMENT, match, sentence, at, zone, "promised", importance=6.5, confidence=0.9)
    if match := _TASK.search(text):
        return _draft(TodoKind.TASK, match, sentence, at, zone, "has to be done", confidence=0.8)
    if match := _WILL.search(text):
        draft = _draft(TodoKind.COMMITMENT, match, sentence, at, zone, "said that they will", confidence=0.8)
        return draft if draft and draft.due and draft.due - at <= timedelta(days=45) else None
    return None


def _draft(
    kind: TodoKind,
    match: re.Match[str],
    sentence: Sentence,
    at: datetime,
    zone: tzinfo | None,
    rule: str,
    *,
    by: str = "user",
    importance: float = 5.0,
    confidence: float = 0.8,
    recurrence: str | None = None,
    whole: bool = False,
) -> Draft | None:
    value = next((part for name, part in match.groupdict().items() if name.startswith("v") and part), "").strip(" .,!?")
    if not whole and (_VAGUE.match(value) or EMPTY_PLAN.match(value) or len(tokens(value)) < 1):
        return None
    when = next((found for found in times.find(sentence.plain, at, zone) if found.end > at), None)
    content = sentence.plain.strip(" .!?,") if whole else _action(value, recurrence)
    if not tokens(content):
        return None
    repeated = recurrence or (times.recurrence(sentence.plain) if kind in (TodoKind.REMINDER, TodoKind.TASK) else None)
    return Draft(
        kind=kind,
        content=content[:1].upper() + content[1:],
        quote=sentence.text,
        by=by,
        due=_due(when) if when else None,
        recurrence=repeated,
        importance=importance,
        confidence=confidence,
        rule=rule,
    )


def _due(when: times.When) -> datetime:
    """An instant as it is; otherwise the end of the span, so that "by Friday" is not late on Friday morning."""
    return when.start if when.precision in ("hour", "part") else when.end - timedelta(seconds=1)


def _action(value: str, recurrence: str | None) -> str:
    """The action without its time, which the due date keeps."""
    cleaned = _RECUR_TAIL.sub("", value) if recurrence else value
    cleaned = re.sub(
        r",? (?:because|since|so that|or else|before i|after i|if i|but i|and i|which|so i)\b.*$", "", cleaned, flags=re.I
    )
    previous = ""
    while previous != cleaned:
        previous = cleaned
        cleaned = re.sub(
            r",? ?\b(?:by |on |at |before |until |in |around )?(?:the )?(?:today|tonight|tomorrow(?: (?:morning|evening|afternoon|night))?|tmrw|this (?:week|weekend|month|morning|afternoon|evening|year)|next (?:week|weekend|month|year|\w+day)|"
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:morning|evening|afternoon|night))?|end of (?:the )?(?:day|week|month|year)|\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?)|\d{1,2}:\d\d|(?:a|an|one|two|three|four|five|six|\d+) (?:minute|hour|day|week|month)s?|"
            r"(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th)|later|soon|asap|as well|too|now|again)[ .,!]*$",
            "",
            cleaned,
            flags=re.I,
        ).strip(" .,!?")
    return cleaned or value


# --- done? ------------------------------------------------------------------------------------------------------------

_IRREGULAR = dict(
    pair.split(":")
    for pair in """paid:pay bought:buy sent:send wrote:write written:write did:do done:do made:make took:take taken:take got:get went:go gone:go met:meet spoke:speak told:tell
    ran:run swam:swim gave:give given:give found:find built:build taught:teach drove:drive sold:sell brought:bring chose:choose left:leave began:begin ate:eat read:read
    rang:ring saw:see seen:see said:say slept:sleep fed:feed set:set put:put cut:cut hung:hang kept:keep lent:lend lost:lose rode:ride shut:shut spent:spend woke:wake won:win phoned:call rung:call""".split()
)
_SAME = {"phone": "call", "ring": "call", "mail": "email", "e-mail": "email", "complet": "finish", "hand": "submit", "purchas": "buy", "mom": "mother", "mum": "mother", "dad": "father", "doc": "doctor"}
_HANDED_OVER = frozenset({"submit", "send", "call", "pay", "buy", "book", "email", "text", "return", "order", "tell", "ask", "sell"})
"""Finishing something is not yet handing it over."""
_DONE_VERB = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)?(?: just| finally| already| also| actually)*|just|finally|already) (?P<verb>finished|completed|did|done|got done|wrapped up|took care of|taken care of|checked off|crossed off|sorted(?: out)?|managed to)(?: with)? (?P<v>.+)|"
    r"^(?:all )?(?:done|finished|through) with (?P<v2>.+)|^(?P<v3>.+?)(?: is|'s| are| has been)? (?:finally |all |now |already )*(?:done|finished|complete|completed|sorted|taken care of|handled|submitted|paid|booked|sent)(?: now| already| too)?[.!]*$",
    re.I,
)
_BARE = re.compile(r"^(?:(?:all|it's|it is|that's|ok|okay|yep|yes|i'm|finally),? )*(?:done|finished|did it|i did it|completed|all done|finished it|got it done|mission accomplished|check)(?: with (?:it|that))?[.! ✅]*$", re.I)
_PAST = re.compile(r"^(?:[\w' ]{0,30}?,? )?(?:i|we)(?:'ve| have)?(?: just| finally| already| also| actually| went and| managed to)* (?P<v>\w+(?:ed|t|d|n|ought|ot|ook|ade|ave|an|ent|et|id|oke|old|ote)?\b.+)|^(?:just |finally |already )+(?P<v2>.+)|^(?P<v3>(?:\w+ed|paid|bought|sent|wrote|made|took|got|met|spoke|ran|gave|found|built|sold|brought|rang|fed|read|did) .+)", re.I)
_DROPPED = re.compile(r"\b(?:i )?(?:don't|do not|no longer) (?:need|have|want) to (?P<v>.+?)(?: any ?more)?[.!]*$|^(?:never ?mind|forget) (?:about )?(?P<v2>.{4,})|^cancel (?:the |my )?(?:reminder|task|todo)(?: (?:to|about|for))? (?P<v3>.+)", re.I)
_FUTURE = re.compile(r"\b(?:will|'ll|going to|gonna|need to|have to|tomorrow|later|should|must|want to|plan|might|could|would)\b", re.I)


def completion(
    sentence: Sentence, open_todos: Sequence[Todo], now: datetime, *, threshold: float, meaning: Mapping[str, float] | None = None
) -> Completion | None:
    """What a sentence completes (or cancels). ``meaning`` gives a cosine per todo id where vectors are at hand.

    Meaning alone completes nothing: it settles a match that words left between one third and the threshold.
    """
    text = sentence.plain
    alive = [todo for todo in open_todos if todo.status is TodoStatus.OPEN and todo.kind is not TodoKind.THREAD]
    if not alive or sentence.reported_by or sentence.speech in (Speech.QUESTION, Speech.HYPOTHETICAL, Speech.JOKE, Speech.QUOTATION):
        return None
    if dropped := _DROPPED.search(text):
        return _settle(_object(dropped), alive, threshold, None, action=True, cancelled=True)
    if _BARE.match(text):
        return _bare(alive, now)
    if sentence.negated or sentence.speech not in (Speech.STATEMENT, Speech.FRAGMENT, Speech.REACTION):
        return None
    if (match := _DONE_VERB.search(text)) and not _FUTURE.search(text):
        return _settle(_object(match), alive, threshold, meaning, action=False)
    if (match := _PAST.match(text)) and not _FUTURE.search(text):
        return _settle(_object(match), alive, threshold, meaning, action=True)
    return None


def _object(match: re.Match[str]) -> str:
    return next((part for name, part in match.groupdict().items() if name.startswith("v") and name != "verb" and part), "")


def _bare(alive: list[Todo], now: datetime) -> Completion | None:
    tasks = [todo for todo in alive if todo.by == "user" and todo.kind is not TodoKind.FRICTION]
    if len(tasks) == 1:
        return Completion(todo=tasks[0], confidence=0.85, reason="said to be done, and only this was open")
    due = [todo for todo in tasks if todo.due and todo.due <= now + timedelta(days=1)]
    if len(due) == 1:
        return Completion(todo=due[0], confidence=0.8, reason="said to be done, and only this was due")
    return Completion(todo=None, confidence=0.0, reason="said to be done without saying what", plausible=tuple(tasks[:5])) if tasks else None


def _settle(said: str, alive: list[Todo], threshold: float, meaning: Mapping[str, float] | None, *, action: bool, cancelled: bool = False) -> Completion | None:
    words = stems(said)
    if not words:
        return None
    scored = sorted(((_fit(words, todo, action=action, meaning=meaning), todo) for todo in alive), key=lambda pair: -pair[0])
    best, todo = scored[0]
    plausible = tuple(other for score, other in scored if score >= max(threshold, best - MARGIN))
    if best < threshold:
        return None
    if len(plausible) > 1:
        return Completion(todo=None, confidence=best, reason="several open todos fit", plausible=plausible, cancelled=cancelled)
    what = "no longer needed" if cancelled else "said to be done"
    return Completion(todo=todo, confidence=round(best, 2), reason=f"{what}: {said.strip(' .!')!r}", cancelled=cancelled)


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
    return max(fit, min(0.95, cosine)) if 1 / 3 <= fit else fit


def stems(text: str) -> frozenset[str]:
    """Words as stems with irregular verbs in their base form; times and filler are left out."""
    cleaned = _action(re.sub(r"['’]s\b", "", text), None)
    return frozenset(_base(token) for token in tokens(cleaned))


def _base(token: str) -> str:
    base = _IRREGULAR.get(token, token)
    base = next(iter(tokens(base)), base)
    return _SAME.get(base, base)


def recurring(todo: Todo) -> bool:
    """Done once is not done for ever."""
    return todo.kind is TodoKind.HABIT or todo.recurrence is not None
