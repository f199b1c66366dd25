"""Embeddings on this machine: the MiniLM pack in onnxruntime. No key, no server, no network.

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
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import tenuto_minilm

from tenuto.errors import EmbedderError
from tenuto.policy import Calibration
from tenuto.providers import embed_pack
from tenuto.providers.system import silence_onnxruntime

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


class LocalEmbedder:
    """all-MiniLM-L6-v2, int8: mean over the tokens, length 1, the first 256 tokens of a text."""

    def __init__(
        self, *, threads: int | None = None, calibration: Calibration | None = None, remember: int = REMEMBERED
    ) -> None:
        """``threads``: texts embedded at the same time (default: 2, or 1 on a single core)."""
        self.threads = max(1, threads if threads is not None else min(2, os.cpu_count() or 1))
        self._calibration = calibration or MINILM
        self._lock = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None
        self._remember = remember
        self._recent: OrderedDict[bytes, Vectors] = OrderedDict()

    @property
    def model(self) -> str:
        return tenuto_minilm.MODEL_NAME

    @property
    def dimension(self) -> int:
        return tenuto_minilm.DIMENSION

    @property
    def calibration(self) -> Calibration:
        return self._calibration

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """One row per text. A query is embedded like any text: the model has no prefixes."""
        session = self._loaded()
        vectors = self._known(texts)
        missing = sorted(set(texts) - vectors.keys(), key=len, reverse=True)  # long ones first: workers end together
        if len(missing) <= 1 or self.threads == 1:
            fresh = {text: _vector(session, text) for text in missing}
        else:
            with ThreadPoolExecutor(min(self.threads, len(missing)), "tenuto-embed") as pool:
                fresh = dict(zip(missing, pool.map(lambda text: _vector(session, text), missing), strict=True))
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
                    self._session = _load()
        return self._session


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _load() -> onnxruntime.InferenceSession:
    silence_onnxruntime()
    # Imported on first use: loading the runtime and the model is the slow part of a start.
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # parallel over texts, see above; also no spinning threads between calls
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # every length is another shape
    options.log_severity_level = 3
    path = str(tenuto_minilm.model_path())
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime raises types of its own that share no root
        raise EmbedderError(f"the model in {path} cannot be loaded ({error}); reinstall tenuto-minilm") from error


def _vector(session: onnxruntime.InferenceSession, text: str) -> Vectors:
    ids = _token_ids(text)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, inputs)[0][0]
    mean: Vectors = hidden.mean(axis=0, dtype=np.float32)
    return mean / np.linalg.norm(mean)


def _token_ids(text: str) -> npt.NDArray[np.int64]:
    room = tenuto_minilm.MAX_TOKENS - 2
    shown = embed_pack.encodable(text[: room * CHARACTERS_PER_TOKEN])
    ids = embed_pack.tokenizer().encode(shown, add_special_tokens=False).ids[:room]
    return np.array([[CLS, *ids, SEP]], dtype=np.int64)
