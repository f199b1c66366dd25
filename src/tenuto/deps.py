"""Everything that a flow may use, in one frozen value. The facade makes one; tests make their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tenuto.ingest.known_names import Names
from tenuto.policy import Policy
from tenuto.ports import (
    Bus,
    Clock,
    Embedder,
    Ids,
    Isolated,
    KeyedModel,
    MessageReader,
    Model,
    Store,
    Tokens,
    Vault,
    WorkingMemory,
)
from tenuto.privacy.keys import KeyProvider
from tenuto.recall.holds import HoldsCache
from tenuto.recall.indexes import Indexes
from tenuto.recall.outage import Outage
from tenuto.workflow.registry import Definitions

if TYPE_CHECKING:
    from tenuto.privacy.audit import Accesses


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    store: Store
    embedder: Embedder
    reader: MessageReader
    tokens: Tokens
    vault: Vault
    clock: Clock
    ids: Ids
    policy: Policy
    indexes: Indexes
    bus: Bus
    isolated: Isolated
    """Where text from outside is read."""
    names: Names = field(default_factory=Names)
    holds: HoldsCache = field(default_factory=HoldsCache)
    outage: Outage = field(default_factory=Outage)
    model: Model | None = None
    unpaid_model: KeyedModel | None = None
    """The model that people ask with keys of their own, where the operator has none for it."""
    working: WorkingMemory | None = None
    definitions: Definitions = field(default_factory=Definitions)
    model_key_seals: KeyProvider | None = None
    """What people's own model keys are sealed under."""
    accesses: Accesses | None = None
    """Readings on their way into the audit log."""
