"""What becomes of a candidate beside what is known. Pure: values in, values out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tenuto.ingest.candidate import Candidate
from tenuto.ingest.reconcile.decide import reconcile
from tenuto.ingest.reconcile.retire import Known
from tenuto.policy import Calibration, MemoryPolicy
from tenuto.records.memory import Domain, Kind, Memory, PinKind, Status, Trust
from tenuto.records.operations import Act

NOW = datetime(2024, 5, 15, 14, 0, tzinfo=UTC)
POLICY, CALIBRATION = MemoryPolicy(), Calibration(reinforce=0.78, upgrade=0.86)


def candidate(content: str, **more) -> Candidate:
    return Candidate(
        **{
            "content": content,
            "domain": Domain.PROFILE,
            "kind": Kind.FACT,
            "at": NOW,
            "message_id": content,
            "quote": content,
            **more,
        }
    )


def decide(one: Candidate, *known: Known, id: str = "new", now: datetime = NOW):
    return reconcile(one, known, id=id, spare_id="spare", now=now, calibration=CALIBRATION, policy=POLICY)


def kept(one: Candidate, id: str = "old") -> Memory:
    subject = decide(one, id=id).subject
    assert subject is not None
    return subject


def home(city: str, **more) -> Candidate:
    return candidate(f"I live in {city}", attribute="home", value=city, single=True, **more)


def test_something_new_is_inserted_with_its_evidence():
    decision = decide(home("Oslo"))
    assert decision.result.act is Act.INSERTED
    (memory,) = decision.put
    assert (memory.key, memory.slot) == ("profile|person|user|fact|home", "|profile|person|user|fact|home")
    assert [one.quote for one in memory.evidence] == ["I live in Oslo"]


def test_a_new_value_replaces_the_old_one_which_keeps_its_time():
    old = kept(home("Oslo"))
    decision = decide(home("Bergen", at=NOW + timedelta(days=30)), Known(old, 0.8))
    retired, fresh = decision.put
    assert (decision.result.act, decision.result.previous_id) == (Act.SUPERSEDED, "old")
    assert (retired.status, retired.slot, retired.superseded_by, retired.valid_to) == (
        Status.DEPRECATED,
        None,
        "new",
        NOW + timedelta(days=30),
    )
    assert (fresh.supersedes, fresh.slot, fresh.valid_to) == ("old", old.slot, None)
    assert [one.content for one in retired.history] == ["I live in Oslo"]


def test_an_older_statement_that_arrives_late_is_history():
    current = kept(home("Bergen"))
    decision = decide(home("Oslo", at=NOW - timedelta(days=30)), Known(current, 0.8))
    (late,) = decision.put
    assert (late.status, late.slot, late.superseded_by) == (Status.DEPRECATED, None, "old")


def test_the_same_again_is_reinforced_and_grows_surer_and_weightier():
    memory = kept(home("Oslo", importance=5.0, confidence=0.5))
    first = memory
    for day in range(1, 51):
        decision = decide(home("Oslo", at=NOW + timedelta(days=day), message_id=f"m{day}"), Known(memory, 1.0))
        assert decision.result.act is Act.REINFORCED
        (memory,) = decision.put
    assert memory.reinforcements == 50
    assert first.confidence < memory.confidence < 1
    assert first.importance < memory.importance <= POLICY.importance_ceiling
    assert len(memory.evidence) == POLICY.evidence_kept
    assert memory.evidence[0].message_id == "I live in Oslo"
    assert memory.last_reinforced_at == NOW + timedelta(days=50)


def test_the_same_sentence_twice_is_a_duplicate():
    memory = kept(home("Oslo"))
    decision = decide(home("Oslo"), Known(memory, 1.0))
    assert decision.result.act is Act.DUPLICATE
    assert decision.put == ()


def test_a_fuller_wording_upgrades_and_keeps_the_old_one():
    memory = kept(candidate("I bought a boat"))
    fuller = candidate("I bought a wooden boat from my uncle", at=NOW + timedelta(days=1))
    decision = decide(fuller, Known(memory, 0.9))
    (grown,) = decision.put
    assert (decision.result.act, grown.content, grown.status) == (Act.UPGRADED, fuller.content, Status.REVISED)
    assert [version.content for version in grown.history] == ["I bought a boat"]


def test_a_less_trusted_wording_never_takes_the_place_of_the_persons_own():
    memory = kept(candidate("I bought a boat"))
    fuller = candidate("I bought a wooden boat from my uncle", at=NOW + timedelta(days=1), trust=Trust.INFERRED)
    decision = decide(fuller, Known(memory, 0.9))
    (grown,) = decision.put
    assert (decision.result.act, grown.content, grown.history) == (Act.REINFORCED, "I bought a boat", ())
    assert grown.trust is Trust.USER_STATED


def test_between_the_thresholds_the_wording_stays():
    memory = kept(candidate("I bought a boat"))
    decision = decide(candidate("I bought a wooden boat from my uncle", at=NOW + timedelta(days=1)), Known(memory, 0.8))
    assert decision.result.act is Act.REINFORCED
    assert decision.put[0].content == "I bought a boat"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My team won the game", "My team lost the game"),
        ("I ran 5 miles today", "I ran 10 miles today"),
        ("I met Anna at the fair", "I met Carla at the fair"),
        ("I finished the painting of the lake", "I haven't finished the painting of the lake"),
        ("I went to the zoo with the kids", "I sold my old car to a friend"),
    ],
)
def test_what_differs_stays_apart_however_close_the_vectors_are(one: str, other: str):
    decision = decide(candidate(other, at=NOW + timedelta(days=1)), Known(kept(candidate(one)), 0.97))
    assert decision.result.act is Act.INSERTED


def test_allergies_are_never_merged_by_meaning():
    peanuts = kept(candidate("I'm allergic to peanuts", attribute="allergy", value="peanuts", pin=PinKind.AUTO))
    decision = decide(
        candidate("I'm allergic to penicillin", attribute="allergy", value="penicillin", pin=PinKind.AUTO),
        Known(peanuts, 0.95),
    )
    assert decision.result.act is Act.INSERTED
    assert decision.put[0].pinned


def test_a_contradiction_without_a_change_keeps_both_and_points_to_them():
    loves = kept(candidate("I love olives", attribute="like", value="olives", kind=Kind.PREFERENCE))
    decision = decide(
        candidate("I hate olives", attribute="dislike", value="olives", kind=Kind.PREFERENCE), Known(loves, 0.8)
    )
    fresh, note = decision.put
    assert (note.kind, note.derived_from) == (Kind.CONTRADICTION, ("old", "new"))
    assert fresh.status is Status.ACTIVE
    assert decision.result.previous_id == "old"


def test_a_marker_of_change_retires_what_it_names():
    tea = kept(candidate("I drink tea every morning"))
    changed = candidate("I switched from tea to coffee", change=True, changed_from="tea", at=NOW + timedelta(days=9))
    decision = decide(changed, Known(tea, 0.5))
    assert decision.result.act is Act.SUPERSEDED
    assert decide(replace(changed, change=False, changed_from=None), Known(tea, 0.5)).result.act is Act.INSERTED


def test_a_change_never_retires_an_allergy_on_the_side():
    allergy = kept(candidate("I'm allergic to tea", attribute="allergy", value="tea", pin=PinKind.AUTO))
    changed = candidate("I switched from tea to coffee", change=True, changed_from="tea", at=NOW + timedelta(days=9))
    assert decide(changed, Known(allergy, 0.9)).result.act is Act.INSERTED


def test_words_from_outside_only_wait():
    current = kept(home("Oslo"))
    decision = decide(
        home("Moscow", status=Status.CANDIDATE, trust=Trust.EXTERNAL, at=NOW + timedelta(days=1)), Known(current, 0.99)
    )
    (waiting,) = decision.put
    assert (waiting.status, waiting.slot, waiting.trust, waiting.pinned) == (
        Status.CANDIDATE,
        None,
        Trust.EXTERNAL,
        False,
    )
    again = decide(home("Moscow", status=Status.CANDIDATE, trust=Trust.EXTERNAL), Known(waiting, 1.0))
    assert again.result.act is Act.DUPLICATE


def test_what_waited_becomes_the_users_when_they_say_it():
    waiting = kept(home("Moscow", status=Status.CANDIDATE, trust=Trust.EXTERNAL))
    decision = decide(home("Moscow", message_id="said", at=NOW + timedelta(days=1)), Known(waiting, 1.0))
    (grown,) = decision.put
    assert (grown.status, grown.trust) == (Status.ACTIVE, Trust.USER_STATED)
    assert grown.slot is not None


def test_an_inference_does_not_replace_what_the_user_said():
    current = kept(home("Oslo"))
    decision = decide(home("Bergen", trust=Trust.INFERRED, at=NOW + timedelta(days=1)), Known(current, 0.9))
    assert (decision.result.act, decision.put[0].status) == (Act.INSERTED, Status.CANDIDATE)


def test_a_private_memory_and_a_shared_one_do_not_touch():
    shared = kept(home("Oslo"))
    decision = decide(home("Bergen", persona="coach", at=NOW + timedelta(days=1)), Known(shared, 0.9))
    assert decision.result.act is Act.INSERTED
    assert decision.put[0].slot == "coach|profile|person|user|fact|home"


def test_a_pin_by_hand_moves_on_to_the_new_value():
    old = replace(kept(home("Oslo")), pinned=True, pin_kind=PinKind.MANUAL, importance=10.0)
    _, fresh = decide(home("Bergen", at=NOW + timedelta(days=1)), Known(old, 0.8)).put
    assert (fresh.pinned, fresh.pin_kind) == (True, PinKind.MANUAL)


def medicine(name: str, **more) -> Candidate:
    return candidate(f"Takes {name}", attribute=f"medication_{name}", value=name, single=True, pin=PinKind.AUTO, **more)


def test_a_swap_replaces_the_only_medicine_and_never_guesses_among_several():
    warfarin, metformin = kept(medicine("warfarin")), kept(medicine("metformin"), "other")
    later = NOW + timedelta(days=30)
    swap = decide(medicine("apixaban", change=True, at=later), Known(warfarin, 0.7))
    assert (swap.result.act, swap.result.previous_id) == (Act.SUPERSEDED, "old")
    assert swap.subject is not None and swap.subject.pinned
    both = decide(medicine("apixaban", change=True, at=later), Known(warfarin, 0.7), Known(metformin, 0.7))
    assert both.result.act is Act.INSERTED, "which of the two it replaces is not known"
    assert decide(medicine("apixaban", at=later), Known(warfarin, 0.7)).result.act is Act.INSERTED
