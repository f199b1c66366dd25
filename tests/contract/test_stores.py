"""The same contract on the fake, on SQLite and on a real PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenuto.ports import Store
from tenuto.providers.system import system_clock
from tenuto.providers.vault import PlainVault
from tenuto.storage.opening import open_store
from tenuto.testing.contract import StoreContract


def _opened(url: str) -> Iterator[Store]:
    store = open_store(url, PlainVault(), system_clock)
    yield store
    store.close()


class TestInMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        yield from _opened("memory:")


class TestSqlite(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        yield from _opened(str(tmp_path / "tenuto.db"))


class TestPostgres(StoreContract):
    @pytest.fixture
    def store(self, fresh_database: Callable[[], str]) -> Iterator[Store]:
        yield from _opened(fresh_database())
