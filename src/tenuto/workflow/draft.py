"""Drafts: partial specs that hold for the fields they have, and the changes that may be made to them.

Whatever proposes a change (a parser, a model, a form, an e-mail) hands in JSON-Patch-like operations (``add``,
``replace``, ``remove`` with a JSON pointer). :func:`read_patch` turns them into :class:`Change`\\ s of whole top-level
fields, judged against the draft they would make, and says of every operation that it drops why. After this point
there are no paths and no list positions any more, so a change means the same when it is shown, hashed and applied.

What would break it: a write to ``Workflow.spec`` that did not go through :func:`apply`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tenuto.policy import WorkflowPolicy
from tenuto.workflow.definition import FORBIDDEN, Definition

_OPERATIONS = ("add", "replace", "remove")
_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field gets a value (or loses it, when ``value`` is absent). ``explicit``: the person said so."""

    field: str
    value: Any = None
    remove: bool = False
    explicit: bool = False
    confidence: float = 0.0
    by: str = "model"

    def operation(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """As it is stored and shown: the whole field, with what was there before."""
        operation: dict[str, Any] = {"op": "remove" if self.remove else "replace" if self.field in spec else "add"}
        operation["path"] = f"/{self.field}"
        if not self.remove:
            operation["value"] = self.value
        if self.field in spec:
            operation["was"] = spec[self.field]
        return operation


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPatch:
    """What came of a patch: changes of whole fields, and one sentence for each operation that was dropped."""

    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()
    confidence: Mapping[str, float] = field(default_factory=dict)


def read_patch(definition: Definition, spec: Mapping[str, Any], operations: Any, policy: WorkflowPolicy) -> ReadPatch:
    """Judge every operation against the draft that the ones before it leave. Nothing is changed here."""
    if not isinstance(operations, Sequence) or isinstance(operations, (str, bytes)):
        return ReadPatch(refused=(f"A patch is a list of operations, not {type(operations).__name__}.",))
    if len(operations) > policy.operations:
        return ReadPatch(refused=(f"A patch has at most {policy.operations} operations, not {len(operations)}.",))
    draft = deepcopy(dict(spec))
    touched: dict[str, float] = {}
    refused: list[str] = []
    for operation in operations:
        why, name, after = _one(definition, draft, operation, policy)
        if why:
            refused.append(why)
            continue
        draft = after
        touched[name] = min(touched.get(name, 1.0), _confidence(operation))
    changes = tuple(
        Change(field=name, value=draft.get(name), remove=name not in draft)
        for name in touched
        if draft.get(name) != spec.get(name) or (name in draft) != (name in spec)
    )
    return ReadPatch(changes=changes, refused=tuple(refused), confidence=touched)


def apply(definition: Definition, spec: Mapping[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    """A new draft with the changes made and the derived fields computed. The old one stays as it is."""
    draft = dict(spec)
    for change in changes:
        if change.remove:
            draft.pop(change.field, None)
        else:
            draft[change.field] = deepcopy(change.value)
    return definition.derived(draft)


def from_operations(operations: Iterable[Mapping[str, Any]], **marks: Any) -> tuple[Change, ...]:
    """The changes that stored operations stand for."""
    return tuple(
        Change(
            field=str(operation["path"])[1:],
            value=operation.get("value"),
            remove=operation["op"] == "remove",
            **marks,
        )
        for operation in operations
    )


def why_not_plain(value: Any, policy: WorkflowPolicy) -> str | None:
    """Why a value cannot be kept at all, whatever its field: not JSON, too deep, too large, a forbidden key."""
    keys = 0
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        part, depth = stack.pop()
        if depth > policy.depth:
            return f"it is nested more than {policy.depth} levels deep"
        if isinstance(part, Mapping):
            keys += len(part)
            for name in part:
                if not isinstance(name, str) or name in FORBIDDEN or not _storable(name) or len(name) > 256:
                    return f"it has the key {str(name)[:40]!r}, which is not allowed"
            stack.extend((inner, depth + 1) for inner in part.values())
        elif isinstance(part, (list, tuple)):
            keys += len(part)
            stack.extend((inner, depth + 1) for inner in part)
        elif (wrong := _why_not_scalar(part)) is not None:
            return wrong
        if keys > policy.keys:
            return f"it has more than {policy.keys:,} keys and items"
    size = len(msgspec.json.encode(value))
    return f"it has {size:,} bytes and the limit is {policy.value_bytes:,}" if size > policy.value_bytes else None


def _why_not_scalar(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if _storable(value) else "it holds a NUL character or half of a surrogate pair"
    if isinstance(value, int):
        return None if abs(value) <= _LARGEST_INTEGER else "it is a whole number beyond 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "it is not a finite number"
    return f"{type(value).__name__} is not a JSON value"


def _storable(text: str) -> bool:
    return "\x00" not in text and _encodes(text)


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _one(
    definition: Definition, draft: dict[str, Any], operation: Any, policy: WorkflowPolicy
) -> tuple[str, str, dict[str, Any]]:
    """(why not, field, the draft after) for one operation."""
    if not isinstance(operation, Mapping):
        return f"An operation is an object, not {type(operation).__name__}.", "", draft
    verb, path = operation.get("op"), operation.get("path")
    if verb not in _OPERATIONS:
        return f"The operation {str(verb)[:40]!r} is not known: use add, replace or remove.", "", draft
    if not isinstance(path, str) or not path.startswith("/") or len(path) > 1024:
        return f"The path {str(path)[:60]!r} is not a JSON pointer such as '/field'.", "", draft
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]
    name = steps[0]
    if name not in definition.fields:
        return f"There is no field {name[:60]!r}.", "", draft
    if not definition.writable(name):
        what = "fixed once the workflow has started" if definition.fields[name].fixed else "computed from other fields"
        return f"'{name}' is {what} and cannot be set.", "", draft
    if any(step in FORBIDDEN for step in steps) or len(steps) > policy.depth:
        return f"The path {path[:60]!r} is not allowed.", "", draft
    if verb != "remove" and "value" not in operation:
        return f"The operation on '{name}' has no value.", "", draft
    if verb != "remove" and (wrong := why_not_plain(operation["value"], policy)):
        return f"The value for '{name}' is refused: {wrong}.", "", draft
    after = deepcopy(draft)
    if why := _write(after, steps, str(verb), operation.get("value")):
        return f"The path {path[:60]!r} does not fit: {why}.", "", draft
    if name in after and (wrong := why_not_plain(after[name], policy)):
        return f"The value for '{name}' is refused: {wrong}.", "", draft
    invalid = definition.judge(definition.derived(after)).invalid
    if invalid:
        culprit = name if name in invalid else next(iter(invalid))
        return f"The value for '{name}' does not fit: {invalid[culprit]}.", "", draft
    return "", name, after


def _write(root: dict[str, Any], steps: Sequence[str], verb: str, value: Any) -> str | None:
    """Write into a copy; returns why not."""
    target: Any = root
    for step in steps[:-1]:
        if isinstance(target, dict) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdecimal() and len(step) < 8 and int(step) < len(target):
            target = target[int(step)]
        else:
            return f"there is nothing at {step[:40]!r}"
    last = steps[-1]
    if isinstance(target, dict):
        if verb == "remove":
            return None if target.pop(last, _NOTHING) is not _NOTHING else f"there is nothing at {last[:40]!r}"
        target[last] = deepcopy(value)
        return None
    if not isinstance(target, list):
        return f"there is nothing at {last[:40]!r}"
    place = len(target) if last == "-" else int(last) if last.isdecimal() and len(last) < 8 else -1
    if verb == "add" and 0 <= place <= len(target):
        target.insert(place, deepcopy(value))
    elif verb == "replace" and 0 <= place < len(target):
        target[place] = deepcopy(value)
    elif verb == "remove" and 0 <= place < len(target):
        del target[place]
    else:
        return f"the list has no place {last[:40]!r}"
    return None


_NOTHING = object()


def _confidence(operation: Mapping[str, Any]) -> float:
    given = operation.get("confidence", 0.5)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        return 0.5
    return min(max(float(given), 0.0), 1.0)
