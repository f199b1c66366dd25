from datetime import UTC, datetime, timedelta

import pytest
from examples.coding_exercises import ACTIVITY
from tests.flows.workflow.desk import Desk

from tenuto.errors import Conflict, InputError, NotFound
from tenuto.records.workflow import Artifact, Outcome, Workflow


def test_a_profile_follows_from_the_outcomes(desk: Desk) -> None:
    ana = desk.store.user("ana")
    for number in range(4):
        ana.record_outcome("python", "loops", number != 1, desk.now + timedelta(hours=number), style="puzzle")
    desk.wait(days=1)
    found = ana.learner("python")
    assert found.skills["loops"].tries == 4
    assert found.failure_counts == {"loops": 1}
    assert found.preferred_style == "puzzle"
    assert found.mastery("loops") > 0.5
    assert ana.learner("sql").outcomes == 0
    assert desk.store.user("bob").learner("python").outcomes == 0
    assert ana.learner("python") == found


def test_an_outcome_changes_nothing_that_it_judges(desk: Desk) -> None:
    ana = desk.store.user("ana")
    work = ana.workflow(ACTIVITY, "w1")
    submission = work.submit({"answer": 1})
    with desk.store.deps.store.reading("ana") as reader:
        before = (reader.get(Workflow, "w1"), reader.get(Artifact, submission.id))
    ana.record_outcome("python", "loops", False, artifact_id=submission.id)
    with desk.store.deps.store.reading("ana") as reader:
        assert (reader.get(Workflow, "w1"), reader.get(Artifact, submission.id)) == before
        assert reader.find(Outcome)[0].artifact_id == submission.id
    assert ana.learner("python").failures[0].artifact_id == submission.id


def test_the_same_outcome_twice_counts_once_and_is_never_edited(desk: Desk) -> None:
    ana = desk.store.user("ana")
    first = ana.record_outcome("python", "loops", True, id="o1")
    assert ana.record_outcome("python", "loops", True, id="o1") == first
    with pytest.raises(Conflict):
        ana.record_outcome("python", "loops", False, id="o1")
    assert ana.learner("python").outcomes == 1


def test_outcomes_that_cannot_be_taken(desk: Desk) -> None:
    ana = desk.store.user("ana")
    with pytest.raises(InputError):
        ana.record_outcome("python", "loops", 1)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        ana.record_outcome("", "loops", True)
    with pytest.raises(InputError):
        ana.record_outcome("python", "loops", True, datetime(2026, 1, 1))
    with pytest.raises(NotFound):
        ana.record_outcome("python", "loops", True, artifact_id="art_none")
    assert ana.learner("python", at=datetime(2030, 1, 1, tzinfo=UTC)).outcomes == 0


def test_artifacts_belong_to_a_workflow_and_have_limits(desk: Desk) -> None:
    ana = desk.store.user("ana")
    work = ana.workflow(ACTIVITY, "w1")
    with pytest.raises(InputError):
        work.produce({"text": "x" * 2_000_000})
    with pytest.raises(InputError):
        work.produce({"__proto__": 1})
    assert work.artifacts() == []
