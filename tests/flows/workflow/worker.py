"""One of two processes that talk to the same workflows.

    python -m tests.flows.workflow.worker URL SEED ACTIONS [FOLDER]

Prints one JSON line per turn that it made. With a folder it is careless: it decides on a record that was read before
the lock, which the judge of the two processes must notice. So that this does not hang on luck, the two meet in the
folder after they have read and before either writes.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.flows.workflow.world import NO, NOISE, STATES, YES, Note, World

import tenuto
from tenuto.workflow import advance

PER_WORKFLOW = 40
CONFIRM_WITHIN = 0.4
"""Seconds, so that a few of the confirmations come too late."""
ROGUE = (
    "nonsense",
    '{"changes": [{"op": "replace", "path": "/state", "value": "SAVED"}, {"op": "add", "path": "/topic", "value": 7}]}',
    '{"changes": [{"op": "replace", "path": "/language", "value": "java", "explicit": true, "confidence": 1}]}',
)


MEETINGS = 5
PATIENCE = 60.0
"""Seconds that one waits for the other."""


def main(url: str, seed: int, actions: int, careless: Path | None) -> None:
    chance = random.Random(seed)
    policy = {"workflow": {"confirm_within": CONFIRM_WITHIN}}
    store = tenuto.open(url, background=False, policy=policy)
    if careless:
        _decide_too_early(careless, seed)
    for round in range(actions // PER_WORKFLOW):
        world = World(lambda clock, model: store, id=f"w{round}", prefix=f"p{seed}-")
        world.resends = not careless
        for _ in range(PER_WORKFLOW):
            _act(world, chance)
        for turn, note in world.notes.items():
            print(json.dumps({"workflow": world.id, "turn": turn, **note.plain()}))
    store.close()


def _act(world: World, chance: random.Random) -> None:
    channel, device = chance.choice(["web", "sms"]), chance.randrange(2)
    said = _statement(chance)
    proposal = [{"op": "replace", "path": f"/{said[0]}", "value": said[1], "confidence": 1.0}]
    choices: list[tuple[int, Callable[[], Any]]] = [
        (5, lambda: world.state(*said, channel, device)),
        (4, lambda: world.propose(proposal, channel)),
        (6, lambda: world.consent(chance.choice(YES), channel, device)),
        (2, lambda: world.consent(chance.choice(NO), channel, device)),
        (1, lambda: world.say("talk", chance.choice(NOISE), channel, device)),
        (1, lambda: world.hostile(chance.choice(ROGUE), channel)),
        (1, lambda: world.outside(*said, channel)),
        (1, lambda: world.press("yes", None, channel, device)),
        (2, lambda: world.move(chance.choice(STATES), channel)),
        (1, lambda: time.sleep(chance.choice([0.01, CONFIRM_WITHIN]))),
        (1, lambda: world.restart(store=False)),
    ]
    chance.choices([act for _, act in choices], [weight for weight, _ in choices])[0]()


def _statement(chance: random.Random) -> tuple[str, Any]:
    field = chance.choice(["language", "problem_count", "difficulty_plan", "topic"])
    plan = {name: chance.randrange(2) for name in ("easy", "medium", "hard")}
    value = {
        "language": chance.choice(["python", "java", "sql"]),
        "problem_count": chance.randrange(1, 4),
        "difficulty_plan": plan,
        "topic": chance.choice(["loops", "arrays"]),
    }[field]
    return field, value


def _decide_too_early(folder: Path, seed: int) -> None:
    change = advance.change
    meetings = iter(range(MEETINGS))

    def careless(deps: Any, scope: Any, definition: Any, id: str, decision: Any, **more: Any) -> Any:
        before = advance.read(deps, scope, definition, id)
        if (number := next(meetings, None)) is not None:
            _meet(folder, seed, number)
        return change(deps, scope, definition, id, lambda _, now: decision(before, now), **more)

    advance.change = careless


def _meet(folder: Path, seed: int, number: int) -> None:
    (folder / f"{number}-{seed}").touch()
    limit = time.monotonic() + PATIENCE
    while len(list(folder.glob(f"{number}-*"))) < 2:
        if time.monotonic() > limit:
            raise TimeoutError(f"Nobody came to meeting {number}.")
        time.sleep(0.001)


def note_of(line: dict[str, Any]) -> Note:
    """What a line stands for."""
    known = {name: value for name, value in line.items() if name not in ("workflow", "turn")}
    return Note(**{**known, "applied": tuple(known["applied"])})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None)
