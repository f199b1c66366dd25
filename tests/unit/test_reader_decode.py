"""What becomes of a tagger's numbers: words, windows, valid tags, tidy marks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.providers.reader_decode import (
    Labels,
    best_tags,
    decode,
    find_words,
    last_words,
    spans,
    trim,
    windows,
    word_tokens,
)

LABELS = Labels("test", ("med", "dose"), ("todo",), 48, 200, {}, {})
OUT, B_MED, B_DOSE, I_MED, I_DOSE = range(5)


def numbers(tags: list[int], clause: list[int] | None = None, owner: int = 0, state: int = 0) -> np.ndarray:
    rows = np.zeros((len(tags), LABELS.width), dtype=np.float32)
    for row, tag in enumerate(tags):
        rows[row, tag] = 9
        rows[row, 5 + (clause[row] if clause else 0)] = 9
        rows[row, 8 + owner] = rows[row, 10 + state] = rows[row, 14] = rows[row, 16] = 9
    return rows


def test_words_are_runs_of_letters_and_single_signs():
    text = "l'asthme, 5 mg!! Zoë's café"
    assert [text[a:b] for a, b in find_words(text)] == (
        ["l", "'", "asthme", ",", "5", "mg", "!", "!", "Zoë", "'", "s", "café"]
    )


def test_a_word_stands_on_the_token_that_holds_its_first_character():
    tokens = [(0, 4), (4, 7), (7, 12)]
    assert word_tokens([(1, 7), (8, 12), (13, 15)], tokens) == [0, 2]


def test_marks_have_offsets_owner_state_and_score():
    text = "off the warfarin now, 5 mg"
    words = find_words(text)
    found = decode(text, words, numbers([OUT, OUT, B_MED, OUT, OUT, B_DOSE, I_DOSE], owner=1, state=1), LABELS)
    assert [(mark.type, text[mark.start : mark.end], mark.owner, mark.state) for mark in found] == [
        ("med", "warfarin", "other", "end"),
        ("dose", "5 mg", "other", "end"),
    ]
    assert all(0.9 < mark.score <= 1 for mark in found)


def test_a_clause_may_hold_values_and_comes_first():
    text = "buy insulin today"
    found = decode(text, find_words(text), numbers([OUT, B_MED, OUT], [1, 2, 2], owner=1), LABELS)
    assert [(mark.layer, mark.type, mark.owner) for mark in found] == [
        ("clause", "todo", "self"),
        ("value", "med", "other"),
    ]


def test_inside_without_a_begin_is_repaired():
    rows = np.full((3, 5), -5, dtype=np.float32)
    rows[0, OUT], rows[0, B_MED], rows[1, I_MED], rows[2, OUT] = -0.5, -1.0, -0.1, -0.1
    assert best_tags(rows, 2) == [B_MED, I_MED, OUT]


@given(st.lists(st.lists(st.floats(-9, 0, width=32), min_size=5, max_size=5), min_size=1, max_size=12))
def test_tags_are_always_valid(rows: list[list[float]]):
    tags = best_tags(np.array(rows, dtype=np.float32), 2)
    assert len(tags) == len(rows)
    for last, tag in zip([OUT, *tags], tags, strict=False):
        assert tag not in (I_MED, I_DOSE) or last in (tag, tag - 2)
    assert all(first <= last for _, first, last in spans(tags, 2))


def test_a_bias_finds_more_and_a_threshold_less():
    text = "warfarin"
    rows = numbers([OUT])
    rows[0, B_MED] = 8
    assert decode(text, [(0, 8)], rows, LABELS) == []
    eager = Labels("test", ("med", "dose"), ("todo",), 48, 200, {"med": 2.0}, {})
    assert [mark.type for mark in decode(text, [(0, 8)], rows, eager)] == ["med"]
    strict = Labels("test", ("med", "dose"), ("todo",), 48, 200, {"med": 2.0}, {"med": 0.5})
    assert decode(text, [(0, 8)], rows, strict) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (" warfarin. ", "warfarin"),
        ("(call mum", "(call mum"),
        ("call mum)", "call mum"),
        ("Ghent (Belgium)", "Ghent (Belgium)"),
        ("at 7 p.m.", "at 7 p.m."),
        ("+49 151 2345", "+49 151 2345"),
        ("«Paracetamol»", "«Paracetamol»"),
        ("20 mg de", "20 mg"),
        ("Rio de Janeiro", "Rio de Janeiro"),
        ("...", None),
    ],
)
def test_marks_lose_the_signs_around_them(text: str, left: str | None):
    found = trim(text, 0, len(text))
    assert (found and text[slice(*found)]) == left


def test_windows_end_with_a_sentence_or_at_least_a_word():
    text = "one two three. four five six seven eight nine"
    tokens = find_words(text.replace(".", "x"))
    assert windows(text, tokens, 4) == [(0, 3), (3, 7), (7, 9)]
    run = "x" * 50
    letters = [(at, at + 1) for at in range(50)]
    assert windows(run, letters, 20) == [(0, 20), (20, 40), (40, 50)]
    assert windows("", [], 4) == [(0, 0)]


def test_of_the_turn_before_the_last_whole_sentences_are_seen():
    text = "one two three. four five? six"
    tokens = [(0, 3), (4, 7), (8, 13), (13, 14), (15, 19), (20, 24), (24, 25), (26, 29)]
    assert last_words(text, tokens, 8) == 0
    assert last_words(text, tokens, 6) == 4
    assert last_words("a b c d e", [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)], 2) == 3
