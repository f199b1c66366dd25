"""Times as people type them on the command line."""

from datetime import UTC, datetime, timedelta

import pytest

from tenuto.errors import InputError
from tenuto.surfaces.cli.moments import duration, said_at, since

NOW = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)  # a Tuesday


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "bound", "said"),
    [
        ("2026-03-01T12:30+01:00", "2026-03-01 11:30", "2026-03-01 11:30"),
        ("2026-03-01", "2026-03-01 00:00", "2026-03-01 15:30"),
        ("yesterday", "2026-03-09 00:00", "2026-03-09 15:30"),
        ("3 days ago", "2026-03-07 00:00", "2026-03-07 15:30"),
        ("Monday", "2026-03-09 00:00", "2026-03-09 15:30"),
        ("last friday", "2026-03-06 00:00", "2026-03-06 15:30"),
        ("30d", "2026-02-08 15:30", "2026-02-08 15:30"),
        ("2h", "2026-03-10 13:30", "2026-03-10 13:30"),
    ],
)
def test_a_time(text: str, bound: str, said: str):
    assert f"{since(text, NOW):%Y-%m-%d %H:%M}" == bound
    assert f"{said_at(text, NOW):%Y-%m-%d %H:%M}" == said


def test_no_time_is_none():
    assert since(None, NOW) is None and said_at(None, NOW) is None


@pytest.mark.parametrize("text", ["", "soon", "30", "d", "-3d", "yesterday or so", "99999999d", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str):
    with pytest.raises(InputError, match="is not a time") as caught:
        since(text, NOW)
    assert caught.value.code == "time_invalid"


def test_a_duration():
    assert duration("90d") == timedelta(days=90) and duration("45m") == timedelta(minutes=45)
    assert duration("2w") == timedelta(weeks=2) and duration("1x") is None and duration("") is None
