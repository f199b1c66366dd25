"""What a model is asked besides extraction: closes, summaries, profiles, typed work. Counted per user and day.

Extraction has a budget and writes down what it spent with what it found. Everything else asks through a
:class:`Counted` model, which writes each answer's cost down by itself, in a short write of its own: no transaction is
open while a model is asked. An answer that comes too late to be used was paid for and is counted as well. Not counted
is what passes through to the caller: chats, and the vectors of a remote embedder.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tenuto import call_context
from tenuto.deps import Deps
from tenuto.errors import TenutoError
from tenuto.ingest.extract.model import DAYS_KEPT, Spent, cost_of
from tenuto.ports import Answer, Model, Reader
from tenuto.records.base import evolve
from tenuto.records.scope import User

ASKED = "model_asked"
log = logging.getLogger("tenuto.model")


class Counted:
    """A model whose answers are counted for one user. In all else it is the model itself."""

    def __init__(self, model: Model, deps: Deps, user: str) -> None:
        self._model = model
        self._deps = deps
        self._user = user

    @property
    def name(self) -> str:
        return self._model.name

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        answer = self._model.complete(system=system, user=user, schema=schema, max_tokens=max_tokens)
        if isinstance(getattr(answer, "text", None), str):
            self._count(cost_of(self._deps, system + user, answer))
        return answer

    def _count(self, spent: Spent) -> None:
        now = self._deps.clock()
        today = f"{now:%Y-%m-%d}"
        try:
            with call_context.acting(call_context.JOB, "model"), self._deps.store.writing(self._user) as tx:
                profile = tx.profile() or User(user_id=self._user, created_at=now)
                days = asked_by_day(tx)
                days[today] = days.get(today, Spent()).plus(spent)
                last = {day: list(days[day]) for day in sorted(days)[-DAYS_KEPT:]}
                tx.set_user(evolve(profile, settings={**profile.settings, ASKED: last}))
        except TenutoError as error:
            # What it cost is lost; what the model said is not, and that is what the caller waits for.
            log.warning("what a model cost could not be written down: %s", error.code)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def counted(deps: Deps, user: str) -> Deps:
    """The same, with a model that counts what this user's questions cost."""
    return deps if deps.model is None else replace(deps, model=Counted(deps.model, deps, user))


def asked_by_day(reader: Reader) -> dict[str, Spent]:
    """What all but extraction spent for this user on each of the last days (UTC)."""
    profile = reader.profile()
    kept = (profile.settings.get(ASKED) if profile else None) or {}
    return {day: Spent(int(tokens), float(cost)) for day, (tokens, cost) in kept.items()}
