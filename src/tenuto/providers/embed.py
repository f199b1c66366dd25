"""Embeddings on this machine: a model pack in onnxruntime. No key, no server, no network.

**One text per run, never a batch.** The weights are int8 and the activations are quantised while the model runs, with
one range for the whole input tensor. In a batch every text therefore shifts the range of its neighbours: over 600
chat turns the cosine between a text embedded alone and in a batch of 8, 16 or 32 was 0.992 on average and 0.977 at
worst, and sorting into batches of equal length (no padding at all) did not help. Alone, the difference between runs,
threads and thread counts is exactly 0, so the same text has the same vector at every time on this machine.

It costs some speed: in one run on one thread, 146 chat turns per second alone against 161–177 in batches. Many texts
are spread over ``threads`` workers that each run one at a time with the GIL released, so a second core almost doubles
it (137–142 turns per second with one thread, 268–272 with two).

The last few texts are remembered by their digest: a chat asks with the very message that it just kept and embeds in the
background, which would be three runs of the model for one text.

Not measured: another CPU family, whose int8 instructions may round differently.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import tenuto_minilm

from tenuto.errors import EmbedderError
from tenuto.policy import Calibration
from tenuto.providers import embed_pack
from tenuto.providers.runtime import open_session
from tenuto.providers.spread import spread

if TYPE_CHECKING:
    import onnxruntime

Vectors = npt.NDArray[np.float32]

# Words beyond the model's last token cannot change the vector; more characters than this are not even tokenised.
CHARACTERS_PER_TOKEN = 32
CLS, SEP = 101, 102
REMEMBERED = 64
"""Texts whose vector is at hand when they come again."""


MINILM = Calibration(reinforce=0.78, upgrade=0.86, anchor=0.60, floor=0.30, related=0.45)
"""Found with ``python -m bench.extraction calibrate``; docs/calibration.md shows the evidence."""


class Pack(Protocol):
    """A model that lies on this machine, and how to run it."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def calibration(self) -> Calibration: ...

    def load(self) -> onnxruntime.InferenceSession:
        """Raises :class:`tenuto.errors.EmbedderError`."""

    def shown(self, text: str, *, query: bool) -> str:
        """The text as the model wants to see it."""

    def vector(self, session: onnxruntime.InferenceSession, text: str) -> Vectors: ...


class MiniLM:
    """all-MiniLM-L6-v2, int8: mean over the tokens, length 1, the first 256 tokens of a text."""

    model = tenuto_minilm.MODEL_NAME
    dimension = tenuto_minilm.DIMENSION
    calibration = MINILM

    def load(self) -> onnxruntime.InferenceSession:
        return load_pack(tenuto_minilm.model_path(), "tenuto-minilm")

    def shown(self, text: str, *, query: bool) -> str:
        """A query is embedded like any text: the model has no prefixes."""
        return text

    def vector(self, session: onnxruntime.InferenceSession, text: str) -> Vectors:
        room = tenuto_minilm.MAX_TOKENS - 2
        shown = embed_pack.encodable(text[: room * CHARACTERS_PER_TOKEN])
        found = embed_pack.tokenizer().encode(shown, add_special_tokens=False).ids[:room]
        ids = np.array([[CLS, *found, SEP]], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return mean_vector(session.run(None, inputs)[0][0])


class LocalEmbedder:
    """The vectors of a pack, by default MiniLM's."""

    def __init__(
        self,
        pack: Pack | None = None,
        *,
        threads: int | None = None,
        calibration: Calibration | None = None,
        remember: int = REMEMBERED,
    ) -> None:
        """``threads``: texts embedded at the same time (default: 2, or 1 on a single core)."""
        self._pack: Pack = pack or MiniLM()
        self.threads = max(1, threads if threads is not None else min(2, os.cpu_count() or 1))
        self._calibration = calibration or self._pack.calibration
        self._lock = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None
        self._remember = remember
        self._recent: OrderedDict[bytes, Vectors] = OrderedDict()

    @property
    def model(self) -> str:
        return self._pack.model

    @property
    def dimension(self) -> int:
        return self._pack.dimension

    @property
    def calibration(self) -> Calibration:
        return self._calibration

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """One row per text; ``query`` matters to a model that tells questions from what is searched."""
        session = self._loaded()
        texts = [self._pack.shown(text, query=query) for text in texts]
        vectors = self._known(texts)
        missing = sorted(set(texts) - vectors.keys(), key=len, reverse=True)  # long ones first: workers end together
        made = spread(lambda text: self._pack.vector(session, text), missing, self.threads, "tenuto-embed")
        fresh = dict(zip(missing, made, strict=True))
        self._keep(fresh)
        vectors |= fresh
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = vectors[text]
        return rows

    def _known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        with self._lock:
            found = ((text, self._recent.get(_digest(text))) for text in texts) if self._recent else ()
            return {text: vector for text, vector in found if vector is not None}

    def _keep(self, fresh: dict[str, Vectors]) -> None:
        with self._lock:
            for text, vector in list(fresh.items())[: self._remember]:
                self._recent[_digest(text)] = vector
            while len(self._recent) > self._remember:
                self._recent.popitem(last=False)

    def _loaded(self) -> onnxruntime.InferenceSession:
        if self._session is None:
            with self._lock:
                if self._session is None:
                    self._session = self._pack.load()
        return self._session


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def load_pack(path: Path, pack: str) -> onnxruntime.InferenceSession:
    try:
        return open_session(path)
    except Exception as error:  # the runtime raises types of its own that share no root
        raise EmbedderError(f"the model in {path} cannot be loaded ({error}); reinstall {pack}") from error


def mean_vector(hidden: Vectors) -> Vectors:
    mean: Vectors = hidden.mean(axis=0, dtype=np.float32)
    return mean / np.linalg.norm(mean)
