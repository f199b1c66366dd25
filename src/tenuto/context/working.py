"""A user's own view of working memory: what was just said, where, and what the application wants to keep at hand.

Nothing here is the only copy of anything, so a failing or missing working memory is an empty one.
"""

from __future__ import annotations

from typing import Any

from tenuto.context.topic import variables
from tenuto.ports import WorkingMemory
from tenuto.records.conversation import Role
from tenuto.records.operations import Receipt
from tenuto.records.scope import Scope


class Working:
    """Working memory of one user."""

    def __init__(self, memory: WorkingMemory | None, scope: Scope) -> None:
        self._memory = memory
        self._scope = scope

    def messages(self) -> list[dict[str, Any]]:
        """The last messages on any channel, oldest first."""
        return self._memory.recent(self._scope.user) if self._memory is not None else []

    @property
    def channel(self) -> str | None:
        """Where the user was last heard."""
        return self._memory.channel(self._scope.user) if self._memory is not None else None

    @property
    def variables(self) -> dict[str, Any]:
        """What the application keeps at hand; every context shows it to the model."""
        return variables(self._memory, self._scope)

    def set(self, name: str, value: Any) -> None:
        """Keep a value at hand for as long as the conversation is alive; ``None`` takes it away."""
        if self._memory is not None:
            self._memory.set(self._scope.user, name, value)

    def heard(self, receipt: Receipt, role: Role, content: str) -> None:
        """Note a message that was kept."""
        if self._memory is not None:
            self._memory.append(
                self._scope.user,
                {
                    "id": receipt.message_id,
                    "session": receipt.session_id,
                    "role": role.value,
                    "content": content,
                    "channel": self._scope.channel,
                    "persona": self._scope.persona,
                    "at": receipt.at.isoformat(),
                },
            )
