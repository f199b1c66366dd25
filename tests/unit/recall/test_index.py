from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.recall import lexical as words_score
from tenuto.recall import segments
from tenuto.recall.index import UserIndex, pack
from tenuto.recall.indexes import Indexes
from tenuto.recall.lexical import lexical
from tenuto.recall.nearest import Near
from tenuto.records.base import micros
from tenuto.records.operations import Entry, EntryKind, EntryRows
from tenuto.records.scope import Revision
from tenuto.text import words

START = datetime(2025, 1, 1, tzinfo=UTC)
DIMENSION = 8


def vector(seed: int) -> np.ndarray[Any, Any]:
    found = np.random.default_rng(seed).normal(size=DIMENSION)
    return found / np.linalg.norm(found)


def entry(number: int, text: str, *, session: str = "s", embedded: bool = True, **changes: Any) -> Entry:
    made = Entry(
        kind=EntryKind.MESSAGE,
        id=f"msg_{number:06d}",
        at=START + timedelta(minutes=number),
        seq=number + 1,
        session_id=session,
        tokens=words.pack(words.tokens(text)),
        vector=pack(vector(number)) if embedded else None,
        model="m" if embedded else None,
    )
    return replace(made, **changes)


def hashes(text: str) -> np.ndarray[Any, Any]:
    return np.array([words.token_hash(token) for token in dict.fromkeys(words.tokens(text))], np.uint64)


def scores(index: UserIndex, query: str) -> dict[str, tuple[float, float]]:
    """Of every living row: the words' score, and how many messages came after it."""
    view = index.view()
    found, ago = lexical(view, hashes(query)), view.ago()
    living = view.living()
    return {view.ids[row]: (round(float(found[row]), 4), float(ago[row])) for row in range(view.size) if living[row]}


WORDS = ["apple", "pear", "plum", "fig", "melon", "grape", "lemon", "kiwi"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=40), st.randoms(use_true_random=False)
)
def test_growing_one_by_one_scores_as_loading_at_once(texts: list[list[str]], random: Any) -> None:
    entries = [entry(number, " ".join(text), session=f"s{number % 3}") for number, text in enumerate(texts)]
    whole = UserIndex("m", DIMENSION)
    whole.apply(entries)
    shuffled = list(entries)
    random.shuffle(shuffled)
    grown = UserIndex("m", DIMENSION)
    for one in shuffled:
        grown.apply([one])
    assert scores(grown, "apple fig kiwi") == scores(whole, "apple fig kiwi")


def test_bm25_is_the_formula() -> None:
    index = UserIndex("m", DIMENSION)
    index.apply([entry(0, "apple apple pear"), entry(1, "plum"), entry(2, "apple fig melon grape", session="t")])
    idf = np.log1p((3 - 2 + 0.5) / (2 + 0.5))
    mean = 8 / 3
    said = 2 / (0.5 + 0.5 * 3 / mean)
    alone = 1 / (0.5 + 0.5 * 4 / mean)
    found = scores(index, "apple")
    assert found["msg_000000"][0] == pytest.approx(idf * said * 2.2 / (said + 1.2), abs=1e-3)
    assert found["msg_000001"][0] == pytest.approx(idf * 0.7 * said * 2.2 / (0.7 * said + 1.2), abs=1e-3)
    assert found["msg_000002"][0] == pytest.approx(idf * alone * 2.2 / (alone + 1.2), abs=1e-3), "another session"


def test_segments_and_tail_hold_the_same_postings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "TAIL", 4)
    monkeypatch.setattr(segments, "FANOUT", 2)
    store = segments.WordStore()
    expected: dict[int, dict[int, int]] = {}
    rng = np.random.default_rng(1)
    for row in range(200):
        tokens = rng.integers(0, 12, size=rng.integers(0, 6)).astype(np.uint64)
        for token in tokens.tolist():
            expected.setdefault(token, {}).setdefault(row, 0)
            expected[token][row] += 1
        store.add(tokens, np.full(len(tokens), row, np.int32), 1)
    seen = store.words()
    assert len(seen.segments) < 10, "equal-sized segments were merged"
    wanted = np.arange(13, dtype=np.uint64)
    for token, (rows, counts) in zip(wanted.tolist(), seen.postings(wanted), strict=True):
        assert dict(zip(rows.tolist(), counts.astype(int).tolist(), strict=True)) == expected.get(token, {})


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=60),
    st.lists(st.integers(0, 59), max_size=6, unique=True),
    st.lists(st.sampled_from(WORDS), max_size=5),
)
def test_a_table_scores_as_the_postings_do(texts: list[list[str]], changed: list[int], query: list[str]) -> None:
    """In the tail, in segments, with rows that were replaced and with none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "TAIL", 8)
        index = UserIndex("m", DIMENSION)
        for number, text in enumerate(texts):
            index.apply([entry(number, " ".join(text), session=f"s{number % 3}")])
        index.apply([entry(n, "plum", session=f"s{n % 3}", seq=100 + n) for n in changed if n < len(texts)])
        wanted = " ".join(query)
        in_a_table = scores(index, wanted)
        patch.setattr(words_score, "TABLE", -1)
        by_postings = scores(index, wanted)
    assert in_a_table.keys() == by_postings.keys()
    for id, (score, ago) in in_a_table.items():
        assert by_postings[id] == (pytest.approx(score, abs=2e-4), ago)


def test_a_view_does_not_change_while_the_index_does() -> None:
    index = UserIndex("m", DIMENSION)
    index.apply([entry(0, "apple"), entry(1, "pear", embedded=False)])
    view = index.view()
    before = (lexical(view, hashes("apple pear")).tolist(), view.cosine(vector(1).astype(np.float32)).tolist())
    index.apply(
        [entry(1, "pear", seq=5), entry(0, "plum", seq=6), *(entry(n, "apple pear", seq=n + 9) for n in range(2, 300))]
    )
    assert (
        lexical(view, hashes("apple pear")).tolist(),
        view.cosine(vector(1).astype(np.float32)).tolist(),
    ) == before
    assert view.living().all()
    assert index.view().size == 301 and index.view().alive == 300


def test_a_vector_that_comes_later_is_found_and_a_foreign_one_is_not() -> None:
    index = UserIndex("m", DIMENSION)
    index.apply([entry(0, "apple", embedded=False), entry(1, "pear", model="other")])
    assert index.view().cosine(vector(0).astype(np.float32)).tolist() == [0.0, 0.0]
    assert [index.view().ids[row] for row in index.view().unembedded()] == ["msg_000001", "msg_000000"]
    index.apply([entry(0, "apple", seq=7)])
    assert index.view().size == 2
    assert index.view().cosine(vector(0).astype(np.float32))[0] == pytest.approx(1.0, abs=1e-2)
    index.set_vectors(
        {"msg_000001": vector(1).astype(np.float32)[None], "msg_unknown": vector(2).astype(np.float32)[None]}
    )
    assert index.view().cosine(vector(1).astype(np.float32))[1] == pytest.approx(1.0, abs=1e-2)


def test_messages_are_chained_by_time_whatever_order_they_come_in() -> None:
    index = UserIndex("m", DIMENSION)
    index.apply([entry(0, "a"), entry(4, "e"), entry(9, "z", session="t")])
    index.apply([entry(2, "c", seq=20)])
    view = index.view()
    before, after = view.neighbours(1)
    names = {view.ids[row]: (before[row], after[row]) for row in range(view.size)}

    def name(row: int) -> str | None:
        return None if row == view.size else view.ids[row]

    assert [name(row) for row in names["msg_000002"]] == ["msg_000000", "msg_000004"]
    assert [name(row) for row in names["msg_000009"]] == [None, None]


class FakeReader:
    """Entries of one user in a list: what :class:`Indexes` needs of a reader."""

    def __init__(self, user: str = "ana") -> None:
        self.user = user
        self.entries: list[Entry] = []
        self.removed: list[tuple[int, str]] | None = []
        self.seq = 0
        self.epoch = 0
        self.created_at = START
        self.reads = 0

    def revision(self) -> Revision | None:
        seq = max((self.seq, *(one.seq for one in self.entries)))
        return Revision(micros(self.created_at), seq, self.epoch, "") if self.entries else None

    def write(self, made: Entry) -> None:
        self.seq += 1
        self.entries = [one for one in self.entries if one.id != made.id] + [replace(made, seq=self.seq)]

    def remove(self, id: str) -> None:
        self.seq, self.epoch = self.seq + 1, self.epoch + 1
        self.entries = [one for one in self.entries if one.id != id]
        if self.removed is not None:
            self.removed.append((self.seq, id))

    def removed_since(self, seq: int) -> list[str] | None:
        return None if self.removed is None else [id for number, id in self.removed if number > seq]

    def entry_rows(self, seq: int, limit: int) -> EntryRows:
        self.reads += 1
        return EntryRows.of(sorted((one for one in self.entries if one.seq > seq), key=lambda one: one.seq)[:limit])


def test_an_index_is_refreshed_by_what_is_new_and_by_what_went() -> None:
    indexes, reader = Indexes(1 << 30), FakeReader()
    assert indexes.fresh(reader, "m", DIMENSION).view().size == 0  # type: ignore[arg-type]
    reader.entries = [entry(0, "apple"), entry(1, "pear")]
    first = indexes.fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    reads = reader.reads
    assert indexes.fresh(reader, "m", DIMENSION) is first and reader.reads == reads, "nothing new, nothing read"  # type: ignore[arg-type]
    reader.entries.append(entry(2, "plum"))
    assert indexes.fresh(reader, "m", DIMENSION) is first and first.view().size == 3  # type: ignore[arg-type]
    reader.seq = 3
    reader.remove("msg_000000")
    assert indexes.fresh(reader, "m", DIMENSION) is first and first.view().alive == 2  # type: ignore[arg-type]
    assert set(scores(first, "apple")) == {"msg_000001", "msg_000002"}
    reader.remove("msg_000002")
    reader.removed = None
    rebuilt = indexes.fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    assert rebuilt is not first and rebuilt.view().size == 1, "what went is not known any more: all is read"
    reader.created_at += timedelta(days=1)
    reader.epoch = 0
    reader.entries = [entry(0, "new life")]
    assert list(indexes.fresh(reader, "m", DIMENSION).view().ids) == ["msg_000000"]  # type: ignore[arg-type]
    assert indexes.fresh(reader, "other", DIMENSION).view().has_vector().sum() == 0  # type: ignore[arg-type]


def test_the_least_recently_used_index_goes_first() -> None:
    readers = []
    for number in range(4):
        reader = FakeReader(f"user{number}")
        reader.entries = [entry(n, "apple pear") for n in range(100)]
        readers.append(reader)
    size = Indexes(1 << 30).fresh(readers[0], "m", DIMENSION).nbytes  # type: ignore[arg-type]
    indexes = Indexes(int(2.5 * size))
    first = indexes.fresh(readers[0], "m", DIMENSION)  # type: ignore[arg-type]
    indexes.fresh(readers[1], "m", DIMENSION)  # type: ignore[arg-type]
    indexes.fresh(readers[0], "m", DIMENSION)  # type: ignore[arg-type]
    indexes.fresh(readers[2], "m", DIMENSION)  # type: ignore[arg-type]
    assert len(indexes) == 2 and indexes.nbytes <= indexes.limit_bytes
    assert indexes.fresh(readers[0], "m", DIMENSION) is first  # type: ignore[arg-type]
    indexes.drop("user0")
    assert indexes.fresh(readers[0], "m", DIMENSION) is not first  # type: ignore[arg-type]


def moments(index: UserIndex) -> dict[str, int]:
    view = index.view()
    return {view.ids[row]: int(view.column("at")[row]) for row in np.flatnonzero(view.living())}


STEPS = st.lists(st.tuples(st.sampled_from(["say", "say", "sum", "go", "look"]), st.integers(0, 9)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_an_index_that_saw_things_come_and_go_answers_as_one_made_of_what_is_left(steps: list[tuple[str, int]]) -> None:
    indexes, reader = Indexes(1 << 30), FakeReader()
    reader.write(entry(99, "apple pear fig"))
    first = indexes.fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    for number, (step, which) in enumerate(steps):
        words_said = " ".join(WORDS[number % 3 : which % 8 + 1])
        if step == "say":
            reader.write(
                entry(which, words_said, session=f"s{which % 2}", at=START + timedelta(minutes=which * 7 % 11))
            )
        elif step == "sum":
            links = (f"msg_{which:06d}", f"msg_{which // 2:06d}")
            later = START + timedelta(days=which)
            reader.write(entry(which, words_said, kind=EntryKind.SUMMARY, id=f"sum_{which}", at=later, links=links))
        elif step == "go":
            reader.remove(f"msg_{which:06d}")
            reader.remove(f"sum_{which // 3}")
        else:
            indexes.fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    grown = indexes.fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    whole = Indexes(1 << 30).fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    assert grown is first, "nothing was read twice"
    assert scores(grown, "apple fig kiwi") == scores(whole, "apple fig kiwi")
    assert moments(grown) == moments(whole)


def test_a_view_does_not_change_when_something_goes() -> None:
    index = UserIndex("m", DIMENSION)
    summary = entry(3, "plum", kind=EntryKind.SUMMARY, id="sum_1", links=("msg_000001",), at=START + timedelta(days=1))
    index.apply([entry(0, "apple"), entry(1, "pear"), entry(2, "apple"), summary])
    view = index.view()
    before = [view.neighbours(1)[1].tolist(), view.ago().tolist(), view.column("at").tolist()]
    again = index.view()
    index.take(EntryRows.of([]), ["msg_000001", "unknown"])
    assert again.living().all()
    assert [again.neighbours(1)[1].tolist(), again.ago().tolist(), again.column("at").tolist()] == before
    after = index.view()
    assert after.alive == 3 and after.ids[after.neighbours(1)[1][0]] == "msg_000002"
    assert moments(index)["sum_1"] == micros(summary.at), "the message that it was dated by is gone"


@pytest.mark.parametrize("page", [3, 7, 100])
def test_an_index_read_page_by_page_answers_as_one_read_at_once(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenuto.recall.indexes.PAGE", page)
    reader = FakeReader()
    reader.entries = [entry(n, " ".join(WORDS[n % 5 : n % 7 + 1]), session=f"s{n % 3}") for n in range(40)]
    late = [entry(n, "fig kiwi", session="s1", seq=50 + n, at=START + timedelta(minutes=n - 5)) for n in (11, 13)]
    reader.entries = [one for one in reader.entries if one.id not in {two.id for two in late}] + late
    at_once = UserIndex("m", DIMENSION)
    at_once.apply(reader.entries)
    paged = Indexes(1 << 30).fresh(reader, "m", DIMENSION)  # type: ignore[arg-type]
    assert paged.view().size == 40
    assert scores(paged, "apple fig kiwi") == scores(at_once, "apple fig kiwi")
    query = vector(3).astype(np.float32)
    near = [dict(zip(one.view().ids, one.view().cosine(query).round(4), strict=True)) for one in (paged, at_once)]
    assert near[0] == near[1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60))
def test_hashes_are_sorted_stably_even_where_only_their_last_bits_differ(parts: list[tuple[int, int]]) -> None:
    given_ = np.array([(high << 60) + low for high, low in parts], np.uint64)
    assert segments._order(given_).tolist() == np.argsort(given_, kind="stable").tolist()


def memories(*texts: str) -> UserIndex:
    index = UserIndex("m", DIMENSION)
    index.apply(
        [entry(n, text, kind=EntryKind.MEMORY, id=f"mem_{n}", session_id=None) for n, text in enumerate(texts)]
        + [entry(900, "tea with milk and honey")]
    )
    return index


def test_by_meaning_is_the_cosine_with_everything_of_the_kind() -> None:
    index = memories(*(f"number {n}" for n in range(30)))
    index.take(EntryRows.of([]), ["mem_4"])
    near, query = Near.of(index.view(), EntryKind.MEMORY), vector(4).astype(np.float32)
    plain = {f"mem_{n}": float(vector(n) @ vector(4)) for n in range(30) if n != 4}
    found = sorted(near.by_meaning(query, 5), key=lambda pair: -pair[1])
    assert [id for id, _ in found] == sorted(plain, key=lambda id: -plain[id])[:5]
    assert np.allclose([cosine for _, cosine in found], sorted(plain.values())[::-1][:5], atol=1e-2)
    assert set(near.held(["mem_1", "mem_4", "msg_000900", "unknown"])) == {"mem_1"}
    assert near.by_meaning(np.ones(3, np.float32), 5) == []


def test_by_words_finds_the_fragment_and_the_whole_and_leaves_other_kinds_alone() -> None:
    index = memories("tea with milk", "coffee", "green tea with milk and honey every morning", "milk", "honey cake")
    near = Near.of(index.view(), EntryKind.MEMORY)
    assert near.by_words([hashes("tea with milk and honey")], 2) == [["mem_2", "mem_0"]]
    found = near.by_words([hashes("tea with milk"), hashes("nothing like it"), hashes("")], 9)
    assert found == [["mem_0", "mem_2"], [], []], "one word alone is not enough"
    assert near.by_words([], 9) == []
    index.take(EntryRows.of([]), ["mem_0"])
    assert Near.of(index.view(), EntryKind.MEMORY).by_words([hashes("tea with milk")], 9) == [["mem_2"]]


def test_the_best_passage_of_a_long_text_counts() -> None:
    wanted = vector(7)
    long = b"".join(pack(vector(seed)) for seed in (5, 6)) + pack(wanted)
    index = UserIndex("m", DIMENSION)
    index.apply([entry(1, "apple"), entry(2, "pear", vector=long), entry(3, "plum", embedded=False)])
    before = index.view()
    index.apply([entry(3, "plum", vector=long, model="m", seq=9), entry(4, "fig", vector=long[:-1])])
    view, query = index.view(), wanted.astype(np.float32)
    assert view.cosine(query)[[1, 2]] == pytest.approx([1, 1], abs=1e-3)
    assert view.cosine(query)[[0, 3]].max() < 0.99, "a short text, and one whose vector is not of this size"
    assert [view.best_passage(row, query) for row in range(3)] == [None, 2, 2]
    assert before.cosine(query)[2] == 0 and before.cosine(query)[1] == pytest.approx(1, abs=1e-3)
    assert np.allclose(view.vectors(np.array([1]))[0], vector(5), atol=1e-3)
