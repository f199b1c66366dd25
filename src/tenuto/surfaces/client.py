"""``tenuto.connect(url, key)``: the same verbs over HTTP, with the same records and the same errors.

Every method here has the signature of its namesake in the library and returns the same types, so that code moves from
an embedded store to a server by changing one line; the tests run the same scenarios on both. A write carries an
idempotency key, so repeating it after a broken connection does nothing twice.
"""
# Over 400 lines: one short method per verb, and there are many verbs.

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx
import msgspec

from tenuto import errors
from tenuto.ingest.listing import EntityCard
from tenuto.ingest.remember import Remembered
from tenuto.lifecycle.care import CurateReport
from tenuto.lifecycle.outreach import Outreach
from tenuto.lifecycle.purge import PurgeReport
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.trajectory import Trajectory
from tenuto.paging import LISTINGS, Page
from tenuto.privacy.erase import Proof
from tenuto.providers.system import new_secret
from tenuto.records.context import Context
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary
from tenuto.records.memory import AgentState, Entity, EntityMerge, Memory, StateChange, Todo, Version
from tenuto.records.operations import Event, Job, Receipt
from tenuto.records.recall import Hit, Recalled
from tenuto.surfaces.http.names import write as path_name

T = TypeVar("T")
RETRIED = (429, 502, 503, 504)
LONGEST_WAIT_SECONDS = 30.0
PATHS = {"state_changes": "state-changes", "key_points": "key-points", "events": "event-log"}
BY_STATUS: dict[int, type[errors.TenutoError]] = {
    401: errors.Denied, 403: errors.Denied, 404: errors.NotFound, 408: errors.StoreBusy, 409: errors.Conflict,
    412: errors.Conflict, 429: errors.StoreBusy, 502: errors.ProviderError, 503: errors.StoreBusy,
    507: errors.StoreFull,
}  # fmt: skip


def connect(
    url: str,
    key: str,
    *,
    timeout_seconds: float = 60.0,
    retries: int = 2,
    transport: httpx.BaseTransport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> RemoteTenuto:
    """A server's store. ``key`` is what ``tenuto keys create`` printed, or a token that an app minted."""
    if not url.startswith(("http://", "https://")):
        raise errors.SettingError(f"A server's address begins with http:// or https://, not {url!r}.")
    return RemoteTenuto(_Link(url, key, timeout_seconds, retries, transport, sleep))


class _Link:
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
                response = self.http.request(method, path, params=_plain(query), content=content, headers=headers)
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
            raise _error(response)
        return msgspec.json.decode(response.content) if response.content else None


class RemoteTenuto:
    """A store behind a server: :class:`tenuto.Tenuto`'s verbs."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    def user(self, user: str, *, persona: str | None = None, channel: str = "api") -> RemoteUser:
        """Everything of one person, seen by one persona on one channel."""
        return RemoteUser(self._link, user, persona, channel)

    def users(self) -> list[str]:
        """The ids of all users, in order."""
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = self._link.call("GET", "/api/users", query={"after": after, "limit": 1000})
            found += page["items"]
            after = page["next"]
        return found

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until background jobs are done; ``False`` if the time ran out first."""
        return bool(self._link.call("POST", "/api/settle", body={"timeout": timeout})["done"])

    def jobs(self, status: str | None = None, *, user: str | None = None, limit: int = 100) -> list[Job]:
        """What background work there is, newest first."""
        page = self._link.call("GET", "/api/jobs", query={"status": status, "user": user, "limit": limit})
        return [msgspec.convert(one, Job) for one in page["items"]]

    def close(self) -> None:
        """Close the connections."""
        self._link.http.close()

    def __enter__(self) -> RemoteTenuto:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteTenuto {self._link.url}>"


class RemoteUser:
    """One person's memory behind a server: :class:`tenuto.UserMemory`'s verbs."""

    def __init__(self, link: _Link, user: str, persona: str | None, channel: str) -> None:
        self._link = link
        self._user = user
        self._scope = {"persona": persona, "channel": channel}

    @property
    def id(self) -> str:
        """The user's id."""
        return self._user

    def observe(
        self,
        text: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        at: datetime | None = None,
        id: str | None = None,
        session: str | None = None,
        thinking: str | None = None,
        model: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Receipt:
        """Keep one thing said. Durable when this returns."""
        body = {
            "text": text, "role": role, "speaker": speaker, "at": at, "id": id, "session": session,
            "thinking": thinking, "model": model, "metadata": metadata,
        }  # fmt: skip
        return self._write("POST", "observe", Receipt, body)

    def recall(self, query: str, *, limit: int = 10, **filters: Any) -> list[Hit]:
        """The right few things for a query, best first, each with its reasons."""
        found = self._ask("POST", "recall", {"query": query, "limit": limit, **filters})
        return Recalled([msgspec.convert(hit, Hit) for hit in found["hits"]], tuple(found["notes"]))

    def context(self, message: str, *, budget: int | None = None, **options: Any) -> Context:
        """What a model should read now, within ``budget`` tokens."""
        return msgspec.convert(self._ask("POST", "context", {"message": message, "budget": budget, **options}), Context)

    def messages(self, *, session_id: str | None = None, limit: int = 100) -> list[Message]:
        """The last messages, oldest first."""
        return self._all("messages", limit, order="-at", session_id=session_id)[::-1]

    def sessions(self, *, limit: int = 100) -> list[Session]:
        """Sessions with this persona (or all of them without one), newest first."""
        return self._all("sessions", limit)

    def page(self, what: str, *, limit: int = 50, cursor: str | None = None, **options: Any) -> Page[Any]:
        """One page of a listing."""
        if what not in LISTINGS:
            raise errors.InputError(f"There is no listing {what!r}: use {', '.join(LISTINGS)}.", code="listing_unknown")
        query = {"persona": self._scope["persona"], **options, "limit": limit, "cursor": cursor}
        found = self._link.call("GET", self._path(PATHS.get(what, what)), query=query)
        return Page(items=[msgspec.convert(one, LISTINGS[what].type) for one in found["items"]], next=found["next"])

    def get(self, what: str, id: str) -> Any:
        """One row of a listing by its id."""
        return msgspec.convert(self._ask("GET", f"{PATHS.get(what, what)}/{quote(id, safe='')}"), LISTINGS[what].type)

    def remember(self, text: str, *, pin: bool | str = False, **options: Any) -> Remembered:
        """Keep one thing for good; says whether it was new, the same, fuller, or replaces something."""
        return self._write("POST", "memories", Remembered, {"text": text, "pin": pin, **options})

    def memories(self, **filters: Any) -> list[Memory]:
        """What is known, newest first. Filters: status, kind, domain, attribute, entity, pinned, persona, limit."""
        return msgspec.convert(self._ask("POST", "memories/find", filters), list[Memory])

    def memory(self, id: str) -> Memory:
        """One memory with its evidence and versions."""
        return self._read(f"memories/{_part(id)}", Memory)

    def forget(self, id: str, *, reason: str = "asked to forget") -> Memory:
        """Out of every reading, until it is restored."""
        return self._write("POST", f"memories/{_part(id)}/forget", Memory, {"reason": reason})

    def restore(self, id: str) -> Memory:
        """Bring back what was forgotten, archived or superseded."""
        return self._write("POST", f"memories/{_part(id)}/restore", Memory)

    def history(self, id: str) -> list[Version]:
        """What a memory was before, oldest first; the present state is the last."""
        return msgspec.convert(self._ask("GET", f"memories/{_part(id)}/history"), list[Version])

    def edit(self, id: str, **changes: Any) -> Memory:
        """Correct a memory; the old wording stays in its history."""
        return self._write("PATCH", f"memories/{_part(id)}", Memory, _Whole(changes))

    def confirm(self, id: str) -> Memory:
        """Vouch for a memory: what came from outside becomes active."""
        return self._write("POST", f"memories/{_part(id)}/confirm", Memory)

    def pin(self, id: str, *, kind: str = "manual", session: str | None = None) -> Memory:
        """Always in context, or in the context of one session."""
        return self._write("PUT", f"memories/{_part(id)}/pin", Memory, {"kind": kind, "session": session})

    def unpin(self, id: str) -> Memory:
        """No longer always in context."""
        return self._write("DELETE", f"memories/{_part(id)}/pin", Memory)

    def allow(self, id: str, use: str) -> Memory:
        """May it be brought up? ``yes``, ``only_when_relevant`` or ``no``."""
        return self._write("PUT", f"memories/{_part(id)}/use", Memory, {"use": use})

    def todos(self, **filters: Any) -> list[Todo]:
        """What is open with this persona. Filters: status (``"*"`` for all), kind, persona, limit."""
        return msgspec.convert(self._ask("POST", "todos/find", filters), list[Todo])

    def wins(self) -> list[Todo]:
        """What was completed in the last 48 hours."""
        return msgspec.convert(self._ask("GET", "wins"), list[Todo])

    def complete(self, todo_id: str) -> Todo:
        """A todo is done; a habit is counted and stays."""
        return self._write("POST", f"todos/{_part(todo_id)}/complete", Todo)

    def cancel(self, todo_id: str) -> Todo:
        """A todo is no longer wanted."""
        return self._write("POST", f"todos/{_part(todo_id)}/cancel", Todo)

    def entities(self, *, type: str | None = None, limit: int | None = None) -> list[Entity]:
        """People, places, orgs and projects, the most mentioned first."""
        return msgspec.convert(self._ask("POST", "entities/find", {"type": type, "limit": limit}), list[Entity])

    def entity(self, id: str) -> EntityCard:
        """``entity("person:john")``: who it is, and the facts."""
        return self._read(f"entities/{_part(id)}/card", EntityCard)

    def merges(self, *, status: str | None = "proposed") -> list[EntityMerge]:
        """Entities that may be one."""
        return msgspec.convert(self._ask("POST", "merges/find", _Whole(status=status)), list[EntityMerge])

    def merge(self, duplicate: str, into: str) -> EntityMerge:
        """Two entities are one."""
        return self._write("POST", "merges", EntityMerge, {"duplicate": duplicate, "into": into})

    def decide_merge(self, id: str, *, accept: bool) -> EntityMerge:
        """Accept or refuse a proposed merge."""
        return self._write("POST", f"merges/{_part(id)}/decide", EntityMerge, {"accept": accept})

    def unmerge(self, id: str) -> EntityMerge:
        """Take a merge back."""
        return self._write("POST", f"merges/{_part(id)}/undo", EntityMerge)

    def close_session(self, session_id: str | None = None, *, end_type: str = "explicit") -> Session | None:
        """End a session: the one named (by our id or yours), or the open one. ``None`` if there is none to end."""
        body = {"session_id": session_id, "end_type": end_type}
        return self._write("POST", "sessions/close", cast("type[Session | None]", Session | None), body)

    def summaries(
        self, *, kind: str | None = None, session_id: str | None = None, versions: bool = False, limit: int = 100
    ) -> list[Summary]:
        """Summaries, newest first: the current version of each, or with ``versions`` all of them."""
        current = None if versions else True
        return self._all("summaries", limit, kind=kind, session_id=session_id, current=current)

    def summarise(self, start: str | datetime, end: str | datetime) -> Summary:
        """One summary of everything from ``start`` to ``end``, both included: two message ids, or two times."""
        return self._write("POST", "summaries", Summary, {"start": start, "end": end})

    def key_points(self, *, session_id: str | None = None, limit: int = 100) -> list[KeyPoint]:
        """What was worth keeping from sessions, newest first."""
        return self._all("key_points", limit, session_id=session_id)

    def state(self) -> AgentState:
        """The persona's axes towards the user, now."""
        return self._read("state", AgentState)

    def state_history(self, *, limit: int = 100) -> list[StateChange]:
        """How the state came about: every change with its reason, newest first."""
        return self._all("state_changes", limit)

    def session_state(self) -> SessionState:
        """What survives sessions: message count, last interaction, how summaries and the curator fare."""
        return self._read("session-state", SessionState)

    def trajectory(self, *, on: bool | None = None) -> Trajectory:
        """Where the talk has been going; ``on`` switches it on or off first."""
        if on is None:
            return self._read("trajectory", Trajectory)
        return self._write("PUT", "trajectory", Trajectory, {"on": on})

    def outreach(self, *, on: bool | None = None, made: bool = False) -> Outreach:
        """May the persona make contact now? ``on`` is the user's switch; ``made`` notes that contact was made."""
        if on is None and not made:
            return self._read("outreach", Outreach)
        return self._write("PUT", "outreach", Outreach, {"on": on, "made": made})

    def retention(self) -> Rules:
        """How long what is kept."""
        return self._read("retention", Rules)

    def set_retention(self, rules: Mapping[str, Any] | None) -> Rules:
        """The user's own rules over the operator's; ``None`` takes them back."""
        return self._write("PUT", "retention", Rules, _Whole(rules=rules))

    def purge(self, *, dry_run: bool = False) -> PurgeReport:
        """Take what has had its time, now; or with ``dry_run`` only tell what would go."""
        return self._write("POST", "purge", PurgeReport, {"dry_run": dry_run})

    def curate(self, *, dry_run: bool = False) -> CurateReport:
        """Fold near-duplicates, archive what has faded; or with ``dry_run`` only show the plan."""
        return self._write("POST", "curate", CurateReport, {"dry_run": dry_run})

    def erase(self) -> Proof:
        """Erase everything of this user, for good; the proof tells what is gone."""
        return self._write("POST", "erase", Proof, {"user": self._user})

    def verify_erasure(self, proof: Proof) -> list[str]:
        """What is wrong with a proof of erasure, in words; empty when nothing of this user is left."""
        found: list[str] = self._ask("POST", "erase/verify", _Whole(**msgspec.to_builtins(proof)))
        return found

    def stats(self) -> dict[str, Any]:
        """Totals, the oldest and newest message, and the average importance."""
        found: dict[str, Any] = self._ask("GET", "stats")
        for name in ("oldest_message", "newest_message"):
            found[name] = msgspec.convert(found[name], datetime | None)
        return found

    def receipt(self, id: str) -> Receipt | None:
        """What came of an observed message, by the receipt's id."""
        try:
            return msgspec.convert(self._ask("GET", f"receipts/{quote(id, safe='')}"), Receipt)
        except errors.NotFound:
            return None

    def events(self, *, after: int | None = None) -> Iterator[Event]:
        """What happens to the user, live, after number ``after`` (``None``: from now on). Ends with the connection."""
        path, query = self._path("events"), _plain({"after": after})
        with self._link.http.stream("GET", path, params=query, timeout=httpx.Timeout(60.0)) as response:
            if response.status_code >= 400:
                response.read()
                raise _error(response)
            for line in response.iter_lines():
                if line.startswith("data: ") and '"subject_kind"' in line:
                    yield msgspec.json.decode(line[6:], type=Event)

    def _all(self, what: str, limit: int, **options: Any) -> list[Any]:
        """Rows of a listing over as many pages as it takes."""
        found: list[Any] = []
        cursor: str | None = None
        while len(found) < limit:
            page = self.page(what, limit=min(limit - len(found), 200), cursor=cursor, **options)
            found, cursor = found + page.items, page.next
            if cursor is None:
                break
        return found

    def _path(self, rest: str) -> str:
        return f"/api/users/{path_name(self._user)}/{rest}"

    def _ask(self, method: str, rest: str, body: Any = None, *, query: dict[str, Any] | None = None) -> Any:
        return self._link.call(method, self._path(rest), query={**self._scope, **(query or {})}, body=body)

    def _read(self, rest: str, type_: type[T]) -> T:
        return msgspec.convert(self._ask("GET", rest), type_)

    def _write(
        self, method: str, rest: str, type_: type[T], body: Any = None, *, query: dict[str, Any] | None = None
    ) -> T:
        found = self._link.call(method, self._path(rest), query={**self._scope, **(query or {})}, body=body, once=True)
        return msgspec.convert(found, type_)

    def __repr__(self) -> str:
        return f"<RemoteUser {self._user} at {self._link.url}>"


def _part(id: str) -> str:
    """An id as one segment of a path."""
    return quote(id, safe="")


class _Whole(dict[str, Any]):
    """A body whose empty fields mean something."""


def _encoded(body: Any) -> bytes:
    """Refuses here what the server could not read."""
    if isinstance(body, dict) and not isinstance(body, _Whole):
        body = {name: value for name, value in body.items() if value is not None}
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, UnicodeError, msgspec.MsgspecError) as error:
        raise errors.InputError(f"This cannot be written as JSON: {error}.", code="not_json") from None


def _plain(query: dict[str, Any] | None) -> dict[str, Any]:
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


def _error(response: httpx.Response) -> errors.TenutoError:
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
