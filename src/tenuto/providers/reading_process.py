"""Text from outside is read in a process of its own, started when first needed and used again for every text.

A text that keeps the reader busy for too long, or takes too much memory, costs that process and nothing else: it is
ended and the next text gets a new one. All stores of a program share one, because nothing is kept in it. Where none can
be started (no interpreter to start, a system that forbids it) texts are read in this process, and that is logged once.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

import msgspec

from tenuto.errors import ReadingStopped
from tenuto.policy import ReadingPolicy
from tenuto.ports import P, T
from tenuto.providers import reading_child as child

START_SECONDS = 60.0
"""A machine under load may take this long to start an interpreter."""
GRACE_SECONDS = 5.0
"""So much later than its deadline a process ends itself, should nobody be left to do it."""
BOOT = "import json,sys;sys.path[:]=json.loads(sys.argv[1]);from tenuto.providers.reading_child import main;main()"

_log = logging.getLogger(__name__)
_answers = msgspec.msgpack.Decoder(child.Answer)


class ReadingProcess:
    """One process that reads, behind a lock: whoever asks meanwhile waits."""

    def __init__(self, policy: ReadingPolicy) -> None:
        self._policy = policy
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cannot_start = False

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)`` in the other process."""
        if not function.__module__.startswith(child.HOSTED):
            raise ValueError(f"{function.__module__} is not read in another process")
        known = child.shape(function)
        bound = known.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        seconds = self._policy.timeout.total_seconds()
        values = msgspec.Raw(child.encode(list(bound.arguments.values())))
        question = child.Question(function.__module__, function.__qualname__, values, seconds + GRACE_SECONDS)
        with self._lock:
            process = self._ready()
            if process is None:
                return function(*args, **kwargs)
            answer = self._ask(process, child.encode(question), seconds)
        if answer.outcome == child.RAISED:
            raise child.raised(answer)
        found: T = known.returned.decode(answer.value)
        return found

    def close(self) -> None:
        """End the process; the next text starts another."""
        with self._lock:
            self._end()

    @property
    def pid(self) -> int | None:
        """The process that reads now, for whoever watches over it."""
        return self._process.pid if self._process is not None else None

    def _ready(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None and not self._cannot_start:
            self._process = self._start()
        return self._process

    def _start(self) -> subprocess.Popen[bytes] | None:
        problem = "there is no interpreter to start" if not sys.executable or getattr(sys, "frozen", False) else ""
        if not problem:
            command = [sys.executable, "-c", BOOT, json.dumps(sys.path), str(self._policy.memory_bytes)]
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                problem = str(error)
            else:
                if self._exchange(process, None, START_SECONDS) is not None:
                    return process
                problem = "it ended before it was ready"
                _reap(process)
        self._cannot_start = True
        _log.warning("Text is read in this process, where nothing limits its time: no other could start (%s).", problem)
        return None

    def _ask(self, process: subprocess.Popen[bytes], question: bytes, seconds: float) -> child.Answer:
        answer = self._exchange(process, question, seconds)
        if answer is None:
            self._end()
            raise ReadingStopped(
                f"Reading a text took longer than {seconds:g} seconds, or more memory than it may: the process that "
                "read it was ended."
            )
        return answer

    def _exchange(
        self, process: subprocess.Popen[bytes], question: bytes | None, seconds: float
    ) -> child.Answer | None:
        """The answer, or ``None`` if the process ended; it is ended when the time is up."""
        watch = threading.Timer(seconds, process.kill)
        watch.daemon = True
        watch.start()
        try:
            if question is not None:
                child.write(_pipe(process.stdin), question)
            data = child.read(_pipe(process.stdout))
        except OSError:
            return None
        finally:
            watch.cancel()
        return None if data is None else _answers.decode(data)

    def _end(self) -> None:
        if self._process is not None:
            _reap(self._process)
            self._process = None

    def forked(self) -> None:
        """After a fork the process belongs to the parent, and whoever held the lock is not here."""
        self._lock = threading.Lock()
        _others.append(self._process)
        self._process = None


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        try:
            _pipe(stream).close()
        except OSError:  # what was written could not be sent any more
            continue
    process.wait()


_shared: dict[ReadingPolicy, ReadingProcess] = {}
_shared_lock = threading.Lock()
_others: list[subprocess.Popen[bytes] | None] = []
"""Processes of the parent's: kept, because whoever drops one waits for it."""


def reading_process(policy: ReadingPolicy) -> ReadingProcess:
    """The process of this program for one policy; every store of it shares it."""
    with _shared_lock:
        return _shared.setdefault(policy, ReadingProcess(policy))


@atexit.register
def _close_all() -> None:
    for process in _shared.values():
        process.close()


def _after_fork() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for process in _shared.values():
        process.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
