"""The budget: whole items, shares that flow on, every drop explained, never over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.context.blocks import NEED, Group, Place, table
from tenuto.context.budget import Item, answer_share, check, plan
from tenuto.errors import BudgetTooSmall, InputError
from tenuto.policy import Policy

POLICY = Policy()
SPECS = table(POLICY)
NAMES = [spec.name for spec in SPECS]


def item(number: int, tokens: int, *, step: bool = True) -> Item:
    return Item(kind="memory", id=str(number), text=f"item {number}", tokens=tokens, step=step, position=number)


def decide(offered: dict[str, list[Item]], budget: int = 8000, **options: int):
    return plan(SPECS, offered, budget=budget, policy=POLICY.context, **options)


def block(made, name: str):
    return next(filled for filled in made.blocks if filled.spec.name == name)


def spent(made) -> int:
    return sum(one.tokens for filled in made.blocks for one in filled.items)


def test_every_block_has_its_place_in_the_order_of_need():
    shared = {spec.name for spec in SPECS if spec.group is not Group.ALWAYS}
    assert shared == set(NEED)
    assert [spec.stable for spec in SPECS] == sorted((spec.stable for spec in SPECS), reverse=True)


@pytest.mark.parametrize("budget", [0, -1, True, 8000.0, "8000", None])
def test_a_budget_that_is_none_is_refused(budget):
    with pytest.raises(InputError) as caught:
        check(budget)
    assert caught.value.code == "budget_invalid"


def test_the_answer_keeps_a_quarter_of_a_small_budget_and_2000_of_a_large_one():
    assert answer_share(8000, POLICY.context) == 2000
    assert answer_share(1000, POLICY.context) == 250
    assert answer_share(100_000, POLICY.context) == 2000


def test_shares_hold_when_every_block_has_more_than_enough():
    offered = {
        name: [item(n, 10) for n in range(900)] for name in ("semantic", "ranges", "latest", "sessions", "recent")
    }
    specs = [spec for spec in SPECS if spec.name in (*offered, "message")]
    unlimited = [type(spec)(spec.name, spec.label, spec.group, spec.stable, spec.place) for spec in specs]
    made = plan(unlimited, offered, budget=8000, policy=POLICY.context)
    cost = {group: 0 for group in Group}
    for filled in made.blocks:
        cost[filled.spec.group] += sum(one.tokens for one in filled.items)
    assert cost[Group.MESSAGES] == 2100, "2,400 with what is kept free for the message"
    assert cost[Group.SUMMARIES] == 1800
    assert cost[Group.HISTORY] == 600
    assert cost[Group.FACTS] == 840, "the rest of the facts' 1,200 is kept for this turn's recall"


def test_an_unused_share_flows_on():
    only_facts = decide({"semantic": [item(n, 100) for n in range(12)]})
    assert len(block(only_facts, "semantic").items) == 12, "1,200 tokens: summaries and history left theirs"
    only_news = decide({"news": [item(n, 300) for n in range(12)]})
    assert len(block(only_news, "news").items) == 12, "3,600 tokens: nobody else wanted them"
    only_messages = decide({"recent": [item(n, 150) for n in range(30)]})
    assert len(block(only_messages, "recent").items) == 30, "4,500 tokens: more than 40 %"


def test_stable_blocks_do_not_depend_on_volatile_ones():
    stable = {"foundation": [item(n, 90) for n in range(20)], "ranges": [item(n, 400) for n in range(9)]}
    alone = decide(stable)
    crowded = decide(
        stable | {"recent": [item(n, 200) for n in range(30)], "relevant": [item(n, 80) for n in range(12)]}
    )
    for name in stable:
        assert block(alone, name).items == block(crowded, name).items


def test_what_this_turn_recalls_does_not_move_the_window():
    turns = {"recent": [item(n, 180) for n in range(30)]}
    quiet, busy = decide(turns), decide(turns | {"relevant": [item(n, 200) for n in range(12)]})
    assert block(quiet, "recent").items == block(busy, "recent").items


def test_the_window_moves_in_steps_and_has_no_gap():
    first: list[str] = []
    for said in range(38, 70):
        low = max(0, said - 50)
        turns = [item(n, 20, step=n % 10 == 0) for n in range(low, said)]
        shown = block(decide({"recent": turns}), "recent").items
        assert [int(one.id) for one in shown] == list(range(int(shown[0].id), said))
        assert len(shown) <= 40
        first.append(shown[0].id)
    assert len(set(first)) == 4, "32 turns, and the window began anew three times"


def test_items_stay_whole_and_a_smaller_one_still_fits():
    made = decide({"pins": [item(0, 20)], "relevant": [item(1, 700), item(2, 10)]}, budget=400)
    relevant = block(made, "relevant")
    assert [one.id for one in relevant.items] == ["2"]
    assert [(one.id, one.tokens) for one in relevant.dropped] == [("1", 700)]
    assert "no room" in relevant.dropped[0].why


def test_more_items_than_a_block_takes_are_dropped_with_the_reason():
    made = decide({"commitments": [item(n, 5) for n in range(7)]})
    assert len(block(made, "commitments").items) == 5
    assert {one.why for one in block(made, "commitments").dropped} == {"the block takes at most 5"}


def test_pins_and_message_come_before_the_answer():
    made = decide({"pins": [item(0, 700)], "message": [item(1, 50)]}, budget=800)
    assert made.answer == 50
    assert "answer has 50 left" in made.notes[0]


def test_a_budget_smaller_than_the_pins_says_how_much_would_do():
    with pytest.raises(BudgetTooSmall) as caught:
        decide({"pins": [item(0, 700)], "message": [item(1, 50)]}, budget=749)
    assert caught.value.needed == 750
    assert decide({"pins": [item(0, 700)], "message": [item(1, 50)]}, budget=caught.value.needed).answer == 0


def test_a_tight_budget_keeps_the_best_pins_and_says_what_it_left_out():
    made = decide({"pins": [item(n, 300) for n in range(4)], "message": [item(9, 50)]}, budget=800)
    pins = block(made, "pins")
    assert [one.id for one in pins.items] == ["0", "1"]
    assert [(one.id, one.why) for one in pins.dropped] == [
        (str(n), "the budget has no room for all pins") for n in (2, 3)
    ]
    assert any("no room for 2 of the pins" in note for note in made.notes)


items = st.lists(st.tuples(st.integers(1, 2000), st.booleans()), max_size=45)


@given(st.dictionaries(st.sampled_from(NAMES), items, max_size=12), st.integers(1, 20_000), st.integers(0, 60))
def test_never_over_budget_and_nothing_vanishes(sizes, budget, label):
    offered = {
        name: [item(n, cost, step=step) for n, (cost, step) in enumerate(costs)] for name, costs in sizes.items()
    }
    labels = {name: label for name in NAMES}
    try:
        made = decide(offered, budget=budget, labels=labels)
    except BudgetTooSmall as error:
        assert error.needed > budget  # noqa: PT017
        return
    headed = (Place.EVIDENCE, Place.GUIDANCE)
    used = spent(made) + sum(label for filled in made.blocks if filled.items and filled.spec.place in headed)
    assert used + made.answer <= budget
    for filled in made.blocks:
        told = {one.id for one in filled.items} | {one.id for one in filled.dropped}
        assert told == {one.id for one in offered.get(filled.spec.name, [])}
        if filled.spec.name == "pins" and filled.dropped:
            assert [int(one.id) for one in filled.items] == list(range(len(filled.items))) and filled.items
            assert any("of the pins" in note for note in made.notes)
        elif filled.spec.group is Group.ALWAYS:
            assert not filled.dropped
        if filled.spec.place is Place.TURNS and filled.items:
            ids = [int(one.id) for one in filled.items]
            assert ids == list(range(ids[0], len(offered[filled.spec.name])))
