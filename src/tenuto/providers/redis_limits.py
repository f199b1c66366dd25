"""Token buckets in Redis, shared by all server processes. While Redis is gone, each process counts for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis

from tenuto.providers.limits import Bucket, Limiter, LocalLimiter

SCRIPT = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local longest, after = 0, {}
for i, name in ipairs(KEYS) do
    local rate, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
    local kept = redis.call('HMGET', name, 'left', 'at')
    local left, at = tonumber(kept[1]) or burst, tonumber(kept[2]) or now
    local filled = math.min(burst, left + math.max(now - at, 0) * rate)
    if filled >= 1 then after[i] = filled - 1
    else longest = math.max(longest, (1 - filled) / rate) end
end
if longest == 0 then
    for i, name in ipairs(KEYS) do
        local rate, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
        redis.call('HSET', name, 'left', tostring(after[i]), 'at', tostring(now))
        redis.call('PEXPIRE', name, math.ceil(burst / rate * 1000) + 1000)
    end
end
return tostring(longest)
"""
PREFIX = "tenuto:limit:"
TIMEOUT_SECONDS = 0.25


class RedisLimiter:
    """The same rule as :class:`tenuto.providers.limits.LocalLimiter`, counted in one place."""

    remote = True

    def __init__(self, url: str, fallback: Limiter | None = None) -> None:
        self._client: Any = redis.Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        )
        self._script: Any = self._client.register_script(SCRIPT)
        self._fallback = fallback or LocalLimiter()

    def wait(self, asked: Sequence[tuple[str, Bucket]]) -> float:
        names = [PREFIX + name for name, _ in asked]
        numbers = [number for _, bucket in asked for number in (bucket.rate, bucket.burst)]
        try:
            return float(self._script(keys=names, args=numbers))
        except redis.RedisError:
            return self._fallback.wait(asked)

    def close(self) -> None:
        self._client.close()
