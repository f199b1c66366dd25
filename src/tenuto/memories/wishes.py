"""What a person asked of memory itself: the wishes that stand, and taking one back."""

from __future__ import annotations

from contextlib import suppress

from tenuto.deps import Deps
from tenuto.errors import Conflict, IllegalMove, NotFound
from tenuto.ingest.memory_moves import set_proactive
from tenuto.ingest.write import Writing
from tenuto.memories import change
from tenuto.ports import Where
from tenuto.records.base import evolve
from tenuto.records.memory import Memory, Proactive, Status
from tenuto.records.scope import Scope
from tenuto.records.wishes import StandingWish, WishKind


def wishes(deps: Deps, scope: Scope) -> list[StandingWish]:
    """The wishes that hold something back now, the latest first."""
    with deps.store.reading(scope.user) as reader:
        found = reader.find(StandingWish, Where("active", "=", True), order="-created_at")
    return [one for one in found if _seen(one, scope)]


def lift(deps: Deps, scope: Scope, id: str) -> StandingWish:
    """End a wish: what it silenced may come up when it is relevant, what it took out of reading is back.

    A forgotten memory whose place another one has taken since stays forgotten.
    """
    with deps.store.reading(scope.user) as reader:
        wish = reader.get(StandingWish, id)
        if wish is None or not _seen(wish, scope):
            raise NotFound(f"There is no wish {id!r} of this user.")
        if not wish.active:
            raise IllegalMove(f"The wish {id} does not stand any more.")
        held = reader.get_many(Memory, wish.memories)
    if wish.kind is WishKind.FORGET:
        for one in held.values():
            if one.status is Status.FORGOTTEN:
                with suppress(Conflict):
                    change.restore(deps, scope, one.id)
    with deps.store.writing(scope.user) as tx:
        writing = Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
        if wish.kind is WishKind.SILENCE:
            for one in tx.get_many(Memory, wish.memories).values():
                if one.proactive_use is Proactive.NO:
                    set_proactive(writing, one, Proactive.ONLY_WHEN_RELEVANT, reason="the wish was lifted")
        lifted = evolve(tx.get(StandingWish, id) or wish, active=False, lifted_at=writing.now)
        tx.put(lifted)
        writing.event("wish.lifted", "wish", id)
        return lifted


def _seen(wish: StandingWish, scope: Scope) -> bool:
    return wish.persona is None or scope.persona is None or wish.persona == scope.persona
