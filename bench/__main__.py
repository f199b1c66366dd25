"""All benches, one after another, in their quick form: ``python -m bench [NAME …]`` or ``make bench``.

Each bench is a package with a ``__main__`` that prints its figures and takes options of its own for the full form
(``python -m bench.NAME --help``). Those that need evaluation data read it from ``--data`` or ``TENUTO_BENCH_DATA`` and
are left out, with a word about it, where there is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
QUICK: dict[str, list[list[str]]] = {
    "foundation": [["--quick"]],
    "encryption": [["--messages", "800", "--calls", "150"]],
    "gate": [["--messages", "150", "--rounds", "40"]],
    "lifecycle": [["cost", "--messages", "500", "--step", "100"]],
    "server": [
        [
            "--seconds",
            "3",
            "--clients",
            "8",
            "--users",
            "10",
            "--messages",
            "50",
            "--processes",
            "1",
            "--stores",
            "sqlite",
        ]
    ],
    "proxy": [["--messages", "200", "--requests", "40"]],
    "cache": [["--turns", "5", "--conversations", "1"]],
    "sync": [["--messages", "20"]],
}
"""Arguments of the quick form, one list per run; a bench that is not named here runs without arguments."""
NEEDS_DATA = {"recall", "cache", "extraction"}


def main() -> int:
    names = sys.argv[1:] or sorted(path.parent.name for path in HERE.glob("*/__main__.py"))
    failed = []
    for name in names:
        if name in NEEDS_DATA and not os.environ.get("TENUTO_BENCH_DATA"):
            print(f"\n== {name}: left out, it needs evaluation data (python -m bench.{name} --help)")
            continue
        for arguments in QUICK.get(name, [[]]):
            print(f"\n== {name} {' '.join(arguments)}", flush=True)
            begun = time.perf_counter()
            code = subprocess.run([sys.executable, "-m", f"bench.{name}", *arguments], check=False).returncode
            print(
                f"-- {name}: {time.perf_counter() - begun:.0f} s" + (f", ended with {code}" if code else ""), flush=True
            )
            failed += [name] if code else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
