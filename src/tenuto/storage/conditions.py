"""Conditions as data, made into SQL: column names come from the table's own list, values only ever as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tenuto.errors import InputError
from tenuto.ports import Vault, Where
from tenuto.storage.queries import columns, quoted
from tenuto.storage.tables import Column, Table, column_value, row_id

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
Parameters = dict[str, Any]
Shape = tuple[str, str, int, bool]
"""A condition without its values: the column, the comparison, how many values, and whether null is among them."""


def where_sql(table: Table, where: Sequence[Where], vault: Vault, user: str) -> tuple[str, Parameters]:
    """``user_id = :user AND …`` and its parameters."""
    sql = _conditions(table, tuple(_shape(condition) for condition in where))
    return sql, _parameters(table, where, vault, user)


def _shape(condition: Where) -> Shape:
    if condition.op == "in":
        values = list(condition.value)
        nulls = values.count(None)
        return condition.column, "in", len(values) - nulls, nulls > 0
    return condition.column, condition.op, 1, condition.value is None


def _parameters(table: Table, where: Sequence[Where], vault: Vault, user: str) -> Parameters:
    parameters: Parameters = {"user": user}
    for number, condition in enumerate(where):
        if condition.op == "has":
            parameters[f"w{number}"] = vault.blind(user, str(condition.value))
        elif condition.op == "in":
            column = table.column(condition.column)
            values = (value for value in condition.value if value is not None)
            for place, value in enumerate(values):
                parameters[f"w{number}_{place}"] = _value(value, column, table, vault, user)
        elif condition.value is not None:
            column = table.column(condition.column)
            parameters[f"w{number}"] = _value(condition.value, column, table, vault, user)
    return parameters


@lru_cache(maxsize=1024)
def _conditions(table: Table, shapes: tuple[Shape, ...]) -> str:
    """Made once for each question that the program asks."""
    return " AND ".join(["user_id = :user", *(_one(table, shape, f"w{n}") for n, shape in enumerate(shapes))])


def _one(table: Table, shape: Shape, name: str) -> str:
    wanted, op, values, null = shape
    if op == "has":
        if wanted != table.many:
            raise InputError(f"'{wanted}' of {table.name} does not hold several values.")
        return f"id IN (SELECT id FROM {table.name}_{table.many} WHERE user_id = :user AND value = :{name})"
    column = table.column(wanted)
    left = quoted(column.name)
    if op in ("is", "is not") and null:
        return f"{left} {op.upper()} NULL"
    if op == "in":
        return _membership(left, name, values, null)
    if op not in COMPARISONS:
        raise InputError(f"'{op}' is not a comparison. Known: {', '.join(COMPARISONS)}, in, is, has.")
    if null:
        raise InputError(f"Compare {column.name} with a value, or ask whether it 'is' None.")
    return f"{left} {op} :{name}"


def _membership(left: str, name: str, values: int, null: bool) -> str:
    if not values:
        return f"{left} IS NULL" if null else "1 = 0"
    sql = f"{left} IN ({', '.join(f':{name}_{place}' for place in range(values))})"
    return f"({sql} OR {left} IS NULL)" if null else sql


def _value(value: Any, column: Column, table: Table, vault: Vault, user: str) -> Any:
    if column.name == "id":
        return row_id(str(value), table, vault, user)
    return column_value(value, column, vault, user)


def select_sql(
    table: Table,
    where: Sequence[Where],
    vault: Vault,
    user: str,
    *,
    order: str,
    limit: int | None,
    after: tuple[Any, str] | None,
) -> tuple[str, Parameters]:
    """The whole listing: conditions, order with the id as tie-break, page."""
    if limit is not None and not isinstance(limit, int):
        raise InputError(f"'limit' takes a whole number, not {limit!r:.50}.", code="limit_invalid")
    condition, parameters = where_sql(table, where, vault, user)
    sql = _listing(table, condition, order, limited=limit is not None, paged=after is not None)
    if after is not None:
        column = table.column(order.removeprefix("-"))
        parameters["after"] = _value(after[0], column, table, vault, user)
        parameters["after_id"] = row_id(str(after[1]), table, vault, user)
    if limit is not None:
        parameters["limit"] = limit
    return sql, parameters


@lru_cache(maxsize=1024)
def _listing(table: Table, condition: str, order: str, *, limited: bool, paged: bool) -> str:
    descending = order.startswith("-")
    column = table.column(order.removeprefix("-"))
    direction = "DESC" if descending else "ASC"
    if paged:
        sign = "<" if descending else ">"
        left = "id" if column.name == "id" else f"{quoted(column.name)}, id"
        right = ":after_id" if column.name == "id" else ":after, :after_id"
        condition += f" AND ({left}) {sign} ({right})"
    by = f"id {direction}"
    if column.name != "id":
        nulls = " NULLS LAST" if column.nullable else ""
        by = f"{quoted(column.name)} {direction}{nulls}, {by}"
    sql = f"SELECT {columns(table)} FROM {table.name} WHERE {condition} ORDER BY {by}"
    return f"{sql} LIMIT :limit" if limited else sql
