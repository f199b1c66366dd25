"""The routes by other names, the listings and the library's verbs tell the same story, on every store."""

from __future__ import annotations

import pytest

from tenuto.errors import Conflict, NotFound
from tests.surfaces.kit import Served, make_store, served

AS_ANA = {"Tenuto-User": "ana"}


def say(server: Served, session: str, numbers: range, **more: object) -> None:
    for n in numbers:
        body = {"text": f"The {n}th thing about the garden of the house.", "id": f"msg-{n}", **more}
        made = server.post(f"/api/sessions/{session}/messages", body, tenuto_user="ana")
        assert made.status_code == 201, made.text


def summarise(server: Served, session: str, first: int, last: int):
    body = {"session_id": session, "start_message_id": f"msg-{first}", "end_message_id": f"msg-{last}"}
    return server.post("/api/memory/summaries", {**body, "message_count": 0}, tenuto_user="ana")


def test_a_summary_that_was_made_is_listed_and_counted_with_the_callers_ids(store_url: str) -> None:
    with served(make_store(store_url)) as server:
        say(server, "s-1", range(4), token_usage=15, session_name="Dad's health")
        say(server, "s-2", range(10, 12))
        made = summarise(server, "s-1", 0, 2).json()
        assert (made["start_message_id"], made["end_message_id"], made["message_count"]) == ("msg-0", "msg-2", 3)
        listed = server.get("/api/memory/summaries/s-1", tenuto_user="ana").json()["items"]
        assert made in listed
        assert server.get("/api/memory/summaries/s-2", tenuto_user="ana").json()["items"] == []
        assert server.get("/api/memory/stats/s-1", tenuto_user="ana").json()["totalSummaries"] == len(listed)
        rows = server.get("/api/sessions/s-1/messages", tenuto_user="ana").json()["items"]
        assert {row["token_usage"] for row in rows} == {15}
        named = {one.external_id: one.name for one in server.store.user("ana").sessions()}
        assert named == {"s-1": "Dad's health", "s-2": None}


def test_a_summary_of_a_session_holds_no_other_sessions_messages(store_url: str) -> None:
    with served(make_store(store_url)) as server:
        say(server, "s-1", range(2))
        say(server, "s-2", range(10, 12))
        say(server, "s-1", range(2, 4))
        assert summarise(server, "s-1", 0, 3).json()["message_count"] == 4
        assert summarise(server, "s-2", 10, 11).json()["message_count"] == 2


def test_ranges_on_demand_do_not_overlap(store_url: str) -> None:
    with make_store(store_url) as store:
        ana = store.user("ana")
        for n in range(8):
            ana.observe(f"The {n}th thing about the garden of the house.", id=f"msg-{n}", session="s-1")
        first = ana.summarise("msg-0", "msg-3")
        assert ana.summarise("msg-0", "msg-3").id == first.id
        for start, end in (("msg-2", "msg-5"), ("msg-1", "msg-2")):
            with pytest.raises(Conflict, match="cuts into") as raised:
                ana.summarise(start, end)
            assert raised.value.code == "range_overlaps"
        whole = ana.summarise("msg-0", "msg-5")
        assert (whole.replaces, whole.version) == (first.id, 2)
        beside = ana.summarise("msg-6", "msg-7")
        ranges = ana.summaries(kind="range", session_id="s-1")
        assert {one.id for one in ranges} == {whole.id, beside.id}
        assert ana.stats()["total_summaries"] == len(ana.summaries(limit=1000)), "versions are no summaries"
        assert len(ana.summaries(versions=True, limit=1000)) > len(ana.summaries(limit=1000))


def test_a_page_shows_what_the_verb_shows(store_url: str) -> None:
    with make_store(store_url) as store:
        ana = store.user("ana")
        kept, gone = ana.remember("Likes tea"), ana.remember("Works at Acme in Porto")
        ana.forget(gone.id)
        ana.observe("I will call the plumber tomorrow.")
        store.settle()
        assert [one.id for one in ana.page("memories").items] == [one.id for one in ana.memories()]
        assert kept.id in {one.id for one in ana.memories()}
        assert {one.id for one in ana.page("memories", status="*").items} == {o.id for o in ana.memories(status="*")}
        assert [one.id for one in ana.page("todos").items] == [one.id for one in ana.todos(persona="*")]
        for todo in ana.todos(persona="*"):
            ana.complete(todo.id)
        assert ana.page("todos").items == []
        assert len(ana.page("todos", status="*").items) == len(ana.todos(status="*", persona="*")) > 0
        assert [one.id for one in ana.page("entities").items] == [one.id for one in ana.entities()]


def test_every_verb_takes_the_callers_own_session_id(store_url: str) -> None:
    with make_store(store_url) as store:
        ana = store.user("ana", persona="coach")
        ana.observe("I promise to water the tomatoes in the garden every day.", session="s-1", id="m-1")
        ana.observe("We talked about something else entirely: the opera in Parma.", session="s-2", id="m-2")
        ours = next(one.id for one in ana.sessions() if one.external_id == "s-1")
        ana.close_session("s-1")
        store.settle()
        for id in ("s-1", ours):
            assert [one.external_id for one in ana.messages(session_id=id)] == ["m-1"]
            assert {one.session_id for one in ana.summaries(kind="session", session_id=id)} == {ours}
            assert {one.session_id for one in ana.key_points(session_id=id)} <= {ours}
            assert [one.external_id for one in ana.page("messages", session_id=id).items] == ["m-1"]
            hits = ana.recall("the garden or the opera", kinds="message", session=id)
            assert {hit.message_id for hit in hits} == {"m-1"}
        assert ana.key_points(session_id="s-1") == ana.key_points(session_id=ours)
        assert ana.messages(session_id="nowhere") == []
        assert ana.name_session("s-1", "Garden").id == ours
        pinned = ana.remember("Waters tomatoes daily", pin=True, session="s-1")
        assert pinned.memory.pin_session_id == ours
        early = ana.remember("Brings the seeds along", pin=True, session="s-3")
        ana.observe("Here we are.", session="s-3")
        assert early.id in {item.id for item in ana.context("Well?", session="s-3").block("pins").items}
        assert early.id not in {item.id for item in ana.context("Well?", session="s-2").block("pins").items}
        with pytest.raises(NotFound):
            ana.name_session("nowhere", "Garden")
