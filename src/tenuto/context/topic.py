"""What a session is about: recalled once, for its first substantive message, and then part of the stable text.

Recalling anew for the stable text at every turn would make it a new text at every turn. The ids are kept in working
memory: losing them costs a prompt cache, never a fact, since they can be recalled again from the same message. What
they name is read from the store for each context, so what is forgotten meanwhile is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from tenuto.context.gather import Gathered
from tenuto.ports import WorkingMemory
from tenuto.recall.cards import substantive
from tenuto.records.scope import Scope


class Found(Protocol):
    """Something that recall found: all that is used of it is what it names."""

    @property
    def kind(self) -> str: ...

    @property
    def id(self) -> str: ...


def of_session(
    working: WorkingMemory | None,
    scope: Scope,
    session: str | None,
    anchor: str,
    found: Gathered,
    message: str | None,
    recall: Callable[[str], Iterable[Found]] | None,
    refresh: bool = False,
) -> tuple[str | None, list[tuple[str, str]]]:
    """The message that says what the session is about, and (kind, id) of what was recalled for it, best first."""
    name = f"_about/{scope.persona or ''}/{session or ''}"
    kept = working.variables(scope.user).get(name) if working is not None else None
    if isinstance(kept, dict) and kept.get("anchor") == anchor and not refresh:
        return kept["query"], [(str(kind), str(id)) for kind, id in kept["hits"]]
    query = message if refresh else first_substantive(found, message)
    if recall is None or query is None:
        return query, []
    hits = [(str(one.kind), one.id) for one in recall(query)]
    if working is not None:
        working.set(scope.user, name, {"anchor": anchor, "query": query, "hits": hits})
    return query, hits


def first_substantive(found: Gathered, message: str | None) -> str | None:
    """The message that says what the session is about."""
    said = [turn.content for turn in found.turns if turn.role == "user"] if found.turns_before == 0 else []
    return next((text for text in [*said, message or ""] if substantive(text)), None)


def variables(working: WorkingMemory | None, scope: Scope) -> dict[str, Any]:
    """What the application keeps at hand; a name with an underscore in front is our own."""
    found = working.variables(scope.user) if working is not None else {}
    return {name: value for name, value in found.items() if not name.startswith("_")}
