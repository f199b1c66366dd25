"""The endpoint that the server is compared with: FastAPI, one constant, a body of the size of a recall of ten."""

from __future__ import annotations

from fastapi import FastAPI

app = FastAPI()
HITS = [
    {"text": "coffee garden sister doctor project train book piano", "score": 0.5, "id": f"msg_{n}"} for n in range(10)
]


@app.get("/bare")
async def bare() -> dict[str, object]:
    return {"hits": HITS}
