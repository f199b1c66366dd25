"""A long text is cut into passages that overlap and leave nothing out, in the same places every time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tenuto.recall.passages import MOST, OVERLAP, PASSAGE, WHOLE, cuts, grouped

SENTENCE = "The quick brown fox jumps over the lazy dog. "


def test_a_short_text_is_one_passage() -> None:
    assert cuts("", 384) == [(0, 0)]
    assert cuts("x" * WHOLE, 384) == [(0, WHOLE)]
    assert len(cuts("x" * (WHOLE + 1), 384)) == 2


def test_a_long_text_is_cut_between_sentences() -> None:
    text = SENTENCE * 50
    for start, end in cuts(text, 384)[:-1]:
        assert text[start:end].endswith(". ") and text[start - 1 : start] in ("", " ")


@given(
    st.text(alphabet=st.sampled_from("ab .\n?é"), min_size=0, max_size=6000), st.sampled_from((8, 384, 3072, 20_000))
)
def test_passages_overlap_and_leave_nothing_out(text: str, dimension: int) -> None:
    found = cuts(text, dimension)
    assert 1 <= len(found) <= MOST and len(found) * dimension <= max(15_360, dimension)
    assert found[0][0] == 0
    for (start, end), (following, _) in pairwise(found):
        assert start < following <= end and end - following <= OVERLAP and end - start <= PASSAGE
    assert found[-1][1] == len(text) or len(found) == max(1, min(MOST, 15_360 // dimension))


def test_vectors_find_back_to_their_texts() -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = grouped({"a": ["x"], "b": ["y", "z"]}, vectors)
    assert found["a"].tolist() == [[0, 1]] and found["b"].tolist() == [[2, 3], [4, 5]]
