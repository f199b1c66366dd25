"""all-MiniLM-L6-v2, int8 ONNX: two files and where to find them.

Use: mean pooling over the attention mask, L2-normalised, at most `MAX_TOKENS` tokens.
"""

from pathlib import Path
from typing import Final

__all__ = ["DIMENSION", "MAX_TOKENS", "MODEL_NAME", "model_path", "tokenizer_path"]

MODEL_NAME: Final = "all-MiniLM-L6-v2-int8"
DIMENSION: Final = 384
MAX_TOKENS: Final = 256

_DATA = Path(__file__).parent / "data"


def model_path() -> Path:
    """The ONNX file (22,972,370 bytes)."""
    return _DATA / "model_quantized.onnx"


def tokenizer_path() -> Path:
    """For the `tokenizers` library. Override its truncation and padding settings, which vary with the source."""
    return _DATA / "tokenizer.json"
