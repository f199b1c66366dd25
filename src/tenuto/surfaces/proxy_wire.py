"""Where memory goes in a request of someone else's client, and what was said in its answer. Pure, one per wire format.

The client's own bytes stay as they are (tools, images, parameters, its system prompt first). Two things are added:
``stable`` behind the client's system prompt, which does not change while a session lasts, and ``fresh`` in front of the
last message of the user, behind everything that a prompt cache already holds. In the middle of a tool's loop the last
message of the user is an earlier one, and gets the same text as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from tenuto.records.context import Context

Body = dict[str, Any]
MARKS = 4
"""Cache marks that Anthropic takes in one request."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the client asks for. ``said`` names the user's message, ``asked`` the request: equal for a retry."""

    text: str
    index: int
    said: str
    asked: str
    sent: tuple[str, ...] = ()
    """The words of every turn in the request: what is not among them, the model does not see."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is added. ``before`` and ``after`` are ``fresh`` with the words that lead over to the message."""

    stable: str
    fresh: str
    before: str
    after: str


def memory_of(context: Context) -> Memory:
    before, _, after = (context.merged or "").rpartition(context.message or "")
    return Memory(context.stable, context.fresh, before, after)


def find_turn(messages: object, anchor: str) -> Turn | None:
    """The last thing that the user said; ``None`` if there is none. ``anchor`` tells conversations apart."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return None
    spoken = [m for m in messages if isinstance(m, Mapping)]
    last = next(
        (n for n in range(len(spoken) - 1, -1, -1) if spoken[n].get("role") == "user" and text_of(spoken[n])), -1
    )
    if last < 0 or len(spoken) != len(messages):
        return None
    talk = [m for m in spoken if m.get("role") not in ("system", "developer")]
    until = [m for m in spoken[: last + 1] if m.get("role") not in ("system", "developer")]
    sent = tuple(text for text in map(text_of, talk) if text)
    return Turn(text_of(spoken[last]), last, _digest(anchor, until), _digest(anchor, talk), sent)


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message; a picture or sound in it is named, not kept."""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    parts = []
    for part in content:
        if not isinstance(part, Mapping) or part.get("type") in ("tool_result", "thinking", "redacted_thinking"):
            continue
        if isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif part.get("type") in ("image_url", "image", "input_audio", "file", "document"):
            parts.append(f"[{str(part['type']).removesuffix('_url')}]")
    return "\n".join(part for part in parts if part.strip()).strip()


def inject_openai(body: Body, turn: Turn, memory: Memory) -> Body:
    """The request with memory in it; the given one is not changed."""
    messages = [dict(m) for m in body["messages"]]
    _into_user(messages[turn.index], memory)
    stable = memory.stable
    if stable:
        first = messages[0]
        if first.get("role") in ("system", "developer") and isinstance(first.get("content"), (str, list)):
            content = first["content"]
            more = f"{content}\n\n{stable}" if isinstance(content, str) else [*content, _text(stable)]
            messages[0] = first | {"content": more}
        else:
            messages.insert(0, {"role": "system", "content": stable})
    return body | {"messages": messages}


def inject_anthropic(body: Body, turn: Turn, memory: Memory) -> Body:
    """The same for ``/v1/messages``: a system block of its own, marked for the cache where a mark is left."""
    messages = [dict(m) for m in body["messages"]]
    _into_user(messages[turn.index], memory)
    if not memory.stable:
        return body | {"messages": messages}
    block: Body = _text(memory.stable)
    if _marks(body) < MARKS:
        block["cache_control"] = {"type": "ephemeral"}
    system = body.get("system")
    before = [_text(system)] if isinstance(system, str) and system else list(system or [])
    return body | {"messages": messages, "system": [*before, block]}


def _into_user(message: Body, memory: Memory) -> None:
    """In front of what the user said, which stays whole, however long; behind the results of tools."""
    content = message["content"]
    if not memory.fresh:
        return
    if isinstance(content, str):
        message["content"] = f"{memory.before}{content}{memory.after}"
        return
    first = next((n for n, part in enumerate(content) if part.get("type") != "tool_result"), len(content))
    message["content"] = [*content[:first], _text(memory.fresh), *content[first:]]


def _text(text: str) -> Body:
    return {"type": "text", "text": text}


def _marks(value: Any) -> int:
    """How many cache marks the client has set already."""
    if isinstance(value, msgspec.Raw):
        return bytes(value).count(b'"cache_control"')
    if isinstance(value, Mapping):
        return ("cache_control" in value) + sum(_marks(part) for part in value.values())
    return sum(_marks(part) for part in value) if isinstance(value, list) else 0


def _digest(anchor: str, messages: Sequence[Mapping[str, Any]]) -> str:
    hashed = blake2b(anchor.encode(), digest_size=15, person=b"tenuto-turn")
    hashed.update(msgspec.json.encode([[m.get("role"), m.get("content"), m.get("tool_calls")] for m in messages]))
    return hashed.hexdigest()


# --- what was answered ------------------------------------------------------------------------------------------------


def answer_openai(body: Any) -> str:
    """The words of a whole answer."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message = first.get("message")
    return text_of(message) if isinstance(message, Mapping) else ""


def answer_anthropic(body: Any) -> str:
    return text_of(body) if isinstance(body, Mapping) else ""


def piece_openai(event: Any) -> tuple[str, bool]:
    """The words of one event of a stream, and whether it ends the answer."""
    choices = event.get("choices") if isinstance(event, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    if first.get("index", 0) != 0:
        return "", False
    delta = first.get("delta")
    text = delta.get("content") if isinstance(delta, Mapping) else None
    return (text if isinstance(text, str) else ""), first.get("finish_reason") is not None


def piece_anthropic(event: Any) -> tuple[str, bool]:
    kind = event.get("type") if isinstance(event, Mapping) else None
    if kind == "content_block_delta" and isinstance(event.get("delta"), Mapping):
        text = event["delta"].get("text")
        return (text if isinstance(text, str) else ""), False
    return "", kind == "message_stop"


class Listener:
    """Reads a stream as it passes by: collects the words, notes whether the answer came to its end."""

    def __init__(self, piece: Any) -> None:
        self._piece = piece
        self._rest = b""
        self._words: list[str] = []
        self.finished = False

    def hear(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)

    def _line(self, line: bytes) -> None:
        data = line.strip()
        if not data.startswith(b"data:") or data[5:].strip() == b"[DONE]":
            return
        try:
            event = msgspec.json.decode(data[5:])
        except msgspec.DecodeError:
            return
        text, ended = self._piece(event)
        self._words.append(text)
        self.finished = self.finished or ended

    @property
    def text(self) -> str:
        return "".join(self._words).strip()
