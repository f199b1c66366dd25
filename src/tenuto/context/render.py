"""How a kept thing is shown to a model: one dated line of evidence, escaped. Pure.

A memory may hold anything that anyone ever said, so no kept text may pass for the operator's words. Three things see to
that. A line is one line: breaks become `` / ``, so no text can begin a line of its own and claim a date or a trust.
Angle brackets become ``‹›``, so no text can close the fence (``<<end 7f3a…>>``) or spell a chat template's control
token (``<|im_start|>``); the fence's name is random, constant within a session so that prompt caches hold, and comes in
as an argument. Invisible characters that could hide text are removed. What is standing guidance is rendered apart, and
only from the operator or a confirmed user. Dates are absolute: "three days ago" would be a new text every day.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, time, tzinfo
from typing import Any

from tenuto.context.templates import Templates
from tenuto.language.topics import subject
from tenuto.lifecycle import told
from tenuto.recall.cards import Card, fact_texts
from tenuto.recall.gate import Admitted
from tenuto.records.conversation import KeyPoint, Message, Role, SourcedLine, Summary
from tenuto.records.memory import TRUST_ORDER, AgentState, Memory, Todo, Trust
from tenuto.records.wishes import StandingWish
from tenuto.records.workflow import Workflow
from tenuto.text.fences import marks
from tenuto.workflow.block import workflow_block

TRUST_WORDS = {
    Trust.OPERATOR: "operator",
    Trust.USER_CONFIRMED: "confirmed",
    Trust.USER_STATED: "said",
    Trust.INFERRED: "inferred",
    Trust.EXTERNAL: "outside",
}
GUIDING = frozenset({Trust.OPERATOR, Trust.USER_CONFIRMED})
"""Whose word is a standing instruction without more."""
SPOOFED = frozenset({"email", "sms"})
"""Channels on which anybody can write in another's name: what came on them guides only once it is confirmed."""

_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPACE = re.compile(r"[ \t\u00a0]+")
_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_CONTROL_WORD = re.compile(r"\[(/?(?:INST|SYS|SYSTEM|AVAILABLE_TOOLS|TOOL_CALLS))\]", re.IGNORECASE)
_UNSAFE = re.compile(r"[<>\[\x00-\x1f\x7f]|  |\A\s|\s\Z")
"""What ASCII text must hold to need any work at all."""
_BRACKETS = str.maketrans({"<": "‹", ">": "›"})


def escape(text: str) -> str:
    """One line of text that can neither leave the fence nor hide anything."""
    if text.isascii() and _UNSAFE.search(text) is None:
        return text
    shown = _HIDDEN.sub("", unicodedata.normalize("NFC", text)).translate(_BRACKETS)
    lines = (line.strip() for line in _BREAK.split(shown))
    shown = _CONTROL.sub("", " / ".join(line for line in lines if line))
    return _SPACE.sub(" ", _CONTROL_WORD.sub(r"(\1)", shown)).strip()


def day(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).date().isoformat()


def minute(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def line(templates: Templates, date: str, trust: Trust | str, text: str) -> str:
    """One line of evidence."""
    word = TRUST_WORDS[trust] if isinstance(trust, Trust) else trust
    return templates.fill("line", date=date, trust=word, text=escape(text))


# --- one renderer per kind of record --------------------------------------------------------------------------------


def memory(templates: Templates, admitted: Admitted[Memory], zone: tzinfo) -> str:
    """Dated by when it was last said; an old value says until when it held."""
    found = admitted.record
    said = max((evidence.at for evidence in found.evidence), default=found.created_at)
    until = f" (until {day(found.valid_to, zone)})" if found.valid_to is not None else ""
    text = found.content + until + _happens(found, zone) + _marked(admitted)
    return line(templates, day(said, zone), found.trust, text)


def _marked(admitted: Admitted[Any]) -> str:
    return f" ({admitted.mark})" if admitted.mark else ""


def _happens(found: Memory, zone: tzinfo) -> str:
    """When it is, unless the words say so already; the hour only where there is one."""
    if found.happens_at is None or f"{found.happens_at:%B %Y}" in found.content:
        return ""
    bare = found.happens_at.time() == MIDNIGHT
    return f" (on {found.happens_at:%Y-%m-%d})" if bare else f" (on {minute(found.happens_at, zone)})"


def guidance(admitted: Admitted[Memory]) -> tuple[str, ...]:
    """Standing instructions that this memory gives: the operator's, or the user's own.

    The user's own is what they confirmed, or said themselves: their words, quoted, on a channel where nobody else can
    speak for them. What was inferred, and what came from outside or with an import, never is.
    """
    found = admitted.record
    taught = found.trust is Trust.USER_STATED and any(
        said.quote and said.trust is Trust.USER_STATED and said.channel not in SPOOFED for said in found.evidence
    )
    if found.trust not in GUIDING and not taught:
        return ()
    rules = []
    if found.should_do:
        rules.append(f"- {escape(found.should_do)}")
    if found.should_not_do:
        rules.append(f"- Do not: {escape(found.should_not_do)}")
    return tuple(rules)


def boundary(wish: StandingWish) -> str:
    """A wish that the model must know of to keep it: whom or what not to raise."""
    return f"- Do not bring up unless they do: {escape(subject(wish.about))}"


def message(templates: Templates, admitted: Admitted[Message], zone: tzinfo) -> str:
    """A message as evidence: said by the person, by you, or by a speaker who is named."""
    found = admitted.record
    outside = found.trust is Trust.EXTERNAL or found.role is Role.TOOL
    trust = Trust.EXTERNAL if outside else found.trust if found.role is not Role.ASSISTANT else "you"
    if found.trust is Trust.EXTERNAL:
        return line(templates, day(found.at, zone), trust, unconfirmed(found))
    named = f"{found.speaker}: " if found.speaker and found.role is not Role.ASSISTANT else ""
    return line(templates, day(found.at, zone), trust, named + found.content + _marked(admitted))


def unconfirmed(found: Message) -> str:
    """That something came from outside, without its words: nobody confirmed them yet."""
    what = "The output of a tool" if found.role is Role.TOOL else f"A message on {found.channel}"
    if found.channel == "email":
        what = "An e-mail"
    sender = str(found.metadata.get("identity") or found.speaker or "").partition(":")[2] or found.speaker
    return (
        f"{what}{f' in the name of {sender}' if sender else ''} arrived; it is not confirmed yet, so it is not shown."
    )


def turn(templates: Templates, admitted: Admitted[Message], fence: str, zone: tzinfo) -> dict[str, str]:
    """A message of this session as a turn of the chat.

    The output of a tool that was used in it stays fenced evidence, also here; of what arrived from elsewhere it only
    says that it did.
    """
    found = admitted.record
    role = "assistant" if found.role is Role.ASSISTANT else "user"
    if found.trust is Trust.EXTERNAL or found.role in (Role.TOOL, Role.SYSTEM):
        opened, closed = marks(fence)
        called = found.role is Role.TOOL and found.source == "conversation"
        text = escape(found.content if called or found.trust is not Trust.EXTERNAL else unconfirmed(found))
        content = templates.fill("outside", open=opened, close=closed, date=minute(found.at, zone), text=text)
        return {"role": "user", "content": content}
    content = found.content.replace(fence, "…") if fence else found.content
    named = found.speaker and role == "user" and found.speaker != role
    return {"role": role, "content": f"{escape(found.speaker or '')}: {content}" if named else content}


def summary(templates: Templates, admitted: Admitted[Summary], zone: tzinfo, text: str | None = None) -> str:
    """What may be shown of a summary, or ``text`` made of its lines. A topic is named only where all of it may be."""
    found = admitted.record
    topic = f"{found.topic}: " if found.topic and admitted.whole else ""
    return line(templates, day(found.created_at, zone), found.trust, topic + (admitted.text if text is None else text))


def session(
    templates: Templates,
    admitted: Admitted[Summary],
    started_at: datetime,
    zone: tzinfo,
    lines: Sequence[SourcedLine],
) -> str:
    """A past session in full: those ``lines`` of its summary, and what the persona noted for itself; empty without."""
    noted = told.of_part(lines, told.DIARY)
    note = told.one(lines, told.DIARY) if any(line.messages for line in noted) else ""
    text = told.arc(lines) if admitted.lines else admitted.text
    shown = " / ".join(part for part in (text, f"Your own note then: {note}" if note else "") if part)
    return line(templates, day(started_at, zone), Trust.INFERRED, shown) if shown else ""


def headline(templates: Templates, admitted: Admitted[Summary], started_at: datetime, zone: tzinfo) -> str:
    """A past session in one sentence."""
    text = told.one(admitted.lines, told.HEADLINE) or admitted.text.split(". ")[0]
    return line(templates, day(started_at, zone), Trust.INFERRED, text)


def key_point(templates: Templates, admitted: Admitted[KeyPoint], zone: tzinfo) -> str:
    found = admitted.record
    return line(templates, day(found.created_at, zone), found.trust, f"{found.type}: {found.content}")


def todo(templates: Templates, admitted: Admitted[Todo], zone: tzinfo) -> str:
    """With who owes it and when; a finished one with when it was done."""
    found = admitted.record
    owed = "you promised: " if found.by == "assistant" else ""
    due = f" (due {minute(found.due, zone)})" if found.due is not None else ""
    done = f" (done {day(found.completed_at, zone)})" if found.completed_at is not None else ""
    text = owed + found.content + due + done + _marked(admitted)
    return line(templates, day(found.created_at, zone), found.trust, text)


STANDING = {
    "connection": ("you hardly know each other yet", "you know each other somewhat", "you are close"),
    "discretion": ("little needs holding back", "some things are better left to them", "hold back, they are private"),
    "mood": ("the talk was heavy lately", "the talk is even", "the talk was bright lately"),
    "attunement": (
        "you still learn what suits them",
        "you mostly know what suits them",
        "you know what suits them",
    ),
}
"""How each axis is told when it is low, in between, and high."""


def state(templates: Templates, found: AgentState, zone: tzinfo) -> str:
    """The axes in words: a number would mean nothing to who reads it, and change the text at every turn."""
    shown = []
    for name, value in sorted(found.axes.items()):
        low, high = (-0.2, 0.2) if name == "mood" else (0.34, 0.67)
        place = 0 if value < low else 2 if value > high else 1
        shown.append(STANDING[name][place] if name in STANDING else f"{name}: {('low', 'middling', 'high')[place]}")
    return line(templates, day(found.updated_at, zone), Trust.INFERRED, "; ".join(shown))


def variable(templates: Templates, name: str, value: Any, now: datetime, zone: tzinfo) -> str:
    """A temporary variable of the conversation, as the application set it."""
    return line(templates, day(now, zone), "recorded", f"{name}: {value}")


def card(templates: Templates, entity: str, facts: Sequence[Admitted[Memory]], zone: tzinfo) -> str:
    """What is known of one entity: as trusted as the least trusted of it, dated by the newest."""
    known = [fact.record for fact in facts]
    said = max(max((e.at for e in fact.evidence), default=fact.created_at) for fact in known)
    trust = min((fact.trust for fact in known), key=TRUST_ORDER.index)
    return line(templates, day(said, zone), trust, str(Card(entity, fact_texts(known))))


def workflow(templates: Templates, found: Workflow, zone: tzinfo, now: datetime) -> str:
    """Where the work stands: the state, what waits for an answer, what was asked, what is settled."""
    return line(templates, day(found.updated_at, zone), "recorded", ". ".join(workflow_block(found, now)))


# --- putting lines together ----------------------------------------------------------------------------------------


def block(templates: Templates, label: str, lines: Iterable[str]) -> str:
    return templates.fill("block", label=label, items="\n".join(lines))


def clock(templates: Templates, now: datetime, zone: tzinfo, name: str) -> str:
    """The time where the user is."""
    local = now.astimezone(zone)
    return templates.fill(
        "clock",
        date=local.strftime("%Y-%m-%d"),
        time=local.strftime("%H:%M"),
        weekday=WEEKDAYS[local.weekday()],
        zone=name,
    )


MIDNIGHT = time()
WEEKDAYS: Sequence[str] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Not ``strftime``: the process's locale would change the text."""
