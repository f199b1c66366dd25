"""What the curator would do: a plan of values, shown before it is applied, and empty when it is made again after that.

    fold       memories that say the same, or a fragment and the whole, become one (source ``curated_fold``); the
               originals are archived, linked both ways, and come back when the fold is taken back
    archive    what has faded and was never worth much (:mod:`tenuto.lifecycle.fade`)
    promote    importance by use: evidence from several sessions counts, once per doubling
    todos      done where what was said since says so; expired when long overdue or long silent
    merge      two entities with nearly the same name: proposed, never done

Pins are never touched. Nor is anything folded whose numbers, names or negations differ: "500 mg" is not "50 mg", and
"not allergic" is the opposite of its nearest neighbour. Values of one attribute are left to the write path, which
supersedes them.

What would break it: a similarity that counts alone. It only proposes pairs; the words decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, log2

from rapidfuzz.distance import JaroWinkler

from tenuto.lifecycle import fade, sentence_kinds
from tenuto.lifecycle.fade import Faded
from tenuto.policy import Policy
from tenuto.records.memory import RECALLED, TRUST_ORDER, Entity, Memory, Todo, TodoKind, TodoStatus
from tenuto.text import patterns
from tenuto.text.words import tokens, words

SOURCE = "curated_fold"
PROMOTED = "promoted_doublings"
"""Metadata of a memory: for how many doublings of its sessions it has been promoted."""
FRAGMENT = 0.85
"""Share of a fragment's words that the whole must hold."""
SAME_NAME = 0.93
"""Jaro-Winkler similarity from which two names of one type may be the same."""
_NUMBER = patterns.compile(r"\d+(?:[.,:]\d+)*")
_NEGATING = """
not no never none without cannot can't don't doesn't didn't isn't wasn't won't aren't nobody hardly
"""
_NEGATIONS = frozenset(_NEGATING.split())


@dataclass(frozen=True, slots=True)
class Fold:
    """These memories become one with this content. ``keep`` is the one whose wording and key it takes."""

    keep: str
    members: tuple[str, ...]
    content: str
    reason: str


@dataclass(frozen=True, slots=True)
class Promotion:
    memory_id: str
    importance: float
    doublings: int


@dataclass(frozen=True, slots=True)
class TodoMove:
    todo_id: str
    status: TodoStatus
    reason: str


@dataclass(frozen=True, slots=True)
class MergeProposal:
    duplicate: str
    into: str
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    folds: tuple[Fold, ...] = ()
    archives: tuple[Faded, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    todos: tuple[TodoMove, ...] = ()
    merges: tuple[MergeProposal, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.folds or self.archives or self.promotions or self.todos or self.merges)


# --- folds ------------------------------------------------------------------------------------------------------------


def folds(memories: Sequence[Memory], similar: Mapping[tuple[str, str], float], threshold: float) -> list[Fold]:
    """Groups that become one memory each. ``similar`` holds the cosine of pairs of ids that are worth a look."""
    known = {memory.id: memory for memory in memories if _may_fold(memory)}
    group = {id: id for id in known}
    for (one, other), cosine in sorted(similar.items(), key=lambda pair: (-pair[1], pair[0])):
        if one in known and other in known and _same(known[one], known[other], cosine, threshold):
            _join(group, known, one, other)
    members: dict[str, list[Memory]] = defaultdict(list)
    for id, root in group.items():
        members[_root(group, root)].append(known[id])
    return [_fold(found) for _, found in sorted(members.items()) if len(found) > 1]


def word_pairs(memories: Sequence[Memory], since: datetime | None = None) -> dict[tuple[str, str], float]:
    """Pairs with the same key whose words overlap, for what has no vector: (ids) → share of the smaller one's words.

    One of each pair changed after ``since``: pairs that were looked at before are not looked at again.
    """
    old = {memory.id for memory in memories if since is not None and memory.updated_at <= since}
    by_key: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for memory in memories:
        if _may_fold(memory):
            by_key[_neighbourhood(memory)].append((memory.id, frozenset(tokens(memory.content))))
    found = {}
    for listed in by_key.values():
        for one, left in listed[:200]:
            if one in old:
                continue
            for other, right in listed[:200]:
                smaller = min(len(left), len(right))
                if one != other and smaller >= 2 and len(left & right) / smaller >= FRAGMENT:
                    found[min(one, other), max(one, other)] = len(left & right) / smaller
    return found


def _may_fold(memory: Memory) -> bool:
    return memory.status in RECALLED and not memory.pinned and memory.attribute is None and memory.should_not_do is None


def _neighbourhood(memory: Memory) -> str:
    return "|".join((memory.domain, memory.kind, memory.persona or "", *sorted(memory.entities)))


def _same(one: Memory, other: Memory, cosine: float, threshold: float) -> bool:
    if one.domain is not other.domain or one.kind is not other.kind or one.persona != other.persona:
        return False
    if one.proactive_use is not other.proactive_use or one.should_do != other.should_do:
        return False
    if set(one.entities) != set(other.entities) and one.entities and other.entities:
        return False
    if not _agree(one.content, other.content):
        return False
    left, right = frozenset(tokens(one.content)), frozenset(tokens(other.content))
    shared = len(left & right) / max(1, min(len(left), len(right)))
    return shared >= FRAGMENT or (cosine >= threshold and shared >= 0.5)


def _agree(one: str, other: str) -> bool:
    """Neither contradicts the other in what meaning hides: numbers, names, negations."""
    if _negated(one) != _negated(other):
        return False
    return _nested(_NUMBER.findall(one), _NUMBER.findall(other)) and _nested(_named(one), _named(other))


def _negated(text: str) -> bool:
    return sum(word in _NEGATIONS for word in words(text)) % 2 == 1


def _named(text: str) -> list[str]:
    return [name.casefold() for name in sentence_kinds.names(text)]


def _nested(one: Iterable[str], other: Iterable[str]) -> bool:
    left, right = set(one), set(other)
    return left <= right or right <= left


def _join(group: dict[str, str], known: Mapping[str, Memory], one: str, other: str) -> None:
    """Unite two groups, unless some pair across them disagrees: agreement does not travel along a chain."""
    left, right = _root(group, one), _root(group, other)
    if left == right:
        return
    sides = [[id for id in group if _root(group, id) == root] for root in (left, right)]
    if all(_agree(known[a].content, known[b].content) for a in sides[0] for b in sides[1]):
        group[max(left, right)] = min(left, right)


def _root(group: Mapping[str, str], id: str) -> str:
    while group[id] != id:
        id = group[id]
    return id


def _fold(found: Sequence[Memory]) -> Fold:
    """The fullest wording stands; a later one wins among equals. Words are never made up."""
    keep = max(found, key=lambda memory: (len(frozenset(tokens(memory.content))), memory.updated_at, memory.id))
    members = tuple(sorted(memory.id for memory in found))
    return Fold(keep.id, members, keep.content, f"{len(found)} memories that say the same")


# --- importance, todos, entities --------------------------------------------------------------------------------------


def promotions(memories: Iterable[Memory], policy: Policy) -> list[Promotion]:
    """Importance by use: each doubling of the number of sessions that speak of a memory adds a step, up to the
    ceiling."""
    found = []
    step, ceiling = policy.memory.importance_per_doubling, policy.memory.importance_ceiling
    for memory in memories:
        if memory.pinned or memory.status not in RECALLED or memory.importance >= ceiling:
            continue
        sessions = {evidence.session_id for evidence in memory.evidence if evidence.session_id}
        doublings = floor(log2(len(sessions))) if len(sessions) >= 2 else 0
        done = int(memory.metadata.get(PROMOTED, 0))
        if doublings > done:
            importance = min(ceiling, memory.importance + step * (doublings - done))
            found.append(Promotion(memory.id, round(importance, 2), doublings))
    return found


def todo_moves(
    todos: Iterable[Todo], said: Sequence[tuple[datetime, str]], now: datetime, policy: Policy
) -> list[TodoMove]:
    """Todos that are done by what was ``said`` (time, sentence) after them, or have expired. Habits never expire."""
    done = [(at, frozenset(tokens(text)), text) for at, text in said if sentence_kinds.says_done(text)]
    found = []
    for todo in todos:
        if todo.status is not TodoStatus.OPEN:
            continue
        wanted = frozenset(tokens(todo.content))
        proof = next(
            (text for at, words_, text in done if at > todo.created_at and _covers(words_, wanted, policy)), None
        )
        if proof is not None and todo.kind is not TodoKind.HABIT:
            found.append(TodoMove(todo.id, TodoStatus.DONE, f"said: {proof}"))
        elif (reason := _expired(todo, now, policy)) is not None:
            found.append(TodoMove(todo.id, TodoStatus.EXPIRED, reason))
    return found


def _covers(said: frozenset[str], wanted: frozenset[str], policy: Policy) -> bool:
    return len(wanted) >= 2 and len(said & wanted) / len(wanted) >= policy.memory.completion_confidence


def _expired(todo: Todo, now: datetime, policy: Policy) -> str | None:
    if todo.kind in (TodoKind.HABIT, TodoKind.FRICTION) or todo.recurrence:
        return None
    if todo.due is not None:
        late = now - todo.due
        return f"overdue for {late.days} days" if late >= policy.fading.todo_overdue else None
    silent = now - todo.updated_at
    return f"silent for {silent.days} days" if silent >= policy.fading.todo_silent else None


def merges(
    entities: Sequence[Entity], decided: Iterable[tuple[str, str]], since: datetime | None = None
) -> list[MergeProposal]:
    """Pairs of one type with nearly the same name that nobody has decided on yet. Only proposed.

    One of each pair was made or renamed after ``since``.
    """
    settled = {frozenset(pair) for pair in decided}
    live = sorted((entity for entity in entities if entity.merged_into is None), key=lambda entity: entity.id)[:500]
    found = []
    fresh = [place for place, entity in enumerate(live) if since is None or entity.updated_at > since]
    for position, one in enumerate(live):
        if fresh and fresh[0] == position:
            del fresh[0]
            others = live[position + 1 :]
        else:
            others = [live[further] for further in fresh]
        for other in others:
            if one.type != other.type or frozenset((one.id, other.id)) in settled:
                continue
            confidence = _same_name(one, other)
            if confidence >= SAME_NAME:
                into, duplicate = sorted(
                    (one, other), key=lambda entity: (-entity.mentions, entity.created_at, entity.id)
                )
                reason = f"'{duplicate.label}' and '{into.label}' are nearly the same name"
                found.append(MergeProposal(duplicate.id, into.id, round(confidence, 3), reason))
    return found


def _same_name(one: Entity, other: Entity) -> float:
    left = {name.casefold() for name in (one.label, *one.aliases) if len(name) > 2}
    right = {name.casefold() for name in (other.label, *other.aliases) if len(name) > 2}
    return max(
        (JaroWinkler.similarity(a, b) for a in left for b in right if _NUMBER.findall(a) == _NUMBER.findall(b)),
        default=0.0,
    )


# --- the whole --------------------------------------------------------------------------------------------------------


def plan(
    memories: Sequence[Memory],
    similar: Mapping[tuple[str, str], float],
    todos: Iterable[Todo],
    said: Sequence[tuple[datetime, str]],
    entities: Sequence[Entity],
    decided: Iterable[tuple[str, str]],
    *,
    threshold: float,
    now: datetime,
    policy: Policy,
    since: datetime | None = None,
) -> Plan:
    """Everything that would be done, in one value. A memory is folded or archived, never both.

    ``since`` is the last run: pairs of which neither side changed after it were judged then.
    """
    folded = folds(memories, {**word_pairs(memories, since), **similar}, threshold)
    taken = {id for fold in folded for id in fold.members}
    rest = [memory for memory in memories if memory.id not in taken]
    archived = fade.plan(rest, now, policy.fading)
    gone = {faded.memory_id for faded in archived}
    return Plan(
        folds=tuple(folded),
        archives=tuple(archived),
        promotions=tuple(promotions([memory for memory in rest if memory.id not in gone], policy)),
        todos=tuple(todo_moves(todos, said, now, policy)),
        merges=tuple(merges(entities, decided, since)),
    )


def lowest_trust(memories: Sequence[Memory]) -> Memory:
    """The member whose trust the fold takes."""
    return min(memories, key=lambda memory: TRUST_ORDER.index(memory.trust))
