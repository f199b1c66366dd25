"""The definitions that a program knows, by name. Registering the same one again is fine; another one is refused."""

from __future__ import annotations

import threading

from tenuto.errors import Conflict, NotFound
from tenuto.workflow.definition import Definition


class Definitions:
    """Filled by ``store.define(...)``, read by every flow."""

    def __init__(self) -> None:
        self._known: dict[str, Definition] = {}
        self._lock = threading.Lock()

    def add(self, definition: Definition) -> Definition:
        """Register, or replace by a newer version."""
        with self._lock:
            known = self._known.get(definition.name)
            if known is not None and not _follows(definition, known):
                raise Conflict(
                    f"'{definition.name}' is defined already, in version {known.version}: give the new one a higher "
                    "version, or another name.",
                    code="definition_taken",
                )
            self._known[definition.name] = definition
            return definition

    def get(self, name: str) -> Definition:
        """By name, or an error that lists the known ones."""
        with self._lock:
            if name in self._known:
                return self._known[name]
            known = ", ".join(sorted(self._known)) or "none"
        raise NotFound(
            f"There is no workflow definition '{name[:80]}' (known: {known}): register it with store.define(…).",
            code="definition_unknown",
        )

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._known)


def _follows(new: Definition, known: Definition) -> bool:
    """A newer version, or the same one again (a module that is loaded twice)."""
    return new.version > known.version or (new.version == known.version and new.shape.schema == known.shape.schema)
