"""One contract for working memory: in the process, and in a real Redis."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
import redis

from tenuto.policy import WorkingPolicy
from tenuto.providers.redis_working import PAUSE, RedisWorking
from tenuto.providers.vault import PlainVault
from tenuto.providers.working import InProcessWorking
from tests.flows.context_store import Watch
from tests.servers import Valkey

POLICY = WorkingPolicy()


@pytest.fixture(params=["process", "redis"])
def working(request):
    if request.param == "process":
        yield InProcessWorking(POLICY, Watch())
        return
    made = RedisWorking(request.getfixturevalue("redis_url"), POLICY, PlainVault())
    yield made
    made.close()


def said(n: int, channel: str = "web", role: str = "user") -> dict[str, object]:
    return {"id": f"msg_{n}", "content": f"Number {n} — 你好", "channel": channel, "role": role}


def test_the_last_thirty_messages_in_order(working):
    for n in range(45):
        working.append("ana", said(n))
    assert working.recent("ana") == [said(n) for n in range(15, 45)]
    assert working.recent("ben") == []


def test_the_active_channel_is_where_the_user_was_last_heard(working):
    assert working.channel("ana") is None
    working.append("ana", said(1, "imessage"))
    working.append("ana", said(2, "email"))
    working.append("ana", said(3, "web", role="assistant"))
    assert working.channel("ana") == "email"


def test_variables_are_set_replaced_and_taken_away(working):
    working.set("ana", "topic", {"name": "weather", "tries": [1, 2]})
    working.set("ana", "question", "When?")
    working.set("ana", "question", None)
    assert working.variables("ana") == {"topic": {"name": "weather", "tries": [1, 2]}}
    working.variables("ana")["topic"]["name"] = "changed outside"
    assert working.variables("ana")["topic"]["name"] == "weather"


def test_dropping_one_user_leaves_the_others(working):
    for user in ("ana", "ana:variables", "ben", "ana:*"):
        working.append(user, said(1))
        working.set(user, "topic", user)
    assert working.drop("ana") is True
    assert (working.recent("ana"), working.variables("ana")) == ([], {})
    for user in ("ana:variables", "ben", "ana:*"):
        assert working.recent(user) == [said(1)]
        assert working.variables(user) == {"topic": user}


def test_many_writers_lose_nothing_within_the_limit(working):
    def write(writer: int) -> None:
        for n in range(3):
            working.append("ana", said(writer * 10 + n))

    writers = [threading.Thread(target=write, args=(w,)) for w in range(10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(m["id"] for m in working.recent("ana")) == sorted(
        f"msg_{w * 10 + n}" for w in range(10) for n in range(3)
    )


def test_it_is_gone_an_hour_after_the_last_message():
    watch = Watch()
    working = InProcessWorking(POLICY, watch)
    working.append("ana", said(1))
    watch.forward(minutes=50)
    working.append("ana", said(2))
    watch.forward(minutes=59)
    assert len(working.recent("ana")) == 2
    watch.forward(minutes=1)
    assert working.recent("ana") == []
    assert working.variables("ana") == {}


def test_redis_forgets_by_itself_and_uses_the_promised_key(redis_url):
    working = RedisWorking(redis_url, WorkingPolicy(ttl=timedelta(seconds=30)), PlainVault())
    working.append("ana", said(1))
    working.set("ana", "topic", "x")
    with redis.Redis.from_url(redis_url) as client:
        assert sorted(client.keys()) == [b"context:variables:ana", b"context:working:ana"]
        assert 0 < client.pttl("context:working:ana") <= 30_000
        for name in ("working", "variables"):
            client.pexpire(f"context:{name}:ana", 1)
        while client.keys():
            time.sleep(0.01)
    assert working.recent("ana") == []
    working.close()


def test_an_outage_of_redis_loses_nothing_but_the_cache(caplog):
    with Valkey() as server:
        working = RedisWorking(server.url(), POLICY, PlainVault())
        working.append("ana", said(1))
        server.kill()
        for n in range(20):
            working.append("ana", said(n))
        assert working.recent("ana") == []
        assert working.channel("ana") is None
        assert len([r for r in caplog.records if "going on without" in r.message]) == 1
        assert working.drop("ana") is False
        server.start()
        time.sleep(PAUSE)
        working.append("ana", said(9))
        assert working.recent("ana") == [said(9)]
        working.close()
