"""What a SQL engine must do for the shared store: connections, transactions, migrations' folder, and error names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tenuto.ports import Vectors
from tenuto.records.scope import Revision

Row = tuple[Any, ...]


class Connection(Protocol):
    """One connection inside a transaction. SQL is written with ``:name`` parameters on every engine."""

    def rows(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]: ...

    def change(self, sql: str, parameters: Mapping[str, Any]) -> int:
        """How many rows were changed."""

    def change_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same statement for each row, in order."""

    def script(self, sql: str) -> None:
        """Several statements without parameters, for migrations."""


class SqlEngine(Protocol):
    """Opens transactions and turns the driver's errors into ours."""

    dialect: str

    @property
    def url(self) -> str: ...

    def reading(self, user: str, at: Revision | None = None) -> AbstractContextManager[Connection]:
        """Reads of one moment. Where ``at`` is no longer that moment, ``Moved`` is raised, at the latest at the end."""

    def writing(self, user: str) -> AbstractContextManager[Connection]: ...

    def pack_vector(self, vector: bytes | None) -> Any:
        """float16 bytes as the engine wants them."""

    def unpack_vector(self, value: Any) -> bytes | None:
        """What the engine gives back as float16 bytes."""

    def unpack_vectors(self, values: Sequence[Any]) -> Sequence[bytes | None]:
        """The same for many at once."""

    def nearest(
        self, connection: Connection, user: str, kind: str, vector: Vectors, model: str, limit: int
    ) -> Sequence[tuple[str, float]] | None:
        """Exact cosine search among one user's entries of one kind; ``None`` where the engine cannot compare."""

    def check(self) -> list[str]: ...

    def compact(self, *, thorough: bool = False) -> bool: ...

    def close(self) -> None: ...
