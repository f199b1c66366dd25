from datetime import UTC, datetime
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.patient_intake import INTAKE
from examples.travel_planner import TRIP

from tenuto.workflow import Field, Reading, Said, define
from tenuto.workflow.propose import read_message, restates

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def read(definition: Any, text: str, *asked: str) -> dict[str, Any]:
    found = read_message(definition, text, asked, NOW).changes
    return {change.field: change.value for change in found if change.explicit}


def hinted(definition: Any, text: str, *asked: str) -> dict[str, Any]:
    found = read_message(definition, text, asked, NOW).changes
    return {change.field: change.value for change in found if not change.explicit}


@pytest.mark.parametrize(
    ("text", "asked", "found"),
    [
        ("python", ("language",), {"language": "python"}),
        ("Python please", (), {"language": "python"}),
        ("change it from python to java", (), {"language": "java"}),
        ("java instead of python", (), {"language": "java"}),
        ("not java", (), {}),
        ("java or python", (), {}),
        ("language: sql", (), {"language": "sql"}),
        ("5", ("problem_count",), {"problem_count": 5}),
        ("five, please", ("problem_count",), {"problem_count": 5}),
        ("5", (), {}),
        ("5 problems", (), {"problem_count": 5}),
        ("make it three exercises", (), {"problem_count": 3}),
        ("5-7", ("problem_count",), {}),
        ("between 3 and 4", ("problem_count",), {}),
        ("3.5", ("problem_count",), {}),
        ("I have 2 dogs", ("problem_count",), {}),
        ("2/1/2", ("difficulty_plan",), {"difficulty_plan": {"easy": 2, "medium": 1, "hard": 2}}),
        ("2 easy, 1 medium and 2 hard", (), {"difficulty_plan": {"easy": 2, "medium": 1, "hard": 2}}),
        ("2 easy, 3 easy", (), {}),
        (
            "4 problems: 2 easy, 2 hard, topic: graphs",
            ("topic",),
            {"problem_count": 4, "topic": "graphs", "difficulty_plan": {"easy": 2, "medium": 0, "hard": 2}},
        ),
        ("linked lists", ("topic",), {"topic": "linked lists"}),
        ("what would you recommend?", ("topic",), {}),
        ("I don't know", ("topic",), {}),
        ("tell me more", ("topic",), {}),
        ("yes", ("topic",), {}),
        ("no, not that", ("topic",), {}),
        ("python", ("topic",), {"language": "python"}),
    ],
)
def test_shorthand_for_exercises(text: str, asked: tuple[str, ...], found: dict[str, Any]) -> None:
    assert read(ACTIVITY, text, *asked) == found


@pytest.mark.parametrize(
    ("text", "asked", "found"),
    [
        ("leaving 2027-05-03, back 2027-05-10", (), {"start_date": "2027-05-03", "end_date": "2027-05-10"}),
        ("3 May", ("start_date",), {"start_date": "2026-05-03"}),
        ("next friday", ("start_date",), {"start_date": "2026-03-06"}),
        ("leaving 2027-05-03", ("end_date",), {"start_date": "2027-05-03"}),
        ("back 2027-05-10", ("start_date", "end_date"), {"end_date": "2027-05-10"}),
        ("2027-05-10", ("start_date", "end_date"), {}),
        ("two of us", (), {"travellers": 2}),
        ("Lisbon sounds good", ("destination",), {"destination": "Lisbon"}),
        ("destination: São Paulo; pace: slow", (), {"destination": "São Paulo", "pace": "slow"}),
        ("budget: 1,500.50", (), {"budget": 1500.5}),
        ("days: 400", (), {}),
        ("requested by: mallory", (), {}),
    ],
)
def test_shorthand_for_a_trip(text: str, asked: tuple[str, ...], found: dict[str, Any]) -> None:
    assert read(TRIP, text, *asked) == found


@pytest.mark.parametrize(
    ("text", "asked", "found"),
    [
        ("penicillin, nuts and latex", ("allergies",), {"allergies": ["penicillin", "nuts", "latex"]}),
        ("none that I know of", ("allergies",), {"allergies": []}),
        ("yes", ("smoker",), {"smoker": True}),
        ("no", ("smoker",), {"smoker": False}),
        ("yes", (), {}),
        ("smoker: no", (), {"smoker": False}),
        ("My name is Ana Ruiz.", ("full_name",), {"full_name": "Ana Ruiz"}),
    ],
)
def test_shorthand_for_a_form(text: str, asked: tuple[str, ...], found: dict[str, Any]) -> None:
    assert read(INTAKE, text, *asked) == found


def test_a_question_a_hedge_and_a_mention_are_inferences() -> None:
    assert hinted(ACTIVITY, "Is java hard?") == {"language": "java"}
    assert hinted(ACTIVITY, "maybe java") == {"language": "java"}
    assert hinted(ACTIVITY, "My uncle has been writing java at a bank for thirty long years") == {"language": "java"}
    assert hinted(ACTIVITY, "enough for one lesson", "problem_count") == {"problem_count": 1}
    assert "allergies" in hinted(INTAKE, "penicillin gave me a terrible rash once", "allergies")


def test_a_field_may_bring_its_own_parser() -> None:
    def stars(said: Said) -> Reading | None:
        count = said.text.count("★")
        return Reading(value=count) if count else None

    rated = define(
        "rated",
        {"type": "object", "properties": {"rating": {"type": "integer"}}},
        fields={"rating": Field(parser=stars)},
    )
    assert read(rated, "★★★★") == {"rating": 4}
    assert read(rated, "4", "rating") == {}


@pytest.mark.parametrize(
    ("definition", "field", "value", "text", "expected"),
    [
        (TRIP, "destination", "Lisbon", "yes, Lisbon", True),
        (TRIP, "destination", "Lisbon", "Lisbon it is, fine", True),
        (TRIP, "destination", "Lisbon", "let's fly to Lisbon", True),
        (TRIP, "destination", "Lisbon", "destination: Lisbon", True),
        (TRIP, "destination", "Lisbon", "not Lisbon", False),
        (TRIP, "destination", "Lisbon", "Lisbon?", False),
        (TRIP, "destination", "Lisbon", "my cousin lives in Lisbon", False),
        (TRIP, "destination", "Lisbon", "yes", False),
        (TRIP, "travellers", 5, "five", True),
        (TRIP, "travellers", 5, "five people", True),
        (TRIP, "travellers", 5, "five euros", False),
        (TRIP, "travellers", 5, "four", False),
        (ACTIVITY, "problem_count", 1, "plan: 0 easy, 0 medium, 1 hard", False),
        (INTAKE, "smoker", True, "yes", True),
        (INTAKE, "allergies", ["nuts", "latex"], "nuts and latex", True),
        (INTAKE, "allergies", ["nuts", "latex"], "nuts", False),
        (INTAKE, "allergies", [], "anything", False),
    ],
)
def test_restating_is_saying_every_part_and_nothing_else(
    definition: Any, field: str, value: Any, text: str, expected: bool
) -> None:
    operations = [{"op": "add", "path": f"/{field}", "value": value}]
    assert restates(definition, operations, text, NOW) is expected
    assert not restates(definition, [{"op": "remove", "path": f"/{field}"}], text, NOW)


HOSTILE = [
    *("a", " ", "1", "one ", "1 ", "problems ", "leaving ", ",", "not ", "python ", "topic:\n", "problem count: 1;"),
    *("-1", "2027-01-01 ", "'", "and ", "1 easy ", ". ", "?", "leaving on 3 ", "1,000", "it is ", "\t,", "no "),
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("part", HOSTILE)
def test_no_text_keeps_the_parsers_busy(part: str) -> None:
    """A pattern that goes quadratic on a 64 KiB message takes minutes; the timeout is the assertion."""
    text = part * (65_536 // len(part))
    for definition, asked in ((ACTIVITY, ("topic",)), (TRIP, ("start_date",)), (INTAKE, ("allergies",))):
        read_message(definition, text, asked, NOW)
        for field in asked:
            assert not restates(definition, [{"op": "add", "path": f"/{field}", "value": "x"}], text, NOW)
