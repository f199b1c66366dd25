"""A model on this machine: a GGUF file of the user's, run by llama.cpp inside this process.

The weights are loaded by the first question and stay loaded; one question is answered at a time. JSON of a shape is
forced by a grammar that llama.cpp makes from the schema. Nothing leaves the machine. llama.cpp also listens on a port
of 127.0.0.1 that it picks; it answers there only to a key that is made anew each time and told to nobody.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tenuto.errors import ModelError, SettingError
from tenuto.ports import Answer
from tenuto.providers.system import secret_token
from tenuto.records.context import Context

FILE = "TENUTO_MODEL_FILE"
"""Where the file of ``model="local"`` is named."""
CONTEXT = 8192
"""Tokens that the model is given room for: the prompt and its answer."""
QUIET = 1
"""llama.cpp tells errors only."""


class LocalModel:
    """``file`` is a GGUF file with a chat template."""

    def __init__(self, file: Path, *, threads: int | None = None) -> None:
        if not file.is_file():
            raise SettingError(f"The model file {file} is not there.", code="model_file_missing")
        self._file = file
        self._threads = threads or os.cpu_count() or 2
        self._server: Any = None
        self._one = threading.Lock()

    @property
    def name(self) -> str:
        return self._file.stem

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        """One answer; with ``schema``, JSON of that shape by grammar."""
        form = {"name": "answer", "schema": dict(schema or {})}
        shaped = {"response_format": {"type": "json_schema", "json_schema": form}} if schema is not None else {}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return self._answer({"messages": messages, "max_tokens": max_tokens, "temperature": 0, **shaped})

    def chat(self, context: Context, *, max_tokens: int = 2048) -> Iterator[str]:
        """The answer, in one piece."""
        messages = context.for_openai(single_system=True)
        yield self._answer({"messages": messages, "max_tokens": max_tokens}).text

    def _answer(self, body: Mapping[str, Any]) -> Answer:
        with self._one:
            try:
                said = self._loaded().handle_chat_completions(dict(body))
            except (RuntimeError, ValueError) as error:
                raise ModelError(f"{self.name} failed: {error}.") from error
        if not isinstance(said, dict) or not said.get("choices"):
            raise ModelError(f"{self.name} gave no answer: {str(said)[:200]}")
        text = str((said["choices"][0].get("message") or {}).get("content") or "")
        if not text.strip():
            raise ModelError(f"{self.name} answered with nothing.")
        usage = said.get("usage") or {}
        return Answer(
            text=text,
            model=self.name,
            input_tokens=int(usage.get("prompt_tokens") or 0),
            output_tokens=int(usage.get("completion_tokens") or 0),
        )

    def _loaded(self) -> Any:
        if self._server is None:
            try:
                import xllamacpp
            except ImportError as error:
                raise SettingError("A model on this machine needs llama.cpp: pip install 'tenuto[local]'.") from error
            params = xllamacpp.CommonParams()
            params.model.path = str(self._file)
            params.n_ctx, params.n_parallel = CONTEXT, 1
            params.cpuparams.n_threads = self._threads
            params.api_keys, params.verbosity = [secret_token()], QUIET
            self._server = xllamacpp.Server(params)
        return self._server


def local_model(spec: str, named: str | None) -> LocalModel:
    """The model of ``local`` (the file that TENUTO_MODEL_FILE names) or ``local:PATH``."""
    path = spec.removeprefix("local").removeprefix(":") or named
    if not path:
        raise SettingError(f"model='local' needs a GGUF file: write 'local:PATH', or set {FILE}.")
    return LocalModel(Path(path).expanduser())
