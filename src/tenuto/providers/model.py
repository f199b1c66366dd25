"""Which model: from a name, an address or a function to something that answers.

    openai:gpt-5-mini                                OpenAI, key from OPENAI_API_KEY
    anthropic:claude-sonnet-4-5                      Anthropic, key from ANTHROPIC_API_KEY
    ollama:llama3.2                                  a local Ollama
    local:~/models/qwen.gguf                         a GGUF file, run in this process; "local" reads TENUTO_MODEL_FILE
    openai+http://127.0.0.1:8080/v1:qwen2.5:1.5b     any server that speaks as OpenAI's does, key from TENUTO_MODEL_KEY
    anthropic+https://gateway.example:claude-…       the same for Anthropic's

A vendor's key goes to that vendor alone: an address of one's own never gets it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from tenuto.errors import ModelError, SettingError, TenutoError
from tenuto.policy import ModelPolicy
from tenuto.ports import Answer, ChatModel, KeyedModel, Model
from tenuto.providers.model_local import FILE as LOCAL_FILE
from tenuto.providers.model_local import local_model
from tenuto.records.context import Context

Secret = Callable[[str], str | None]
"""Looks a key up by the name that its vendor uses."""

_OWN = re.compile(r"(openai|anthropic)\+(https?://[^/\s]+(?:/[^:\s]*)?):(\S+)")
_NAMED = re.compile(r"(openai|anthropic|ollama):(\S+)")
OLLAMA = "http://127.0.0.1:11434/v1"
OWN_KEY = "TENUTO_MODEL_KEY"
HOW = (
    "'openai:<model>', 'anthropic:<model>', 'ollama:<model>', 'local:<file.gguf>' "
    "or 'openai+http://host:port/v1:<model>'"
)


class CallableModel:
    """A function of one's own, ``(system, user) -> text``, as a model."""

    def __init__(self, function: Callable[[str, str], str], name: str | None = None) -> None:
        self._function = function
        self._name: str = name or getattr(function, "__name__", None) or "callable"

    @property
    def name(self) -> str:
        return self._name

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        try:
            text = self._function(system, user)
        except TenutoError:
            raise
        except Exception as error:
            raise ModelError(f"The model function {self._name} failed: {type(error).__name__}: {error}.") from error
        if not str(text or "").strip():
            raise ModelError(f"The model function {self._name} answered with nothing.")
        return Answer(text=str(text), model=self._name)

    def chat(self, context: Context, *, max_tokens: int = 2048) -> Iterator[str]:
        yield self.complete(system=context.stable, user=context.volatile, max_tokens=max_tokens).text


def parse_model(
    spec: str,
    policy: ModelPolicy,
    secret: Secret,
    *,
    key: str | None = None,
    unpaid: bool = False,
    guarded: bool = False,
) -> ChatModel:
    """The model that a setting names. ``key`` stands in for the one that ``secret`` would find.

    ``unpaid``: a vendor's model without a key is made too, for people who bring their own. ``guarded``: whoever chose
    the address is not the operator, so it must be public or named in ``policy.hosts``.
    """
    # On first use: the HTTP client behind them takes longer to load than all of Tenuto.
    from tenuto.providers.model_anthropic import AnthropicModel
    from tenuto.providers.model_openai import OpenAIModel

    if spec.strip() == "local" or spec.strip().startswith("local:"):
        if guarded:
            raise SettingError("A file of this machine is the operator's to name.")
        return local_model(spec.strip(), secret(LOCAL_FILE))
    limits: dict[str, Any] = {"timeout": policy.timeout, "retries": policy.retries}
    if guarded and not spec.strip().startswith(("openai:", "anthropic:")):
        from tenuto.providers.outbound import GuardedTransport

        limits["transport"] = GuardedTransport(policy.hosts)
    if own := _OWN.fullmatch(spec.strip()):
        kind, address, name = own.groups()
        made = OpenAIModel if kind == "openai" else AnthropicModel
        return made(name, base_url=address, key=key or secret(OWN_KEY), **limits)
    named = _NAMED.fullmatch(spec.strip())
    if named is None:
        raise SettingError(f"Unknown model {spec!r}: write {HOW}.")
    kind, name = named.groups()
    if kind == "ollama":
        return OpenAIModel(name, base_url=OLLAMA, key=key, **limits)
    variable = f"{kind.upper()}_API_KEY"
    found = key or secret(variable)
    if not found and not unpaid:
        raise SettingError(f"The model {spec} needs a key: set {variable}.", code="model_key_missing")
    return OpenAIModel(name, key=found, **limits) if kind == "openai" else AnthropicModel(name, key=found, **limits)


def unpaid_model(spec: str, policy: ModelPolicy) -> KeyedModel:
    """The model that a setting names, without a key."""
    return cast(KeyedModel, parse_model(spec, policy, lambda _: None, unpaid=True))


def as_model(
    given: str | Model | Callable[[str, str], str] | None, policy: ModelPolicy, secret: Secret
) -> Model | None:
    """Whatever ``tenuto.open(model=…)`` takes."""
    if given is None:
        return None
    if isinstance(given, str):
        return parse_model(given, policy, secret)
    if hasattr(given, "complete"):
        return cast(Model, given)
    if callable(given):
        return CallableModel(given)
    raise SettingError(f"'model' takes {HOW}, a function (system, user) -> text, or an object with 'complete'.")
