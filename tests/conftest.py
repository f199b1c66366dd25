"""Fixtures that every test may use."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import servers

# Machines differ and are shared: how long an example takes says nothing about whether it is right. The examples are the
# same in every run of the same code; TENUTO_TEST_RANDOM=1 looks for new ones.
settings.register_profile(
    "tenuto",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("TENUTO_TEST_RANDOM"),
)
settings.load_profile("tenuto")


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """A real PostgreSQL with pgvector; its maintenance database."""
    return servers.postgres().url()


@pytest.fixture
def fresh_database(postgres_url: str) -> Callable[[], str]:
    """Makes a new, empty PostgreSQL database at each call and returns its URL."""
    return servers.fresh_database


@pytest.fixture
def redis_url() -> str:
    """A real server that speaks Redis, empty."""
    valkey = servers.valkey()
    valkey.flush()
    return valkey.url()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, on each engine in turn."""
    if request.param == "postgres":
        return servers.fresh_database()
    return "memory:" if request.param == "memory" else str(tmp_path / "tenuto.db")


def pytest_sessionfinish(session: pytest.Session) -> None:
    servers.stop_all()
    if _skipped(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if skipped := _skipped(config):
        terminalreporter.section("skipped tests count as failed", red=True)
        for report in skipped:
            terminalreporter.line(f"{report.nodeid}: {report.longrepr}")


def _skipped(config: pytest.Config) -> list[pytest.TestReport]:
    """What was not run was not checked: a missing server or browser is no reason to pass."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [] if reporter is None else list(reporter.stats.get("skipped", []))
