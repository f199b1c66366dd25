"""A proposal meets what is known: what is written, and what is said about it. Pure.

Two thresholds, because two questions are asked of the same cosine. At ``reinforce`` two statements are taken to say
the same thing, so evidence grows and nothing is copied; at the higher ``upgrade`` a fuller wording may replace the
shorter one, and the old one goes into the history. Meaning is never enough by itself: statements with different
values, numbers, names, dates, subjects or polarity stay apart however close their vectors are ("allergic to peanuts"
and "allergic to penicillin" are near neighbours and must not be merged).

Order of the questions: is it from outside (then it only waits) · is it the same thing · does it take the place of what
a model names · does it close or replace the one value of its attribute · does it say that something changed · does
it contradict · otherwise it is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenuto.ingest.candidate import Candidate, normal, numbers
from tenuto.ingest.reconcile.changed import TIMES, already_so, came_true, ends_nothing, other_level, same_activity
from tenuto.ingest.reconcile.opposed import denied, opposed
from tenuto.ingest.reconcile.retire import COMMON, Known, mentions_words, named_by, replaced_by
from tenuto.ingest.reconcile.same_statement import agree, fuller, meaning_words, says_the_same, subject_of, undated
from tenuto.ingest.reconcile.versions import (
    as_history,
    asserted_at,
    contradiction_of,
    memory_of,
    reinforced,
    superseded,
)
from tenuto.policy import Calibration, MemoryPolicy
from tenuto.records.base import evolve
from tenuto.records.memory import (
    RECALLED,
    TRUST_ORDER,
    Evidence,
    Memory,
    Status,
    Trust,
    Version,
)
from tenuto.records.operations import Act, WriteResult
from tenuto.text import patterns


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to write and what to report.

    ``put`` frees slots before it takes them; ``subject`` holds the candidate's words.
    """

    result: WriteResult
    put: tuple[Memory, ...] = ()
    subject: Memory | None = None
    reworded: bool = False
    contradiction: Memory | None = None


def reconcile(
    candidate: Candidate,
    known: Sequence[Known],
    *,
    id: str,
    spare_id: str,
    now: datetime,
    calibration: Calibration,
    policy: MemoryPolicy,
) -> Decision:
    """What becomes of one candidate. ``id`` and ``spare_id`` are used for a new memory and for a contradiction."""
    mine = [one for one in known if one.memory.persona == candidate.persona]
    current = [one for one in mine if one.memory.status in RECALLED]
    if candidate.status is Status.CANDIDATE:
        return _from_outside(candidate, mine, id, now)
    named = named_by(candidate, current)
    same = _same(candidate, current, calibration)
    if same is not None and not _reworded(candidate, same, named):
        again = _again(candidate, same, now, calibration, policy)
        return again if named is None or named is same else _without(named, again, now)
    if named is not None and (decision := _replaces(candidate, named, current, id, now)):
        return decision
    if waiting := _same(candidate, [one for one in mine if one.memory.status is Status.CANDIDATE], calibration):
        return _vouched(candidate, waiting, now, policy)
    if candidate.negated and candidate.attribute is not None:
        return _denied_by(candidate, current, id, now)
    if so := already_so(candidate, current):
        reason = f"{so.memory.content!r} says that it is so already"
        return Decision(result=_result(Act.DUPLICATE, candidate, so.memory.id, reason), subject=so.memory)
    if candidate.single and (decision := _single(candidate, current, id, now)):
        return decision
    if plan := came_true(candidate, current) or same_activity(candidate, current) or other_level(candidate, current):
        return _supersede(candidate, [plan], id, now)
    if swapped := _swapped(candidate, current):
        return _supersede(candidate, [swapped], id, now)
    if candidate.attribute == "event" and (decision := _moved(candidate, current, id, now)):
        return decision
    if replaced := replaced_by(candidate, current, calibration):
        return _supersede(candidate, replaced, id, now)
    if ends_nothing(candidate):
        return Decision(result=_result(Act.REJECTED, candidate, None, "an end of what nobody said"))
    if other := opposed(candidate, current, calibration):
        return _contradict(candidate, other, id, spare_id, now)
    return _insert(candidate, id, now, "nothing like it was known")


# --- is it the same thing? --------------------------------------------------------------------------------------------


def _same(candidate: Candidate, current: Sequence[Known], calibration: Calibration) -> Known | None:
    slot = candidate.slot
    exact = [
        one for one in current if slot is not None and one.memory.slot == slot and _values_agree(candidate, one.memory)
    ]
    if exact:
        return exact[0]
    near = sorted((one for one in current if one.similarity >= calibration.reinforce), key=lambda one: -one.similarity)
    return next((one for one in near if says_the_same(candidate, one.memory)), None)


def _values_agree(candidate: Candidate, memory: Memory) -> bool:
    if candidate.attribute == "event" and candidate.happens_at and memory.happens_at:
        return candidate.happens_at == memory.happens_at
    if not candidate.single:
        return True
    if _is_medicine(candidate.attribute) and _doses_differ(candidate, memory):
        return False
    if candidate.ends != bool(memory.metadata.get("ends")):
        return False
    if candidate.value is None or memory.value is None:
        return normal(candidate.content) == normal(memory.content)
    return agree(candidate.value, memory.value)


def _doses_differ(candidate: Candidate, memory: Memory) -> bool:
    mine, theirs = numbers(undated(candidate.content)), numbers(undated(memory.content))
    return bool(mine and theirs and mine != theirs)


def _again(
    candidate: Candidate, same: Known, now: datetime, calibration: Calibration, policy: MemoryPolicy
) -> Decision:
    memory = same.memory
    if candidate.message_id is not None and any(_same_evidence(candidate, evidence) for evidence in memory.evidence):
        return Decision(
            result=_result(Act.DUPLICATE, candidate, memory.id, "this sentence was already taken"), subject=memory
        )
    grown = reinforced(memory, candidate, policy, now)
    if fuller(candidate, memory) and (same.similarity >= calibration.upgrade or candidate.attribute is not None):
        version = Version(
            at=now,
            content=memory.content,
            status=memory.status,
            reason="a fuller wording",
            changed={"value": memory.value},
        )
        grown = evolve(
            grown,
            content=candidate.content,
            value=candidate.value or memory.value,
            slot=candidate.slot,
            status=Status.REVISED if memory.status is not Status.CONFIRMED else Status.CONFIRMED,
            history=(*memory.history, version),
            entities=tuple(dict.fromkeys((*memory.entities, *candidate.entities))),
            happens_at=candidate.happens_at or memory.happens_at,
        )
        reason = f"a fuller wording of {memory.content!r}"
        return Decision(
            result=_result(Act.UPGRADED, candidate, memory.id, reason), put=(grown,), subject=grown, reworded=True
        )
    equal = normal(candidate.content) == normal(memory.content)
    reason = "the same words" if equal else f"says the same as {memory.content!r}"
    return Decision(result=_result(Act.REINFORCED, candidate, memory.id, reason), put=(grown,), subject=grown)


def _same_evidence(candidate: Candidate, evidence: Evidence) -> bool:
    return evidence.message_id == candidate.message_id and (evidence.quote or "") == (candidate.quote or "")


def _vouched(candidate: Candidate, waiting: Known, now: datetime, policy: MemoryPolicy) -> Decision:
    """The user says it in their own words: what waited from outside becomes theirs."""
    version = Version(at=now, content=waiting.memory.content, status=waiting.memory.status, reason="the user said it")
    grown = evolve(
        reinforced(waiting.memory, candidate, policy, now),
        status=Status.ACTIVE,
        trust=candidate.trust,
        slot=candidate.slot,
        content=candidate.content,
        history=(*waiting.memory.history, version),
    )
    reason = "it waited for confirmation, and the user said it"
    return Decision(
        result=_result(Act.REINFORCED, candidate, grown.id, reason), put=(grown,), subject=grown, reworded=True
    )


# --- does it replace something? ---------------------------------------------------------------------------------------


def _single(candidate: Candidate, current: Sequence[Known], id: str, now: datetime) -> Decision | None:
    slot = candidate.slot
    holder = next((one for one in current if one.memory.slot == slot), None)
    if holder is None:
        return None
    memory = holder.memory
    if candidate.ends and candidate.value and memory.value and not memory.metadata.get("ends"):
        generic = not patterns.search(r"[A-Z]", candidate.value) and not patterns.match(
            r"(?:my|our|his|her|their) own\b", memory.value
        )
        if (
            not generic
            and not agree(candidate.value, memory.value)
            and not mentions_words(candidate.value, memory.content)
        ):
            return _insert(replace(candidate, single=False), id, now, f"something that ended before {memory.content!r}")
    if candidate.at < asserted_at(memory):
        older = as_history(candidate, id, now, memory)
        return Decision(
            result=_result(
                Act.INSERTED, candidate, id, f"an earlier value; {memory.content!r} is newer and stays", memory.id
            ),
            put=(older,),
            subject=older,
            reworded=True,
        )
    if TRUST_ORDER.index(candidate.trust) < TRUST_ORDER.index(Trust.USER_STATED) <= TRUST_ORDER.index(memory.trust):
        waits = evolve(memory_of(candidate, id, now), status=Status.CANDIDATE, slot=None)
        return Decision(
            result=_result(
                Act.INSERTED, candidate, id, f"only inferred, so it waits beside {memory.content!r}", memory.id
            ),
            put=(waits,),
            subject=waits,
            reworded=True,
        )
    return _supersede(candidate, [holder], id, now)


def _replaces(candidate: Candidate, named: Known, current: Sequence[Known], id: str, now: datetime) -> Decision | None:
    """What a model names as replaced goes, and with it what holds the candidate's only place."""
    holder = next((one for one in current if candidate.single and one.memory.slot == candidate.slot), None)
    if holder is None or holder.memory.id == named.memory.id:
        return _supersede(candidate, [named], id, now)
    if candidate.at < asserted_at(holder.memory) or candidate.ends:
        return None
    return _supersede(candidate, [named, holder], id, now)


def _without(named: Known, decision: Decision, now: datetime) -> Decision:
    """A decision that also retires what was named as replaced."""
    if decision.subject is None or not decision.put:
        return decision
    return replace(decision, put=(superseded(named.memory, by=decision.subject, now=now), *decision.put))


def _reworded(candidate: Candidate, same: Known, named: Known | None) -> bool:
    """Whether a model names the very memory that the candidate seems to repeat, and says something else."""
    if named is not same:
        return False
    return normal(undated(candidate.content)) != normal(undated(same.memory.content))


def _swapped(candidate: Candidate, current: Sequence[Known]) -> Known | None:
    """The medicine that another one took the place of, where it is not named: the only one that this person takes."""
    if not candidate.change or candidate.ends or not _is_medicine(candidate.attribute):
        return None
    theirs = [one for one in current if subject_of(one.memory) == candidate.subject and not denied(one.memory)]
    taken = [one for one in theirs if _is_medicine(one.memory.attribute) and asserted_at(one.memory) <= candidate.at]
    others = [one for one in taken if one.memory.attribute != candidate.attribute]
    return others[0] if len(others) == 1 else None


def _is_medicine(attribute: str | None) -> bool:
    return (attribute or "").startswith("medication")


def _supersede(candidate: Candidate, old: Sequence[Known], id: str, now: datetime) -> Decision:
    fresh = memory_of(candidate, id, now)
    manual = next((one.memory for one in old if one.memory.pinned and one.memory.pin_kind is not None), None)
    same = manual is not None and (manual.attribute == candidate.attribute or _is_medicine(manual.attribute))
    if manual is not None and same and not candidate.ends:
        fresh = evolve(
            fresh,
            pinned=True,
            pin_kind=manual.pin_kind,
            importance=manual.importance,
            proactive_use=manual.proactive_use,
        )
    fresh = evolve(fresh, supersedes=old[0].memory.id)
    retired = tuple(superseded(one.memory, by=fresh, now=now) for one in old)
    quoted = ", ".join(repr(one.memory.content) for one in old)
    return Decision(
        result=_result(Act.SUPERSEDED, candidate, id, f"replaces {quoted}", old[0].memory.id),
        put=(*retired, fresh),
        subject=fresh,
        reworded=True,
    )


def _denied_by(candidate: Candidate, current: Sequence[Known], id: str, now: datetime) -> Decision:
    """ "Dad is not diabetic" takes back that he is; by itself it says nothing worth keeping."""
    wrong = [
        one
        for one in current
        if subject_of(one.memory) == candidate.subject
        and _attribute(one.memory.attribute) == _attribute(candidate.attribute)
        and candidate.value
        and one.memory.value
        and agree(candidate.value, one.memory.value)
        and not one.memory.metadata.get("ends")
    ]
    if wrong:
        return _supersede(candidate, wrong, id, now)
    return Decision(result=_result(Act.REJECTED, candidate, None, "a denial of what nobody said"))


def _attribute(name: str | None) -> str:
    return (name or "").removeprefix("planned_").partition("_")[0]


def _moved(candidate: Candidate, current: Sequence[Known], id: str, now: datetime) -> Decision | None:
    """The same appointment with another date takes the place of the old one; without a date it adds nothing."""
    mine = meaning_words(candidate.value or "")
    for one in current:
        memory = one.memory
        if memory.attribute != "event" or subject_of(memory) != candidate.subject or memory.metadata.get("ends"):
            continue
        theirs = meaning_words(memory.value or "")
        if not mine or not theirs or len(mine & theirs) < 0.6 * min(len(mine), len(theirs)):
            continue
        if not candidate.change and mine - meaning_words(memory.content) and _extra(memory.content, candidate.content):
            continue  # the safety group is not the steering group
        if candidate.ends or (candidate.happens_at and candidate.happens_at != memory.happens_at):
            return _supersede(candidate, [one], id, now)
        if memory.happens_at is not None and candidate.happens_at is None:
            reason = f"{memory.content!r} says it with its date"
            return Decision(result=_result(Act.DUPLICATE, candidate, memory.id, reason), subject=memory)
    return None


def _extra(one: str, other: str) -> set[str]:
    """The words of one statement that the other does not hold, times and numbers left out."""
    plain = {word for word in meaning_words(one) - meaning_words(other) if word.isalpha()}
    return plain - TIMES - COMMON


# --- does it contradict? ----------------------------------------------------------------------------------------------


def _contradict(candidate: Candidate, other: Known, id: str, spare_id: str, now: datetime) -> Decision:
    fresh, memory = memory_of(candidate, id, now), other.memory
    note = contradiction_of(memory, fresh, candidate, spare_id, now)
    reason = f"contradicts {memory.content!r}; both are kept until it is settled"
    return Decision(
        result=_result(Act.INSERTED, candidate, id, reason, memory.id),
        put=(fresh, note),
        subject=fresh,
        reworded=True,
        contradiction=note,
    )


# --- new, or from outside ---------------------------------------------------------------------------------------------


def _from_outside(candidate: Candidate, mine: Sequence[Known], id: str, now: datetime) -> Decision:
    words = normal(candidate.content)
    twin = next((one for one in mine if one.memory.key == candidate.key and normal(one.memory.content) == words), None)
    if twin is not None:
        return Decision(
            result=_result(
                Act.DUPLICATE, candidate, twin.memory.id, "already known; words from outside add nothing to it"
            ),
            subject=twin.memory,
        )
    whose = "a note of a model" if candidate.trust is Trust.INFERRED else "from outside"
    return _insert(candidate, id, now, f"{whose}: it waits for confirmation and is not recalled until then")


def _insert(candidate: Candidate, id: str, now: datetime, reason: str) -> Decision:
    fresh = memory_of(candidate, id, now)
    return Decision(result=_result(Act.INSERTED, candidate, id, reason), put=(fresh,), subject=fresh, reworded=True)


def _result(act: Act, candidate: Candidate, id: str | None, reason: str, previous: str | None = None) -> WriteResult:
    return WriteResult(
        act=act,
        reason=reason,
        subject_id=id,
        content=candidate.content,
        previous_id=previous,
        made_by=candidate.made_by,
    )
