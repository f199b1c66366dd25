"""The model pack's tokenizer, loaded once: the embedder cuts text with it, the token counter counts."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_lock = threading.Lock()
_tokenizer: Tokenizer | None = None


def tokenizer() -> Tokenizer:
    """Without truncation or padding, and safe to use from many threads."""
    global _tokenizer
    if _tokenizer is None:
        with _lock:
            if _tokenizer is None:
                _tokenizer = _load()
    return _tokenizer


def encodable(text: str) -> str:
    """``text`` with what UTF-8 cannot hold (lone surrogates) replaced, as the tokenizer takes nothing else."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _load() -> Tokenizer:
    # Imported on first use: `import tenuto` stays fast, and nobody pays who embeds elsewhere.
    import tenuto_minilm
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(tenuto_minilm.tokenizer_path()))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded
