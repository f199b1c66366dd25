"""Verbs on the event loop itself, where the store is another machine's.

What a recall decides takes half a millisecond; a thread for it, and another turn of the interpreter for each answer of
the store, take as long again. So the loop decides, the store is asked without waiting (:class:`~tenuto.stops.Looker`),
and only what is slow (an embedder, an index to be brought up to date) goes to the crew.
"""

from __future__ import annotations

import contextvars
from functools import partial
from typing import Any

from tenuto.stops import Look, Looker, Stops
from tenuto.surfaces.http.crew import Crew


class Desk:
    """Takes verbs that stop where they would wait."""

    def __init__(self, looker: Looker, crew: Crew) -> None:
        self._looker, self._crew = looker, crew

    @property
    def ready(self) -> bool:
        return self._looker.ready

    async def run(self, verb: Stops[Any]) -> Any:
        """What the verb returns or raises."""
        try:
            wanted = next(verb)
            while True:
                if isinstance(wanted, Look):
                    found: Any = await self._looker.look(wanted)
                else:
                    found = await self._crew.run(partial(contextvars.copy_context().run, wanted.work))
                wanted = verb.send(found)
        except StopIteration as end:
            return end.value
