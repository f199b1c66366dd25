"""Forks writers, one after another, and kills each with SIGKILL while it writes. Prints what was acknowledged.

    python writer.py DATABASE CYCLES honest|hasty

An honest writer acknowledges after ``observe`` returned; a hasty one before, which is the control: a test that counts
losses must find them there.
"""

import json
import os
import random
import signal
import sys
import time

import tenuto
from tenuto.testing.fakes import FakeEmbedder, FakeTokens


def write(path: str, cycle: int, out: int, hasty: bool) -> None:
    store = tenuto.open(path, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False)
    ana = store.user("ana")
    number = 0
    while True:
        name = f"{cycle}-{number}"
        if hasty:
            os.write(out, f"{name}\n".encode())
            time.sleep(0.05)
        ana.observe(f"Message {name} about apples.", id=name)
        if not hasty:
            os.write(out, f"{name}\n".encode())
        number += 1


def main() -> None:
    path, cycles, hasty = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "hasty"
    tenuto.open("memory:", background=False).close()  # imports everything once, before the forks
    chance = random.Random(7)
    acknowledged: list[str] = []
    for cycle in range(cycles):
        read, out = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            write(path, cycle, out, hasty)
        os.close(out)
        with os.fdopen(read, "rb") as lines:
            for _ in range(chance.randint(1, 12)):
                acknowledged.append(lines.readline().decode().strip())
            time.sleep(chance.random() * 0.004)
            os.kill(child, signal.SIGKILL)
            acknowledged += [line.decode().strip() for line in lines if line.endswith(b"\n")]
        os.waitpid(child, 0)
    print(json.dumps(acknowledged))


if __name__ == "__main__":
    main()
