"""The bus over Redis: pub/sub on ``context:{user}``. Redis keeps nothing of it, and may go away at any time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import redis

from tenuto.errors import SettingError
from tenuto.providers.bus import CHANNEL, RemoteBus

TIMEOUT = 5.0


class RedisBus(RemoteBus):
    def __init__(self, url: str, window: timedelta) -> None:
        super().__init__(window)
        try:
            self._client: Any = redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
        except ValueError as error:
            raise SettingError(f"'redis' takes an address such as redis://127.0.0.1:6379/0: {error}.") from error

    def send(self, publications: dict[str, int]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for user, seq in publications.items():
                pipe.publish(CHANNEL + user, msgspec.json.encode({"user": user, "seq": seq}))
            pipe.execute()

    def receive(self) -> None:
        with self._client.pubsub(ignore_subscribe_messages=False) as pubsub:
            pubsub.psubscribe(CHANNEL + "*")
            while not self.over:
                message = pubsub.get_message(timeout=0.5)
                if message is None:
                    continue
                if message["type"] == "psubscribe":
                    self.ready()
                elif message["type"] == "pmessage":
                    self.received(message["channel"].decode("utf-8", "replace").removeprefix(CHANNEL))

    def close(self) -> None:
        super().close()
        self._client.close()
