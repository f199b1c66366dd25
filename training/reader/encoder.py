"""The encoder: container, graph and tokenizer, as packages/tenuto-e5 has them for its own pack."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "packages" / "tenuto-e5" / "encoder"))

from container import decode, read_wheel
from graph import build
from pieces import make_tokenizer

__all__ = ["build", "decode", "make_tokenizer", "read_wheel"]
