"""Messages that were told with their own time act in the order in which they were said, however they are worked on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import tenuto
from tenuto.records.memory import TodoStatus
from tenuto.testing.fakes import FakeClock

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "My sister Petra lives in Lyon.",
    "Please forget everything about Petra.",
    "Remind me to call the dentist tomorrow.",
    "I called the dentist this morning.",
    "Petra Novak is a new colleague of mine, she works at Helio Maps.",
    "Remind me to call the dentist again next week.",
)


@pytest.mark.parametrize("order", ["as said", "the last first"])
@pytest.mark.parametrize("each", [True, False])
def test_what_was_said_later_is_not_reached_by_what_was_said_before(store_url: str, order: str, each: bool) -> None:
    """Whatever the order in which messages come in, and whether each is worked on at once or all at the end."""
    told = list(enumerate(SAID))
    with tenuto.open(store_url, clock=FakeClock(START + timedelta(days=1))) as store:
        ana = store.user("ana")
        for number, text in told if order == "as said" else reversed(told):
            ana.observe(text, at=START + timedelta(hours=2 * number), id=str(number))
            if each:
                store.settle()
        store.settle()
        known = [one.content for one in ana.memories()]
        assert any("Helio" in one for one in known), known
        todos = sorted((one.created_at, one.status) for one in ana.todos(status="*") if "dentist" in one.content)
        if order == "as said":
            assert not any("Lyon" in one for one in known), known
            assert [status for _, status in todos] == [TodoStatus.DONE, TodoStatus.OPEN]
        assert todos[-1][1] is TodoStatus.OPEN
