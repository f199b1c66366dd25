"""Off the record leaves nothing, not even in what the persona answered."""

import pytest


@pytest.mark.parametrize("at_once", [True, False], ids=["settled at once", "settled at the end"])
def test_the_answer_to_something_off_the_record_is_held_back(ana, say, store, clock, at_once):
    say("I like tea.")
    for text, role in (
        ("Don't save this: I dream of opening a ceramics studio.", "user"),
        ("Your secret is safe. A ceramics studio sounds lovely.", "assistant"),
        ("Anyway, what is for dinner?", "user"),
        ("Soup sounds lovely.", "assistant"),
    ):
        clock.advance(minutes=1)
        ana.observe(text, role=role)
        if at_once:
            assert store.settle()
    assert store.settle()
    assert not any("ceramics" in hit.text for hit in ana.recall("ceramics studio", limit=50))
    assert "ceramics" not in str(ana.context("Good morning!").messages)
    clock.advance(hours=20)
    store.settle()
    assert "ceramics" not in str(ana.context("Good morning!").messages)
    assert any("Soup" in one.content for one in ana.messages()), "what followed is kept"
    assert any("Soup" in hit.text for hit in ana.recall("soup for dinner", limit=50)), "and found"
