"""Forks writers, one after another, and kills each with SIGKILL while it writes. Prints what was acknowledged.

    python writer.py DATABASE CYCLES honest|hasty|server [FIRST]

An honest writer acknowledges after ``observe`` returned; a hasty one before, which is the control: a test that counts
losses must find them there. ``server`` forks a server and counts what it answered with 201 as acknowledged. FIRST is
the number of the first cycle, so that ids differ between runs on one database.
"""

import http.client
import json
import os
import random
import signal
import socket
import sys
import time

import tenuto
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

LIMITS = {"server": {"key_rate": 1e6, "key_burst": 10**6, "user_rate": 1e6, "user_burst": 10**6}}


def opened(path: str) -> tenuto.Tenuto:
    return tenuto.open(path, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False, policy=LIMITS)


def write(path: str, cycle: int, out: int, hasty: bool) -> None:
    ana = opened(path).user("ana")
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


def cycle_of_a_writer(path: str, cycle: int, chance: random.Random, hasty: bool) -> list[str]:
    read, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        write(path, cycle, out, hasty)
    os.close(out)
    acknowledged = []
    with os.fdopen(read, "rb") as lines:
        for _ in range(chance.randint(1, 12)):
            acknowledged.append(lines.readline().decode().strip())
        time.sleep(chance.random() * 0.004)
        os.kill(child, signal.SIGKILL)
        acknowledged += [line.decode().strip() for line in lines if line.endswith(b"\n")]
    os.waitpid(child, 0)
    return acknowledged


def serve(path: str, listener: socket.socket) -> None:
    from tenuto.surfaces.http.serving import Serving, _server

    server = _server(Serving(port=listener.getsockname()[1], logs=False), opened(path))
    server.run(sockets=[listener])


def cycle_of_a_server(path: str, cycle: int, chance: random.Random, secret: str) -> list[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    child = os.fork()
    if child == 0:
        serve(path, listener)
    port, acknowledged = listener.getsockname()[1], []
    listener.close()
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    limit = chance.randint(1, 12)
    try:
        for number in range(1000):
            name = f"s{cycle}-{number}"
            body = json.dumps({"text": f"Message {name} about apples.", "id": name})
            if number == limit:
                pause = chance.random() * 0.004
                connection.request("POST", "/api/users/ana/observe", body, headers)
                time.sleep(pause)
                os.kill(child, signal.SIGKILL)
            else:
                connection.request("POST", "/api/users/ana/observe", body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status == 201:
                acknowledged.append(name)
            elif number < limit:
                raise SystemExit(f"the server said {answer.status}")
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()
    if limit > len(acknowledged):
        raise SystemExit("the server went away before it was killed")
    os.waitpid(child, 0)
    return acknowledged


def main() -> None:
    path, cycles, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    tenuto.open("memory:", background=False).close()  # imports everything once, before the forks
    secret = ""
    if how == "server":
        from tenuto.surfaces.http import serving  # noqa: F401

        with opened(path) as store:
            secret = store.create_key("k", scope="admin")[1]
    chance = random.Random(7 + first)
    acknowledged: list[str] = []
    for cycle in range(first, first + cycles):
        if how == "server":
            acknowledged += cycle_of_a_server(path, cycle, chance, secret)
        else:
            acknowledged += cycle_of_a_writer(path, cycle, chance, how == "hasty")
    print(json.dumps(acknowledged))


if __name__ == "__main__":
    main()
