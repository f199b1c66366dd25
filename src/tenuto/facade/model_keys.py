"""The facade's part for people's own model keys: set, list, test, remove, and hand over to a client."""

from __future__ import annotations

from tenuto import settings
from tenuto.call_context import verbs
from tenuto.deps import Deps
from tenuto.ports import ChatModel
from tenuto.privacy import model_keys as flow
from tenuto.privacy.model_keys import KeyTest, Probe, Secret
from tenuto.providers.key_probe import probe
from tenuto.providers.model import parse_model
from tenuto.records.scope import Scope
from tenuto.records.workflow import ModelKey

PROVIDERS = {"OPENAI_API_KEY": "openai", "ANTHROPIC_API_KEY": "anthropic", "TENUTO_MODEL_KEY": "own"}
"""Under which name a person keeps the key that a vendor calls so; ``own`` is for a server of one's own."""


@verbs
class ModelKeys:
    """The keys of one user. A key goes in and is used; it is never shown again."""

    def __init__(self, deps: Deps, scope: Scope) -> None:
        self._deps, self._scope = deps, scope

    def set(self, provider: str, key: str) -> ModelKey:
        return flow.set_key(self._deps, self._scope, provider, key)

    def list(self) -> list[ModelKey]:
        return flow.keys(self._deps, self._scope)

    def reveal(self, provider: str) -> Secret:
        """For the provider's client: ``reveal(name).reveal()``."""
        return flow.reveal(self._deps, self._scope, provider)

    def test(self, provider: str, *, base_url: str | None = None, using: Probe | None = None) -> KeyTest:
        """Does the provider accept it? ``using`` replaces the request that is made."""
        check = using or (lambda secret: probe(provider, secret.reveal(), base_url))
        return flow.test_key(self._deps, self._scope, provider, check)

    def remove(self, provider: str) -> bool:
        return flow.remove_key(self._deps, self._scope, provider)

    def model(self, spec: str) -> ChatModel:
        """A model of the person's own choice: paid with their own key alone, and never at a private address.

        A host that the operator named in ``policy.model.hosts`` may be private.
        """
        return parse_model(spec, self._deps.policy.model, self._own, guarded=True)

    def _own(self, name: str) -> str | None:
        provider = PROVIDERS.get(name)
        own = self.own(provider) if provider is not None else None
        return own.reveal() if own is not None else None

    def lookup(self, name: str) -> str | None:
        """The key for a model that is to be made: the person's own where there is one, else the operator's."""
        return self._own(name) or settings.secret(name)

    def own(self, provider: str) -> Secret | None:
        """The person's key for a provider, or ``None`` if they keep none."""
        return flow.own(self._deps, self._scope, provider)
