"""A connection to PostgreSQL that an event loop talks over, and never waits at.

Questions go out as they come and the answers come back in the same order, many under way at once: nothing waits but
whoever asked. Each question is a trip of its own (:mod:`tenuto.storage.trip`), bound to its user, in a transaction of
its own. The line is a short cut and no more: whenever something is wrong with it, everybody who waits is told to take
the long way, where errors have names, and a new connection is made meanwhile.
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
_END, _FOUND = pq.ExecStatus.PIPELINE_SYNC, pq.ExecStatus.TUPLES_OK


class Wire(Pooled):
    """A connection that is written to without waiting for what comes back."""

    def post(self, *statements: Statement) -> bool:
        """Send a trip on its way. Whether all of it has left."""
        if self.pgconn.pipeline_status == pq.PipelineStatus.OFF:
            self.pgconn.enter_pipeline_mode()
        sends = [self._sending(*statement) for statement in statements]
        for send in sends:
            send()
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
        self._busy = self._closed = False
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
            if not self._wire.post(*self._bound(user), (sql, parameters)):
                self._loop.add_writer(self._socket, self._write)
        except psycopg.Error:
            self._drop()
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
        except (psycopg.Error, OSError):
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
                if answer.status == _END:
                    self._settle(self._wire)
                else:
                    self._answers.append(answer)
        except psycopg.Error:
            self._drop()

    def _settle(self, wire: Wire) -> None:
        """One trip is back."""
        answers, self._answers = self._answers, []
        found = [answer for answer in answers if answer.status == _FOUND]
        if len(found) != 3:
            raise psycopg.OperationalError("a statement failed")
        asked = self._asked.popleft()
        if not asked.answer.done():
            asked.answer.set_result(wire.rows(found[2]) if wire.rows(found[1]) == [asked.at] else None)

    def _write(self) -> None:
        """Send what did not leave at once."""
        try:
            if self._wire is not None and self._wire.pgconn.flush():
                return
        except psycopg.Error:
            self._drop()
        self._loop.remove_writer(self._socket)

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
