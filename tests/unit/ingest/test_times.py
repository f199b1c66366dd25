"""Time expressions: the table of cases in bench/extraction, and spans, relations and recurrence."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.language.times import find, first, lasting_since, recurrence

AT = datetime(2024, 5, 15, 14, 0, tzinfo=UTC)


def test_the_table_of_cases_holds():
    from bench.extraction.cases import check, load

    wrong = [(case["text"], check(case, None)) for case in load() if case["family"] == "time" and check(case, None)]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("due on Friday", "by"),
        ("by Friday", "by"),
        ("since March", "since"),
        ("until June", "until"),
        ("on Friday", "at"),
    ],
)
def test_relations(text: str, relation: str):
    found = first(text, AT)
    assert found is not None
    assert found.relation == relation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("every Monday", "every monday"),
        ("daily", "daily"),
        ("three times a week", "three times a week"),
        ("on Sundays", "every sunday"),
        ("once", None),
    ],
)
def test_recurrence(text: str, expected: str | None):
    assert recurrence(f"I run {text}") == expected


def test_how_long_something_has_lasted():
    assert lasting_since("I have lived here for three years", AT) == datetime(2021, 5, 15, 14, 0, tzinfo=UTC)
    assert lasting_since("I stayed for three years", AT) is None


def test_yesterday_depends_on_the_users_zone():
    late = datetime(2024, 5, 15, 2, 0, tzinfo=UTC)
    utc, tokyo, lima = (
        first("yesterday", late),
        first("yesterday", late, ZoneInfo("Asia/Tokyo")),
        first("yesterday", late, ZoneInfo("America/Lima")),
    )
    assert utc and tokyo and lima
    assert [one.start.day for one in (utc, tokyo, lima)] == [14, 14, 13]


@given(st.text(alphabet="0123456789/-: abcdefghijklmnopqrstuvwxyz,.", max_size=120))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_spans_that_run_forward(text: str):
    for when in find(text, AT):
        assert when.start <= when.end
