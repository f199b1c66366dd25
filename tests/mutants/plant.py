"""Faults that are planted into a module, one at a time: each is a small change of meaning at one place of its source.

Comparisons are turned round or moved by one, "and" and "or" swapped, conditions negated, ``not`` taken away, truth and
numbers changed, ``min`` and ``max`` swapped, a ``raise`` or a call that is made for its effect left out. Docstrings,
messages and type annotations say nothing about decisions and are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Fault:
    """One change: the function it is in, where, what was there and what is there instead."""

    function: str
    line: int
    before: str
    after: str
    tree: ast.Module

    def __str__(self) -> str:
        return f"{self.function}:{self.line}  {self.before}  ->  {self.after}"


def faults(source: str) -> Iterator[Fault]:
    """Every fault that can be planted into the functions of a module, in the order of its lines."""
    tree = ast.parse(source)
    for name, function in _functions(tree):
        for path, node in _places(function):
            for changed in _changes(node):
                planted = copy.deepcopy(tree)
                target = next(one for other, one in _functions(planted) if other == name)
                _put(target, path, changed)
                ast.fix_missing_locations(planted)
                yield Fault(name, getattr(node, "lineno", 0), _short(node), _short(changed), planted)


def _functions(tree: ast.Module) -> list[tuple[str, ast.FunctionDef]]:
    found = [(node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    for outer in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        found += [(f"{outer.name}.{node.name}", node) for node in outer.body if isinstance(node, ast.FunctionDef)]
    return found


Path = tuple[tuple[str, int | None], ...]


def _places(function: ast.FunctionDef) -> Iterator[tuple[Path, ast.AST]]:
    """Every node of a function's body with the way to it."""

    def walk(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            listed = value if isinstance(value, list) else [value]
            for number, one in enumerate(listed):
                if isinstance(one, ast.AST) and not _said(one):
                    here = (*path, (field, number if isinstance(value, list) else None))
                    yield here, one
                    yield from walk(one, here)

    for number, statement in enumerate(function.body):
        if not _said(statement):
            yield (("body", number),), statement
            yield from walk(statement, (("body", number),))


def _said(node: ast.AST) -> bool:
    """Whether a node is a text for people: a docstring, or the words of an error."""
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or isinstance(node, ast.JoinedStr)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        yield ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        for number in range(len(node.values)):
            rest = [one for place, one in enumerate(node.values) if place != number]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, (ast.If, ast.IfExp)):
        planted = copy.copy(node)
        planted.test = ast.UnaryOp(ast.Not(), node.test)
        yield planted
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Name) and node.id in SWAPPED and isinstance(node.ctx, ast.Load):
        yield ast.Name(SWAPPED[node.id], ast.Load())
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield ast.Pass()


def _put(function: ast.FunctionDef, path: Path, changed: ast.AST) -> None:
    node: ast.AST = function
    for field, number in path[:-1]:
        value = getattr(node, field)
        node = value if number is None else value[number]
    field, number = path[-1]
    if number is None:
        setattr(node, field, changed)
    else:
        getattr(node, field)[number] = changed


def _short(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))) if not isinstance(node, ast.If) else (
        f"if {ast.unparse(ast.fix_missing_locations(copy.deepcopy(node.test)))}"
    )  # fmt: skip
    line = " ".join(text.split())
    return line if len(line) <= 90 else line[:87] + "..."
