"""A context as other programs know it, which turns stay in sight, and how many pins there can be; on every store."""

from __future__ import annotations

import pytest

import tenuto
from tenuto.errors import Conflict
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.flows.context_store import Watch
from tests.flows.world import WordEmbedder
from tests.surfaces.kit import make_store, served


def opened(url: str, watch: Watch, **options):
    given = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False, "clock": watch, **options}
    return tenuto.open(url, **given)


def test_the_four_parts_of_a_context(store_url: str) -> None:
    with served(make_store(store_url)) as server:
        ana = server.store.user("ana")
        ana.observe("My dad takes metformin twice a day.", id="msg-1", session="s-1", tokens=9)
        pin = ana.remember("Dad is allergic to penicillin", pin=True, session="s-1")
        ana.summarise("msg-1", "msg-1", session_id="s-1")
        found = ana.context("Which antibiotics are safe?", session="s-1").memory_context()
        (said,) = found.recentMessages
        assert (said.id, said.session_id, said.role, said.token_usage) == ("msg-1", "s-1", "user", 9)
        assert said.importance_score > 0
        assert [(one.id, one.session_id, one.pin_type) for one in found.semanticPins] == [(pin.id, "s-1", "manual")]
        assert found.totalTokens > 0
        body = {"message": "Which antibiotics are safe?", "session_id": "s-1"}
        over = server.post("/api/memory/context", body, tenuto_user="ana").json()
        assert set(over) == {"recentMessages", "semanticPins", "summaries", "totalTokens"}
        assert [one["id"] for one in over["recentMessages"]] == ["msg-1"]
        assert [one["id"] for one in over["semanticPins"]] == [pin.id]
        ana.forget(pin.id)
        assert ana.context("Which antibiotics are safe?", session="s-1").memory_context().semanticPins == ()


def test_the_last_session_is_among_the_summaries(store_url: str) -> None:
    watch = Watch()
    with opened(store_url, watch) as store:
        ana = store.user("ana")
        ana.observe("We are moving to Porto in June and need a flat.", session="s-1", id="m-1")
        ana.close_session("s-1")
        store.settle()
        watch.forward(days=1)
        found = ana.context("Any news about the flat?", session="s-2").memory_context().summaries
        told = next(one for one in found if one.session_id == "s-1")
        assert "Porto" in told.summary and told.message_count == 1


@pytest.mark.parametrize(
    ("text", "role", "metadata", "weight"),
    [
        ("The tram was late again this morning.", "user", None, 6.0),
        ("The tram was late again this morning?", "user", None, 7.0),
        ("The tram was late again this morning.", "assistant", None, 5.0),
        ("Fine.", "user", None, 5.0),
        ("The doctor gave her new insulin today.", "user", None, 8.0),
        ("The tram was late again this morning.", "user", {"important": True}, 9.0),
    ],
)
def test_messages_weigh_as_documented(text: str, role: str, metadata: dict[str, bool] | None, weight: float) -> None:
    with opened("memory:", Watch()) as store:
        assert store.user("ana").observe(text, role=role, metadata=metadata).importance == weight


def test_when_room_is_short_the_worthiest_turns_stay(store_url: str) -> None:
    watch = Watch()
    with opened(store_url, watch, policy={"context": {"window_step": 1, "recent_messages": 4}}) as store:
        ana = store.user("ana")
        said = {
            "flag": ("Uncle Bo comes at nine.", {"important": True}),
            "plain": ("The bus was late again and so were we.", None),
            "topic": ("The boiler in the cellar leaks since Sunday night.", None),
        }
        for id, (text, metadata) in said.items():
            ana.observe(text, id=id, session="s", metadata=metadata)
            watch.forward(minutes=1)
        for n in range(8):
            ana.observe(f"Something or other, number {n}.", id=f"f{n}", session="s")
            watch.forward(minutes=1)
        context = ana.context("Who repairs a boiler that leaks?", session="s")
        assert {"flag", "topic"} <= {one.id for one in context.memory_context().recentMessages}
        ids = {one.id: one.external_id for one in ana.messages(session_id="s")}
        kept = [ids[item.id] for item in context.block("marked").items]
        offered = [*kept, *(ids[item.id] for item in context.block("marked").dropped)]
        assert "flag" in kept and "plain" not in offered
        assert ana.get("messages", ana.messages(session_id="s")[0].id).importance == 9.0


def test_the_weightiest_sessions_are_told_in_full(store_url: str) -> None:
    watch = Watch()
    with opened(store_url, watch) as store:
        ana = store.user("ana")
        weighty = "My father was diagnosed with diabetes and takes metformin and insulin."
        plain = "The tram was full of people with umbrellas today."
        for n, text in enumerate([weighty, plain, plain, plain, plain]):
            ana.observe(f"{text} ({n})", session=f"s-{n}")
            ana.close_session(f"s-{n}")
            store.settle()
            watch.forward(days=1)
        rows = {one.id: one.external_id for one in ana.sessions()}
        context = ana.context("Good morning, what did we talk about?", session="s-9")
        assert [rows[item.id] for item in context.block("latest").items] == ["s-4"]
        assert "s-0" in [rows[item.id] for item in context.block("sessions").items]
        headlines = context.block("headlines")
        assert "s-1" in [rows[item.id] for item in (*headlines.items, *headlines.dropped)]


def test_the_cap_of_pins_is_per_user_and_per_session(store_url: str) -> None:
    notes = ["goldfish at work", "bees on the roof", "a diary in French", "old stamps"]
    with opened(store_url, Watch(), policy={"memory": {"pins": 2}}, embedder=WordEmbedder()) as store:
        ana = store.user("ana")
        for session in ("s-1", "s-2"):
            ana.observe("Hello there, here we are again.", session=session)
            for _ in range(2):
                ana.remember(f"Keeps {notes.pop()}", pin=True, session=session)
        ana.remember("Collects tin toys", pin=True)
        ana.remember("Reads maps for fun", pin=True)
        with pytest.raises(Conflict, match="already 2 pins of this session"):
            ana.remember("Drinks no coffee after lunch", pin=True, session="s-1")
        with pytest.raises(Conflict, match="already 2 pins:"):
            ana.remember("Owns a red canoe", pin=True)
        assert ana.stats()["total_pins"] == 6


def test_a_life_critical_pin_without_room_says_so(store_url: str) -> None:
    with tenuto.open(store_url, background=False, policy={"memory": {"pins": 1}}) as store:
        ana = store.user("ana")
        ana.observe("I am allergic to penicillin.")
        store.settle()
        (first,) = ana.memories(pinned=True)
        ana.observe("I am allergic to peanuts.")
        store.settle()
        (second,) = ana.memories(pinned=True)
        assert second.id != first.id, "the least important automatic pin makes room"
        ana.unpin(second.id)
        ana.remember("Never water the cactus", pin=True)
        receipt = ana.observe("I am allergic to shellfish.")
        store.settle()
        reasons = [one.reason for one in ana.receipt(receipt.id).results]
        assert any("not pinned, because all 1 pins are set by hand" in reason for reason in reasons), reasons
