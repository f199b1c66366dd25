import math
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.travel_planner import TRIP
from hypothesis import given
from hypothesis import strategies as st

from tenuto.policy import WorkflowPolicy
from tenuto.workflow.draft import Change, apply, from_operations, read_patch

POLICY = WorkflowPolicy()
DRAFT = {"language": "python", "difficulty_plan": {"easy": 1, "medium": 0, "hard": 0}}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({"op": "add", "path": "/colour", "value": 1}, "no field 'colour'"),
        ({"op": "add", "path": "/problem_count", "value": "5"}, "does not fit"),
        ({"op": "add", "path": "/problem_count", "value": True}, "does not fit"),
        ({"op": "add", "path": "/problem_count", "value": 8}, "does not fit"),
        ({"op": "add", "path": "/problem_count", "value": None}, "does not fit"),
        ({"op": "add", "path": "/topic", "value": "x" * 1_000_000}, "1,000,002 bytes"),
        ({"op": "add", "path": "/topic", "value": "a\x00b"}, "NUL"),
        ({"op": "add", "path": "/topic", "value": "\ud800"}, "surrogate"),
        ({"op": "add", "path": "/topic", "value": deep(5000)}, "nested"),
        ({"op": "add", "path": "/topic", "value": ["x"] * 5000}, "keys and items"),
        ({"op": "add", "path": "/topic", "value": {"__proto__": {}}}, "__proto__"),
        ({"op": "add", "path": "/topic", "value": {"constructor": {}}}, "constructor"),
        ({"op": "add", "path": "/topic", "value": math.nan}, "finite"),
        ({"op": "add", "path": "/problem_count", "value": 2**70}, "64 bits"),
        ({"op": "add", "path": "/topic", "value": {1, 2}}, "not a JSON value"),
        ({"op": "add", "path": "/__proto__/polluted", "value": 1}, "no field"),
        ({"op": "add", "path": "/difficulty_plan/__class__", "value": 1}, "not allowed"),
        ({"op": "add", "path": "/difficulty_plan/extreme", "value": 1}, "does not fit"),
        ({"op": "add", "path": "/difficulty_plan/easy/deeper", "value": 1}, "nothing at"),
        ({"op": "remove", "path": "/topic"}, "nothing at"),
        ({"op": "move", "path": "/topic", "from": "/language"}, "not known"),
        ({"op": "add", "path": "/topic"}, "no value"),
        ({"op": "add", "path": "topic", "value": "x"}, "JSON pointer"),
        ({"op": "add", "path": 5, "value": "x"}, "JSON pointer"),
        ({"op": "add", "path": "/" + "a/" * 600, "value": "x"}, "JSON pointer"),
        ("add topic", "object"),
        (None, "object"),
    ],
)
def test_a_bad_operation_is_dropped_with_one_reason(operation: Any, said: str) -> None:
    before = dict(DRAFT)
    read = read_patch(ACTIVITY, DRAFT, [operation], POLICY)
    assert read.changes == ()
    assert len(read.refused) == 1
    assert said in read.refused[0]
    assert len(read.refused[0]) < 500, "a refusal does not carry the value back"
    assert before == DRAFT


@pytest.mark.parametrize("operations", [None, "x", {"op": "add"}, 7, [{"op": "remove", "path": "/topic"}] * 65])
def test_what_is_no_patch_is_refused_whole(operations: Any) -> None:
    read = read_patch(ACTIVITY, DRAFT, operations, POLICY)
    assert not read.changes
    assert len(read.refused) == 1


def test_fixed_and_derived_fields_are_not_written() -> None:
    for name in ("days", "requested_by"):
        read = read_patch(TRIP, {}, [{"op": "add", "path": f"/{name}", "value": 3}], POLICY)
        assert not read.changes
        assert "cannot be set" in read.refused[0]


def test_a_change_inside_a_field_becomes_a_change_of_the_whole_field() -> None:
    patch = [{"op": "replace", "path": "/difficulty_plan/hard", "value": 2, "confidence": 0.7}]
    read = read_patch(ACTIVITY, DRAFT, patch, POLICY)
    assert read.changes == (Change(field="difficulty_plan", value={"easy": 1, "medium": 0, "hard": 2}),)
    assert read.confidence == {"difficulty_plan": 0.7}
    assert DRAFT["difficulty_plan"] == {"easy": 1, "medium": 0, "hard": 0}


def test_what_changes_nothing_is_no_change() -> None:
    assert (
        read_patch(ACTIVITY, DRAFT, [{"op": "replace", "path": "/language", "value": "python"}], POLICY).changes == ()
    )


def test_operations_and_changes_are_each_others_inverse() -> None:
    changes = (Change(field="language", value="java"), Change(field="difficulty_plan", remove=True))
    operations = [change.operation(DRAFT) for change in changes]
    assert [operation["was"] for operation in operations] == list(DRAFT.values())
    assert apply(ACTIVITY, DRAFT, from_operations(operations)) == {"language": "java"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


paths = st.text("/abcdefgilmnoptuy_~01-", max_size=24) | st.sampled_from([f"/{name}" for name in ACTIVITY.fields])


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(["add", "replace", "remove"]),
                "path": st.text("/abcdefgilmnoptuy_~01-", max_size=24),
            },
            optional={"value": values, "confidence": values},
        )
        | values,
        max_size=6,
    )
)
def test_whatever_is_proposed_the_draft_stays_valid(operations: list[Any]) -> None:
    read = read_patch(ACTIVITY, DRAFT, operations, POLICY)
    after = apply(ACTIVITY, DRAFT, read.changes)
    assert not ACTIVITY.judge(after).invalid
    assert set(after) <= set(ACTIVITY.fields)
