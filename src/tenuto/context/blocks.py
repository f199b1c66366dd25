"""The blocks of a context: their order, label, share, cap and place, in this one table.

Everything that decides where a block goes stands here; ``budget`` reads the groups and caps, ``render`` the labels,
``select`` fills them. Stable blocks are computed as of the start of the session, so that their text does not change
while it lasts; what came up since then is in the volatile block ``news``. A block that reads the clock or the current
message and is marked stable would break every prompt cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tenuto.policy import Policy


class Group(StrEnum):
    """Which share of the budget a block draws on."""

    ALWAYS = "always"
    """Never dropped: no share, taken off first."""
    MESSAGES = "messages"
    SUMMARIES = "recent_summaries"
    FACTS = "facts"
    HISTORY = "history"


class Place(StrEnum):
    """How a block reaches the model."""

    TEXT = "text"
    """The operator's own words, as they are."""
    GUIDANCE = "guidance"
    """Standing instructions of the operator or a confirmed user; apart from evidence."""
    EVIDENCE = "evidence"
    """Dated lines inside the fence."""
    TURNS = "turns"
    """Messages of the chat interface."""


NEED = (
    "guidance", "state", "foundation", "cards", "semantic",
    "commitments", "latest", "points", "threads", "frictions", "wins", "sessions", "headlines",
    "profile", "brief", "ranges", "topics", "spine",
    "important", "earlier", "recent",
    "workflow", "working", "rolling", "news", "relevant", "marked",
)  # fmt: skip
"""Within a group, who is asked first when tokens are handed out."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One row of the table. ``most`` caps the items, ``part`` the portion of the group's share in the first round.

    ``need`` orders the blocks of a group when the budget is handed out, whatever the order in which they are read.
    """

    name: str
    label: str
    group: Group
    stable: bool
    place: Place = Place.EVIDENCE
    most: int | None = None
    part: float = 1.0
    ceiling: bool = False
    """Takes no more than the share for what this turn recalls, though others leave theirs unused."""
    together: str = ""
    """Another block that the cap is shared with; that one is filled first."""

    @property
    def need(self) -> int:
        return NEED.index(self.name) if self.name in NEED else len(NEED)


def table(policy: Policy) -> tuple[Spec, ...]:
    """The blocks in the order in which a model reads them.

    What rarely changes comes first, what may change within a session last: a change costs the cache what follows it.
    """
    context, recall = policy.context, policy.recall
    return (
        Spec("persona", "Persona", Group.ALWAYS, True, Place.TEXT),
        Spec("guidance", "How this person wants it", Group.FACTS, True, Place.GUIDANCE, recall.guidance, 0.4),
        Spec("pins", "Always keep in mind", Group.ALWAYS, True),
        Spec("foundation", "What is known for certain", Group.FACTS, True, most=recall.foundation, part=0.7),
        Spec("profile", "Who this person is", Group.HISTORY, True, most=1, part=0.5),
        Spec("brief", "The relationship so far", Group.HISTORY, True, most=1, part=0.5),
        Spec("state", "How things stand between you", Group.FACTS, True, most=1),
        Spec("topics", "By topic", Group.HISTORY, True),
        Spec("ranges", "Earlier stretches", Group.HISTORY, True),
        Spec("headlines", "Conversations some time ago", Group.SUMMARIES, True, most=context.session_headlines),
        Spec("sessions", "Conversations lately", Group.SUMMARIES, True, most=context.sessions_in_full - 1),
        Spec("latest", "The last conversation", Group.SUMMARIES, True, most=1, part=0.5),
        Spec("points", "Open questions of the last talks", Group.SUMMARIES, True, most=context.key_points, part=0.4),
        Spec(
            "important", "Important things said before", Group.MESSAGES, True, most=context.important_messages, part=0.2
        ),
        Spec("earlier", "The last words before now", Group.MESSAGES, True, most=context.earlier_messages, part=0.25),
        Spec("commitments", "Promises and tasks", Group.SUMMARIES, True, most=context.commitments, part=0.3),
        Spec("threads", "To come back to", Group.SUMMARIES, True, most=context.threads, part=0.2),
        Spec("frictions", "What is hard at the moment", Group.SUMMARIES, True, most=context.frictions, part=0.2),
        Spec("wins", "What went well lately", Group.SUMMARIES, True, most=context.wins, part=0.2),
        Spec("cards", "People, places and projects that matter here", Group.FACTS, True, part=0.5),
        Spec("semantic", "What this conversation is about", Group.FACTS, True, most=context.relevant),
        Spec("spine", "The long story", Group.HISTORY, True, most=1, part=0.6),
        Spec("recent", "This conversation", Group.MESSAGES, False, Place.TURNS, context.recent_messages),
        Spec("clock", "Now", Group.ALWAYS, False, Place.TEXT),
        Spec("question", "Waits for their yes or no: ask it now, in these words", Group.ALWAYS, False, most=1),
        Spec("workflow", "Work in progress", Group.FACTS, False, most=1),
        Spec("working", "At hand", Group.FACTS, False),
        Spec("rolling", "The talk so far, in short", Group.SUMMARIES, False, most=1),
        Spec("news", "New since this conversation began", Group.FACTS, False, most=recall.foundation),
        Spec("relevant", "What comes to mind", Group.FACTS, False, most=context.relevant, ceiling=True),
        Spec(
            "marked",
            "Important things said earlier in this conversation",
            Group.MESSAGES,
            False,
            most=context.important_messages,
            ceiling=True,
            together="important",
        ),
        Spec("message", "The message", Group.ALWAYS, False, Place.TURNS),
    )
