"""A user's own view of working memory: what was just said, where, and what the application wants to keep at hand.

Nothing here is the only copy of anything, so a failing or missing working memory is an empty one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tenuto.context.topic import variables
from tenuto.errors import InputError
from tenuto.policy import Limits, WorkingPolicy
from tenuto.ports import WorkingMemory
from tenuto.records.conversation import Role
from tenuto.records.operations import Receipt
from tenuto.records.scope import Scope
from tenuto.text import clean


class Working:
    """Working memory of one user."""

    def __init__(
        self,
        memory: WorkingMemory | None,
        scope: Scope,
        policy: WorkingPolicy | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._memory = memory
        self._scope = scope
        self._policy = policy or WorkingPolicy()
        self._limits = limits or Limits()

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
        known = clean.name(name, self._limits, what="name")
        self._check(known, value)
        if self._memory is not None:
            self._memory.set(self._scope.user, known, value)

    def _check(self, name: str, value: Any) -> None:
        """Plain data, small and not too much of it: every context carries all of it."""
        try:
            size = len(msgspec.json.encode(value))
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise InputError(f"The value cannot be written as JSON: {error}.", code="not_json") from None
        if size > self._policy.variable_bytes:
            raise InputError(
                f"A value at hand has at most {self._policy.variable_bytes:,} bytes, not {size:,}.",
                code="value_too_large",
            )
        held = self.variables
        if value is not None and name not in held and len(held) >= self._policy.variables:
            raise InputError(
                f"There are {len(held)} values at hand already: take one away first.", code="too_many_values"
            )

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
