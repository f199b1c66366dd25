"""Coverage-guided fuzzing of one importer: ``python -m tests.reliability.fuzz FORMAT SECONDS FOLDER [broken]``.

Needs Atheris (``pip install --target build/fuzz/site atheris``). Starts from the tests' samples. An input that raises
anything but a clear error, takes more than a second of processor time or makes the process grow beyond its limit ends
the run with its bytes in FOLDER.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["tenuto.transfer"]):
    from tenuto.transfer.formats import registry
    from tenuto.transfer.formats.registry import load
from tests.transfer.test_fuzz import SAMPLES, survives

MEGABYTES = 256 + 160
"""What one importer may take, beside what Python and the tests' imports take themselves."""


def main() -> None:
    format, seconds, folder, broken = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:] == ["broken"]
    name, sample = SAMPLES[format]
    corpus, work = folder / "corpus", folder / "work"
    corpus.mkdir(parents=True, exist_ok=True)
    work.mkdir(exist_ok=True)
    (corpus / "sample").write_bytes(sample)
    load(format)

    def one(data: bytes) -> None:
        begun = time.process_time()
        if broken and b"\xff" in data:
            raise ValueError("on purpose")
        survives(work, name, data, format)
        if time.process_time() - begun > 1:
            raise TimeoutError(f"took {time.process_time() - begun:.1f} s")

    limits = [f"-max_total_time={seconds}", f"-rss_limit_mb={MEGABYTES}", "-timeout=30", "-max_len=20000"]
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={folder}/", "-print_final_stats=1", *limits], one)
    atheris.Fuzz()


if __name__ == "__main__":
    assert registry is not None
    main()
