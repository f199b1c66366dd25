"""What the three examples share: a conversation that is played, or one that you type yourself.

python examples/coding_exercises.py                  played, without a model: parsers read the replies
python examples/coding_exercises.py --model          played, with a scripted model that proposes (and misbehaves)
python examples/coding_exercises.py --chat           you type
python examples/coding_exercises.py --chat --model openai:gpt-4o-mini    you type, a real model proposes
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

import tenuto
from tenuto.facade.workflows import WorkflowHandle
from tenuto.ports import Answer
from tenuto.workflow import Definition


class ScriptedModel:
    """A model that knows its lines: the message it is shown decides which proposal it makes."""

    name = "scripted"

    def __init__(self, lines: Mapping[str, Any]) -> None:
        self._lines = lines

    def complete(
        self, *, system: str, user: str, schema: Mapping[str, Any] | None = None, max_tokens: int = 2048
    ) -> Answer:
        for message, proposal in self._lines.items():
            if f"\n{message}\n--- end" in user:
                text = proposal if isinstance(proposal, str) else json.dumps({"intent": "inform", "changes": proposal})
                return Answer(text=text, model=self.name)
        return Answer(text='{"intent": "talk", "changes": []}', model=self.name)


def run(
    definition: Definition,
    *,
    without_model: Sequence[str],
    with_model: Sequence[str],
    lines: Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
    arguments: Sequence[str] | None = None,
) -> WorkflowHandle:
    """Play the example, or let somebody type."""
    parser = argparse.ArgumentParser(description=definition.title)
    parser.add_argument(
        "--model", nargs="?", const="scripted", help="scripted (default), or one that tenuto.open takes"
    )
    parser.add_argument("--chat", action="store_true", help="type yourself")
    parser.add_argument("--db", default="memory:", help="where to keep it (default: nowhere)")
    options = parser.parse_args(arguments)
    model: Any = ScriptedModel(lines) if options.model == "scripted" else options.model
    store = tenuto.open(options.db, model=model, background=False)
    store.define(definition)
    work = store.user("ana", channel="terminal").workflow(definition.name, given=given)
    if options.chat:
        _chat(work)
    else:
        for text in with_model if model else without_model:
            _turn(work, text)
        _finish(work)
    return work


def _chat(work: WorkflowHandle) -> None:
    print(f"{work.definition.title}. An empty line ends it.")
    while text := input("you     › ").strip():
        _turn(work, text, echo=False)
    print("\n".join(work.block))


def _turn(work: WorkflowHandle, text: str, *, echo: bool = True) -> None:
    outside = text.startswith("[mail] ")
    if echo:
        print(f"{'mail' if outside else 'you':7} › {text.removeprefix('[mail] ')}")
    reply = work.send(text.removeprefix("[mail] "), external=outside)
    for line in reply.text.splitlines():
        print(f"tenuto  ‹ {line}")
    print(f"          {reply.state} · {reply.made_by}" + (f" · refused: {len(reply.refused)}" if reply.refused else ""))


def _finish(work: WorkflowHandle) -> None:
    """What a program does with a complete spec: generate, keep what came of it, save."""
    if work.state == "READY":
        work.move("GENERATING")
        work.produce({"spec": work.spec})
        work.move("SAVED")
    print("\n".join(work.block))
