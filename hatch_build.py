"""The build of Tenuto's wheel and source archive: both carry the weights of the embedding model and of the reader.

Whoever installs Tenuto then has all that it needs to run, from one file. What would break it: a file with another hash,
which stops the build.
"""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WeightsHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        packages = Path(self.root) / "packages"
        minilm = packages / "tenuto-minilm"
        runpy.run_path(str(minilm / "obtain.py"))["obtain"](minilm / "src" / "tenuto_minilm" / "data")
        verify(packages / "tenuto-reader" / "src" / "tenuto_reader")


def verify(package: Path) -> None:
    """Stop unless the reader's files, which lie in the repository, are the ones that its package names."""
    for name, wanted in runpy.run_path(str(package / "__init__.py"))["SHA256"].items():
        path = package / "data" / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no such file"
        if found != wanted:
            raise RuntimeError(f"tenuto: {path}: {found}, expected SHA-256 {wanted}")
