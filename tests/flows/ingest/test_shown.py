"""What a context shows of what was said, once it is done or was a rule."""

from datetime import timedelta


def test_what_was_done_is_not_shown_as_open_and_a_rule_is_no_fact(ana, say, store):
    apart = timedelta(hours=3)
    say("I need to renew my driving licence before the 20th.", after=apart)
    say("Please answer me in short sentences.", after=apart)
    say("Good night.", after=apart)
    shown = {block.name: str(block.text) for block in ana.context("Hello").blocks}
    assert "licence" in shown.get("points", "") + shown.get("commitments", ""), "the control: it is open now"
    assert "short sentences" not in shown.get("foundation", "")
    say("I renewed my driving licence.", after=apart)
    assert ana.todos() == []
    say("Good night.", after=apart)
    shown = {block.name: str(block.text) for block in ana.context("Hello").blocks}
    assert "need to renew" not in shown.get("points", "") and "licence" not in shown.get("commitments", "")
