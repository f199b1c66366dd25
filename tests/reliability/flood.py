"""One person's flood of the worst texts known: ``python -m tests.reliability.flood PORT SECRET SENDERS``, until killed.

Prints ``.`` when the first text was sent. Every answer will do, a refusal too: the point is what others notice.
"""

from __future__ import annotations

import http.client
import itertools
import json
import sys
import threading
import time

from tests.reliability.linear import ALPHABETS

LONGEST = 60_000
WORST = ["I" + " generally" * 25 + " xyzzy", "a.b." * 15_000, "\n" * LONGEST, "<div " * 12_000, "my brother " * 5_000]
"""What froze or slowed an earlier release, and long runs of what patterns look for."""
TEXTS = [*WORST, *(alphabet * (LONGEST // len(alphabet.encode())) for alphabet in ALPHABETS if alphabet.strip())]


def send(port: int, secret: str, texts: itertools.cycle[bytes]) -> None:
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            while True:
                connection.request("POST", "/api/users/mallory/observe", next(texts), headers)
                connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            time.sleep(0.01)
        finally:
            connection.close()


def main() -> None:
    port, secret, senders = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    bodies = [json.dumps({"text": text}).encode() for text in TEXTS]
    for number in range(senders):
        texts = itertools.cycle(bodies[number:] + bodies[:number])
        threading.Thread(target=send, args=(port, secret, texts), daemon=True).start()
    print(".", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
