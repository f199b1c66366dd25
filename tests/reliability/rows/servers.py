"""Rows 4, 5, 28 and 29: database servers that crash, caches that vanish, packets that leave, load that lasts."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from bench.server import __main__ as bench
from starlette.testclient import TestClient

import tenuto
from tenuto.errors import TenutoError
from tenuto.records.conversation import Message
from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.http.serving import limiter
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.reliability.scorecard import Measured, Work, row
from tests.servers import Postgres, Valkey
from tests.surfaces.kit import GENEROUS, bearer, make_store

ROOT = Path(__file__).parents[3]
OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}


# --- 4: PostgreSQL ----------------------------------------------------------------------------------------------------


def crash(work: Work, *, durable: bool) -> Measured:
    """Writers against a server whose processes are all killed again and again; what they were told, what is there."""
    options = {"synchronous_commit": "on" if durable else "off", "wal_writer_delay": "10s" if not durable else "200ms"}
    told: Counter[str] = Counter()
    acknowledged: set[str] = set()
    dice = random.Random(2)
    with Postgres(durable=True, options=options) as server:
        store = tenuto.open(server.fresh_database(), **OPTIONS)
        stop, numbers = threading.Event(), iter(range(10**9))
        threads = [threading.Thread(target=write, args=(store, n, stop, numbers, acknowledged, told)) for n in range(6)]
        for thread in threads:
            thread.start()
        for _ in work:
            some_more(acknowledged, 6)
            time.sleep(dice.random() * 0.2)
            kill_all(server)
            server.start()
        stop.set()
        for thread in threads:
            thread.join(60)
        found: set[str] = set()
        for user in store.users():
            with store.deps.store.reading(user) as reader:
                found |= {str(message.external_id) for message in reader.find(Message)}
        wrong = store.check()
        store.close()
    lost = len(acknowledged - found)
    unclear = {name: count for name, count in told.items() if not name.startswith("retry")}
    return Measured(
        done=work.done,
        bad=lost + sum(unclear.values()) + len(wrong),
        words=f"{lost} of {len(acknowledged):,} acknowledged lost, {sum(told.values())} errors, not to be retried: {unclear or 0}",
    )


def write(
    store: tenuto.Tenuto, number: int, stop: threading.Event, numbers: Any, kept: set[str], told: Counter[str]
) -> None:
    while not stop.is_set():
        name = f"m{number}-{next(numbers)}"
        try:
            store.user(f"user{number}").observe(f"Message {name} about apples.", id=name)
            kept.add(name)
        except TenutoError as error:
            told[f"{'retry' if error.retry else 'final'} {error.code}"] += 1
            time.sleep(0.02)


def some_more(kept: set[str], count: int) -> None:
    """Wait until the writers are at it again, so that every crash has something to lose."""
    goal, deadline = len(kept) + count, time.monotonic() + 60
    while len(kept) < goal and time.monotonic() < deadline:
        time.sleep(0.01)


def kill_all(server: Postgres) -> None:
    """The whole server at once, as a crash of the machine's software would: no process of it has a chance to write."""
    family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    for process in family:
        process.send_signal(signal.SIGSTOP)
    for process in family:
        process.send_signal(signal.SIGKILL)
    server.kill()
    deadline = time.monotonic() + 20
    while any(map(_runs, family)) and time.monotonic() < deadline:
        time.sleep(0.005)


def _runs(process: psutil.Process) -> bool:
    """A process that was killed and whose end nobody has asked for yet runs no more."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@row(
    4,
    "0 acknowledged writes lost in 100 PostgreSQL crash-restarts; clients see only errors that say retry",
    unit="crashes",
    full=100,
    gate=3,
    share=2,
)
def crashes(work: Work) -> Measured:
    return crash(work, durable=True)


@crashes.control("synchronous_commit=off")
def not_synchronous(work: Work) -> Measured:
    return crash(work.part(3, "off"), durable=False)


# --- 5: Redis ---------------------------------------------------------------------------------------------------------


def without_cache(work: Work, *, broken: bool = False) -> Measured:
    """Requests to a server whose Redis is killed, started and flushed; the durable facts and the limits must hold."""
    dice, errors, lost, outages = random.Random(8), 0, 0, 0
    every = max(4, work.count // 50)
    policy = {**GENEROUS["server"], "user_rate": 0.001, "user_burst": 5}
    with Valkey() as valkey, tempfile.TemporaryDirectory() as folder:
        store = make_store(str(Path(folder) / "tenuto.db"), redis=valkey.url())
        app = create_app(store, hosts=["testserver"], limiter=limiter(valkey.url()))
        tight = make_store("memory:", policy={"server": policy}, redis=valkey.url())
        limited = create_app(tight, hosts=["testserver"], limiter=limiter(valkey.url()))
        admin = bearer(store.create_key("k", scope="admin")[1])
        key = bearer(tight.create_key("k", scope="admin")[1])
        kept: set[str] = set()
        up, let_through, blocked_late = True, 0, 0
        with (
            TestClient(app, raise_server_exceptions=False) as client,
            TestClient(limited, raise_server_exceptions=False) as strict,
        ):
            for number in work:
                if number % every == every - 1:
                    outages += 1
                    up = disturb(valkey, up, dice)
                    statuses = [strict.get(f"/api/users/u{number}/stats", headers=key).status_code for _ in range(12)]
                    let_through += statuses.count(200)
                    blocked_late += statuses.count(200) > 5 or statuses.count(429) < 7
                    errors += sum(status >= 500 for status in statuses)
                user = f"user{number % 5}"
                if number % 3 == 0:
                    name = f"m{number}"
                    said = {"text": f"Message {name} about apples.", "id": name}
                    status = client.post(f"/api/users/{user}/observe", json=said, headers=admin).status_code
                    kept |= {name} if status == 201 else set()
                elif number % 3 == 1:
                    status = client.post(
                        f"/api/users/{user}/recall", json={"query": "apples"}, headers=admin
                    ).status_code
                else:
                    status = client.get(f"/api/users/{user}/stats", headers=admin).status_code
                errors += status >= 500
        found = set()
        for user in store.users():
            with store.deps.store.reading(user) as reader:
                found |= {str(message.external_id) for message in reader.find(Message)}
        if broken:
            found = {
                str(one["content"]).split()[1] for n in range(5) for one in store.user(f"user{n}").working.messages()
            }
        lost = len(kept - found)
        store.close()
        tight.close()
    return Measured(
        done=work.done,
        bad=lost + errors + blocked_late,
        words=f"{lost} of {len(kept):,} facts lost, {errors} server errors, limits failed {blocked_late} times in {outages} outages",
    )


def disturb(valkey: Valkey, up: bool, dice: random.Random) -> bool:
    """Flush it, kill it, or start it again; whether it runs now."""
    if not up:
        valkey.start()
        return True
    if dice.random() < 0.5:
        valkey.flush()
        return True
    valkey.kill()
    return False


@row(
    5,
    "Redis killed or flushed 50 times in 20,000 operations: 0 durable facts lost, 0 server errors, limits still hold",
    unit="operations",
    full=20_000,
    gate=200,
    share=3,
)
def cache_gone(work: Work) -> Measured:
    return without_cache(work)


@cache_gone.control("facts that are kept in Redis only")
def only_cached(work: Work) -> Measured:
    return without_cache(work.part(120, "cached"), broken=True)


# --- 28: packets ------------------------------------------------------------------------------------------------------

INSIDE = """
ip link set lo up || true
folder="$1"; shift
count() { awk '/^Ip: [0-9]/ { print $13 }' /proc/net/snmp; awk '/^Ip6OutNoRoutes/ { print $2 }' /proc/net/snmp6; }
count > "$folder/before"
"$@" > "$folder/output" 2>&1
echo $? > "$folder/code"
count > "$folder/after"
"""
"""A network of its own in which only loopback leads anywhere: the kernel counts what was to go elsewhere."""


HOOK = """
import os, sys

def heed(event, given, file=os.environ["COUNTED_PACKETS"]):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(given[1], tuple):
        if not str(given[1][0]).startswith(("127.", "::1", "localhost")):
            os.write(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT), b"1\\n")

sys.addaudithook(heed)
"""
"""Where the kernel gives no network of one's own, Python itself counts what is sent, in every process of the command."""


def sent(folder: Path, command: list[str]) -> tuple[int, int]:
    """(packets that left, exit code) of a command."""
    script = folder / "inside.sh"
    script.write_text(INSIDE)
    alone = ["unshare", "-n" if os.geteuid() == 0 else "-rn"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True).returncode:
        return heard(folder, command)
    subprocess.run([*alone, "bash", str(script), str(folder), *command], cwd=ROOT, check=True)
    before, after = (sum(map(int, (folder / name).read_text().split())) for name in ("before", "after"))
    return after - before, int((folder / "code").read_text())


def heard(folder: Path, command: list[str]) -> tuple[int, int]:
    (folder / "sitecustomize.py").write_text(HOOK)
    counted = folder / "packets"
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    surroundings = {**os.environ, "PYTHONPATH": path, "COUNTED_PACKETS": str(counted)}
    with (folder / "output").open("w") as output:
        done = subprocess.run(command, cwd=ROOT, env=surroundings, stdout=output, stderr=output)
    return len(counted.read_text().split()) if counted.exists() else 0, done.returncode


@row(
    28,
    "0 packets leave a default install during the whole test run (network namespace)",
    unit="runs",
    full=2,
    gate=1,
    share=3,
)
def packets(work: Work) -> Measured:
    demo, code = sent(
        work.part(1, "demo").folder, [sys.executable, "-m", "tenuto", "--db", str(work.folder / "d.db"), "demo"]
    )
    if work.count == 1:
        return Measured(done=1, bad=demo + code, words=f"{demo} packets left during the demo, which ended with {code}")
    folder = work.part(1, "tests").folder
    junit = folder / "junit.xml"
    tests = ["timeout", str(int(work.seconds)), sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run, ended = sent(folder, [*tests, f"--junitxml={junit}", "tests", "--ignore=tests/browser"])
    whole = ended in (0, 1) and junit.exists()
    ran, failed = tally(junit) if whole else (0, 0)
    pages = work.part(1, "pages").folder
    seen, looked = heard(pages, [*tests, f"--junitxml={pages / 'junit.xml'}", "tests/browser"])
    shown, wrong = tally(pages / "junit.xml") if looked in (0, 1) else (0, 1)
    for place in (folder, pages):
        print((place / "output").read_text()[-3000:] if failed or wrong or run or seen else "", file=sys.stderr)
    words = (
        f"{demo} packets left during the demo, {run} during {ran:,} tests, of which {failed} failed there; "
        f"in {shown} tests with a browser, which looks around for itself, Tenuto sent {seen}"
    )
    return Measured(done=1 + whole, bad=demo + code + run + seen + failed + wrong, words=words)


def tally(junit: Path) -> tuple[int, int]:
    """(tests that ran, those that failed or were skipped)"""
    cases = list(ElementTree.parse(junit).getroot().iter("testcase"))
    return len(cases), sum(
        case.find(f"./{what}") is not None for case in cases for what in ("failure", "error", "skipped")
    )


@packets.control("a program that asks a name server")
def asks(work: Work) -> Measured:
    program = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'hello', ('9.9.9.9', 53))"
    count, _ = sent(work.folder, [sys.executable, "-c", program])
    return Measured(done=1, bad=count, words=f"{count} packets")


# --- 29: load ---------------------------------------------------------------------------------------------------------


def load(work: Work, how: str = "right") -> Measured:
    """A server in a process of its own, asked by eight clients in another one for ``count`` seconds."""
    rounds, small = (8, False) if work.count >= 30 else (4, True)
    seconds, messages = max(0.5, work.count / rounds), 10 if small else 50
    given = argparse.Namespace(seconds=seconds, clients=8, users=10, messages=messages, light=0)
    url = str(work.folder / "tenuto.db")
    embedder = "words" if small else "model"
    secret = bench.fill(url, given)
    bare = bench.measure_bare(1, argparse.Namespace(seconds=1.0 if small else 3.0, clients=8, users=10))["per_second"]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        port, number = listener.getsockname()[1], listener.fileno()
        command = [sys.executable, "-m", "tests.reliability.serving", url, str(number), embedder, how]
        server = subprocess.Popen(command, cwd=ROOT, pass_fds=[number])
    try:
        found = [bench.load(port, secret, 0.1, given, [server.pid or 0], "/ready") for _ in range(rounds)]
    finally:
        server.terminate()
        server.wait(30)
    errors = sum(one["errors"] for one in found)
    answered = sum(one["per_second"] for one in found) * given.seconds
    rate = answered / (given.seconds * rounds)
    memory = [one["memory_mb"] for one in found]
    grown = memory[-1] - memory[rounds // 2 - 1]
    return Measured(
        done=work.count,
        bad=errors + int(grown > 16 + answered // 500),
        words=f"{errors} errors in {answered:,.0f} requests, {rate:.0f}/s = {rate / bare:.2f} of a bare endpoint, "
        f"memory {memory[0]} → {memory[-1]} MB ({grown:+} in the second half)",
    )


@row(
    29,
    "load: 90 % recall, 10 % observe, 5 minutes, 0 errors, memory flat; throughput as a ratio to a bare endpoint in the same run",
    unit="seconds",
    full=300,
    gate=3,
    share=3,
)
def lasting_load(work: Work) -> Measured:
    return load(work)


@lasting_load.control("a server that keeps what it answered")
def leaking(work: Work) -> Measured:
    return load(work.part(8, "leak"), "leaky")
