"""What the conversation is like decides what counts: short lines lean on their neighbours, the assistant is apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tenuto.policy import RecallPolicy
from tenuto.recall.index import UserIndex, View, pack
from tenuto.recall.match import Query, normalised_apart, shortness, weigh
from tenuto.recall.rank import hashes
from tenuto.records.operations import Entry, EntryKind
from tenuto.text import words

START = datetime(2025, 1, 1, tzinfo=UTC)
LONG = " ".join(f"word{number}" for number in range(80))


def view(*said: tuple[str, str]) -> View:
    """An index of (role, text), embedded by a hash of the text."""
    index = UserIndex("m", 8)
    entries = []
    for number, (role, text) in enumerate(said):
        vector = np.random.default_rng(len(text)).normal(size=8)
        entries.append(
            Entry(
                kind=EntryKind.MESSAGE, id=f"msg_{number:04d}", at=START + timedelta(minutes=number), seq=number + 1,
                session_id="s", role=role, tokens=words.pack(words.tokens(text)),
                vector=pack(vector / np.linalg.norm(vector)), model="m",
            )
        )  # fmt: skip
    index.apply(entries)
    return index.view()


def weighed(seen: View, query: str, **changes: Any) -> dict[str, list[float]]:
    asked = Query(hashes(words.tokens(query), b""), hashes([], b""), np.ones(8, np.float32) / 8**0.5, **changes)
    found = weigh(seen, asked, seen.living(), RecallPolicy())
    return {name: part.tolist() for name, part in found.parts.items()}


def test_neighbours_count_by_how_short_messages_are() -> None:
    short = view(("user", "When does the boat leave?"), ("user", "Saturday at nine"), ("user", "Fine then"))
    long = view(("user", f"boat {LONG}"), ("user", LONG), ("user", LONG))
    assert shortness(short) == 1 and shortness(long) == 0
    own, beside, far = weighed(short, "boat")["words"]
    assert own > beside > 0 or own > beside >= far
    assert weighed(long, "boat")["words"][1] == weighed(long, "boat")["words"][2], "no neighbour among long messages"


def test_the_assistant_has_a_mean_of_its_own_and_less_weight() -> None:
    talk = [("user", f"note {number}") for number in range(30)]
    talk += [("assistant", f"apple apple answer {number}") for number in range(30)]
    talk += [("user", "an apple")]
    parts = weighed(view(*talk), "apple")
    assert parts["words"][60] > max(parts["words"][30:60]), "rare for the user, usual for the assistant"
    assert parts["own"] == [0.5] * 30 + [0.0] * 30 + [0.5], "short lines of both: little more for the user's own"
    alone = weighed(view(*[("user", text) for _, text in talk]), "apple")
    assert "own" not in alone and alone["words"][30] >= alone["words"][60]


def test_an_assistant_that_writes_at_length_makes_it_another_kind_of_talk() -> None:
    talk = [("user", f"note {number}") for number in range(30)] + [("assistant", LONG)] * 30
    seen = view(*talk)
    parts = weighed(seen, "note")
    assert shortness(seen) == 0 and "length" not in parts, "the user's lines are short, the talk is not"
    assert parts["own"][0] == 1.5
    few = view(*talk[:30], ("assistant", LONG))
    assert shortness(few) == 1, "one long answer among thirty lines does not make it so"


def test_a_few_rows_are_drawn_to_the_mean_of_all() -> None:
    signal = np.array([0.0] * 50 + [1.0] * 50 + [5.0], np.float32)
    apart = np.arange(101) == 100
    found = normalised_apart(signal, np.ones(101, bool), (~apart, apart), 1.0)
    assert found[100] > 3, "one row has no deviation of its own: it stands out against all"
    assert found[:100].mean() == pytest.approx(0, abs=0.3)


def test_recency_counts_only_where_the_query_means_lately() -> None:
    seen = view(*[("user", f"note {number}") for number in range(40)])
    assert "recency" not in weighed(seen, "note")
    newer = weighed(seen, "note", recent=True)["recency"]
    assert newer[-1] > newer[0]
