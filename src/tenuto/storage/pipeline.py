"""Several statements in one trip to PostgreSQL.

psycopg sends a statement, waits for its answer, and sends the next: to begin a transaction, name its user and end it
takes longer than what is read in it. Here statements go out together (libpq's pipeline), each planned once for a
connection, and their answers come back together. The first that fails takes those behind it along, and its error is
raised as psycopg raises it. psycopg's own pipeline sends as few packets and takes twice and a half the processor time
(docs/figures.md).

After a ``ROLLBACK``, a ``DROP`` or an ``ALTER`` that went through psycopg it has PostgreSQL forget every plan, those
made here too: on these connections transactions end in here, and nothing changes the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import psycopg
from psycopg import errors, pq
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Ready, Wait

from tenuto.storage import queries
from tenuto.storage.engine import Row

PLANNED = 128
"""Statements that a connection keeps planned, a few more at times: beyond that it begins anew."""
Statement = tuple[str, Mapping[str, Any]]
"""SQL with ``:name`` parameters, and their values."""
_Plan = tuple[bytes, tuple[int, ...]]
_Send = Callable[[], None]
_AUTO, _BINARY = PyFormat.AUTO, pq.Format.BINARY
_FAILED, _END = pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_SYNC


class Pooled(psycopg.Connection[Any]):
    """A connection of the pool, which can take several statements along at once."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._adapting = Transformer(self)
        self._planned: dict[_Plan, bytes] = {}
        self._plans = 0

    def together(self, *statements: Statement) -> list[PGresult]:
        """Run them in this order, in one trip; outside of a transaction they are one. An answer for each."""
        if len(self._planned) > PLANNED:
            self.execute("DEALLOCATE ALL")
            self._planned.clear()
        return self._trip([self._sending(*statement) for statement in statements])

    def rows(self, answer: PGresult) -> list[Row]:
        """What a statement found."""
        self._adapting.set_pgresult(answer)
        return self._adapting.load_rows(0, answer.ntuples, tuple)

    def _sending(self, sql: str, parameters: Mapping[str, Any]) -> _Send:
        text, names = queries.numbered(sql)
        adapting = self._adapting
        values = adapting.dump_sequence([parameters[name] for name in names], [_AUTO] * len(names))
        plan = text, adapting.types or ()
        name = self._planned.get(plan) or self._plan(plan)
        return partial(self.pgconn.send_query_prepared, name, values, adapting.formats, _BINARY)

    def _plan(self, plan: _Plan) -> bytes:
        """The name of a statement that is planned now, in a trip of its own."""
        name = self._new_name()
        self._trip([partial(self.pgconn.send_prepare, name, *plan)])
        self._planned[plan] = name
        return name

    def _new_name(self) -> bytes:
        self._plans += 1
        return b"tenuto_%d" % self._plans

    def _trip(self, sends: Sequence[_Send]) -> list[PGresult]:
        wire = self.pgconn
        wire.enter_pipeline_mode()
        try:
            for send in sends:
                send()
            wire.pipeline_sync()
            answers = self.wait(_answers(wire))
            wire.exit_pipeline_mode()
        except BaseException:
            self.close()  # nobody knows what is still on its way
            raise
        for answer in answers:
            if answer.status == _FAILED:
                error = errors.error_from_result(answer, encoding=self.info.encoding)
                if isinstance(error, errors.InvalidSqlStatementName):
                    self.close()  # somebody between us and the server has forgotten the plans
                raise error
        return answers


def _answers(wire: PGconn) -> PQGen[list[PGresult]]:
    """Everything that comes back on a trip."""
    while wire.flush():
        if (yield Wait.RW) & Ready.R:
            wire.consume_input()
    answers: list[PGresult] = []
    between = False
    while True:
        while wire.is_busy():
            yield Wait.R
            wire.consume_input()
        answer = wire.get_result()
        if answer is None:
            if between:  # one comes after each answer, two where there is nobody to answer
                raise psycopg.OperationalError("the connection was lost")
            between = True
        elif answer.status == _END:
            return answers
        else:
            answers.append(answer)
            between = False
