"""Build a context: read, choose, render, fit. The flow; what decides lies in the pure modules beside it.

    gather (one read) → select (which thing in which block) → assemble (budget, text, count)

Nothing is written. Recall is another flow: whoever calls passes what it found (``hits`` for this turn, ``semantic`` for
the whole session) and this flow reads those records again through its own reader, so that nothing forgotten or another
user's can enter by a stale hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tenuto.context import budget as budgeting
from tenuto.context import render, templates
from tenuto.context.assemble import Count, Offer, assemble
from tenuto.context.blocks import table
from tenuto.context.gather import Gathered, gather
from tenuto.context.select import Frame, Record, foundation_of, guidance_of, select
from tenuto.deps import Deps
from tenuto.errors import InputError
from tenuto.ports import Reader
from tenuto.records.base import micros
from tenuto.records.context import Context
from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import Memory, Todo
from tenuto.records.scope import Scope
from tenuto.text import clean

__all__ = ["Context", "build"]

TYPES: dict[str, type[Record]] = {
    "memory": Memory,
    "message": Message,
    "summary": Summary,
    "key_point": KeyPoint,
    "todo": Todo,
}


class Found(Protocol):
    """Something that recall found: all that is used of it is what it names."""

    @property
    def kind(self) -> str: ...

    @property
    def id(self) -> str: ...


def build(
    deps: Deps,
    scope: Scope,
    message: str | None = None,
    *,
    budget: int | None = None,
    hits: Iterable[Found] = (),
    semantic: Iterable[Found] = (),
    cards: Sequence[tuple[str, str]] = (),
    persona_text: str | None = None,
    session: str | None = None,
    replay: bool = True,
) -> Context:
    """The context for ``message``.

    ``session`` is the caller's own id of the session. ``replay=False`` leaves this session's turns out, for a caller
    who sends them anyway. ``cards`` are entities with what is known of each: (entity id, line).
    """
    policy = deps.policy
    tokens = budgeting.check(policy.context.budget if budget is None else budget)
    if message is not None:
        message = clean.text(message, policy.limits, what="message")
    texts = templates.load(policy.context.templates)
    persona = persona_words(scope, persona_text, policy.context.personas, texts)
    now = deps.clock()
    with deps.store.reading(scope.user) as reader:
        found = gather(reader, scope, policy, now, session)
        relevant = _read(reader, hits)
        lasting = _read(reader, semantic)
    zone_name, zone, notes = _zone(found)
    start = found.current.started_at if found.current is not None else now
    frame = Frame(templates=texts, fence=fence(found, scope), zone=zone, start=start, now=now, policy=policy)
    lines, dropped = select(
        found,
        frame,
        foundation=foundation_of(found.memories, policy),
        guidance=guidance_of(found.memories),
        cards=cards,
        semantic=lasting,
        relevant=relevant,
        variables=deps.working.variables(scope.user) if deps.working is not None else None,
        replay=replay,
        message=message,
    )
    count, counting = counter(deps)
    context = assemble(
        Offer(
            lines=lines,
            dropped=dropped,
            fence=frame.fence,
            persona=persona,
            clock=render.clock(texts, now, zone, zone_name),
            message=message,
            session_id=found.current.id if found.current is not None else None,
            anchor=found.previous[0].id if found.previous else "",
            notes=tuple(notes),
        ),
        table(policy),
        texts,
        count,
        budget=tokens,
        policy=policy.context,
    )
    return context if not counting else _noted(context, counting)


def _read(reader: Reader, found: Iterable[Found]) -> list[Record]:
    """The records that recall named, as they are now, in its order."""
    wanted = [(str(one.kind), one.id) for one in found]
    records: dict[tuple[str, str], Record] = {}
    for kind, type_ in TYPES.items():
        ids = [id for name, id in wanted if name == kind]
        if ids:
            records.update({(kind, id): record for id, record in reader.get_many(type_, ids).items()})
    return [records[key] for key in dict.fromkeys(wanted) if key in records]


def fence(found: Gathered, scope: Scope) -> str:
    """The name of the fence: nobody can guess it from outside, and it stays the same while the session lasts.

    It hangs on the id of the session before this one (ids are random), so that a context built before the session's
    first message has the same fence as those after it; in a user's first session, on the microsecond when the user
    came. A fence that was guessed would not help: no kept text keeps its angle brackets.
    """
    came = str(micros(found.user.created_at)) if found.user is not None else ""
    before = found.previous[0].id if found.previous else ""
    seed = "\x00".join((scope.user, scope.persona or "", came, before))
    return blake2b(seed.encode(), digest_size=6, person=b"tenuto-fence").hexdigest()


def persona_words(scope: Scope, given: str | None, folder: str | None, texts: templates.Templates) -> str:
    """The persona in the operator's words: given, from its file, or one sentence with its name."""
    if given is not None:
        return given.strip()
    if scope.persona is None:
        return ""
    if folder is None:
        return texts.fill("persona", persona=render.escape(scope.persona))
    path = Path(folder) / f"{scope.persona}.md"
    if path.parent != Path(folder) or scope.persona.startswith("."):
        raise InputError(f"The persona {scope.persona!r} cannot name a file: give its text with persona_text.")
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise InputError(
            f"The persona '{scope.persona}' has no file {path}: create it, give persona_text, or unset "
            "context.personas.",
            code="persona_missing",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The persona's file {path} cannot be read: {error}.", code="persona_missing") from error


def counter(deps: Deps) -> tuple[Count, list[str]]:
    """The token counter, and a list that says so once if it fails: then half of the UTF-8 bytes stand for it."""
    notes: list[str] = []

    def count(text: str) -> int:
        if not notes:
            try:
                return deps.tokens.count(text)
            except Exception as error:  # noqa: BLE001 - a counter is a plug-in and may fail in any way
                failed = f"{type(error).__name__}: {error}"
                notes.append(f"The token counter failed ({failed}): tokens are estimated, one for two bytes.")
        return (len(text.encode("utf-8", "replace")) + 1) // 2

    return count, notes


def _noted(context: Context, notes: Sequence[str]) -> Context:
    return replace(context, notes=(*context.notes, *notes))


def _zone(found: Gathered) -> tuple[str, ZoneInfo, list[str]]:
    name = found.user.timezone if found.user is not None else "UTC"
    try:
        return name, ZoneInfo(name), []
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC", ZoneInfo("UTC"), [f"The time zone {name!r} is unknown: times are in UTC."]
