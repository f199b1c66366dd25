"""What a todo is made of, and when a report speaks of another thing."""

import pytest

from tenuto.language.doings import another_thing, came_to_me, does, parts


def test_the_doing_the_thing_and_the_rest():
    flight = parts("Book a flight to Oslo")
    assert (flight.doing, flight.thing, flight.rest) == ("book", ("flight",), frozenset({"oslo"}))
    german = parts("Die Stromrechnung bezahlen")
    assert german.thing == parts("Stromrechnung").thing or len(german.thing) == 1


@pytest.mark.parametrize(
    ("todo", "said", "other"),
    [
        ("Pay the electricity bill", "paid the gas bill", True),
        ("Pay the electricity bill", "paid the bill", False),
        ("Book mum's hearing test", "booked the driving test", True),
        ("Book mum's hearing test", "the hearing test is booked", False),
    ],
)
def test_another_thing_of_the_same_kind(todo: str, said: str, other: bool):
    assert another_thing(parts(todo), said) == other


def test_a_doing_in_other_words():
    assert does("buy", "got him a telescope")
    assert does("call", "I rang them")
    assert not does("pay", "I saw the bill")


def test_what_came_in_did_not_go_out():
    assert came_to_me("send", "Claire sent me some photos")
    assert not came_to_me("send", "I sent my sister the photos")
    assert not came_to_me("buy", "he gave me the bread")
