"""What the core needs from outside, as small protocols. Engines and providers implement them; tests fake them.

A store is used through a :class:`Reader` or a :class:`Transaction`, and both are bound to one user when they are made:
there is no call that takes a user beside another user's data, so no flow can mix two people up. The few calls that
look across users (leases, sweeps, the list of users) return ids and jobs, never content.
"""
# Over 400 lines: every seam of the core stands in one place, and most of it is what each promises.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tenuto.policy import Calibration
from tenuto.records.audit import Chain, Link, ListedRow
from tenuto.records.context import Context
from tenuto.records.identity import Challenge
from tenuto.records.operations import Entry, EntryKind, EntryRows, Job
from tenuto.records.reading import Mark
from tenuto.records.scope import Revision, User

P = ParamSpec("P")
T = TypeVar("T")
Vectors = npt.NDArray[np.float32]
Clock = Callable[[], datetime]
"""Returns an aware datetime."""


class Ids(Protocol):
    def __call__(self, prefix: str, at: datetime) -> str:
        """A new id such as ``mem_01J…``: unique, and sorted by ``at``."""


# --- conditions: what a listing may ask of a plain column -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Where:
    """``column op value``. ``op``: = != < <= > >= in is (with None) has (a many-valued column contains the value)."""

    column: str
    op: str
    value: Any


class Moved(Exception):
    """Something has happened to a user since the moment that was to be read."""


class Reader(Protocol):
    """Reads of one user. ``type_`` is a record class of :mod:`tenuto.records` that has a table."""

    @property
    def user(self) -> str: ...

    def profile(self) -> User | None:
        """The user's own row, or ``None`` for one never seen."""

    def revision(self) -> Revision | None:
        """Where the user's data stands, or ``None`` for one never seen."""

    def get(self, type_: type[T], id: str) -> T | None: ...

    def get_many(self, type_: type[T], ids: Sequence[str]) -> dict[str, T]: ...

    def find(
        self,
        type_: type[T],
        *where: Where,
        order: str = "id",
        limit: int | None = None,
        after: tuple[Any, str] | None = None,
    ) -> list[T]:
        """Rows that meet every condition. ``order`` is a column, ``-column`` for descending; the id breaks ties.

        ``after`` is the (order value, id) of the last row of the page before.
        """

    def count(self, type_: type[Any], *where: Where) -> int: ...

    def ids(self, type_: type[Any], *where: Where) -> set[str]: ...

    def stats(self) -> dict[str, Any]:
        """Counts and extremes for ``UserMemory.stats``; ``session_id`` narrows nothing here."""

    def entries_since(self, seq: int, limit: int) -> list[Entry]:
        """Index entries with a larger ``seq``, oldest first. A changed entry has a new ``seq``."""

    def entry_rows(self, seq: int, limit: int) -> EntryRows:
        """The same as columns: many at once, with no object for each."""

    def removed_since(self, seq: int) -> list[str] | None:
        """Ids of the index entries that were taken away after ``seq``; ``None`` when they are no longer all known.

        One of them may be there again: then it is among the entries since ``seq``, too.
        """

    def unembedded(self, model: str, limit: int) -> list[Entry]:
        """Entries that have no vector of ``model`` yet, newest first."""

    def nearest(self, kind: EntryKind, vector: Vectors, model: str, limit: int) -> list[tuple[str, float]]:
        """Exact: the ids of the closest entries of one kind with their cosine, best first."""

    def chain(self) -> Chain | None:
        """Where the user's audit log stands; ``None`` if there is neither a user nor a link."""

    def covered(self) -> bool:
        """Whether the user's row says that the audit log lists all rows; in a sealed store nobody else can say so."""

    def listed_rows(self) -> Iterator[ListedRow]:
        """Every row that the audit log should list, as it is now."""

    def links(self, after: int = 0, limit: int = 1000) -> list[Link]:
        """Links of the audit log with a larger number, oldest first."""

    def last_links(self, before: int | None = None, limit: int = 100) -> list[Link]:
        """The newest links, newest first; of those with a smaller number than ``before``, where given."""


class Transaction(Reader, Protocol):
    """Reads and writes of one user that become visible together, or not at all.

    Writers of the same user wait for each other, so a decision made on what was read here still holds at commit.
    Never do anything slow while one is open.
    """

    def put(self, *records: Any) -> None:
        """Insert or replace. A record with ``seq == 0`` gets the user's next number; creates the user if needed."""

    def add(self, record: Any) -> bool:
        """Insert only; ``False`` if the id, slot, external id or dedupe key is taken."""

    def remove(self, type_: type[Any], *ids: str) -> int:
        """Delete rows for good (and what the engine indexes of them). For forgetting, put a new status instead."""

    def clear(self, type_: type[Any]) -> None:
        """Delete every row of one type, to write them again under another key. Not a way to forget."""

    def index(self, *entries: Entry) -> None:
        """Insert or replace index entries. Each gets the user's next number."""

    def unindex(self, kind: EntryKind, *ids: str) -> None:
        """Take entries out of the index. Each that was there uses up the user's next number."""

    def embed(self, model: str, vectors: Mapping[tuple[EntryKind, str], bytes]) -> int:
        """Set vectors of entries that exist; how many were set."""

    def relist(self) -> None:
        """Everything of the user is written again in this transaction, and the audit log lists all rows from here."""

    def reseal(self) -> None:
        """Seal everything of the user with the newest key; nothing else about the rows changes."""

    def set_user(self, user: User) -> None:
        """Write time zone and settings; a larger ``seq`` is taken over: a restored user goes on counting there."""

    def witness(self, actor: str, verb: str, said: Mapping[str, Any]) -> None:
        """Write a link of the audit log beside the one that tells of this transaction's own changes.

        For a user who is not there, nothing is written: there was nothing to read.
        """


class AddressBook(Protocol):
    """One address on one channel, in one durable transaction. Writers of the same address wait for each other."""

    def holder(self) -> str | None:
        """The user whom the address belongs to."""

    def hold(self, user: str) -> None:
        """From now on it belongs to this user."""

    def release(self) -> None: ...

    def challenges(self) -> list[Challenge]:
        """What was sent to the address, oldest first."""

    def put(self, challenge: Challenge) -> None: ...

    def drop(self, *ids: str) -> None: ...


class Store(Protocol):
    """A place where everything is kept: SQLite, PostgreSQL, or the fake in memory."""

    @property
    def url(self) -> str: ...

    def reading(self, user: str, at: Revision | None = None) -> AbstractContextManager[Reader]:
        """A consistent view of one user.

        With ``at``, only if nothing has happened to the user since: else :class:`Moved` is raised, at the latest when
        the reading ends. A store that is far away then needs no transaction around the reads.
        """

    def writing(self, user: str) -> AbstractContextManager[Transaction]:
        """One durable transaction of one user; an exception undoes all of it."""

    def holder(self, channel: str, address: str) -> str | None:
        """The user whom an address belongs to: the one question that is asked before a user is known."""

    def address(self, channel: str, address: str) -> AbstractContextManager[AddressBook]:
        """One address, to claim or release it and to keep its challenges; an exception undoes all of it."""

    def rekey_addresses(self) -> int:
        """Replace addresses that stand in the clear by their stand-ins, once a store is sealed; how many."""

    def when_events(self, callback: Callable[[str, int], None] | None) -> None:
        """Call ``callback(user, seq)`` after each commit that wrote events of a user; ``seq`` is the last one's."""

    def when_touched(self, callback: Callable[[str, bool], None] | None) -> None:
        """Call ``callback(user, changed)`` when a user's data is about to be read, and when a transaction is done."""

    def chains(self, after: str = "", limit: int = 1000) -> list[Chain]:
        """Where the audit logs of users stand, by user."""

    def orphans(self, after: str = "", limit: int = 1000) -> list[Chain]:
        """Audit logs that no user's row belongs to: those of users who were erased."""

    def users(self, after: str = "", limit: int = 1000) -> list[str]:
        """User ids in order: for sweeps and operators."""

    def unlisted(self, first: str = "", limit: int = 1000) -> list[str]:
        """Users of an earlier release, whose audit log does not list their rows yet, in order; ``""``, the operator,
        may be among them. ``first`` is where to begin."""

    def lease(
        self, kinds: Sequence[str], now: datetime, until: datetime, limit: int, in_turn: Sequence[str] = ()
    ) -> list[Job]:
        """Take pending (or expired) jobs of one user and one kind; nobody else gets them before ``until``.

        Of a kind that is ``in_turn`` nothing more of a user is taken while something of it is leased.
        """

    def renew(self, job: Job, until: datetime) -> bool:
        """Keep a lease while its work goes on; ``False`` if it was lost."""

    def finish(self, job: Job) -> bool:
        """Write a leased job's end (status, error, result, run_at); ``False`` if the lease was lost (fenced)."""

    def mend_jobs(self, now: datetime, lease: timedelta, backoff: timedelta) -> int:
        """After a clock was set back: bring what lies in the future because of it back into reach; how many jobs.

        A lease further ahead than two ``lease`` is over, a retry further ahead than two ``backoff`` is due, and a job
        that was created more than a ``lease`` from now counts as created now, with the delay that it had.
        """

    def drop_old_jobs(self, before: datetime) -> int:
        """Delete jobs that were done or cancelled and are older; how many."""

    def jobs(self, status: str | None = None, user: str | None = None, limit: int = 100) -> list[Job]: ...

    def unfinished(self, kinds: Sequence[str], now: datetime, user: str | None = None) -> int:
        """How many jobs of these kinds are running, or pending and due."""

    def idle_sessions(self, before: datetime, limit: int) -> list[tuple[str, str]]:
        """(user, session id) of open sessions without a message since ``before``."""

    def erase_user(self, user: str) -> dict[str, int]:
        """Delete every row of the user, for good; how many per table.

        The audit log stays under the user's subject, ends with a link that says so, and its head goes into the
        operator's.
        """

    def fact(self, name: str) -> str | None:
        """Something that holds for the store as a whole, such as which keyring it is sealed with."""

    def set_fact(self, name: str, value: str) -> None: ...

    def check(self) -> list[str]:
        """What is wrong with the store, in words; empty when all is well."""

    def compact(self, *, thorough: bool = False) -> bool:
        """Leave no trace of deleted rows in the files; ``False`` where the engine cannot, or not now.

        ``thorough`` may keep everybody waiting for as long as it takes.
        """

    def close(self) -> None: ...


class Embedder(Protocol):
    @property
    def model(self) -> str:
        """Stored with every vector."""

    @property
    def dimension(self) -> int: ...

    @property
    def calibration(self) -> Calibration: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """(n, dimension), rows of length 1. Raises :class:`tenuto.errors.EmbedderError`."""


class MessageReader(Protocol):
    """Marks what is worth keeping in what a user says. It finds; validated code decides."""

    @property
    def model(self) -> str: ...

    def read(self, message: str, before: str | None = None) -> list[Mark]:
        """Marks of one message in order of their start; ``before`` is the assistant's turn that it answers."""

    def read_many(self, turns: Sequence[tuple[str, str | None]]) -> list[list[Mark]]:
        """The same for many (message, before). Raises :class:`tenuto.errors.ReaderError`."""


class Isolated(Protocol):
    """Runs pure functions on text from outside where they can be stopped without harm to anything else."""

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)``. It is a function of a module, its hints name plain types for all it takes and
        returns, and it needs no store and no clock. What it raises of Tenuto's errors is raised here; raises
        :class:`tenuto.errors.ReadingStopped` when it takes too long, or more memory than it may.
        """


class Tokens(Protocol):
    def count(self, text: str) -> int:
        """Tokens that ``text`` costs a model; may be a little too many, never too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model said, and what it cost."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    thinking: str | None = None


class Model(Protocol):
    """A language model. It proposes; validated code decides."""

    @property
    def name(self) -> str: ...

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        """One answer. ``schema`` asks for JSON of that shape. Raises :class:`tenuto.errors.ModelError`."""


class ChatModel(Model, Protocol):
    """A model that can also hold a conversation, in the form of a context that its own prompt cache likes best."""

    def chat(self, context: Context, *, max_tokens: int = 2048) -> Iterator[str]:
        """The answer as it comes, piece by piece. Raises :class:`tenuto.errors.ModelError`, also in the middle."""


class KeyedModel(Model, Protocol):
    """A model behind a key, which another key can take the place of."""

    @property
    def key_provider(self) -> str:
        """Under which name people keep their own key for it."""

    def with_key(self, key: str) -> Model:
        """The same model, paid for by someone else."""


class WorkingMemory(Protocol):
    """The last few messages of a user, fast and losable."""

    def append(self, user: str, message: Mapping[str, Any]) -> None: ...

    def recent(self, user: str) -> list[dict[str, Any]]: ...

    def channel(self, user: str) -> str | None:
        """Where the user was last heard."""

    def set(self, user: str, name: str, value: Any) -> None: ...

    def variables(self, user: str) -> dict[str, Any]: ...

    def drop(self, user: str) -> bool:
        """Forget everything of a user at once; ``False`` if that could not be done."""

    def close(self) -> None: ...


class Bus(Protocol):
    """Tells listeners that a user has new events, in this process and others. Carries no content, keeps nothing."""

    def publish(self, user: str, seq: int) -> None:
        """The user's newest event has this number. Returns at once; never raises."""

    def listen(self, user: str, heard: Callable[[], None]) -> Callable[[], None]:
        """Call ``heard`` (from any thread) whenever something was published of the user; a function that ends it."""

    def close(self) -> None: ...


class Vault(Protocol):
    """Seals what is content. The plain vault changes nothing."""

    @property
    def sealing(self) -> bool:
        """Whether anything is sealed at all."""

    def seal(self, user: str, place: str, revision: int, data: bytes, columns: bytes = b"") -> bytes:
        """``place`` names table, row and column; what is sealed for one place and revision opens in no other, nor with
        other ``columns`` beside it."""

    def open(self, user: str, place: str, revision: int, data: bytes, columns: bytes = b"") -> bytes: ...

    def key_number(self, data: bytes) -> int:
        """Of something sealed: the number of the key that it was sealed with; 0 where nothing is."""

    def renewed(self, user: str, number: int) -> None:
        """Something of the user is sealed with the key of this number: seal with no older one from now on."""

    def digest(self, user: str, data: bytes) -> bytes:
        """A short digest that the audit log lists; keyed with the user's own key where there are keys."""

    def blind(self, user: str, text: str) -> str:
        """A keyed stand-in for a value that must be comparable but not readable."""

    def index_key(self, user: str) -> bytes:
        """The key that word tokens are hashed with; empty when nothing is encrypted."""

    def sign(self, data: bytes) -> bytes:
        """The hash of a link of the audit log; its first byte says whether it is keyed."""
