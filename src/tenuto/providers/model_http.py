"""How a model server is asked: one deadline over everything, a few retries, every failure a :class:`ModelError`.

A model may be slow, busy, cut off, or send one byte a minute; a timeout per read would let the last one run for ever,
so the clock runs from the first byte sent to the last one read. What is retried is only what nothing came back from: a
stream that broke after its first words is not asked again, because its words were already shown. No error ever shows
the key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import msgspec

from tenuto.errors import ModelError, SettingError

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FIRST_WAIT = 0.5
LONGEST_WAIT = 20.0
LARGEST = 16 * 1024 * 1024
"""Bytes of one answer."""
CONNECT = 10.0
"""Seconds to connect."""


class Wire:
    """One model server: its address, its key, its deadline."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        timeout: timedelta,
        retries: int,
        hide: str | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise SettingError(f"The model's address must start with http:// or https://, not {base_url!r}.")
        self._base = base_url.rstrip("/")
        self._timeout = timeout.total_seconds()
        self._retries = retries
        self._hidden = hide
        self._sleep = sleep
        read = httpx.Timeout(self._timeout, connect=min(CONNECT, self._timeout))
        self._client = httpx.Client(timeout=read, headers=dict(headers), transport=transport, follow_redirects=False)

    def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON that came back."""
        deadline = time.monotonic() + self._timeout
        with self._open(path, body, deadline) as response:
            return self._json(b"".join(self._bytes(response, deadline)))

    def events(self, path: str, body: Mapping[str, Any]) -> Iterator[Any]:
        """The JSON of each server-sent event until the stream ends; ``[DONE]`` is left out."""
        deadline = time.monotonic() + self._timeout
        with self._open(path, body, deadline) as response:
            for data in _data(self._bytes(response, deadline)):
                if data.strip() and data.strip() != b"[DONE]":
                    yield self._json(data)
                elif data.strip() == b"[DONE]":
                    return

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _open(self, path: str, body: Mapping[str, Any], deadline: float) -> Iterator[httpx.Response]:
        url = f"{self._base}{path}"
        content = msgspec.json.encode(dict(body))
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                request = self._client.build_request(
                    "POST", url, content=content, headers={"content-type": "application/json"}
                )
                response = self._client.send(request, stream=True)
            except httpx.TimeoutException as error:
                raise ModelError(f"{url} did not answer within {self._timeout:g} seconds.") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if last:
                    raise ModelError(f"{url} cannot be reached: {self._hide(str(error))}.") from error
                self._wait(attempt, None, deadline)
                continue
            if response.is_success:
                try:
                    yield response
                finally:
                    response.close()
                return
            said, after = self._refusal(response), response.headers.get("retry-after")
            if last or response.status_code not in RETRIED:
                raise ModelError(f"{url} answered {response.status_code}: {said}", code=_code(response.status_code))
            self._wait(attempt, after, deadline)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _refusal(self, response: httpx.Response) -> str:
        try:
            text = response.read()[:500].decode("utf-8", "replace")
        except httpx.HTTPError:
            text = ""
        finally:
            response.close()
        return self._hide(" ".join(text.split())) or response.reason_phrase

    def _bytes(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        size = 0
        try:
            for part in response.iter_bytes():
                size += len(part)
                if size > LARGEST:
                    raise ModelError(f"{response.url} sent more than {LARGEST:,} bytes.")
                if time.monotonic() > deadline:
                    raise ModelError(f"{response.url} did not finish within {self._timeout:g} seconds.")
                yield part
        except httpx.TimeoutException as error:
            raise ModelError(f"{response.url} did not finish within {self._timeout:g} seconds.") from error
        except httpx.HTTPError as error:
            raise ModelError(f"{response.url} broke off: {self._hide(str(error))}.") from error

    def _wait(self, attempt: int, retry_after: str | None, deadline: float) -> None:
        try:
            asked = float(retry_after) if retry_after else 0.0
        except ValueError:  # an HTTP date: the exponential wait will do
            asked = 0.0
        seconds = min(LONGEST_WAIT, max(asked, FIRST_WAIT * 2**attempt))
        if time.monotonic() + seconds > deadline:
            raise ModelError(f"{self._base} is busy, and {self._timeout:g} seconds are over.")
        self._sleep(seconds)

    def _json(self, data: bytes) -> Any:
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise ModelError(f"{self._base} answered with something that is not JSON.") from error

    def _hide(self, text: str) -> str:
        return text.replace(self._hidden, "…") if self._hidden else text


def _code(status: int) -> str:
    """A stable code for what a caller may act on."""
    return {400: "model_refused_request", 401: "model_key_refused", 403: "model_key_refused", 404: "model_unknown"}.get(
        status, "model_failed"
    )


def _data(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The ``data:`` of each server-sent event."""
    rest, lines = b"", []
    for part in parts:
        rest += part
        *whole, rest = rest.split(b"\n")
        for line in whole:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                lines.append(line[5:].removeprefix(b" "))
            elif not line and lines:
                yield b"\n".join(lines)
                lines = []
    if rest.startswith(b"data:"):
        lines.append(rest[5:].strip())
    if lines:
        yield b"\n".join(lines)
