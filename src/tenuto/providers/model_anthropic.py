"""Anthropic's ``/v1/messages``. JSON of a shape is asked for as the input of a tool that the model must use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import httpx
import msgspec

from tenuto.errors import ModelError
from tenuto.ports import Answer
from tenuto.providers.model_http import Wire
from tenuto.records.context import Context

ANTHROPIC = "https://api.anthropic.com"
VERSION = "2023-06-01"
TOOL = "answer"


class AnthropicModel:
    """``base_url`` ends before ``/v1/messages``."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = ANTHROPIC,
        key: str | None = None,
        timeout: timedelta = timedelta(seconds=300),
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._given: dict[str, Any] = {
            "base_url": base_url,
            "timeout": timeout,
            "retries": retries,
            "transport": transport,
        }
        self._model = model
        headers = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        self._wire = Wire(base_url, headers, timeout=timeout, retries=retries, hide=key, transport=transport)

    @property
    def name(self) -> str:
        return self._model

    @property
    def key_provider(self) -> str:
        """Under which name people keep their own key for it."""
        return "anthropic" if self._given["base_url"].rstrip("/") == ANTHROPIC else "own"

    def with_key(self, key: str) -> AnthropicModel:
        """The same model, paid for by someone else."""
        return AnthropicModel(self._model, key=key, **self._given)

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": max_tokens,
            "system": system,
            "messages": [{"role": "user", "content": user}],
        }
        if schema is not None:
            body["tools"] = [{"name": TOOL, "description": "Give the answer.", "input_schema": dict(schema)}]
            body["tool_choice"] = {"type": "tool", "name": TOOL}
        return self._answer(self._wire.ask("/v1/messages", body), schema is not None)

    def chat(self, context: Context, *, max_tokens: int = 2048) -> Iterator[str]:
        """The answer as it comes; the stable part of the context is marked for the prompt cache."""
        body = {"model": self._model, "max_tokens": max_tokens, "stream": True} | context.for_anthropic()
        finished = False
        for event in self._wire.events("/v1/messages", body):
            kind = event.get("type") if isinstance(event, dict) else None
            if kind == "error":
                raise ModelError(f"{self._model} broke off: {event.get('error')}.")
            if kind == "content_block_delta" and event["delta"].get("type") == "text_delta":
                yield event["delta"]["text"]
            finished = finished or kind == "message_stop"
        if not finished:
            raise ModelError(f"{self._model} broke off in the middle of its answer.")

    def close(self) -> None:
        self._wire.close()

    def _answer(self, found: Any, schema: bool) -> Answer:
        try:
            parts = [part for part in found["content"] if isinstance(part, dict)]
            usage = found.get("usage") or {}
            stop = found.get("stop_reason")
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{self._model} answered without a message.") from error
        if stop == "refusal":
            raise ModelError(f"{self._model} refused.", code="model_refused")
        if schema and stop == "max_tokens":
            raise ModelError(f"{self._model} was cut off before the end of its answer: raise max_tokens.")
        inputs = [part.get("input") for part in parts if part.get("type") == "tool_use" and part.get("name") == TOOL]
        text = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
        if schema and inputs:
            text = msgspec.json.encode(inputs[0]).decode()
        if not text.strip():
            raise ModelError(f"{self._model} answered with nothing.")
        thinking = "\n".join(str(part.get("thinking", "")) for part in parts if part.get("type") == "thinking")
        return Answer(
            text=text,
            model=str(found.get("model") or self._model),
            input_tokens=sum(
                int(usage.get(name) or 0)
                for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            ),
            output_tokens=int(usage.get("output_tokens") or 0),
            thinking=thinking or None,
        )
