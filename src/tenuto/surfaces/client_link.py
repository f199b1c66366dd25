"""One connection to a server: sends, repeats what may be repeated, and turns problems into the library's errors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, BinaryIO
from urllib.parse import quote

import httpx
import msgspec

from tenuto import errors
from tenuto.providers.system import new_secret

RETRIED = (429, 502, 503, 504)
LONGEST_WORK_SECONDS = 3600.0
"""How long a file that was sent may be worked on before its answer."""
LONGEST_WAIT_SECONDS = 30.0
BY_STATUS: dict[int, type[errors.TenutoError]] = {
    401: errors.Denied, 403: errors.Denied, 404: errors.NotFound, 408: errors.StoreBusy, 409: errors.Conflict,
    412: errors.Conflict, 429: errors.StoreBusy, 502: errors.ProviderError, 503: errors.StoreBusy,
    507: errors.StoreFull,
}  # fmt: skip


class Link:
    """One connection pool: sends, repeats what may be repeated, turns problems into errors."""

    def __init__(
        self, url: str, key: str, timeout_seconds: float, retries: int, transport: httpx.BaseTransport | None,
        sleep: Callable[[float], None],
    ) -> None:  # fmt: skip
        self.url = url.rstrip("/")
        self._retries = retries
        self._sleep = sleep
        self.http = httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout_seconds, transport=transport
        )

    def call(
        self, method: str, path: str, *, query: dict[str, Any] | None = None, body: Any = None, once: bool = False
    ) -> Any:
        """The decoded answer. ``once``: a write, which carries an idempotency key so that it can be repeated."""
        headers = {"Idempotency-Key": new_secret("idm")} if once else {}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = _encoded(body)
        for attempt in range(self._retries + 1):
            last = attempt == self._retries or (
                method not in ("GET", "DELETE") and not once and not path.endswith(("/recall", "/context"))
            )
            try:
                response = self.http.request(method, path, params=plain(query), content=content, headers=headers)
            except httpx.HTTPError as error:
                if last:
                    raise errors.StoreBusy(
                        f"{self.url} cannot be reached: {type(error).__name__}. Try again."
                    ) from error
                self._sleep(0.2 * 2**attempt)
                continue
            if response.status_code not in RETRIED or last:
                break
            self._sleep(min(float(response.headers.get("retry-after", "0.2")), LONGEST_WAIT_SECONDS))
        if response.status_code >= 400:
            raise error_of(response)
        return msgspec.json.decode(response.content) if response.content else None

    def fetch(self, path: str, query: dict[str, Any]) -> httpx.Response:
        """A file, as it is."""
        try:
            response = self.http.get(path, params=plain(query))
        except httpx.HTTPError as error:
            raise errors.StoreBusy(f"{self.url} cannot be reached: {type(error).__name__}. Try again.") from error
        if response.status_code >= 400:
            raise error_of(response)
        return response

    def send(self, path: str, query: dict[str, Any], file: BinaryIO) -> Any:
        """A file, sent as it is read; the decoded answer, which may take as long as the work on all of it."""
        headers = {"Content-Type": "application/octet-stream"}
        patient = httpx.Timeout(self.http.timeout.connect, read=LONGEST_WORK_SECONDS)
        try:
            response = self.http.post(path, params=plain(query), content=file, headers=headers, timeout=patient)
        except httpx.HTTPError as error:
            raise errors.StoreBusy(f"{self.url} cannot be reached: {type(error).__name__}. Try again.") from error
        if response.status_code >= 400:
            raise error_of(response)
        return msgspec.json.decode(response.content)


def part(id: str) -> str:
    """An id as one segment of a path."""
    return quote(id, safe="")


class Whole(dict[str, Any]):
    """A body whose empty fields mean something."""


def _encoded(body: Any) -> bytes:
    """Refuses here what the server could not read."""
    if isinstance(body, dict) and not isinstance(body, Whole):
        body = {name: value for name, value in body.items() if value is not None}
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, UnicodeError, msgspec.MsgspecError) as error:
        raise errors.InputError(f"This cannot be written as JSON: {error}.", code="not_json") from None


def plain(query: dict[str, Any] | None) -> dict[str, Any]:
    found = {}
    for name, value in (query or {}).items():
        if value is not None:
            found[name] = (
                value.isoformat()
                if isinstance(value, datetime)
                else str(value).lower()
                if isinstance(value, bool)
                else value
            )
    return found


def error_of(response: httpx.Response) -> errors.TenutoError:
    """The library's error behind a problem."""
    try:
        said = msgspec.json.decode(response.content, type=dict[str, Any])
    except msgspec.MsgspecError:
        said = {}
    code, detail = (
        str(said.get("code", "http_error")),
        str(said.get("detail", f"The server answered {response.status_code}.")),
    )
    if code == errors.BudgetTooSmall.code:
        return errors.BudgetTooSmall(detail, needed=int(said.get("needed", 0)))
    known = _by_code().get(code)
    if known is not None:
        return known(detail)
    default = errors.InputError if response.status_code < 500 else errors.TenutoError
    return BY_STATUS.get(response.status_code, default)(detail, code=code)


def _by_code() -> dict[str, type[errors.TenutoError]]:
    found, waiting = {}, [errors.TenutoError]
    while waiting:
        one = waiting.pop()
        found[one.code] = one
        waiting += one.__subclasses__()
    return found
