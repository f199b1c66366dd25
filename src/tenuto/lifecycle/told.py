"""From the lines of a derived text back to the text. Pure.

Every derived text is kept as lines that know what they rest on (:class:`SourcedLine`); what is shown is put together
from the lines that may be shown, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenuto.records.conversation import SourcedLine, SummaryKind

ARC = {"early": "Early", "then": "Then", "late": "Late"}
"""Parts of a session's record that tell how it went, in order, and how each begins."""
HEADLINE, ONE_LINER, MATTERED, LOOP, PROMISE = "headline", "one_liner", "mattered", "open_loop", "commitment"
DIARY, HIGHLIGHT, TOLD = "diary", "highlight", "told"
PORTRAITS = (SummaryKind.SPINE, SummaryKind.PROFILE, SummaryKind.BRIEF)


def of_part(lines: Iterable[SourcedLine], *parts: str) -> list[SourcedLine]:
    """The lines of some parts, in their order."""
    return [line for line in lines if line.part in parts]


def spoken(lines: Iterable[SourcedLine]) -> str:
    """``Ana: …`` once per run of the same speaker, sentences joined by spaces."""
    parts: list[str] = []
    who = ""
    for line in lines:
        parts.append(line.text if line.who == who else f"{line.who}: {line.text}")
        who = line.who
    return " ".join(parts)


def arc(lines: Sequence[SourcedLine]) -> str:
    """How a session went: what a model told of it, or its early, middle and late words."""
    if told := of_part(lines, TOLD):
        return " ".join(line.text for line in told)
    phases = [(name, found) for part, name in ARC.items() if (found := of_part(lines, part))]
    if len(phases) == 1:
        return " ".join(f"{line.who}: {line.text}" for line in phases[0][1])
    return "\n".join(f"{name}: " + " ".join(f"{line.who}: {line.text}" for line in found) for name, found in phases)


def one(lines: Sequence[SourcedLine], part: str) -> str:
    """A part as one text, such as the headline or the diary."""
    return " ".join(line.text for line in of_part(lines, part))


def sections(lines: Sequence[SourcedLine]) -> list[tuple[str, list[str]]]:
    """A portrait as headings with what stands below each."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.part, []).append(line.text)
    return list(found.items())


def text(kind: SummaryKind, lines: Sequence[SourcedLine]) -> str:
    """The text of a summary, as far as ``lines`` go."""
    if kind is SummaryKind.SESSION:
        return arc(lines) or one(lines, HEADLINE)
    if kind in PORTRAITS and any(line.part for line in lines):
        return "\n\n".join("\n".join([name, *(f"- {said}" for said in listed)]) for name, listed in sections(lines))
    return spoken(lines)
