"""Changes without a word for it."""

from datetime import UTC, datetime, timedelta

from tenuto.ingest.candidate import Candidate
from tenuto.ingest.reconcile.changed import already_so, came_true, ends_nothing, same_activity
from tenuto.ingest.reconcile.retire import Known
from tenuto.ingest.reconcile.versions import memory_of
from tenuto.records.memory import Domain, Kind

AT = datetime(2026, 5, 13, tzinfo=UTC)


def candidate(content: str, kind: Kind = Kind.FACT, *, days: int = 0, **more) -> Candidate:
    return Candidate(content=content, domain=Domain.PROFILE, kind=kind, at=AT + timedelta(days=days), **more)


def known(one: Candidate) -> Known:
    return Known(memory_of(one, "mem", one.at), 0.6)


def test_the_same_activity_on_other_days_takes_the_place_of_the_old():
    old = known(candidate("Runs on Tuesday and Thursday evenings", Kind.HABIT))
    assert same_activity(candidate("Runs on Mondays and Saturday afternoons", Kind.HABIT, days=3), [old]) is old
    assert same_activity(candidate("Swims on Mondays", Kind.HABIT, days=3), [old]) is None
    assert same_activity(candidate("Runs on Tuesday and Thursday evenings", Kind.HABIT, days=3), [old]) is None


def test_a_plan_comes_true_and_what_is_so_is_no_plan():
    plan = candidate("Is moving to Leeds", attribute="planned_home", value="Leeds")
    home = candidate("Lives in Leeds", attribute="home", value="Leeds")
    assert came_true(home, [known(plan)]) is not None and came_true(plan, [known(home)]) is None
    assert already_so(plan, [known(home)]) is not None and already_so(home, [known(plan)]) is None
    assert came_true(candidate("Lives in York", attribute="home", value="York"), [known(plan)]) is None


def test_an_end_of_what_nobody_said():
    assert ends_nothing(candidate("No longer lives in Sydney", attribute="home", value="Sydney", ends=True))
    assert not ends_nothing(candidate("No longer takes warfarin", attribute="medication_warfarin", ends=True))
