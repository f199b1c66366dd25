"""Any server that speaks OpenAI's ``/chat/completions``: hosted, or on the same machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import httpx
import msgspec

from tenuto.errors import ModelError
from tenuto.ports import Answer
from tenuto.providers.model_http import Wire
from tenuto.records.context import Context

OPENAI = "https://api.openai.com/v1"
_THINK = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)


class OpenAIModel:
    """``base_url`` ends before ``/chat/completions``. A local server needs no key."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        key: str | None = None,
        timeout: timedelta = timedelta(seconds=300),
        retries: int = 2,
        single_system: bool | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """``single_system``: the server takes one system message only; by default all but OpenAI's own are so."""
        self._given: dict[str, Any] = {
            "base_url": base_url,
            "timeout": timeout,
            "retries": retries,
            "single_system": single_system,
            "transport": transport,
        }
        self._model = model
        self._official = base_url.rstrip("/") == OPENAI
        self._single = not self._official if single_system is None else single_system
        self._schemas = True
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._wire = Wire(base_url, headers, timeout=timeout, retries=retries, hide=key, transport=transport)

    @property
    def name(self) -> str:
        return self._model

    @property
    def key_provider(self) -> str:
        """Under which name people keep their own key for it."""
        return "openai" if self._official else "own"

    def with_key(self, key: str) -> OpenAIModel:
        """The same model, paid for by someone else."""
        return OpenAIModel(self._model, key=key, **self._given)

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        """One answer; with ``schema``, JSON of that shape where the server can promise it, else by asking for it."""
        if schema is not None and self._schemas:
            try:
                form = {"name": "answer", "schema": dict(schema)}
                asked = {"response_format": {"type": "json_schema", "json_schema": form}}
                return self._answer(self._ask(system, user, max_tokens, asked), whole=True)
            except ModelError as error:
                if error.code != "model_refused_request" or not _about_schemas(error.message):
                    raise
                self._schemas = False
        if schema is not None:
            wanted = msgspec.json.encode(dict(schema)).decode()
            system = f"{system}\n\nAnswer with JSON only, of this schema: {wanted}"
        return self._answer(self._ask(system, user, max_tokens, {}), whole=schema is not None)

    def chat(self, context: Context, *, max_tokens: int = 2048) -> Iterator[str]:
        """The answer as it comes."""
        body = {"model": self._model, "messages": context.for_openai(single_system=self._single), "stream": True}
        finished = False
        for event in self._wire.events("/chat/completions", body | self._limit(max_tokens)):
            if isinstance(event, dict) and event.get("error"):
                raise ModelError(f"{self._model} broke off: {event['error']}.")
            for choice in (event.get("choices") or [])[:1] if isinstance(event, dict) else []:
                text = (choice.get("delta") or {}).get("content")
                finished = finished or choice.get("finish_reason") is not None
                if text:
                    yield text
        if not finished:
            raise ModelError(f"{self._model} broke off in the middle of its answer.")

    def close(self) -> None:
        self._wire.close()

    def _ask(self, system: str, user: str, max_tokens: int, more: Mapping[str, Any]) -> Any:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return self._wire.ask(
            "/chat/completions", {"model": self._model, "messages": messages} | self._limit(max_tokens) | dict(more)
        )

    def _limit(self, max_tokens: int) -> dict[str, int]:
        """OpenAI renamed the field; the servers that imitate it did not."""
        return {"max_completion_tokens" if self._official else "max_tokens": max_tokens}

    def _answer(self, found: Any, *, whole: bool) -> Answer:
        try:
            choice = found["choices"][0]
            message = choice["message"]
            text, usage = message.get("content") or "", found.get("usage") or {}
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ModelError(f"{self._model} answered without a message.") from error
        if message.get("refusal"):
            raise ModelError(f"{self._model} refused: {str(message['refusal'])[:200]}", code="model_refused")
        if whole and choice.get("finish_reason") == "length":
            raise ModelError(f"{self._model} was cut off before the end of its answer: raise max_tokens.")
        thought = _THINK.match(text)
        if thought is not None:
            text = text[thought.end() :]
        if not text.strip():
            raise ModelError(f"{self._model} answered with nothing.")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        return Answer(
            text=text,
            model=str(found.get("model") or self._model),
            input_tokens=_number(usage, "prompt_tokens"),
            output_tokens=_number(usage, "completion_tokens"),
            thinking=str(reasoning) if reasoning else (thought.group(1).strip() or None) if thought else None,
        )


def _about_schemas(message: str) -> bool:
    return any(word in message for word in ("response_format", "json_schema", "schema", "grammar"))


def _number(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
