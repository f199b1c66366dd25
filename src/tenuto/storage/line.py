"""A connection to PostgreSQL that an event loop talks over, and never waits at.

The questions of one turn of the loop go out together, and the answers come back in the same order, while others are
under way: nothing waits but whoever asked. Before each question PostgreSQL is told whom it is about, and with each
answer comes where that user's data stands. The line is a short cut and no more: whenever something is wrong with it,
everybody who waits is told to take the long way, where errors have names, and a new connection is made meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGresult

from tenuto.records.scope import Revision
from tenuto.storage.engine import Row
from tenuto.storage.trip import Pooled, Statement

LONGEST = 10.0
"""Seconds after which an answer is not waited for any more."""
PAUSE = 1.0
"""Seconds until a connection that failed is made anew."""
Rows = asyncio.Future[list[Row] | None]
_PLANNED, _FOUND, _END = pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.PIPELINE_SYNC


class Wire(Pooled):
    """A connection that is written to without waiting for what comes back."""

    def post(self, *statements: Statement) -> None:
        """Put statements on the way; they leave with :meth:`leave`."""
        if self.pgconn.pipeline_status == pq.PipelineStatus.OFF:
            self.pgconn.enter_pipeline_mode()
        for send in [self._sending(*statement) for statement in statements]:
            send()

    def leave(self) -> bool:
        """Send what was put on the way, one transaction. Whether all of it has left."""
        self.pgconn.pipeline_sync()
        return not self.pgconn.flush()

    def _plan(self, plan: tuple[bytes, tuple[int, ...]]) -> bytes:
        """Planned on the same trip. Should that fail, so does the trip, and the line is made anew."""
        name = self._planned[plan] = self._new_name()
        self.pgconn.send_prepare(name, *plan)
        return name


class _Asked(NamedTuple):
    answer: Rows
    at: Revision
    since: float


class Line:
    """Statements about users to whom nothing has happened since, from one event loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connect: Callable[[], Wire],
        bound: Callable[[str], tuple[Statement, Statement]],
    ) -> None:
        self._loop, self._connect, self._bound = loop, connect, bound
        self._wire: Wire | None = None
        self._socket = -1
        self._asked: deque[_Asked] = deque()
        self._answers: list[PGresult] = []
        self._busy = self._closed = self._leaving = False
        self._again = 0.0
        self._watch: asyncio.TimerHandle | None = None

    @property
    def ready(self) -> bool:
        """Whether it can be asked; if not, it is being connected now."""
        if self._wire is not None:
            return True
        if not (self._busy or self._closed) and time.monotonic() >= self._again:
            self._busy = True
            self._loop.run_in_executor(None, self._connect).add_done_callback(self._connected)
        return False

    def ask(self, user: str, at: Revision, sql: str, parameters: Mapping[str, Any]) -> Rows:
        """The rows; ``None`` where something has happened to the user since, or with the line."""
        answer: Rows = self._loop.create_future()
        if self._wire is None:
            answer.set_result(None)
            return answer
        self._asked.append(_Asked(answer, at, time.monotonic()))
        try:
            self._wire.post(*self._bound(user), (sql, parameters))
        except Exception:  # noqa: BLE001 - whatever it is, nobody knows what is on its way now
            self._drop()
            return answer
        if not self._leaving:
            self._leaving = True
            self._loop.call_soon(self._leave)
        if self._watch is None:
            self._watch = self._loop.call_later(LONGEST, self._look_after)
        return answer

    def close(self) -> None:
        self._closed = True
        self._drop()
        if self._watch is not None:
            self._watch.cancel()

    def _connected(self, made: asyncio.Future[Wire]) -> None:
        self._busy = False
        try:
            wire = made.result()
        except (psycopg.Error, OSError, asyncio.CancelledError):
            self._again = time.monotonic() + PAUSE
            return
        if self._closed:
            wire.close()
            return
        self._wire, self._socket = wire, wire.pgconn.socket
        try:
            self._loop.add_reader(self._socket, self._read)
        except NotImplementedError:  # an event loop that cannot watch a socket
            self._wire, self._closed = None, True
            wire.close()

    def _leave(self) -> None:
        """Everybody who asks in this turn of the loop has asked."""
        self._leaving = False
        try:
            if self._wire is not None and not self._wire.leave():
                self._loop.add_writer(self._socket, self._write)
        except psycopg.Error:
            self._drop()

    def _read(self) -> None:
        if self._wire is None:
            return
        wire, between = self._wire.pgconn, False
        try:
            wire.consume_input()
            while self._asked and not wire.is_busy():
                answer = wire.get_result()
                if answer is None:
                    if between:  # one comes after each answer, two where there is nobody to answer
                        raise psycopg.OperationalError("the connection was lost")
                    between = True
                    continue
                between = False
                self._take(self._wire, answer)
        except Exception:  # noqa: BLE001 - a lost connection, a statement that failed, a value that cannot be read
            self._drop()

    def _take(self, wire: Wire, answer: PGresult) -> None:
        """What came back: of each question three answers count, its user, where their data stands, and the rows.

        Where the data of two users stands is never the same: an answer cannot pass for another's.
        """
        if answer.status in (_PLANNED, _END):
            return
        if answer.status != _FOUND:
            raise psycopg.OperationalError("a statement failed")
        self._answers.append(answer)
        if len(self._answers) == 3:
            (_, at, rows), self._answers = self._answers, []
            asked = self._asked[0]
            found = wire.rows(rows) if wire.rows(at) == [asked.at] else None
            self._asked.popleft()
            if not asked.answer.done():
                asked.answer.set_result(found)

    def _write(self) -> None:
        """Send what did not leave at once."""
        try:
            if self._wire is not None and not self._wire.pgconn.flush():
                self._loop.remove_writer(self._socket)
        except psycopg.Error:
            self._drop()

    def _look_after(self) -> None:
        """Nobody waits for ever, even if the other side has gone without a word."""
        self._watch = None
        if not self._asked:
            return
        waited = time.monotonic() - self._asked[0].since
        if waited >= LONGEST:
            self._drop()
        else:
            self._watch = self._loop.call_later(LONGEST - waited, self._look_after)

    def _drop(self) -> None:
        """Give the connection up, and send everybody who waits the long way."""
        wire, self._wire = self._wire, None
        if wire is not None:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            wire.close()
        self._again = time.monotonic() + PAUSE
        waiting, self._asked, self._answers = self._asked, deque(), []
        for asked in waiting:
            if not asked.answer.done():
                asked.answer.set_result(None)
