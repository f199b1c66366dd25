"""Conditions as data, made into SQL: column names come from the table's own list, values only ever as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenuto.errors import InputError
from tenuto.ports import Vault, Where
from tenuto.storage.queries import columns, quoted
from tenuto.storage.tables import Column, Table, column_value, row_id

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
Parameters = dict[str, Any]


def where_sql(table: Table, where: Sequence[Where], vault: Vault, user: str) -> tuple[str, Parameters]:
    """``user_id = :user AND …`` and its parameters."""
    parts, parameters = ["user_id = :user"], {"user": user}
    for number, condition in enumerate(where):
        sql, more = _one(table, condition, f"w{number}", vault, user)
        parts.append(sql)
        parameters |= more
    return " AND ".join(parts), parameters


def _one(table: Table, condition: Where, name: str, vault: Vault, user: str) -> tuple[str, Parameters]:
    if condition.op == "has":
        if condition.column != table.many:
            raise InputError(f"'{condition.column}' of {table.name} does not hold several values.")
        link = f"{table.name}_{table.many}"
        blinded = vault.blind(user, str(condition.value))
        return f"id IN (SELECT id FROM {link} WHERE user_id = :user AND value = :{name})", {name: blinded}
    column = table.column(condition.column)
    left = quoted(column.name)
    if condition.op == "is" and condition.value is None:
        return f"{left} IS NULL", {}
    if condition.op == "is not" and condition.value is None:
        return f"{left} IS NOT NULL", {}
    if condition.op == "in":
        return _membership(table, column, condition, name, vault, user)
    if condition.op not in COMPARISONS:
        raise InputError(f"'{condition.op}' is not a comparison. Known: {', '.join(COMPARISONS)}, in, is, has.")
    if condition.value is None:
        raise InputError(f"Compare {column.name} with a value, or ask whether it 'is' None.")
    return f"{left} {condition.op} :{name}", {name: _value(condition.value, column, table, vault, user)}


def _membership(
    table: Table, column: Column, condition: Where, name: str, vault: Vault, user: str
) -> tuple[str, Parameters]:
    values = list(condition.value)
    nullable = None in values
    names = {
        f"{name}_{i}": _value(value, column, table, vault, user)
        for i, value in enumerate(value for value in values if value is not None)
    }
    if not names:
        return (f"{quoted(column.name)} IS NULL" if nullable else "1 = 0"), {}
    sql = f"{quoted(column.name)} IN ({', '.join(':' + one for one in names)})"
    return (f"({sql} OR {quoted(column.name)} IS NULL)" if nullable else sql), names


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
    condition, parameters = where_sql(table, where, vault, user)
    descending = order.startswith("-")
    column = table.column(order.removeprefix("-"))
    direction = "DESC" if descending else "ASC"
    if after is not None:
        parameters |= {
            "after": _value(after[0], column, table, vault, user),
            "after_id": row_id(str(after[1]), table, vault, user),
        }
        sign = "<" if descending else ">"
        left = "id" if column.name == "id" else f"{quoted(column.name)}, id"
        right = ":after_id" if column.name == "id" else ":after, :after_id"
        condition += f" AND ({left}) {sign} ({right})"
    by = f"id {direction}"
    if column.name != "id":
        nulls = " NULLS LAST" if column.nullable else ""
        by = f"{quoted(column.name)} {direction}{nulls}, {by}"
    sql = f"SELECT {columns(table)} FROM {table.name} WHERE {condition} ORDER BY {by}"
    if limit is not None:
        if not isinstance(limit, int):
            raise InputError(f"'limit' takes a whole number, not {limit!r:.50}.", code="limit_invalid")
        sql += " LIMIT :limit"
        parameters["limit"] = limit
    return sql, parameters
