"""Which memories the words that something is over end: of the same person, of that kind, about that thing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tenuto.ingest.extract.exchange import Ending
from tenuto.ingest.reconcile.same_statement import subject_of
from tenuto.ingest.reconcile.versions import asserted_at
from tenuto.language.doings import is_said, stems
from tenuto.language.relations import only_one
from tenuto.records.base import evolve
from tenuto.records.memory import Kind, Memory, Status, Version
from tenuto.text import patterns

MOST = 3
"""Memories that one statement ends."""
_PARTNER = frozenset(
    f"relation_{one}" for one in ("boyfriend", "girlfriend", "partner", "husband", "wife", "fiance", "fiancee")
)
_FAMILY = (
    frozenset(f"relation_{one}" for one in ("mother", "father", "mum", "dad", "mom", "wife", "husband")) | _PARTNER
)
_PREGNANT = patterns.compile(r"pregnan|expecting|schwanger|embaraz|enceinte|grávida", "i")
_DOING_ATTRIBUTES = frozenset({"", "like", "project", "study", "goal", "employer", "job", "diet", "planned_event"})


def ended_by(ending: Ending, known: Sequence[Memory], at: datetime) -> list[Memory]:
    """The memories that an ending closes, the latest first."""
    able = [one for one in known if asserted_at(one) < at and not one.metadata.get("ends") and _of_kind(ending, one)]
    return sorted((one for one in able if _about(ending, one)), key=asserted_at, reverse=True)[:MOST]


def _of_kind(ending: Ending, memory: Memory) -> bool:
    name = memory.attribute or ""
    if memory.kind in (Kind.BOUNDARY, Kind.STYLE_ADJUSTMENT, Kind.CONTRADICTION, Kind.CONSTRAINT) or memory.should_do:
        return False
    if ending.kind == "parted":
        return name in _PARTNER
    if ending.kind == "role":
        return name.startswith("relation") and name not in _FAMILY and (name == "relation" or only_one(name[9:]))
    if ending.kind in ("death", "own_death"):
        return name == "pet"
    if subject_of(memory) != ending.subject:
        return False
    if ending.kind == "birth":
        return name == "condition" and bool(_PREGNANT.search(memory.value or ""))
    if ending.kind == "work":
        return name in ("employer", "job", "study") or (not name and memory.kind is Kind.HABIT)
    if ending.kind == "home":
        return name == "home"
    return name in _DOING_ATTRIBUTES or name.startswith("medication")


def _about(ending: Ending, memory: Memory) -> bool:
    """Whether the memory speaks of the thing: every word of it, in any form."""
    wanted = stems(ending.what)
    if ending.kind == "birth":
        return True
    if ending.kind == "parted":
        return not wanted or all(is_said(word, stems(memory.content)) for word in wanted)
    said = stems((memory.value or "") if ending.kind == "death" else memory.content)
    return bool(wanted) and all(is_said(word, said) for word in wanted)


def ended(memory: Memory, at: datetime, now: datetime) -> Memory:
    """The memory as history: true until then, without a successor."""
    version = Version(
        at=now,
        content=memory.content,
        status=memory.status,
        reason="said to be over",
        changed={
            "pinned": memory.pinned,
            "pin_kind": memory.pin_kind.value if memory.pin_kind else None,
            "slot": memory.slot,
        },
    )
    return evolve(
        memory,
        status=Status.DEPRECATED,
        slot=None,
        valid_to=at,
        pinned=False,
        pin_kind=None,
        updated_at=now,
        history=(*memory.history, version),
    )
