"""What is due becomes jobs, in the transaction of what made it due: neither is ever there without the other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tenuto.lifecycle.due import Due
from tenuto.ports import Ids, Transaction
from tenuto.records.operations import Job


def enqueue(ids: Ids, tx: Transaction, due: Iterable[Due], now: datetime) -> None:
    """Write jobs; one with the same dedupe key that still waits stands for both."""
    for one in due:
        tx.add(
            Job(
                id=ids("job", now),
                kind=one.kind,
                created_at=now,
                run_at=one.run_at,
                dedupe=one.dedupe or None,
                payload=one.payload,
            )
        )
