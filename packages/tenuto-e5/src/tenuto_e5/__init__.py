"""multilingual-e5-small, int8 ONNX: two files and where to find them.

Use: `query: ` or `passage: ` before the text, at most `MAX_TOKENS` tokens, mean over the tokens, length 1.
"""

from pathlib import Path
from typing import Final

__all__ = ["DIMENSION", "MAX_TOKENS", "MODEL_NAME", "model_path", "tokenizer_path"]

MODEL_NAME: Final = "multilingual-e5-small-int8"
DIMENSION: Final = 384
MAX_TOKENS: Final = 512

_DATA = Path(__file__).parent / "data"


def model_path() -> Path:
    """The ONNX file: `input_ids` of one text to the states of its tokens."""
    return _DATA / "model.onnx"


def tokenizer_path() -> Path:
    """For the `tokenizers` library."""
    return _DATA / "tokenizer.json"
