"""Time per KB of everything that reads text from outside, with grown inputs: ``python -m tests.reliability.linear``.

Every pattern of the standard library's that is left in a module, every reader and every importer gets texts of 1, 4, 16
and 64 KB: alphabets, and tokens of the patterns' own, said over and over. What takes clearly more than four times as
long for four times the text is named, and the run fails. Processor time is compared, the least of three measurements.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import tenuto
from tenuto.errors import InputError
from tenuto.ingest.extract.exchange import Exchange
from tenuto.ingest.extract.propositions import propositions
from tenuto.language.detect import language_of
from tenuto.language.echoes import without_injected
from tenuto.language.mentions import EMPTY
from tenuto.language.own_words import own_words
from tenuto.language.people import in_turn
from tenuto.language.sentences import read, spans
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role
from tenuto.text import html, mail, replies
from tenuto.text.words import tokens

SIZES = (1024, 4096, 16384, 65536)
SMALL = SIZES[:3]
GROWTH = 9.0
"""Times as long for four times the text: 4 is linear, 16 is quadratic."""
NOTICED = 0.02
"""Seconds below which nothing is held against a reader: noise, and no harm."""
LIMIT = 20
"""Seconds after which one measurement counts as hanging."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ALPHABETS = (
    " ", "\n", "a", "A", "1", ".", ",", "-", "'", '"', "(", "<", ">", "&", "=", "_", "é", "東", "a ", "A ", "a.",
    "a.b.", "1 ", "1.", "a, ", "A. ", "I generally ", "\n\n", "\r\n", " \n", "> ", "<div ", "<a href=", "<!--", "&#",
    "[x](", "``", "```\n", "http://a/", "a@b.", "From: a\n", "-----Forwarded ", "On Mon ", "my brother ",
    "is allergic to ", "and ", "not ", "der ", "mi ", "je ", "eu ",
)  # fmt: skip
"""What texts are made of, beside the patterns' own tokens."""


BOUNDED = frozenset({"tenuto.language.wishes._OTHER_LANGUAGES"})
"""Patterns that are only held against a sentence of at most ``wishes.LONGEST`` characters."""
ANCHORED = frozenset({"tenuto.providers.model_openai._THINK"})
"""Patterns that are only held against the beginning of a text."""


class Hangs(BaseException):
    """One measurement took longer than the limit."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def over(number: int, frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def seconds(run: Callable[[str], object], text: str) -> float:
    """Processor time of one reading; infinite where it hangs."""
    begun = time.thread_time()
    try:
        with limited(), contextlib.suppress(InputError):
            run(text)
    except Hangs:
        return float("inf")
    return time.thread_time() - begun


def grown(token: str, size: int) -> str:
    """A text that never comes to what a pattern waits for at its end."""
    return (token * (size // len(token) + 1))[:size] + "\x01"


def too_slow(run: Callable[[str], object], token: str, sizes: tuple[int, ...]) -> str | None:
    """In words how the time grows, or ``None`` where it is linear."""
    last = seconds(run, grown(token, sizes[0]))
    for size in sizes[1:]:
        text = grown(token, size)
        now = seconds(run, text)
        if now > max(NOTICED, GROWTH * last):
            now = min(now, seconds(run, text), seconds(run, text))
            last = min(last, seconds(run, text[: size // 4])) if now < float("inf") else last
        if now > max(NOTICED, GROWTH * last):
            return f"{size // 4 / 1024:g} KB {last * 1000:.1f} ms, {size // 1024} KB {now * 1000:.1f} ms"
        last = now
    return None


# --- patterns ---------------------------------------------------------------------------------------------------------


def kept_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every pattern of the standard library's that a module keeps, also inside of its tables."""
    for info in pkgutil.walk_packages(tenuto.__path__, "tenuto."):
        if info.name.endswith("__main__") or ".testing" in info.name:
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            for pattern in _inside(value):
                if isinstance(pattern.pattern, str):
                    yield f"{info.name}.{name}", pattern


def _inside(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _inside(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _inside(one)


def own_tokens(pattern: str) -> list[str]:
    """Words that stand in a pattern, each with what may stand between them."""
    words = dict.fromkeys(re.findall(r"[^\W\d_]{2,}", re.sub(r"\\.|\(\?\S", " ", pattern)))
    return [f"{word} " for word in list(words)[:12]] + [" ".join(list(words)[:3]) + " "] * (len(words) > 2)


def _all(pattern: re.Pattern[str], text: str) -> object:
    return list(pattern.finditer(text))


def slow_patterns(sizes: tuple[int, ...]) -> Iterator[str]:
    seen: set[tuple[str, int]] = set()
    for name, pattern in kept_patterns():
        if (pattern.pattern, pattern.flags) in seen or name in BOUNDED:
            continue
        seen.add((pattern.pattern, pattern.flags))
        for token in (*ALPHABETS, *own_tokens(pattern.pattern)):
            run = partial(_all, pattern) if name not in ANCHORED else pattern.match
            if (how := too_slow(run, token, sizes)) is not None:
                yield f"{name} {pattern.pattern[:60]!r} on {token!r}: {how}"
                break


# --- readers and importers --------------------------------------------------------------------------------------------


def _read(text: str) -> object:
    message = Message(id="m", session_id="s", role=Role.USER, content=text, at=NOW, channel="api")
    return propositions(Exchange(message=message), [], MemoryPolicy())


READERS: dict[str, Callable[[str], object]] = {
    "own_words": own_words,
    "without_injected": without_injected,
    "language_of": language_of,
    "sentences": read,
    "spans": spans,
    "people": lambda text: in_turn(text, EMPTY),
    "propositions": _read,
    "tokens": tokens,
    "html": html.to_text,
    "replies": replies.split,
    "mail": lambda text: mail.read(f"From: a@example.org\n\n{text}".encode()),
    "mail's head": lambda text: mail.read(f"From: {text}\nSubject: {text}\n\nhello".encode()),
    "mail in HTML": lambda text: mail.read(f"Content-Type: text/html\n\n<p>{text}".encode()),
}


def importers(folder: Path) -> dict[str, Callable[[str], object]]:
    from tests.transfer.test_fuzz import SAMPLES, survives

    def importer(format: str) -> Callable[[str], object]:
        name, sample = SAMPLES[format]

        def run(text: str) -> object:
            middle = len(sample) // 2
            survives(folder, name, sample[:middle] + text.encode() + sample[middle:], format)
            survives(folder, name, sample + text.encode(), format)
            return None

        return run

    return {f"import {format}": importer(format) for format in SAMPLES}


def slow_readers(readers: dict[str, Callable[[str], object]], sizes: tuple[int, ...]) -> Iterator[str]:
    for name, run in readers.items():
        for token in ALPHABETS:
            if (how := too_slow(run, token, sizes)) is not None:
                yield f"{name} on {token!r}: {how}"


def main() -> None:
    sizes = SMALL if "--small" in sys.argv else SIZES
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for words in (
            *slow_patterns(sizes),
            *slow_readers(READERS, sizes),
            *slow_readers(importers(Path(folder)), sizes),
        ):
            print(words, flush=True)
            found += 1
    sys.exit(f"{found} take more than linear time" if found else 0)


if __name__ == "__main__":
    main()
