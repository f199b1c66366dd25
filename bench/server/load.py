"""The load: raw HTTP/1.1 over kept connections, from a process of its own, so that asking costs little.

    python -m bench.server.load '{"port": 8368, "secret": "tnk_…", "seconds": 10, "clients": 16, "mix": 0.1}'

``mix`` is the share of ``observe``; the rest is ``recall``. Without a secret the bare endpoint is asked. ``light``
clients ask in turn for ``/health``, a user's stats and the head of a user's live events, with a pause after each: how
long somebody waits who asks for little while others ask for much. Prints one line of JSON. The first second warms up
and is not counted. ``busy`` is the share of one core that the load itself took: near 1 the load is what was measured,
and not the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any

WORDS = [
    "coffee", "garden", "sister", "doctor", "project", "train", "book", "piano", "river", "winter", "recipe",
    "holiday", "market", "window", "letter", "bridge", "candle", "forest", "harbour", "island", "jacket",
    "kitchen", "lantern", "mountain", "notebook", "orchard", "pencil", "quarter", "ribbon", "saddle",
]  # fmt: skip
WARM = 1.0
PAUSE = 0.02
"""Seconds between two requests of a light client."""


@dataclass
class Load:
    port: int
    secret: str = ""
    seconds: float = 10.0
    clients: int = 16
    users: int = 20
    mix: float = 0.0
    light: int = 0
    times: list[float] = field(default_factory=list)
    light_times: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    answers: int = 0
    """All of them, those of the first second too."""

    def request(self, dice: random.Random) -> bytes:
        host = f"Host: 127.0.0.1:{self.port}\r\n"
        if not self.secret:
            return f"GET /bare HTTP/1.1\r\n{host}\r\n".encode()
        text = " ".join(dice.choices(WORDS, k=5))
        asked: tuple[str, dict[str, Any]] = ("recall", {"query": text, "limit": 10, "kinds": ["message"]})
        verb, body = ("observe", {"text": text}) if dice.random() < self.mix else asked
        content = json.dumps(body)
        return (
            f"POST /api/users/u{dice.randrange(self.users)}/{verb} HTTP/1.1\r\n{host}"
            f"Authorization: Bearer {self.secret}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n{content}"
        ).encode()

    async def one(self, number: int, begin: float, end: float) -> None:
        dice = random.Random(number)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while (begun := time.perf_counter()) < end:
            writer.write(self.request(dice))
            status = await answer(reader)
            self.answers += 1
            if begun >= begin:
                self.times.append(time.perf_counter() - begun)
                self.count(status)
        writer.close()

    async def one_light(self, number: int, begin: float, end: float) -> None:
        dice = random.Random(number)
        kept = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.sleep(PAUSE * dice.random())
        while True:
            for path in ("/health", "/api/users/{}/stats", "/api/users/{}/events"):
                begun = time.perf_counter()
                if begun >= end:
                    kept[1].close()
                    return
                streams = path.endswith("/events")
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port) if streams else kept
                writer.write(self.get(path.format(f"u{dice.randrange(self.users)}")))
                status = await answer(reader)
                self.answers += 1
                if begun >= begin:
                    self.light_times.append(time.perf_counter() - begun)
                    self.count(status)
                if streams:
                    writer.close()
                await asyncio.sleep(PAUSE)

    def get(self, path: str) -> bytes:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.secret}\r\n\r\n"
        return head.encode()

    def count(self, status: int) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1

    async def run(self) -> None:
        begin = time.perf_counter() + WARM
        end = begin + self.seconds
        heavy = [self.one(number, begin, end) for number in range(self.clients)]
        await asyncio.gather(*heavy, *(self.one_light(number, begin, end) for number in range(self.light)))


def at(times: list[float], share: float) -> float:
    """The milliseconds within which that share was answered."""
    ordered = sorted(times)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000 if ordered else 0.0


async def answer(reader: asyncio.StreamReader) -> int:
    """The status of one answer, read to its end; of a stream, to the end of its head."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    await reader.readexactly(length)
    return int(head[9:12])


def main() -> None:
    load = Load(**json.loads(sys.argv[1]))
    asyncio.run(load.run())
    errors = sum(count for status, count in load.statuses.items() if status >= 400)
    said = {"per_second": len(load.times) / load.seconds, "p50_ms": at(load.times, 0.5), "p99_ms": at(load.times, 0.99)}
    said |= {"light_p50_ms": at(load.light_times, 0.5), "light_p95_ms": at(load.light_times, 0.95)}
    busy = time.process_time() / (load.seconds + WARM)
    print(json.dumps({**said, "answers": load.answers, "errors": errors, "busy": busy}))


if __name__ == "__main__":
    main()
