"""The reader's weights: three files and where to find them.

``model.onnx`` (int8), ``tokenizer.json`` (for the `tokenizers` library) and ``labels.json`` (what the numbers mean).
"""

from pathlib import Path

__all__ = ["SHA256", "folder"]

SHA256 = {
    "model.onnx": "287e14d9efdaad634b4c6d144bd65e9bc64ae81a63dd922319a14597235feae8",
    "tokenizer.json": "2b661712a91c72f61577811d9dc2a4fd625835fb4f22794dd76c3d7791624f9c",
    "labels.json": "42e6c625f2ae889d923deae07005e1268156ea5ecbd1a1d925a3a97b16897d54",
}
"""What the files are, by their hashes."""


def folder() -> Path:
    """Where the three files lie."""
    return Path(__file__).parent / "data"
