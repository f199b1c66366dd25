"""A capable model's answers, recorded: one file per conversation, one line per message that says something.

A line is ``{"n": 13, "memories": […], "todos": […], "done": […]}``, the shape that the extraction prompt asks for. It is
found by the conversation and the message's number, never by the prompt's text, so the prompt may change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenuto.errors import ModelError
from tenuto.ports import Answer

RECORDINGS = Path(__file__).parent / "recordings"
NOTHING = {"memories": [], "todos": [], "done": []}


class Replay:
    """A model that answers what was recorded for the message that is being played."""

    name = "replay"

    def __init__(self, folder: Path = RECORDINGS) -> None:
        self.folder = folder
        self.lines: dict[int, dict[str, Any]] = {}
        self.n = 0

    def conversation(self, id: str) -> bool:
        """Whether there is a recording of it."""
        path = self.folder / f"{id}.jsonl"
        found = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.lines = {row["n"]: row for row in map(json.loads, filter(str.strip, found))}
        return bool(self.lines)

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        if schema is None or "memories" not in schema.get("properties", {}):
            raise ModelError("only extraction is recorded")
        row = {**NOTHING, **{k: v for k, v in self.lines.get(self.n, {}).items() if k != "n"}}
        return Answer(text=json.dumps(row, ensure_ascii=False), model=self.name)
