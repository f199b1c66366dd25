"""Embeddings from any server that speaks OpenAI's ``/embeddings``: hosted, or on the same machine.

The server decides nothing but the numbers: how many vectors come back, in which order, of which length and that they
are finite is checked here, and every way to fail is one :class:`tenuto.errors.EmbedderError` that never shows the key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

from tenuto.errors import EmbedderError, SettingError
from tenuto.policy import Calibration

Vectors = npt.NDArray[np.float32]

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 20.0


class RemoteEmbedder:
    """``query_prefix`` and ``text_prefix`` are for models that were trained with them ("query: ", "passage: ")."""

    remote = True
    """Asked over the network: what is only an estimate does not ask it."""

    def __init__(
        self,
        base_url: str,
        model: str,
        dimension: int,
        *,
        key: str | None = None,
        timeout_seconds: float = 30.0,
        batch: int = 64,
        retries: int = 3,
        ask_dimension: bool = False,
        query_prefix: str = "",
        text_prefix: str = "",
        calibration: Calibration | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``ask_dimension`` sends ``dimensions`` to servers that can shorten their vectors."""
        if not base_url.startswith(("http://", "https://")):
            raise SettingError(f"the embedder's base URL must start with http:// or https://, not {base_url!r}")
        if dimension < 1 or batch < 1 or retries < 0:
            raise SettingError("the embedder's dimension and batch must be at least 1, and its retries at least 0")
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._dimension = dimension
        self._key = key
        self._batch = batch
        self._retries = retries
        self._ask_dimension = ask_dimension
        self._prefixes = {True: query_prefix, False: text_prefix}
        self._calibration = calibration or Calibration()
        self._sleep = sleep
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout_seconds, headers=headers, transport=transport)

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        return self._calibration

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        # Servers refuse an empty string, so it is sent as a space.
        sent = [(self._prefixes[query] + text) or " " for text in texts]
        rows = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start in range(0, len(sent), self._batch):
            part = sent[start : start + self._batch]
            rows[start : start + len(part)] = self._parse(self._ask(part), len(part))
        return rows

    def close(self) -> None:
        self._client.close()

    def _ask(self, texts: list[str]) -> Any:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._ask_dimension:
            body["dimensions"] = self._dimension
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                response = self._client.post(self._url, json=body)
            except httpx.TimeoutException as error:
                if last:
                    raise EmbedderError(f"{self._url} did not answer in time") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if last:
                    raise EmbedderError(f"{self._url} cannot be reached: {self._hide(str(error))}") from error
            else:
                if response.is_success:
                    return self._json(response)
                if last or response.status_code not in RETRIED:
                    said = self._hide(response.text[:200].strip())
                    raise EmbedderError(f"{self._url} answered {response.status_code}: {said}")
                self._sleep(_wait(attempt, response.headers.get("retry-after")))
                continue
            self._sleep(_wait(attempt, None))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            raise EmbedderError(f"{self._url} answered with something that is not JSON") from error

    def _parse(self, answer: Any, expected: int) -> Vectors:
        try:
            items = sorted(answer["data"], key=lambda item: int(item["index"]))
            indexes = [int(item["index"]) for item in items]
            rows = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise EmbedderError(f"{self._url} answered without vectors: {type(error).__name__}") from error
        if indexes != list(range(expected)):
            raise EmbedderError(f"{self._url} answered {len(items)} vectors for {expected} texts")
        if rows.shape != (expected, self._dimension):
            found = rows.shape[1] if rows.ndim == 2 else "unequal"
            raise EmbedderError(f"{self._model} gives {found} dimensions, but {self._dimension} are set")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise EmbedderError(f"{self._url} answered a vector that is zero or not finite")
        unit: Vectors = rows / lengths
        return unit

    def _hide(self, text: str) -> str:
        return text.replace(self._key, "…") if self._key else text


def _wait(attempt: int, retry_after: str | None) -> float:
    """Seconds before the next try: what the server asked for, else 0.5, 1, 2, …; never more than the longest wait."""
    try:
        asked = float(retry_after) if retry_after else 0.0
    except ValueError:  # an HTTP date: the exponential wait will do
        asked = 0.0
    own: float = FIRST_WAIT_SECONDS * 2**attempt
    return min(LONGEST_WAIT_SECONDS, max(asked, own))
