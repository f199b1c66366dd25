"""A profile becomes memories: once, however often it is loaded. What was forgotten since does not come back."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.deps import Deps
from tenuto.memories.remember import remember
from tenuto.ports import Where
from tenuto.records.memory import Memory
from tenuto.records.scope import Scope
from tenuto.transfer.seed import SOURCE, SeedReport, Statement


def seed(deps: Deps, scope: Scope, statements: Sequence[Statement]) -> SeedReport:
    """Keep what a profile says and no profile said before."""
    with deps.store.reading(scope.user) as reader:
        loaded = reader.find(Memory, Where("source", "=", SOURCE))
    known = {said.quote for memory in loaded for said in memory.evidence} | {memory.content for memory in loaded}
    kept: list[str] = []
    new = [one for one in statements if one.text not in known]
    for one in new:
        done = remember(
            deps,
            scope,
            one.text,
            pin=one.pin,
            kind=one.kind,
            domain=one.domain,
            should_do=one.text if one.rule else None,
            source=SOURCE,
        )
        kept.append(done.id)
    return SeedReport(kept=tuple(kept), known=len(statements) - len(new))
