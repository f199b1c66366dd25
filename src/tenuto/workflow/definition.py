"""What a kind of workflow is: its spec, its fields' rules, its states, its version.

A definition is made by :func:`define` in code or by :func:`tenuto.workflow.load.load` from a file, and is checked whole
before it is used: an unknown field, an unreachable state or a rule about nothing is refused by name. A stored workflow
carries the version that wrote it; an older one is migrated step by step, or refused with the step that is missing.

Field rules. ``hard``: a change that the person did not state is staged and needs a confirmation. ``fixed``: given when
the workflow starts, never changed. ``derive``: computed from the other fields, never written from outside. ``lock_at``:
the confidence from which a value is locked: ``LOCK_AT`` for hard fields, never for soft ones, unless told otherwise.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenuto.errors import Conflict, InputError
from tenuto.workflow import machine as machines
from tenuto.workflow.machine import Machine
from tenuto.workflow.parsers import parser_for
from tenuto.workflow.reading import Parser
from tenuto.workflow.shape import Clash, Shape, Verdict, shape_of

LOCK_AT = 0.9
"""Hard fields lock at this confidence unless their definition says otherwise. An inference never reaches it."""
_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")
FORBIDDEN = frozenset({"__proto__", "prototype", "constructor", "__class__", "__dict__", "__init__", "__globals__"})
"""Never a field or a key: names that reach into objects in one language or another."""

Derive = Callable[[Mapping[str, Any]], Any]
Check = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The rules of one field. ``aliases`` are other words for it, which shorthand replies may use."""

    hard: bool = False
    fixed: bool = False
    derive: Derive | None = None
    lock_at: float | None = None
    question: str | None = None
    aliases: tuple[str, ...] = ()
    parser: Parser | None = None
    never_lock: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Fields that must fit together. ``check`` gets the draft once all of them are there; it returns what is wrong."""

    name: str
    fields: tuple[str, ...]
    check: Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """From the version before to ``to``."""

    to: int
    spec: Callable[[dict[str, Any]], dict[str, Any]] = dict
    states: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Made by :func:`define`; everything in it has been checked against everything else."""

    name: str
    version: int
    shape: Shape
    fields: Mapping[str, Field]
    machine: Machine
    rules: tuple[Rule, ...] = ()
    migrations: Mapping[int, Migration] = field(default_factory=dict)
    title: str = ""

    def schema_of(self, name: str) -> Mapping[str, Any]:
        return self.shape.fields[name]

    def parser_of(self, name: str) -> Parser:
        return self.fields[name].parser or parser_for(self.schema_of(name))

    def names_of(self, name: str) -> tuple[str, ...]:
        """The words that stand for a field: its name with spaces, its title, its aliases, what it counts."""
        found = [name.replace("_", " ").replace("-", " "), name, *self.fields[name].aliases]
        counted = name.removeprefix("number_of_").removesuffix("_count").replace("_", " ")
        if counted != found[0]:
            found += [counted, f"{counted}s"]
        title = self.schema_of(name).get("title")
        if isinstance(title, str):
            found.append(title)
        return tuple(dict.fromkeys(word.casefold() for word in found if word))

    def lock_at(self, name: str) -> float | None:
        rules = self.fields[name]
        if rules.never_lock:
            return None
        return rules.lock_at if rules.lock_at is not None else (LOCK_AT if rules.hard else None)

    def writable(self, name: str) -> bool:
        rules = self.fields[name]
        return not rules.fixed and rules.derive is None

    def derived(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The draft with every derived field computed anew; one that cannot be computed yet is left out."""
        plain = {name: value for name, value in spec.items() if self.fields[name].derive is None}
        for name, rules in self.fields.items():
            if rules.derive is None:
                continue
            try:
                value = rules.derive(plain)
            except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
                continue
            if value is not None and name not in self.shape.judge({**plain, name: value}).invalid:
                plain[name] = value
        return plain

    def judge(self, spec: Mapping[str, Any]) -> Verdict:
        """What is missing, invalid or inconsistent, the definition's own rules included."""
        verdict = self.shape.judge(spec)
        clashes = list(verdict.clashes)
        for rule in self.rules:
            if all(name in spec and name not in verdict.invalid for name in rule.fields) and (said := rule.check(spec)):
                clashes.append(Clash(rule=rule.name, fields=rule.fields, message=said[:300]))
        order = {name: place for place, name in enumerate(self.fields)}
        missing = sorted(verdict.missing, key=lambda name: order.get(name, len(order)))
        return replace(verdict, missing=tuple(missing), clashes=tuple(clashes))


def define(
    name: str,
    spec: Any,
    *,
    version: Any = 1,
    fields: Mapping[str, Field] | None = None,
    machine: Machine = machines.DEFAULT,
    rules: Iterable[Rule] = (),
    migrations: Iterable[Migration] = (),
    title: str = "",
) -> Definition:
    """A checked definition. ``spec`` is a Pydantic model class or a JSON Schema."""
    if not _NAME.match(name):
        raise _invalid(name, "a name is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _invalid(name, f"the version is a whole number from 1, not {version!r}")
    shape = shape_of(spec)
    given = dict(fields or {})
    for known in shape.fields:
        if known in FORBIDDEN or not _NAME.match(known):
            raise _invalid(name, f"the field name {known[:80]!r} is not allowed")
    for mentioned in given:
        _known(name, mentioned, shape, "a rule for the field")
    for mentioned, part in given.items():
        _check_field(name, mentioned, part)
    checked = _check_rules(name, tuple(rules), shape)
    return Definition(
        name=name,
        version=version,
        shape=shape,
        fields={known: given.get(known, Field()) for known in shape.fields},
        machine=machines.check(machine),
        rules=checked,
        migrations=_check_migrations(name, version, tuple(migrations), machine),
        title=title or name.replace("_", " ").replace("-", " "),
    )


def migrate(
    definition: Definition, version: int, state: str, spec: Mapping[str, Any], *, reopened: bool = False
) -> tuple[str, dict[str, Any]]:
    """State and draft of a stored workflow as this definition wants them, or :class:`Conflict`.

    One that lost fields to an erasure (``reopened``) begins anew where its state needs what is missing, unless it has
    ended.
    """
    if version > definition.version:
        raise Conflict(
            f"This workflow was written by version {version} of '{definition.name}' and this program knows version "
            f"{definition.version}: update the program.",
            code="workflow_version",
        )
    draft = dict(spec)
    for step in range(version + 1, definition.version + 1):
        migration = definition.migrations.get(step)
        if migration is None:
            raise Conflict(
                f"This workflow has version {version} of '{definition.name}' and there is no migration to version "
                f"{step}: add Migration(to={step}, …) to the definition.",
                code="workflow_version",
            )
        draft = migration.spec(dict(draft))
        state = migration.states.get(state, state)
    if state not in definition.machine.transitions:
        raise _unfit(definition, f"its state '{state}' does not exist any more")
    if unknown := [name for name in draft if name not in definition.fields]:
        raise _unfit(definition, f"its field '{unknown[0]}' does not exist any more")
    draft = definition.derived(draft)
    verdict = definition.judge(draft)
    if verdict.invalid:
        name, why = next(iter(verdict.invalid.items()))
        raise _unfit(definition, f"its field '{name}' does not hold any more ({why})")
    machine = definition.machine
    if machine.must_be_complete(state) and not verdict.complete:
        if reopened:
            return state if machine.is_final(state) else machine.initial, draft
        raise _unfit(definition, f"its state '{state}' needs a complete spec and it is not")
    return state, draft


def _check_field(name: str, mentioned: str, part: Field) -> None:
    if part.fixed and (part.hard or part.derive is not None):
        raise _invalid(name, f"the field '{mentioned}' is fixed, so it cannot be hard or derived as well")
    if part.derive is not None and part.hard:
        raise _invalid(name, f"the field '{mentioned}' is derived, so it cannot be hard as well")
    if part.lock_at is not None and not 0 < part.lock_at <= 1:
        raise _invalid(
            name, f"the field '{mentioned}' locks at {part.lock_at!r}; a confidence is above 0 and at most 1"
        )


def _check_rules(name: str, rules: Sequence[Rule], shape: Shape) -> tuple[Rule, ...]:
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise _invalid(name, f"two rules are called '{rule.name}'")
        seen.add(rule.name)
        if not rule.fields:
            raise _invalid(name, f"the rule '{rule.name}' is about no field")
        for mentioned in rule.fields:
            _known(name, mentioned, shape, f"the rule '{rule.name}' names the field")
    return tuple(rules)


def _check_migrations(name: str, version: int, given: Sequence[Migration], machine: Machine) -> dict[int, Migration]:
    found: dict[int, Migration] = {}
    for migration in given:
        if not 2 <= migration.to <= version or migration.to in found:
            raise _invalid(name, f"there is no single step to version {migration.to}; the definition is at {version}")
        found[migration.to] = migration
    newest = found.get(version)
    for target in (newest.states if newest else {}).values():
        if target not in machine.transitions:
            raise _invalid(name, f"the migration to {version} leads to the state '{target}', which does not exist")
    return found


def _known(name: str, mentioned: str, shape: Shape, what: str) -> None:
    if mentioned in shape.fields:
        return
    close = difflib.get_close_matches(mentioned, shape.fields, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"it has {', '.join(shape.fields)}"
    raise _invalid(name, f"{what} '{mentioned[:80]}', which the spec does not have; {hint}")


def _invalid(name: str, what: str) -> InputError:
    return InputError(f"The workflow definition '{name[:80]}' is not sound: {what}.", code="definition_invalid")


def _unfit(definition: Definition, what: str) -> Conflict:
    return Conflict(
        f"This workflow does not fit version {definition.version} of '{definition.name}': {what}. Raise the version "
        "and add a migration.",
        code="workflow_version",
    )
