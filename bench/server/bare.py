"""The endpoint that the server is compared with: FastAPI, one constant of the form and size of a recall of ten."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI

app = FastAPI()
EVIDENCE = {
    "message_id": "msg_1k0b43jgp3nyv2kc0gpk69", "at": "2026-03-01T12:30:08.704356Z", "quote": None,
    "session_id": "ses_1k0b43j0s4zyh9ba3hvm6b", "channel": "api", "trust": "user_stated",
}  # fmt: skip
WHY = {
    "profile": "default", "parts": {"words": 1.12748563289, "recency": 1.0892963409, "length": 3.4848525524139404},
    "formula": "sum", "rule": "said by the user", "evidence": [EVIDENCE], "matched": ["garden", "sister", "project"],
    "notes": ["searched by words only: switched off for the measurement"],
}  # fmt: skip
HITS = [
    {
        "text": "garden sister project sister harbour jacket piano mountain kitchen recipe letter train",
        "score": 5.701634526252747, "why": WHY, "kind": "message", "id": f"msg_1k0b43jgp3nyv2kc0gpk{n:02}",
        "at": "2026-03-01T12:30:08.704356Z", "message_id": f"msg_1k0b43jgp3nyv2kc0gpk{n:02}", "speaker": None,
        "role": "user", "persona": None, "session_id": "ses_1k0b43j0s4zyh9ba3hvm6b", "importance": 6.0, "passage": None,
    }
    for n in range(10)
]  # fmt: skip


@app.get("/bare")
async def bare() -> dict[str, object]:
    return {"hits": HITS, "notes": []}


def serve(listener: socket.socket) -> None:
    """Until told to stop."""
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
