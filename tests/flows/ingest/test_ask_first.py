"""Forgetting something life-critical by words waits for the person's yes; so does what a model wants forgotten."""

from __future__ import annotations

import pytest

from tenuto.ingest.ask_first import Reply, reply
from tenuto.records.memory import Status, Trust
from tests.flows.world import World

ALLERGY = "I'm allergic to penicillin."
FORGET = "Please forget that I am allergic to penicillin."
QUESTION = "Should I really forget “"


@pytest.fixture
def world() -> World:
    return World()


def talk(world: World, *said: str, channel: str = "imessage", persona: str | None = "coach") -> tuple[str, ...]:
    """Say things on a channel; the notes of the last receipt."""
    ana = world.store.user("ana", persona=persona, channel=channel)
    for text in said:
        world.clock.forward(seconds=30)
        receipt = ana.observe(text)
        world.store.settle()
    found = ana.receipt(receipt.id)
    assert found is not None and found.settled
    return found.notes


def pins(world: World) -> list[str]:
    ana = world.store.user("ana", persona="coach", channel="imessage")
    context = ana.context("What should I take for my throat?")
    return [item.text for block in context.blocks if block.name == "pins" for item in block.items]


def question(world: World, channel: str = "imessage") -> str:
    context = world.store.user("ana", persona="coach", channel=channel).context("Good morning!")
    block = next(block for block in context.blocks if block.name == "question")
    assert block.text in str(context)
    return block.text


def test_it_stays_until_the_person_confirms(world: World) -> None:
    notes = talk(world, ALLERGY, FORGET)
    assert any(QUESTION in note and "Not forgotten yet" in note for note in notes), notes
    assert "penicillin" in " ".join(pins(world))
    assert QUESTION in question(world) and "penicillin" in question(world)
    assert question(world, "email") == ""
    notes = talk(world, "yes, forget it")
    assert any(note.startswith("Forgotten, as you confirmed") for note in notes), notes
    assert pins(world) == [] and question(world) == ""
    ana = world.store.user("ana", persona="coach")
    assert [hit.text for hit in ana.recall("Am I allergic to penicillin?") if "allergic" in hit.text] == []


@pytest.mark.parametrize(
    ("answer", "channel", "persona"),
    [
        ("yes", "imessage", "coach"),
        ("ok, thanks", "imessage", "coach"),
        ("forget it", "imessage", "coach"),
        ("Yes, forget the milk.", "imessage", "coach"),
        ("yes, forget it", "email", "coach"),
        ("yes, forget it", "imessage", "tutor"),
        ("Yes, forget it?", "imessage", "coach"),
        (FORGET, "imessage", "coach"),
    ],
)
def test_what_confirms_nothing(world: World, answer: str, channel: str, persona: str) -> None:
    talk(world, ALLERGY, FORGET)
    talk(world, answer, channel=channel, persona=persona)
    assert "penicillin" in " ".join(pins(world))


def test_a_bare_yes_counts_right_after_the_question(world: World) -> None:
    talk(world, ALLERGY, FORGET)
    ana = world.store.user("ana", persona="coach", channel="imessage")
    ana.observe("Shall we cook tonight?", role="assistant")
    talk(world, "yes")
    assert len(pins(world)) == 1
    ana.observe("Should I really forget that you are allergic to penicillin?", role="assistant")
    talk(world, "yes")
    assert pins(world) == []


def test_no_ends_it_and_so_does_time(world: World) -> None:
    talk(world, ALLERGY, FORGET)
    assert "Kept, as before." in talk(world, "No, don't forget it")
    assert question(world) == ""
    talk(world, "yes, forget it")
    assert len(pins(world)) == 1
    talk(world, FORGET)
    world.clock.forward(days=1, minutes=1)
    assert question(world) == ""
    talk(world, "yes, forget it")
    assert len(pins(world)) == 1


def test_it_is_bound_to_what_was_asked_about(world: World) -> None:
    talk(world, ALLERGY, FORGET)
    ana = world.store.user("ana", persona="coach", channel="imessage")
    memory = next(one for one in ana.memories(pinned=True))
    ana.edit(memory.id, content="Is allergic to penicillin: anaphylaxis")
    assert any("has changed" in note for note in talk(world, "yes, forget it"))
    assert "anaphylaxis" in " ".join(pins(world))


def test_a_confirmation_is_used_once(world: World) -> None:
    talk(world, ALLERGY, FORGET, "yes, forget it")
    ana = world.store.user("ana", persona="coach", channel="imessage")
    gone = next(one for one in ana.memories(status="forgotten"))
    ana.restore(gone.id)
    talk(world, "yes, forget it")
    assert len(pins(world)) == 1


def test_the_rest_of_a_wish_acts_at_once(world: World) -> None:
    notes = talk(
        world, "My dad lives in Porto.", "My dad is allergic to nuts.", "Please forget everything about my dad."
    )
    ana = world.store.user("ana", persona="coach", channel="imessage")
    assert any("Forgotten" in note and QUESTION in note for note in notes), notes
    kept = [one.content for one in ana.memories()]
    assert any("nuts" in one for one in kept) and not any("Porto" in one for one in kept)
    assert "nuts" in " ".join(pins(world))
    talk(world, "no, keep it")
    assert "nuts" in " ".join(pins(world))


def test_other_wishes_act_at_once_as_ever(world: World) -> None:
    notes = talk(world, "I take citalopram 20 mg every morning.", "Please forget everything about citalopram.")
    assert pins(world) == [] and not any(QUESTION in note for note in notes)


def test_by_hand_no_second_act_is_needed(world: World) -> None:
    talk(world, ALLERGY)
    ana = world.store.user("ana", persona="coach", channel="imessage")
    assert ana.forget(next(one for one in ana.memories(pinned=True)).id).status is Status.FORGOTTEN
    assert pins(world) == []


def test_what_a_model_asks_to_forget_waits_for_the_person(world: World) -> None:
    talk(world, "I live in Porto.")
    ana = world.store.user("ana", persona="coach", channel="imessage")
    memory = next(one for one in ana.memories() if "Porto" in one.content)
    model = world.store.user("ana", channel="mcp")
    assert model.forget(memory.id, trust=Trust.INFERRED).status is Status.ACTIVE
    assert "Porto" in question(world)
    talk(world, "The bakery on the corner was closed again today.", "yes, forget it")
    assert ana.memory(memory.id).status is Status.ACTIVE
    ana.observe("Should I really forget that you live in Porto?", role="assistant")
    talk(world, "yes")
    assert ana.memory(memory.id).status is Status.ACTIVE
    ana.observe("Should I really forget that you live in Porto?", role="assistant")
    talk(world, "yes, please forget it")
    assert ana.memory(memory.id).status is Status.FORGOTTEN


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("yes", Reply(True)),
        ("No.", Reply(False)),
        ("Yes, please forget it.", Reply(True, spelled=True)),
        ("I'm sure, forget it", Reply(True, spelled=True)),
        ("yes, you can really forget that now", Reply(True, spelled=True)),
        ("Ja, vergiss es bitte", Reply(True, spelled=True)),
        ("no, don't forget it", Reply(False, spelled=True)),
        ("forget it", None),
        ("yes?", None),
        ("I will never forget it", None),
        ("yes but forget the milk first?", None),
    ],
)
def test_replies(said: str, meant: Reply | None) -> None:
    assert reply(said) == meant
