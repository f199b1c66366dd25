"""A context says each sentence once, in words."""

from datetime import UTC, datetime

import tenuto


def test_a_sentence_stands_once_and_no_number_is_shown():
    """The last talk stood in five blocks: as said, in the session's record twice, as a key point, in the brief."""
    now = [datetime(2026, 3, 2, 8, tzinfo=UTC)]
    with tenuto.open("memory:", clock=lambda: now[0], background=False) as store:
        ana = store.user("ana")
        for day, text in (
            (0, "Work was awful, my boss shouted."),
            (2, "The new coffee place is great. I can't decide."),
        ):
            now[0] = datetime(2026, 3, 2 + day, 8, tzinfo=UTC)
            ana.observe(text)
            ana.observe("Noted, thanks.", role="assistant")
            store.settle()
        now[0] = datetime(2026, 3, 9, 7, tzinfo=UTC)
        store.settle()
        context = ana.context("Good morning!")
    shown = "\n".join(block.text for block in context.blocks)
    for sentence in ("The new coffee place is great", "I can't decide", "Work was awful, my boss shouted"):
        assert shown.count(sentence) == 1, shown
    dropped = [one for block in context.blocks for one in block.dropped if one.why == "says the same as another line"]
    assert {one.kind for one in dropped} >= {"session", "key_point"}
    assert "attunement" not in shown and "0.3" not in shown
