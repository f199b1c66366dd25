"""The process in which text from outside is read: it answers one question at a time, until its input ends.

A question is the name of a pure function and what it takes; an answer what it returned or raised. Both go through
pipes as msgpack, decoded by the function's own hints, so that nothing that was read can make the other side run
anything. The process limits its own memory, and a timer of the kernel ends it when a question takes far too long, even
if whoever asked has gone and the interpreter is held by a pattern or a parser.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from datetime import tzinfo
from functools import lru_cache
from typing import IO, Any, NamedTuple, get_type_hints
from zoneinfo import ZoneInfo

import msgspec

from tenuto import errors

HOSTED = (
    "tenuto.text.",
    "tenuto.language.",
    "tenuto.ingest.extract.",
    "tenuto.transfer.formats.",
    "tenuto.providers.reader",
    "tenuto.testing.",
)
"""Where the functions stand that may be asked for."""
HEADER = 4
"""Bytes that say how long what follows is."""
READY, RETURNED, RAISED = "ready", "returned", "raised"


class Question(msgspec.Struct, array_like=True):
    module: str
    function: str
    values: msgspec.Raw
    seconds: float


class Answer(msgspec.Struct, array_like=True):
    outcome: str
    value: msgspec.Raw = msgspec.Raw(b"\xc0")
    error: str = ""
    message: str = ""
    code: str = ""


class Shape(NamedTuple):
    """How a function's values travel: the names of what it takes, and the types."""

    signature: inspect.Signature
    taken: msgspec.msgpack.Decoder[Any]
    returned: msgspec.msgpack.Decoder[Any]


@lru_cache(maxsize=256)
def shape(function: Callable[..., Any]) -> Shape:
    """What is known of a function by its hints; raises ``TypeError`` where one is missing."""
    signature, hints = inspect.signature(function), get_type_hints(function)
    missing = [name for name in (*signature.parameters, "return") if name not in hints]
    if missing:
        raise TypeError(f"{function.__qualname__} has no hints for {', '.join(missing)}")
    types = tuple(hints[name] for name in signature.parameters)
    taken = tuple.__class_getitem__(types)
    return Shape(
        signature,
        msgspec.msgpack.Decoder(taken, dec_hook=_decoded),
        msgspec.msgpack.Decoder(hints["return"], dec_hook=_decoded),
    )


def encode(value: object) -> bytes:
    """Plain values, records and time zones as msgpack."""
    return msgspec.msgpack.encode(value, enc_hook=_encoded)


def write(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(HEADER, "big") + data)
    stream.flush()


def read(stream: IO[bytes]) -> bytes | None:
    """What was written at the other end; ``None`` when it has gone."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    length = int.from_bytes(header, "big")
    data = stream.read(length)
    return data if len(data) == length else None


def main() -> None:
    """Answer until the input ends. What functions print goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    limit_memory(int(sys.argv[2]))
    write(answers, encode(Answer(READY)))
    questions = msgspec.msgpack.Decoder(Question)
    while (data := read(sys.stdin.buffer)) is not None:
        write(answers, answer(questions.decode(data)))


def limit_memory(limit: int) -> None:
    """No more address space than this, where the system can limit it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def answer(question: Question) -> bytes:
    """Carry out one question; whatever is raised is part of the answer."""
    _alarm(question.seconds)
    try:
        function = _find(question.module, question.function)
        known = shape(function)
        bound = known.signature.bind_partial()
        bound.arguments.update(zip(known.signature.parameters, known.taken.decode(question.values), strict=True))
        returned = encode(function(*bound.args, **bound.kwargs))
        return encode(Answer(RETURNED, msgspec.Raw(returned)))
    except Exception as error:  # noqa: BLE001 - it is raised again on the other side
        code = error.code if isinstance(error, errors.TenutoError) else ""
        return encode(Answer(RAISED, error=type(error).__name__, message=str(error)[:2000], code=code))
    finally:
        _alarm(0)


def raised(answer: Answer) -> Exception:
    """What a function raised, made again; what only the other side knows becomes a ``RuntimeError``."""
    known = getattr(errors, answer.error, None)
    if isinstance(known, type) and issubclass(known, errors.TenutoError) and known is not errors.BudgetTooSmall:
        return known(answer.message, code=answer.code)
    if answer.error == "MemoryError":
        return errors.ReadingStopped("Reading a text needed more memory than it may.")
    known = getattr(builtins, answer.error, None)
    if isinstance(known, type) and issubclass(known, (ValueError, TypeError, LookupError, ArithmeticError)):
        with contextlib.suppress(TypeError):  # UnicodeDecodeError wants five things
            return known(answer.message)
    return RuntimeError(f"{answer.error}: {answer.message}")


def _find(module: str, name: str) -> Callable[..., Any]:
    if not module.startswith(HOSTED):
        raise LookupError(f"{module} is not read in another process")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def _alarm(seconds: float) -> None:
    """The kernel ends this process after so many seconds; 0 calls it off."""
    with contextlib.suppress(ImportError, AttributeError):
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


def _encoded(value: object) -> object:
    if isinstance(value, ZoneInfo):
        return value.key
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be handed to another process")


def _decoded(type_: type, value: object) -> object:
    if isinstance(value, str) and type_ in (tzinfo, ZoneInfo):
        return ZoneInfo(value)
    raise TypeError(f"{type_} cannot be taken from another process")
