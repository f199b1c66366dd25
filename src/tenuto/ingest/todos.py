"""What is to be done: promises, tasks, reminders, habits, threads and frictions, found by how people say them.

"I need to…", "remind me to…", "I keep failing at…", "let's talk about it next time". A promise without a date is talk,
so a plain "I will" counts only with a due date. When something is done is decided in :mod:`tenuto.ingest.completion`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from tenuto.ingest import times
from tenuto.ingest.patterns import EMPTY_PLAN
from tenuto.ingest.sentences import Sentence, Speech
from tenuto.records.memory import TodoKind
from tenuto.text.words import tokens


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


_ACTION = (
    r"(?:call|phone|ring|text|email|e-mail|mail|message|send|pay|buy|get|order|book|schedule|make|finish|"
    r"complete|submit|hand in|turn in|file|renew|cancel|"
    r"return|pick|drop|clean|wash|fix|repair|replace|write|prepare|prep|study|review|read|practice|practise|"
    r"sign|register|enroll|enrol|visit|apply|print|pack|plan|"
    r"talk|speak|ask|check|update|reply|respond|answer|meet|take|bring|move|sell|organi[sz]e|water|feed|walk|"
    r"cook|bake|install|download|upload|deploy|ship|"
    r"release|publish|present|test|debug|refactor|draft|edit|proofread|translate|record|edit|train|run|"
    r"exercise|work out|go|leave|start|set up|find|look for|"
    r"research|decide|choose|confirm|arrange|invite|remind|tell|give|do|learn|build|paint|file|close|open|back "
    r"up|charge|fill|deliver|follow up|sort|see|stop|quit|save|wrap|attend)\b"
)
_REMINDER = re.compile(
    r"^(?:please |can you |could you |would you |will you |hey,? |ok,? |and )*(?:remind me|don't let me forget|"
    r"make sure i don't forget|set (?:me )?a reminder)"
    r"(?: again)?(?P<when>.{0,40}?) (?:to|about|that|of|for) (?P<v>.+)",
    re.I,
)
_REMEMBER_TO = re.compile(r"^(?:please )?(?:remember|don't forget) to (?P<v>.+)", re.I)
_TASK = re.compile(
    rf"\b(?:i|we)(?:'ve| have)?(?: really| still| also| just| definitely| absolutely)* (?:need to|have to|has "
    rf"to|must|gotta|got to|should(?! have)|ought to|am supposed to|'m supposed to) (?:also |really |still |"
    rf"finally |probably )?(?P<v>{_ACTION}.+)",
    re.I,
)
_LISTED = re.compile(r"^(?:to-?do|task|action item|note to self)s?:? +(?P<v>.+)", re.I)
_PROMISE = re.compile(
    r"\bi(?: really| hereby)? (?:promise|swear|vow|commit|pledge)(?: you| myself)?,? (?:to|that i(?:'ll| will)|"
    r"i(?:'ll| will)) (?P<v>.+)",
    re.I,
)
_WILL = re.compile(
    rf"\b(?:i|we)(?:'ll| will| am going to|'m going to|'m gonna|'re going to| are going to| gonna|'m planning "
    rf"to| plan to| intend to) (?:definitely |also |finally |really |just |try to )?(?P<v>{_ACTION}.+)",
    re.I,
)
_HABIT = re.compile(
    r"\b(?:i|we)(?:'m| am|'ve|'d| would| have)? (?:want to|wanna|like to|trying to|try to|going to|gonna|will|"
    r"'ll|plan to|planning to|need to|committed to|decided to|started to|started|starting|aim to|been trying "
    r"to) (?P<v>.+)|\bi(?:'ll| will) (?P<v2>.+)|\bmy (?:new )?(?:habit|goal|resolution) is (?:to )?(?P<v3>.+)",
    re.I,
)
_THREAD = re.compile(
    r"\b(?:let's|lets|we should|we can|we could|can we|could we|i want to|i'd like to|i'll|i will|remind me "
    r"to) (?:continue|keep talking about|talk (?:more )?about|come back to|get back to|pick (?:this|it|that) "
    r"(?:back )?up|"
    r"discuss|revisit|finish (?:talking about|discussing)|tell you (?:more |all "
    r")?about)(?P<v>.*?)(?:\b(?:later|tomorrow|next time|another time|soon|again|tonight|some other time|next "
    r"week|another day))\b",
    re.I,
)
_FRICTION = re.compile(
    r"\b(?:i(?:'m| am)|we(?:'re| are)) (?:still |really |totally |completely |constantly |always "
    r")*(?:struggling (?:with|to)|stuck (?:on|with|at|in)|having (?:a lot of )?(?:trouble|problems|issues|"
    r"difficulty|a hard time)(?: with)?|fed up with|frustrated (?:with|by|about)) (?P<v>.+)|"
    r"\bi (?:just )?(?:can't|cannot|can not) (?:seem to |get |figure out |manage to |stop |focus on |"
    r"concentrate on )(?P<v2>.+)|"
    r"^(?P<v3>.{3,60}?) (?:keeps?|kept) (?:\w+ )?(?:crashing|failing|breaking|freezing|happening|interrupting|"
    r"waking me|disconnecting|bothering me|annoying me|getting worse)\b|"
    r"^(?P<v4>.{3,60}?) (?:is|are) (?:driving me (?:crazy|nuts|insane|mad)|a constant (?:struggle|pain)|"
    r"wearing me (?:out|down))\b",
    re.I,
)
_DUE = re.compile(
    r"^(?P<v>(?:my|the|our|this) .{2,60}?) (?:is|are|'s) due\b.{0,40}$|\b(?:deadline for|due date (?:for|of)) "
    r"(?P<v2>.{2,60}?) (?:is|'s)\b",
    re.I,
)
_ASSISTANT = re.compile(
    r"\bi(?:'ll| will| promise to|'m going to) (?:definitely |be sure to |make sure to )?(?P<v>(?:remind|check "
    r"in|check back|follow up|send|get back|look into|ask you|keep an eye|prepare|draft|let you know|remember "
    r"to|bring|ping|message|update you|share|write|put together|find out)\b.+)",
    re.I,
)
_VAGUE = re.compile(
    r"^(?:do (?:it|that|this|something|so|better|my best)|see|know|think|say|go\b.{0,3}$|be\b|get (?:it|going|"
    r"there|better|back to you|used)|make (?:it|sure)|take (?:it|care|a (?:look|break|shot|nap))|tell you|ask "
    r"you|give (?:it|you|up)|find (?:out|it|that)|talk to you|check (?:it|that|this) out|look (?:at|into) "
    r"(?:it|that)|start(?:ing)?$|stop$|leave$|run$|go now|see (?:you|how|if|what|it)|learn more|do more|meet "
    r"you|move on|send you (?:love|hugs)|visit you|try)\b",
    re.I,
)
_RECUR_TAIL = re.compile(
    r",? ?\b(?:every|each) (?:single |other )?\w+.*$|,? ?\b(?:daily|weekly|monthly)\b.*$|,? ?\b(?:once|twice|"
    r"\w+ times) (?:a|per) \w+.*$",
    re.I,
)


def find(sentence: Sentence, at: datetime, *, zone: tzinfo | None = None, by_assistant: bool = False) -> Draft | None:
    """The todo that a sentence states, or ``None``."""
    text = sentence.plain
    if by_assistant:
        match = _ASSISTANT.search(text)
        return (
            _draft(TodoKind.COMMITMENT, match, sentence, at, zone, "assistant promise", by="assistant", confidence=0.8)
            if match and sentence.speech is Speech.STATEMENT
            else None
        )
    if sentence.speech in (Speech.JOKE, Speech.HYPOTHETICAL, Speech.QUOTATION) or sentence.reported_by:
        return None
    if (match := _REMINDER.match(text)) or (match := _REMEMBER_TO.match(text)):
        return _draft(
            TodoKind.REMINDER, match, sentence, at, zone, "asked to be reminded", importance=6.5, confidence=0.95
        )
    if (match := _THREAD.search(text)) and (match["v"].strip() or "pick" in match.group().lower()):
        return _draft(TodoKind.THREAD, match, sentence, at, zone, "to be taken up again", confidence=0.75, whole=True)
    if sentence.speech not in (Speech.STATEMENT, Speech.FRAGMENT) or (
        sentence.hedged and not re.search(r"\bneed to|have to|must\b", text, re.I)
    ):
        return None
    return _stated(sentence, text, at, zone)


def find_all(sentence: Sentence, at: datetime, *, zone: tzinfo | None = None) -> list[Draft]:
    """The todos of a sentence: "send the invoice by Friday and book the flights" are two, each with its own time."""
    draft = find(sentence, at, zone=zone)
    if draft is None:
        return []
    pieces = _AND.split(draft.content) if draft.kind in _SPLIT else []
    if len(pieces) < 2:
        return [draft]
    found: list[Draft] = []
    due = draft.due if not times.find(draft.content, at, zone) else None
    for piece in reversed(pieces):
        when = next((one for one in times.find(piece, at, zone) if one.end > at), None)
        due = _due(when) if when else due
        content = action_of(piece, None)
        found.insert(0, replace(draft, content=content[:1].upper() + content[1:], due=due))
    return found


_SPLIT = (TodoKind.TASK, TodoKind.REMINDER)
_AND = re.compile(
    rf"(?:,? and (?:then )?(?:to )?|, (?:then )?)"
    rf"(?={_ACTION} (?:the|a|an|my|our|his|her|their|some|for|to|up|back)\b)",
    re.I,
)
"""Where another action begins. A bare noun may look like one ("bread and water"), so an article must follow."""


def _stated(sentence: Sentence, text: str, at: datetime, zone: tzinfo | None) -> Draft | None:
    if match := _LISTED.match(text):
        return _draft(TodoKind.TASK, match, sentence, at, zone, "listed as a task", confidence=0.9)
    if match := _FRICTION.search(text):
        return _draft(
            TodoKind.FRICTION,
            match,
            sentence,
            at,
            zone,
            "something is in the way",
            importance=6,
            confidence=0.75,
            whole=True,
        )
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
    empty = _VAGUE.match(value) or EMPTY_PLAN.match(value)
    if (not whole and (empty if by == "user" else len(tokens(value)) < 2)) or not tokens(value or sentence.plain):
        return None
    when = next((found for found in times.find(sentence.plain, at, zone) if found.end > at), None)
    content = sentence.plain.strip(" .!?,") if whole else action_of(value, recurrence)
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


def action_of(value: str, recurrence: str | None) -> str:
    """The action without its time, which the due date keeps."""
    cleaned = _RECUR_TAIL.sub("", value) if recurrence else value
    cleaned = re.sub(
        r",? (?:because|since|so that|or else|before i|after i|if i|but i|and i|which|so i)\b.*$",
        "",
        cleaned,
        flags=re.I,
    )
    previous = ""
    while previous != cleaned:
        previous = cleaned
        cleaned = re.sub(
            r",? ?\b(?:by |on |at |before |until |in |around )?(?:the )?(?:today|tonight|tomorrow(?: "
            r"(?:morning|evening|afternoon|night))?|tmrw|this (?:week|weekend|month|morning|afternoon|evening|"
            r"year)|next (?:week|weekend|month|year|\w+day)|"
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:morning|evening|afternoon|night))?|end of "
            r"(?:the )?(?:day|week|month|year)|\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?)|\d{1,2}:\d\d|(?<=at )\d{1,2}|"
            r"(?:a|an|one|two|three|four|five|six|\d+) (?:minute|hour|day|week|month)s?|"
            r"(?:january|february|march|april|may|june|july|august|september|october|november|december) "
            r"\d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th)|later|soon|asap|as well|too|now|again)[ .,!]*$",
            "",
            cleaned,
            flags=re.I,
        ).strip(" .,!?")
    return cleaned or value
