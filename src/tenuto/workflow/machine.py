"""The states of a workflow and the steps between them.

A machine is data: states, allowed steps, and what each state means for the draft. In a *collecting* state the draft
may have holes; in a *frozen* state nothing of it changes; in every other state it may change, but stays complete.
So a step out of the collecting states needs a complete draft, and no text, however it is worded, moves a workflow
along a step that is not drawn. What would break it: a second place that writes ``Workflow.state``.

``docs/workflow-states.md`` draws the default machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenuto.errors import IllegalMove, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """``transitions`` names the targets of each state in order of preference; a state without targets is final."""

    initial: str
    transitions: Mapping[str, tuple[str, ...]]
    collecting: frozenset[str]
    frozen: frozenset[str] = frozenset()

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(self.transitions)

    def allowed(self, state: str) -> tuple[str, ...]:
        return self.transitions.get(state, ())

    def is_final(self, state: str) -> bool:
        return not self.allowed(state)

    def may_change(self, state: str) -> bool:
        """May the draft change here at all?"""
        return state not in self.frozen and not self.is_final(state)

    def must_be_complete(self, state: str) -> bool:
        return state not in self.collecting


DEFAULT = Machine(
    initial="DRAFT",
    transitions={
        "DRAFT": ("CLARIFYING",),
        "CLARIFYING": ("CLARIFYING", "READY"),
        "READY": ("GENERATING",),
        "GENERATING": ("SAVED", "FAILED", "READY"),
        "FAILED": ("READY",),
        "SAVED": (),
    },
    collecting=frozenset({"DRAFT", "CLARIFYING"}),
    frozen=frozenset({"GENERATING", "SAVED"}),
)


def check(machine: Machine) -> Machine:
    """The machine, or one error that names what is wrong with it."""
    known = set(machine.transitions)
    if machine.initial not in known:
        raise _invalid(f"the initial state '{machine.initial}' is not among the states")
    for state, targets in machine.transitions.items():
        if not state or len(state) > 64:
            raise _invalid(f"the state name {state[:80]!r} must have 1 to 64 characters")
        if unknown := [target for target in targets if target not in known]:
            raise _invalid(f"'{state}' leads to '{unknown[0]}', which is not a state")
        if len(set(targets)) != len(targets):
            raise _invalid(f"'{state}' names a target twice")
    for role, states in (("collecting", machine.collecting), ("frozen", machine.frozen)):
        if unknown_states := sorted(states - known):
            raise _invalid(f"the {role} state '{unknown_states[0]}' is not a state")
    if both := sorted(machine.collecting & machine.frozen):
        raise _invalid(f"'{both[0]}' cannot be both collecting and frozen")
    if lost := sorted(known - _reachable(machine, machine.initial)):
        raise _invalid(f"no path leads from '{machine.initial}' to {', '.join(lost)}")
    for state in sorted(machine.collecting):
        if machine.collecting >= _reachable(machine, state):
            raise _invalid(f"no path leads from '{state}' out of the collecting states")
    return machine


def move(machine: Machine, state: str, target: str) -> str:
    """``target`` if the step is drawn."""
    if target not in machine.allowed(state):
        steps = ", ".join(machine.allowed(state)) or "nothing, it is final"
        raise IllegalMove(f"'{state}' does not lead to '{target[:64]}'. From here it goes to: {steps}.")
    return target


def steps_after_message(machine: Machine, state: str, *, complete: bool) -> tuple[str, ...]:
    """The states that a message leads through, in order; empty when the workflow stays where it is.

    The first message leaves the initial state for the next collecting one; a complete draft leaves the collecting
    states. Everything further (generating, saving) is an explicit ``move``.
    """
    passed: list[str] = []
    here = state
    if here == machine.initial and here in machine.collecting:
        onward = [target for target in machine.allowed(here) if target in machine.collecting and target != here]
        if onward:
            here = onward[0]
            passed.append(here)
    if here in machine.collecting:
        out = [target for target in machine.allowed(here) if machine.must_be_complete(target)]
        if complete and out:
            passed.append(out[0])
        elif not passed and here in machine.allowed(here):
            passed.append(here)
    return tuple(passed)


def _reachable(machine: Machine, start: str) -> set[str]:
    found, frontier = {start}, [start]
    while frontier:
        for target in machine.allowed(frontier.pop()):
            if target not in found:
                found.add(target)
                frontier.append(target)
    return found


def _invalid(what: str) -> InputError:
    return InputError(f"The state machine is not sound: {what}.", code="definition_invalid")
