"""The reader on this machine: a small tagger in onnxruntime that marks what is worth keeping in a message.

Like the embedder it runs one text at a time (the activations are quantised while the model runs, so neighbours in a
batch would shift each other's numbers) and spreads many over a few threads: the same message has the same marks at
every time on this machine. A message longer than the model's window is read window by window, each after the same turn
of the assistant; what lies beyond the last window is not read, so that 64 KiB of rubbish cost what a long letter costs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tenuto.errors import ReaderError
from tenuto.providers.embed_pack import encodable
from tenuto.providers.reader_decode import Labels, decode, find_words, last_words, windows, word_tokens
from tenuto.providers.runtime import open_session
from tenuto.providers.spread import spread
from tenuto.records.reading import Mark

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer

MOST_WINDOWS = 16
"""About 3,200 tokens, or six pages; more is a paste that nobody said."""
CHARACTERS_PER_TOKEN = 16
START, END, UNKNOWN = 0, 2, 3
MANY_TOKENS, SHORTEST_TOKEN, MOST_UNKNOWN = 100, 2.0, 0.3


class Loaded(NamedTuple):
    session: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    labels: Labels


class LocalReader:
    """Marks of messages in English, German, Spanish, French and Portuguese."""

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """``folder`` holds ``model.onnx``, ``tokenizer.json`` and ``labels.json``; by default the installed pack's."""
        self.threads = max(1, threads if threads is not None else min(2, os.cpu_count() or 1))
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @property
    def model(self) -> str:
        return self._ready().labels.model

    def read(self, message: str, before: str | None = None) -> list[Mark]:
        """Marks of one message in order of their start; ``before`` is the assistant's turn that it answers."""
        return _read(self._ready(), message, before)

    def read_many(self, turns: Sequence[tuple[str, str | None]]) -> list[list[Mark]]:
        """The same for many (message, before), several at a time."""
        loaded = self._ready()
        return spread(lambda turn: _read(loaded, *turn), turns, self.threads, "tenuto-read")

    def _ready(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._folder or _pack_folder())
        return self._loaded


def _pack_folder() -> Path:
    try:
        import tenuto_reader
    except ImportError as error:
        raise ReaderError("the reader's weights are missing; install Tenuto again") from error
    return tenuto_reader.folder()


@lru_cache(maxsize=2)
def _load(folder: Path) -> Loaded:
    """The weights in memory: once for all stores of a program."""
    from tokenizers import Tokenizer  # imported on first use, as the runtime is

    try:
        session = open_session(folder / "model.onnx")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        labels = Labels.load(folder / "labels.json")
    except Exception as error:  # the runtime raises types of its own that share no root
        raise ReaderError(f"the reader in {folder} cannot be loaded ({error}); reinstall tenuto-reader") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Loaded(session, tokenizer, labels)


def _read(loaded: Loaded, message: str, before: str | None) -> list[Mark]:
    labels = loaded.labels
    shown = encodable(message[: MOST_WINDOWS * labels.message_tokens * CHARACTERS_PER_TOKEN])
    encoding = loaded.tokenizer.encode(shown, add_special_tokens=False)
    prefix = _prefix(loaded, before)
    words = find_words(shown)
    marks: list[Mark] = []
    for first, last in windows(shown, encoding.offsets, labels.message_tokens)[:MOST_WINDOWS]:
        tokens = encoding.offsets[first:last]
        if not is_language(tokens, encoding.ids[first:last]):
            continue
        inside = [word for word in words if tokens[0][0] <= word[0] < tokens[-1][1]]
        at = word_tokens(inside, tokens)
        if not at:
            continue
        ids = np.array([[*prefix, *encoding.ids[first:last], END]], dtype=np.int64)
        numbers = loaded.session.run(None, {"input_ids": ids})[0][0]
        marks += decode(shown, inside[: len(at)], numbers[[len(prefix) + place for place in at]], labels)
    return marks


def is_language(tokens: list[tuple[int, int]], ids: list[int]) -> bool:
    """Not where most signs are of scripts the model never saw, or a long stretch falls apart into single letters."""
    if not ids or ids.count(UNKNOWN) > MOST_UNKNOWN * len(ids):
        return False
    return len(ids) < MANY_TOKENS or tokens[-1][1] - tokens[0][0] >= SHORTEST_TOKEN * len(ids)


def _prefix(loaded: Loaded, before: str | None) -> list[int]:
    """What stands before the message's tokens: the end of the turn that it answers."""
    if not before or not before.strip():
        return [START]
    room = loaded.labels.before_tokens
    shown = encodable(before[-room * CHARACTERS_PER_TOKEN :])
    encoding = loaded.tokenizer.encode(shown, add_special_tokens=False)
    return [START, *encoding.ids[last_words(shown, encoding.offsets, room) :], END, END]
