"""Token buckets: the same rule in a dictionary and in Redis, and limits that hold while Redis is gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenuto.providers.limits import Bucket, LocalLimiter, take
from tenuto.providers.redis_limits import RedisLimiter


@given(
    rate=st.floats(0.01, 1000),
    burst=st.integers(1, 1000),
    steps=st.lists(st.floats(0, 100), max_size=200),
)
def test_a_bucket_never_lets_more_through_than_it_says(rate: float, burst: int, steps: list[float]) -> None:
    left, passed, elapsed = float(burst), 0, 0.0
    for step in steps:
        elapsed += step
        left, seconds = take(left, step, Bucket(rate, burst))
        assert 0 <= left <= burst
        assert seconds >= 0
        passed += seconds == 0
    assert passed <= burst + rate * elapsed + 1e-6


def test_who_waits_as_told_gets_through() -> None:
    now = [0.0]
    limiter = LocalLimiter(lambda: now[0])
    asked = [("a", Bucket(2, 1)), ("b", Bucket(0.5, 1))]
    assert limiter.wait(asked) == 0
    seconds = limiter.wait(asked)
    assert seconds == 2.0, "the slowest bucket decides"
    now[0] += seconds
    assert limiter.wait(asked) == 0


def test_a_refusal_takes_from_no_bucket() -> None:
    limiter = LocalLimiter(lambda: 0.0)
    assert limiter.wait([("full", Bucket(1, 1))]) == 0
    for _ in range(5):
        assert limiter.wait([("free", Bucket(1, 1)), ("full", Bucket(1, 1))]) > 0
    assert limiter.wait([("free", Bucket(1, 1))]) == 0


def test_memory_is_bounded() -> None:
    limiter = LocalLimiter(lambda: 0.0, most=10)
    for n in range(1000):
        limiter.wait([(f"address:{n}", Bucket(1, 1))])
    assert len(limiter._buckets) == 10


def test_redis_counts_for_all_processes(redis_url: str) -> None:
    first, second = RedisLimiter(redis_url), RedisLimiter(redis_url)
    asked = [("key:x", Bucket(0.5, 3))]
    passed = [limiter.wait(asked) == 0 for limiter in (first, second, first, second)]
    assert passed == [True, True, True, False]
    assert 0 < first.wait(asked) <= 2.0
    first.close(), second.close()


def test_limits_hold_while_redis_is_gone() -> None:
    limiter = RedisLimiter("redis://127.0.0.1:1")
    asked = [("key:x", Bucket(0.001, 2))]
    assert [limiter.wait(asked) == 0 for _ in range(3)] == [True, True, False]
