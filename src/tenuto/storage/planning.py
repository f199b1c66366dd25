"""What SQLite is told about the sizes of things, so that it chooses the right index from the first row on.

Without statistics SQLite takes it that ten rows share the first column of a key. Every key here begins with the user,
so it would rather walk over all rows of a user than use the index that was made for the question; with a long history
that is most of what a question costs. Counting (``ANALYZE``) is no cure: it counts what is there when it runs, which in
a young file is next to nothing. So the numbers are written down: a user has ten thousand rows of everything, and each
further column narrows that by what kind of column it is. Plans are the same in every file and do not change overnight.

What would break it: a column that narrows much and is not named here. It costs a worse plan, never a wrong answer.
"""

from __future__ import annotations

from tenuto.storage.engine import Connection

ROWS = 1_000_000
OF_A_USER = 10_000
FEW = frozenset(
    ["kind", "status", "persona", "type", "current", "domain", "role", "model", "channel", "resolved", "definition"]
)
"""Columns with few values: each is a quarter of the rows."""
SOME = frozenset(["session_id", "workflow_id", "importance", "version"])
"""Columns whose values are shared by some twenty rows."""


def narrowed(rows: int, column: str) -> int:
    """How many rows are left when one more column is given."""
    if column == "user_id":
        return min(rows, OF_A_USER)
    if column in FEW:
        return max(1, rows // 4)
    return min(rows, 20 if column in SOME else 2)


def statistics(connection: Connection) -> list[tuple[str, str, str]]:
    """Rows of ``sqlite_stat1``: table, index, and how many rows share each beginning of its columns."""
    found = []
    tables = connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", {})
    for (table,) in tables:
        for _, index, unique, origin, _ in connection.rows(f"PRAGMA index_list({table})", {}):
            columns = [str(row[2] or "") for row in connection.rows(f"PRAGMA index_info({index})", {})]
            left, shared = ROWS, []
            for column in columns:
                left = narrowed(left, column)
                shared.append(left)
            if unique:
                shared[-1] = 1
            found.append((table, table if origin == "pk" else index, " ".join(map(str, [ROWS, *shared]))))
    return found


def teach(connection: Connection) -> None:
    """Write the numbers into the file, in the transaction that made its schema."""
    connection.script("ANALYZE schema_migrations")
    connection.change("DELETE FROM sqlite_stat1", {})
    for table, index, numbers in statistics(connection):
        connection.change(
            "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:table, :index, :numbers)",
            {"table": table, "index": index, "numbers": numbers},
        )
    connection.script("ANALYZE sqlite_schema")
